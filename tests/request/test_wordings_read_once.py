"""A wording is read once: what two texts come to have in common costs one pass, and cheap signs stand for patterns."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from semcache.request.text import vocabulary
from semcache.request.wording import Edit, canonical, compounds, side_by_side, strictest, warm, word_pieces
from semcache.request.wording.cues import folded

warm()
module: Any = sys.modules["semcache.request.wording.canonical"]
_MANY = settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
_WORDS = sorted(
    vocabulary("""
    grey gray or and vs vs. the a an air port air-port Back up ba\u017fe ball \u212aey board house work light
    log in into page set-up it's don't b_c x@y.z v2 Z\u00fcrich \u0130n foot, (foot foot) \u03b1 e-mail
    """)
)
_TEXTS = st.one_of(st.text(max_size=60), st.lists(st.sampled_from(_WORDS), max_size=14).map(" ".join))


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that passes were made over."""
    made: list[str] = []
    plain: Callable[..., str] = module._edited

    def edited(text: str, *args: Any) -> str:
        made.append(text)
        return plain(text, *args)

    monkeypatch.setattr(module, "_edited", edited)
    return made


def test_another_wording_of_a_text_that_was_read_takes_one_pass(passes: list[str]) -> None:
    wording = canonical("How do I tune the old piano, and keep it in tune?").text
    passes.clear()
    assert canonical("hello, how do I tune the old piano, and keep it in tune, thanks").text == wording
    assert len(passes) == 1


def test_a_pair_is_read_no_more_often_than_its_kinds_of_edits_differ() -> None:
    one, two = "hello, how do I clean the brass kettle, thanks", "How do I clean the brass kettle?"
    assert canonical(one).text == canonical(two).text
    before = module._canonical.cache_info().misses
    assert strictest(one, two) is Edit.FILLER
    assert module._canonical.cache_info().misses - before == 1


@given(_TEXTS)
@example("\u0130n-house a.b c. d")
@_MANY
def test_the_words_of_a_plain_text_are_those_that_the_slower_pattern_finds(text: str) -> None:
    assert word_pieces.pieces_of(text) == word_pieces._WORD.split(text)


@given(_TEXTS)
@example("is foot ball, and the foot ball one")
@example("GREY or grey vs. the grey?")
@_MANY
def test_no_pair_side_by_side_is_overlooked(text: str) -> None:
    assert side_by_side._twins(text) == len(side_by_side._TWIN.findall(text))


@given(_TEXTS)
@_MANY
def test_no_compound_is_overlooked(text: str) -> None:
    lower = folded(text)
    for first, pattern in compounds._PATTERNS.items():
        if pattern.search(text) is not None:
            assert compounds._stands_before(first, compounds._CLOSED[first], lower), first
    if compounds._NOUN.search(text) is not None or compounds._ENTRANCE.search(text) is not None:
        assert any(sign in lower for sign in compounds._BEHIND_STEMS)
    if compounds._INTO.search(text) is not None:
        assert any(sign in lower for sign in compounds._ENTERING)


def test_a_second_of_a_compound_is_found_behind_any_mention_of_the_first() -> None:
    assert canonical("is an air pump sold at the air port").text == "is an air pump sold at the airport"
    assert re.search("airport", canonical("Air, air-port").text)
