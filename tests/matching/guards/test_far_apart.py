"""Prompts with little in common: what a time or a "not" is about there, a guard can only guess."""

from __future__ import annotations

import pytest

from semcache.matching import guards

PAIRS = [
    (
        "dates",
        "Overtime from last month wasn't paid. When will I get it?",
        "My wages lack hours which I put in during September, so on what day does the missing sum arrive",
    ),
    (
        "negation",
        "Could you write down everything one needs to bring along when camping over a wet weekend?",
        "Please list the items that belong in my luggage for a rainy weekend under canvas.",
    ),
]


@pytest.mark.parametrize(("guard", "query", "cached"), PAIRS)
def test_a_finding_only_doubts_where_much_else_differs(guard: str, query: str, cached: str) -> None:
    for one, two in ((query, cached), (cached, query)):
        assert [found.veto for found in guards.conflicts(one, two, [guard])] == [False]
        # Answers differ in many words, and must not be told the same for it.
        assert [found.veto for found in guards.conflicts(one, two, [guard], far=guards.NEVER)] == [True]


def test_other_numbers_forbid_however_much_differs() -> None:
    query = "We are eight guests in Vienna on a budget, what could a cook serve us for dinner?"
    cached = "Suggest an inexpensive evening meal that one person can prepare at home in Graz for a party of five"
    assert any(found.veto for found in guards.conflicts(query, cached, ["numbers"]))


def test_a_finding_forbids_where_little_else_differs() -> None:
    assert guards.conflicts("Is the pool open on Monday?", "Is the pool open on Tuesday?", ["dates"])[0].veto
