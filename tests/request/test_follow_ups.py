"""Follow-ups about what the asker called their own in an earlier turn are about the asker too."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from semcache.config.packs import Category
from semcache.dialects import dialects
from semcache.request.eligibility import ineligible
from semcache.request.kinds.follow_ups import readings
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
    ],
)
def test_a_follow_up_about_ones_own_is_personal(questions: tuple[str, ...]) -> None:
    assert ineligible(asked(questions[-1]), Category(name="x", live=True)) is None
    assert ineligible(asked(*questions), Category(name="x", live=True)) is Why.PERSONAL
    assert ineligible(asked(*questions), Category(name="x", live=True, personal=True)) is None


@pytest.mark.parametrize(
    "questions",
    [
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


def test_in_a_scope_of_one_user_it_is_kept() -> None:
    request = asked("How do I see my balance?", "and what is it?")
    assert ineligible(replace(request, scope=Scope(user="ann")), Category(name="x")) is None
