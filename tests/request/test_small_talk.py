"""What is said beside a request: small talk makes no difference, and whatever asks for something does."""

from __future__ import annotations

import pytest

from semcache.request.wording import canonical

PROMPT = "How do I reset my password?"

EITHER_SIDE = (
    "Can you help me?",
    "Could you please help me out with this?",
    "Can anyone help me with this?",
    "Please help me.",
    "I really need your help.",
    "Sorry if this is a dumb question.",
    "Sorry to bother you.",
    "I hope you can help.",
    "Hope you are well.",
    "I hope you had a great weekend.",
    "If you do not mind me asking.",
    "Thank you so much for your help!",
    "Could you answer this question please?",
)
BEFORE = (
    "Hello, how are you doing today?",
    "Can you answer one more question?",
    "Is there anyone here to help?",
    "I hope this email finds you well.",
    "Please answer my question.",
    "Tell me something:",
    "You are a helpful assistant.",
    "Let me ask you a question.",
)
AFTER = (
    "Any help would be appreciated.",
    "Please reply as soon as possible.",
    "Do you mind helping?",
    "Thanks, you are the best.",
    "Asking for a friend.",
    "I hope this makes sense.",
    "Help me out here, please.",
)
ASKING = (
    "Is this a good question?",
    "Is that a dumb question?",
    "Is it one question or two?",
    "Hi, are you a bot?",
    "Hello are you Claude?",
    "Hello, is this support?",
    "Do I need help with it?",
    "Does this help?",
    "Will it help?",
    "Is there any help for that?",
    "Can support help?",
    "Can Siri help me with this?",
    "Do experts help?",
    "Can a friend help me?",
    "Would you help a friend?",
    "Do I need to apologize?",
    "Thanks, and is it possible?",
    "Do you have any questions?",
    "Would you like some more questions?",
    "Is it morning?",
)
ORDERING = (
    "Ask me a question.",
    "Please ask me questions first.",
    "Could you ask me questions first?",
    "Help a friend.",
    "Please tell my team.",
    "Please ask Claude.",
    "Answer with a question.",
    "Please answer with one thing.",
    "Please answer in a kind way.",
    "Please answer the next question first.",
    "Please do not answer this question.",
    "Please do not help me.",
    "I do not need help.",
    "I am not asking for help.",
    "Wish me good night.",
    "Thank me first.",
    "Apologise first.",
    "Please be kind.",
    "You are a silly, helpful bot.",
    "I hope you answer with one word.",
    "I hope this covers Windows 11.",
    "I hope your answer is in French.",
    "I hope you can help me with my router.",
    "I wish you would answer in German.",
)


@pytest.mark.parametrize("said", [*EITHER_SIDE, *BEFORE])
def test_small_talk_before_a_request_changes_nothing(said: str) -> None:
    assert canonical(f"{said} {PROMPT}").text == canonical(PROMPT).text


@pytest.mark.parametrize("said", [*EITHER_SIDE, *AFTER])
def test_small_talk_behind_a_request_changes_nothing(said: str) -> None:
    assert canonical(f"{PROMPT} {said}").text == canonical(PROMPT).text


@pytest.mark.parametrize("said", [*ASKING, *ORDERING])
def test_who_asks_or_orders_something_beside_the_request_is_not_given_the_answer_to_it_alone(said: str) -> None:
    for text in (f"{PROMPT} {said}", f"{said} {PROMPT}", f"Hi! {said} {PROMPT} Thanks!"):
        assert canonical(text).text != canonical(PROMPT).text


@pytest.mark.parametrize("said", ["How are you?", "What is up?", "Tell me something.", "Tell me one more thing."])
def test_behind_a_request_some_small_talk_is_a_request_of_its_own(said: str) -> None:
    assert canonical(f"{PROMPT} {said}").text != canonical(PROMPT).text


@pytest.mark.parametrize("hope", ["this covers Windows 11", "you have an iPhone", "everything is in a table"])
def test_a_hope_that_says_something_stays_in_the_sentence_of_the_request(hope: str) -> None:
    assert canonical(f"I hope {hope}, how do I reset my phone?").text != canonical("How do I reset my phone?").text
