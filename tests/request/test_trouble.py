"""A trouble of one's own that is told with its day is cached; what is to be looked up or done is not, nor the world."""

from __future__ import annotations

import pytest

from semcache.request.kinds import is_live
from semcache.request.kinds.trouble import without_days
from semcache.request.secrets import fold

OF_ANY_DAY = [
    "My phone doesn't charge since yesterday, I tried another cable. What can be the problem?",
    "The till at the garage refused my card today and I have no idea why.",
    "Somebody took my phone yesterday, can you tell me what to do?",
    "I can't take out cash at any machine. What's going on?",
    "What is going on? I typed my PIN three times and it isn't accepted.",
    "I lost my wallet this morning. What should I do?",
    "The cash machine has swallowed my card. I need it back now!",
    "I paid in some cash this morning but it is still pending?",
    "My laptop crashed last night and now it doesn't start. How can I get my files back?",
    "Can I somehow undo my payment from this morning?",
    "I want to stop a payment that I made yesterday",
]
OF_THIS_DAY = [
    "My transfer keeps failing. Is your system down at this time?",
    "I was charged twice today. Could you check my account?",
    "I deposited a cheque yesterday and it is not there. When will it arrive today?",
    "My flight was not on time yesterday. Is my flight today on time?",
    "My card didn't work today, please cancel it now.",
    "My phone is broken, what is the weather today?",
    "I can't pay my bill. What time is it now?",
]


@pytest.mark.parametrize("text", OF_ANY_DAY)
def test_the_day_of_ones_own_trouble_is_no_reason_to_ask_anew(text: str) -> None:
    assert not is_live(text)


@pytest.mark.parametrize("text", OF_THIS_DAY)
def test_what_is_looked_up_or_done_or_changes_in_the_world_is_of_the_day(text: str) -> None:
    assert is_live(text)


def test_a_text_without_a_trouble_of_its_own_stays_as_it_is() -> None:
    for text in ("The weather is bad today.", "My card is blue today.", "Nothing works today."):
        assert without_days(fold(text)) == fold(text)


@pytest.mark.parametrize(
    ("text", "live"),
    [
        ("The exchange rate on my hotel bill is wrong", False),
        ("How do you fix the exchange rates that you use?", False),
        ("Where do you publish your exchange rates?", False),
        ("what is the exchange rate?", True),
        ("Is the exchange rate right now higher than the one I was charged?", True),
        ("What is the maximum top up?", False),
        ("Is the site up?", True),
    ],
)
def test_a_rate_is_of_the_moment_and_what_was_charged_is_not(text: str, live: bool) -> None:
    assert is_live(text) is live
