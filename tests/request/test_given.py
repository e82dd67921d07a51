"""What stands in a prompt is worked on, or reckoned with, on any day and for anybody; what it asks besides is read."""

from __future__ import annotations

import pytest

from semcache.request.kinds import is_live, is_personal, kinds
from semcache.request.kinds.given import given, without_given
from semcache.request.secrets import fold
from tests.matching.guards.verdicts import NOTHING, VETO, verdict

EMAIL = "Hi all, the office is closed today. My order is late, where is it? We go live tomorrow at nine, see you then."
PROBLEMS = [
    "Sam ran 3 miles on Monday and 5 miles on Tuesday. How many miles did Sam run this week?",
    "Omar had $34. Ines gave him half of her $90. How much does Omar have now?",
    "A farm currently has 6 goats, 3 geese, and 11 hens. How many legs do the animals on the farm have in total?",
    "Last night Nora picked ten pears and 15 plums. Today she picked three times as many. How many did Nora pick?",
    "Suppose I have 15 plates. I break 3 and sell 4. How many plates do I have left?",
    "If a sofa costs $900 today and an armchair 2/3 of that, find the total price of both.",
]
NO_PROBLEMS = [
    "How many goals did Kane score in 2 games last week?",
    "The stock fell 5% to $240 yesterday. How much is it worth now?",
    "I ordered 2 shirts and 3 hats. How much do I owe today?",
    "Inflation was 3% last month and 2% this month. What is the rate now?",
    "How much are 100 dollars in euros today?",
]
GIVEN = [
    "Summarise: Today the council voted to close the pool. It will open again next month.",
    "Extract the dates: We met yesterday and will meet again on 4 June.",
    "Classify the message: my parcel should have come yesterday",
    f"Pull out the action items from this email, with the owner of each:\n\n{EMAIL}",
    f"Which dates does this email name?\n\n{EMAIL}",
    f"Return the order number of the email below as JSON:\n\n{EMAIL}",
    f"Summarize the following email:\n\n{EMAIL}",
    f"Identify the people who are named in the given message. Reply with a list.\n\n{EMAIL}",
    f"Please classify this text: {EMAIL}",
    f"{EMAIL}\n\nSummarize the above email in one sentence.",
    f"Extract all dates from the text below.\n\n{EMAIL}",
]
ASKED = [
    "Summarise: what is in the news today",
    "Summarise the weather today: rain, sun, or snow, and how much of it in each hour",
    f"Which of the headlines below is about what happens today?\n\n{EMAIL}",
    "Summarize the latest news:\n\nin five bullet points, no more than ten words each, and in plain English, please.",
    f"Answer this message:\n\n{EMAIL}",
    f"{EMAIL}\n\nWhen will it be there today?",
    "Summarize the following email: none today",
    f"Compare this email with the weather today:\n\n{EMAIL}",
]


@pytest.mark.parametrize("text", PROBLEMS)
def test_a_problem_of_quantities_is_of_no_day_and_of_nobody(text: str) -> None:
    assert not kinds(text).live
    assert not kinds(text).personal
    assert not is_live(text)
    assert not is_personal(text)


@pytest.mark.parametrize("text", NO_PROBLEMS)
def test_what_does_not_follow_from_what_is_told_is_no_problem(text: str) -> None:
    assert kinds(text).live or kinds(text).personal


@pytest.mark.parametrize("text", GIVEN)
def test_a_text_to_be_worked_on_says_nothing_about_the_asker_or_the_day(text: str) -> None:
    assert not kinds(text).live
    assert not kinds(text).personal
    assert not is_live(text)
    assert not is_personal(text)


@pytest.mark.parametrize("text", ASKED)
def test_an_instruction_and_what_is_to_be_answered_are_read(text: str) -> None:
    assert kinds(text).live or kinds(text).personal


def test_a_secret_in_a_text_that_is_given_stays_one() -> None:
    assert kinds(f"Summarize the following email:\n\n{EMAIL} My password is hunter2x9.").secret


def test_a_text_without_an_instruction_is_left_as_it_is() -> None:
    assert without_given(fold(EMAIL)) == fold(EMAIL)
    assert without_given("a:\n\nb") == "a:\n\nb"


@pytest.mark.parametrize(
    ("text", "live"),
    [("What is New Mexico's nickname?", False), ("What's new in Oslo?", True), ("What's new?", True)],
)
def test_a_name_that_begins_with_new_is_no_news(text: str, live: bool) -> None:
    assert kinds(text).live is live


def test_the_text_that_is_given_has_to_be_the_same() -> None:
    translate = "Translate to German: could you please tell me how to pay"
    assert given(translate) == "could you please tell me how to pay"
    assert given("How do I fix error: disk full") is None
    assert verdict("code", translate, "Translate to German: how do I pay") == VETO
    assert verdict("code", translate, "Please translate into German:\n could you please tell me  how to pay") == NOTHING


def test_polite_words_over_and_over_are_read_once() -> None:
    # Each "please" could be read in two ways, so that a prompt of 500 characters kept the server for ever.
    assert given("could you please " * 200 + "x") is None
    assert given("could you please " * 3 + "translate: bonjour") == "bonjour"
