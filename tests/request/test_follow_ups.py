"""Follow-ups about what the asker called their own in an earlier turn are about the asker too."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from semcache.config.packs import Category
from semcache.dialects import dialects
from semcache.request.eligibility import ineligible
from semcache.request.kinds.follow_ups import leant_on, readings
from semcache.types import Endpoint, Request, Scope, Why

ANSWERED = "It is shown on the overview page."


def asked(*questions: str) -> Request:
    """The last question, behind the others and their answers."""
    turns = [[{"role": "user", "content": one}, {"role": "assistant", "content": ANSWERED}] for one in questions[:-1]]
    messages = [*[one for turn in turns for one in turn], {"role": "user", "content": questions[-1]}]
    return dialects()[Endpoint.CHAT].read(json.dumps({"model": "m", "messages": messages}).encode())


@pytest.mark.parametrize(
    "questions",
    [
        ("How do I see my balance?", "and what is it?"),
        ("Where can I find my last invoice?", "How much is it?"),
        ("How do I find my account number?", "Ok, and what\u2019s the branch?", "and what is it?"),
        ("How do I block my card?", "is it blocked now?"),
        ("Can I see my grades online?", "what are they?"),
        ("How can I see when my order comes?", "And when?"),
        ("How do I look up our flight?", "is it on time"),
        ("How do I find out my plan?", "and which one is it?"),
        ("How do I see how much I owe?", "and how much is that?"),
    ],
)
def test_a_follow_up_about_ones_own_is_personal(questions: tuple[str, ...]) -> None:
    assert ineligible(asked(questions[-1]), Category(name="x", live=True)) is None
    assert ineligible(asked(*questions), Category(name="x", live=True)) is Why.PERSONAL
    assert ineligible(asked(*questions), Category(name="x", live=True, personal=True)) is None


@pytest.mark.parametrize(
    ("why", "questions"),
    [
        (Why.LIVE, ("Is the build server down?", "what about the wiki?")),
        (Why.LIVE, ("Is the build server down?", "what about the wiki?", "And the mail server?")),
        (Why.LIVE, ("What is the weather in Turin?", "and in Genoa?")),
        (Why.LIVE, ("How busy is the ring road right now?", "and the harbour tunnel?")),
        (Why.PERSONAL, ("What is my balance?", "And in euros?")),
        (Why.PERSONAL, ("Where is my order?", "what about the second?")),
        (Why.PERSONAL, ("Which flights have I booked?", "what about in June?")),
        (Why.PERSONAL, ("Did I pass the exam?", "and why?")),
    ],
)
def test_a_question_without_an_object_is_of_the_kind_of_the_turn_that_it_continues(
    why: Why, questions: tuple[str, ...]
) -> None:
    assert ineligible(asked(questions[-1]), Category(name="x")) is None
    assert ineligible(asked(*questions), Category(name="x")) is why
    assert ineligible(asked(*questions), Category(name="x", live=True, personal=True)) is None


@pytest.mark.parametrize(
    "questions",
    [
        ("What is my balance?", "How do I reset my password?", "and on a phone?"),
        ("Is my card blocked?", "And how do I unblock it?"),
        ("What is the weather in Turin?", "What is a fjord?", "what about a lagoon?"),
        ("How do I cancel my subscription?", "what about a refund?"),
        ("How do I move my number to you?", "Is it free?"),
        ("How do I reset my password?", "What if it doesn't arrive?"),
        ("How do I renew my passport?", "How long does it take?"),
        ("How do I renew my passport?", "How much does it cost?"),
        ("How do I cancel my subscription?", "Can I pause it instead?"),
        ("How do I train my dog?", "Is that normal?"),
        ("What is wrong with my function?", "Can you rewrite it?"),
        ("How do I fix my bike?", "And why?"),
        ("How do I dispute my bill?", "When do they answer?"),
        ("What is a fjord?", "Where is it?"),
        ("How do I see my balance?", "What is a fjord?"),
    ],
)
def test_a_general_follow_up_is_kept(questions: tuple[str, ...]) -> None:
    assert ineligible(asked(*questions), Category(name="x")) is None


def test_what_was_named_last_is_read_first_and_a_long_conversation_costs_no_more() -> None:
    earlier = [f"How do I see my thing{number}?" for number in range(1000)]
    assert next(readings("what is it?", reversed(earlier))) == "what is my thing999?"
    assert len(list(readings("what is it?", reversed(earlier)))) <= 6
    assert next(readings("what is it?", ["a " * 100_000 + "my balance"])) == "what is my balance?"
    assert list(readings("and " * 50 + "what is it?", earlier)) == []
    assert len(list(leant_on("and the other?", ["and the other?"] * 1000))) <= 6
    assert list(leant_on("and " * 50_000, earlier)) == []


def test_what_a_tool_gave_stands_in_the_conversation() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "flights", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "How do I look up my flight?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "LH 123, on time"},
        {"role": "assistant", "content": "Your flight is LH 123."},
        {"role": "user", "content": "what is it?"},
    ]
    body = {"model": "m", "messages": messages}
    request = dialects()[Endpoint.CHAT].read(json.dumps(body).encode())
    assert ineligible(request, Category(name="x")) is None


def test_in_a_scope_of_one_user_it_is_kept() -> None:
    request = asked("How do I see my balance?", "and what is it?")
    assert ineligible(replace(request, scope=Scope(user="ann")), Category(name="x")) is None
