"""Each pattern is tried where its words stand, and what was read of a text is remembered unless it is a secret."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from semcache.request import kinds
from semcache.request.kinds import creative, live, personal
from semcache.request.kinds.patterns import words_of
from semcache.request.secrets import fold

_RULES = [*personal._PERSONAL._rules, *live._LIVE._rules, *creative._CREATIVE._rules]


@pytest.mark.hypothesis
@pytest.mark.parametrize(("words", "pattern"), _RULES, ids=range(len(_RULES)))
def test_what_a_pattern_matches_holds_one_of_the_words_beside_it(
    words: frozenset[str], pattern: re.Pattern[str]
) -> None:
    @given(st.from_regex(pattern))
    @settings(max_examples=20, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    def check(text: str) -> None:
        folded = fold(text)
        if pattern.search(folded):
            assert not words.isdisjoint(words_of(folded))

    check()


@given(st.from_regex(personal._OWN_RECORD))
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_record_is_looked_for_only_where_an_owner_names_one(text: str) -> None:
    folded = fold(text)
    bag = words_of(folded)
    if personal._OWN_RECORD.search(folded):
        assert bag & personal._OWNERS
        assert bag & personal._RECORDS


def test_the_memo_answers_alike_and_keeps_no_secret() -> None:
    kinds._remembered.cache_clear()
    for _ in range(2):
        assert kinds.kinds("my password is hunter2").secret
        assert kinds.kinds("x" * 9000 + " today").live
        assert kinds._remembered.cache_info().currsize == 0
    for _ in range(2):
        assert kinds.kinds("where is my order") == (False, True, False, False)
        assert kinds._remembered.cache_info().currsize == 1
