"""Conformance of `Guard`: silent on equal texts, symmetric, named as packs name it, and unbreakable by any text."""

from __future__ import annotations

import typing
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.config import plugins
from semcache.config.pack_schema import GuardName
from semcache.errors import ConfigError
from semcache.matching.guards import GUARDS, conflicts, guards
from semcache.protocols import Guard
from semcache.request.characters import unstyled

WORDS = """
not never enable disable 5 5.5 1,000 $5 50% half one two first 2024 Jan 5pm yesterday 5/6/2024 Paris python C++ to from
than 'x' "a b" foo() a_b --all unless km miles . ? - / 1/2 1/0 99999999999999999999999999 1e999 \u00bd \u0663 \u0130
B-12 \u00df 10^99999 A.0 .0 v.1 what about it? why who when how many in JSON French as table child all some only least
most cheapest business annual iPhone per month pay you go step by I my can't he this second one three half "'s" U.S.
"""
ALWAYS = ("characters", "tone", "language")  # are looked for whatever a pack names
EVERY = {name: guards([name])[0] for name in [*GUARDS, *plugins.names("guards")]}
texts = st.text(max_size=80) | st.lists(st.sampled_from(WORDS.split()), max_size=90).map(" ".join)


@pytest.fixture(params=list(EVERY))
def guard(request: pytest.FixtureRequest) -> Guard:
    return EVERY[request.param]


def test_names_are_those_of_the_packs(guard: Guard) -> None:
    assert guard.name in [*typing.get_args(GuardName), *plugins.names("guards")]
    assert guards([guard.name]) == (guard,)


@pytest.mark.parametrize("text", ["", " ", "?", "How do I reset my password?", "Is 5 km in 2024 not far from Rome?"])
def test_equal_texts_never_conflict(guard: Guard, text: str) -> None:
    assert guard.conflict(text, text) is None


@given(one=texts, two=texts)
def test_symmetric_and_unbreakable(one: str, two: str) -> None:
    for guard in EVERY.values():
        forth, back = guard.conflict(one, two), guard.conflict(two, one)
        assert (forth is None) == (back is None), guard.name
        assert guard.conflict(one, one) is None
        if forth is not None:
            assert forth.guard == guard.name
            assert forth.detail


@given(texts)
def test_case_of_a_whole_prompt_and_outer_space_are_no_conflict(text: str) -> None:
    for guard in EVERY.values():
        assert guard.conflict(text, f"  {text}\n") is None, guard.name


@given(one=texts, two=texts)
def test_together_they_find_what_each_finds_alone(one: str, two: str) -> None:
    one, two = unstyled(one), unstyled(two)
    alone = [guard.conflict(one, two) for guard in EVERY.values()] if one != two else []
    found = [conflict for conflict in conflicts(one, two, EVERY) if conflict.guard not in ALWAYS]
    assert [replace(one, arguable=False) for one in found] == [conflict for conflict in alone if conflict is not None]
    assert all(conflict.veto for conflict in found if conflict.arguable), "a doubt is no veto"


@pytest.mark.parametrize(("one", "two"), [("", "!"), ("Reset it now", "Reset it, now!"), ("reset it", "Reset it")])
def test_marks_and_plain_capitals_are_no_other_characters(one: str, two: str) -> None:
    assert conflicts(one, two, []) == ()


def test_every_pack_guard_exists() -> None:
    assert set(typing.get_args(GuardName)) == set(GUARDS)


def test_only_the_named_guards_are_asked() -> None:
    one, two = "Enable 5 users in Paris", "Disable 6 users in Rome"
    assert {conflict.guard for conflict in conflicts(one, two, list(GUARDS))} == {"numbers", "negation", "entities"}
    assert [conflict.guard for conflict in conflicts(one, two, ["negation"])] == ["negation"]
    assert conflicts(one, two, []) == ()


def test_an_unknown_guard_is_named() -> None:
    with pytest.raises(ConfigError, match=r"colour.*numbers"):
        guards(["colour"])
