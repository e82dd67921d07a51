"""What every threshold strategy must do, whatever it has learned."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache import policy
from semcache.freshness import FixedFreshness
from semcache.policy import Pack
from semcache.protocols import Threshold
from semcache.thresholds import STRATEGIES, ByCategory
from semcache.types import Candidate, Card, Controls, Endpoint, Request

PACK = policy.load("default")
CARD = Card(1, b"", b"", "support", "text", 0.0, 1.0)
every = pytest.mark.parametrize("make", [*STRATEGIES.values(), ByCategory])
scores = st.floats(-1.0, 1.0)
categories = st.sampled_from([*PACK.categories, "unheard of"])


@every
@given(scores, categories, st.none() | scores, st.floats(0.0, 1.0, exclude_max=True))
def test_nothing_is_served_below_its_floor(
    make: Callable[[Pack], Threshold], score: float, category: str, min_score: float | None, draw: float
) -> None:
    threshold = make(PACK)
    floor = threshold.floor(category, min_score)
    verdict = threshold.judge(Candidate(CARD, score), category, min_score=min_score, draw=draw)
    assert 0.0 <= verdict.p_correct <= 1.0
    assert not (verdict.serve and score < floor)
    assert min_score is None or floor >= min_score


@every
@given(st.lists(st.tuples(scores, st.booleans()), max_size=20))
def test_learning_never_breaks_the_range(make: Callable[[Pack], Threshold], labels: list[tuple[float, bool]]) -> None:
    threshold = make(PACK)
    for score, correct in labels:
        threshold.observe(Candidate(CARD, score), "support", correct)
    assert -1.0 <= threshold.floor("support", None) <= 1.0


@given(st.floats(min_value=-1e6, max_value=1e9))
def test_a_caller_may_shorten_a_life_and_not_lengthen_it(asked: float) -> None:
    ttl = PACK.of("support").ttl
    request = Request(Endpoint.CHAT, "m", {}, "", b"", controls=Controls(ttl=asked))
    assert FixedFreshness(PACK).ttl(request, "support") == min(asked, ttl)


def test_without_a_wish_the_pack_decides() -> None:
    request = Request(Endpoint.CHAT, "m", {}, "", b"")
    assert FixedFreshness(PACK).ttl(request, "support") == PACK.of("support").ttl
