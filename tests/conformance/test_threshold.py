"""What every threshold strategy must do, whatever it has learned."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache import policy
from semcache.freshness import FixedFreshness
from semcache.thresholds import STRATEGIES
from semcache.types import Candidate, Card, Controls, Endpoint, Request

PACK = policy.load("default")
CARD = Card(1, b"", b"", "support", "text", 0.0, 1.0)
every = pytest.mark.parametrize("name", sorted(STRATEGIES))
scores = st.floats(-1.0, 1.0)
categories = st.sampled_from([*PACK.categories, "unheard of"])


@every
@given(scores, categories, st.none() | scores, st.floats(0.0, 1.0, exclude_max=True))
def test_nothing_is_served_below_its_floor(
    name: str, score: float, category: str, min_score: float | None, draw: float
) -> None:
    threshold = STRATEGIES[name](PACK)
    floor = threshold.floor(category, min_score)
    verdict = threshold.judge(Candidate(CARD, score), category, min_score=min_score, draw=draw)
    assert 0.0 <= verdict.p_correct <= 1.0
    assert not (verdict.serve and score < floor)
    assert min_score is None or floor >= min_score


@every
@given(st.lists(st.tuples(scores, st.booleans()), max_size=20))
def test_learning_never_breaks_the_range(name: str, labels: list[tuple[float, bool]]) -> None:
    threshold = STRATEGIES[name](PACK)
    for score, correct in labels:
        threshold.observe(Candidate(CARD, score), "support", correct)
    assert -1.0 <= threshold.floor("support", None) <= 1.0


def test_a_caller_may_shorten_a_life_and_not_lengthen_it() -> None:
    freshness = FixedFreshness(PACK)
    ttl = PACK.of("support").ttl
    for asked, granted in ((None, ttl), (ttl * 2, ttl), (5.0, 5.0), (0.0, 0.0)):
        request = Request(Endpoint.CHAT, "m", {}, "", b"", controls=Controls(ttl=asked))
        assert freshness.ttl(request, "support") == granted
