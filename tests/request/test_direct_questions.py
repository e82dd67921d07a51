"""A question is of the same kind in every way of asking it: whoever wants to know a balance asks for it."""

from __future__ import annotations

import pytest

from semcache.request.kinds import kinds
from semcache.request.kinds.direct import direct

_WAYS_OF_ASKING_FOR = (
    "What is {}?",
    "I'd like to know {}.",
    "I need to know {}.",
    "Do you know what {} is?",
    "May I ask what {} is?",
    "Please provide {}.",
    "I'm looking for {}.",
    "Can you tell me {}?",
    "Hello! What is {}?",
    "Quick question: what is {}?",
)
_WAYS_OF_ASKING_WHETHER = (
    "Can you tell me if {}?",
    "I'd like to know whether {}.",
    "Do you know if {}?",
    "I was wondering if {}.",
    "I am not sure whether {}.",
)


@pytest.mark.parametrize("way", _WAYS_OF_ASKING_FOR)
@pytest.mark.parametrize(
    "thing", ["my account balance", "my delivery date", "my customer number", "the amount I owe", "my blood type"]
)
def test_a_record_is_personal_however_it_is_asked_for(way: str, thing: str) -> None:
    assert kinds(way.format(thing)).personal


@pytest.mark.parametrize("way", _WAYS_OF_ASKING_WHETHER)
@pytest.mark.parametrize("clause", ["my order has shipped", "my refund is on its way", "I am on the waiting list"])
def test_whether_something_was_done_for_the_sender_is_personal_however_it_is_asked(way: str, clause: str) -> None:
    assert kinds(way.format(clause)).personal


@pytest.mark.parametrize("way", _WAYS_OF_ASKING_FOR)
@pytest.mark.parametrize("thing", ["the time in Tokyo", "the next train to Leeds", "the price of bitcoin"])
def test_what_changes_by_the_minute_is_live_however_it_is_asked_for(way: str, thing: str) -> None:
    assert kinds(way.format(thing)).live


@pytest.mark.parametrize("clause", ["GitHub is down", "there are delays at Heathrow", "it is raining in London"])
@pytest.mark.parametrize("way", _WAYS_OF_ASKING_WHETHER)
def test_how_something_stands_is_live_however_it_is_asked(way: str, clause: str) -> None:
    assert kinds(way.format(clause)).live


@pytest.mark.parametrize(
    "text",
    [
        "Why was my payment declined?",
        "What is the reason my payment was declined?",
        "For what reason was my payment declined?",
        "Can you tell me why my visa application was refused?",
        "What is the reason my account was suspended?",
        "What are ways of improving my credit score?",
        "What are ways of cancelling my subscription?",
        "Can you tell me the deadline for filing my tax return?",
        "Give me the requirements for renewing my passport.",
        "I want to check my balance. How?",
        "I would like to get my deposit back. What can I do?",
        "What are my options?",
        "What is my BMI?",
        "What is my monthly surplus?",
        "What is my passport number needed for?",
        "I earn 52,000 a year. What's my monthly pay?",
        "Tell my boss I'm pregnant.",
    ],
)
def test_what_anybody_may_ask_is_general_in_these_words_too(text: str) -> None:
    assert not kinds(text).personal


@pytest.mark.parametrize(
    "text",
    [
        "I took the theory test on Monday. Did I pass?",
        "whens my next appointment",
        "Which address do you have for me?",
        "What did we discuss last time?",
        "order status",
        "Is my card blocked?",
        "What's my wife's name?",
    ],
)
def test_what_only_the_senders_records_tell_is_personal(text: str) -> None:
    assert kinds(text).personal


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("hi! do you know if my order has shipped?", "has my order shipped?"),
        ("i need to know my balance.", "what is my balance?"),
        ("i moved. i'd like to know whether my lease ends.", "i moved. does my lease end?"),
        ("why is the sky blue?", "why is the sky blue?"),
        ("i need my password reset", "i need my password reset"),
    ],
)
def test_an_indirect_question_is_read_as_the_direct_one(text: str, asked: str) -> None:
    assert direct(text) == asked


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("know any jokes?", True),
        ("Do you have a short story about a dragon?", True),
        ("Would you mind writing a poem about autumn?", True),
        ("Do you know the story of Noah?", False),
        ("Do you know any songs by Queen?", False),
    ],
)
def test_a_work_is_wanted_however_it_is_asked_for(text: str, wanted: bool) -> None:
    assert kinds(text).creative == wanted


@pytest.mark.parametrize(
    "text",
    [
        "What is the expected arrival of my parcel?",
        "what is the minimum I have to pay on my phone bill",
        "What is the amount of my latest paycheck?",
        "has my mortgage application gone through?",
        "Is my withdrawal pending?",
    ],
)
def test_a_figure_or_a_state_of_ones_own_is_personal(text: str) -> None:
    assert kinds(text).personal


@pytest.mark.parametrize(
    "text", ["When do I get my first paycheck as a new hire?", "Why did my top-up fail to arrive?"]
)
def test_a_rule_and_a_reason_stay_general(text: str) -> None:
    assert not kinds(text).personal


def test_the_reason_of_a_failure_is_of_any_day_whenever_it_came() -> None:
    assert not kinds("I baked for the first time today. Why did my bread not rise?").live
    assert kinds("I was at the station this morning. Why did my train not come?").live
