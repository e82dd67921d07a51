"""Conformance of `Threshold`, whatever a strategy has learned."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.config import packs, plugins
from semcache.config.packs import Pack
from semcache.matching import features
from semcache.matching.strategies import STRATEGIES, ByCategory
from semcache.matching.strategies.certified import error_budget
from semcache.protocols import Threshold
from semcache.retention.freshness import FixedFreshness
from semcache.types import Candidate, Card, Controls, Endpoint, Request
from semcache.types.evidence import Label, LabelSource

PACK = packs.load("default")
CARD = Card(1, b"", b"", "support", "text", 0.0, 1.0)
INSTALLED = [STRATEGIES[name] for name in plugins.names("strategies")]
every = pytest.mark.parametrize("make", [*STRATEGIES.values(), *INSTALLED, ByCategory])
scores = st.floats(-1.0, 1.0)
categories = st.sampled_from([*PACK.categories, "unheard of"])


def seen(score: float) -> Candidate:
    candidate = Candidate(CARD, score)
    return replace(candidate, features=features.of("some text", candidate))


def label(score: float, correct: bool) -> Label:
    traits = seen(score).features
    return Label(0.0, "support", "acme", 1, 1, b"", score, traits, 0.9, correct, LabelSource.AUDIT, served=True)


@every
@given(scores, categories, st.none() | scores, st.floats(0.0, 1.0, exclude_max=True))
def test_nothing_is_served_below_its_floor(
    make: Callable[[Pack], Threshold], score: float, category: str, min_score: float | None, draw: float
) -> None:
    threshold = make(PACK)
    controls = Controls(min_score=min_score)
    floor = threshold.floor(category, controls)
    verdict = threshold.judge(seen(score), category, controls=controls, draw=draw)
    assert 0.0 <= verdict.p_correct <= 1.0
    assert not (verdict.serve and score < floor)
    assert min_score is None or floor >= min_score


@every
@given(st.lists(st.tuples(scores, st.booleans()), max_size=20))
def test_learning_never_breaks_the_range(make: Callable[[Pack], Threshold], labels: list[tuple[float, bool]]) -> None:
    threshold = make(PACK)
    for score, correct in labels:
        threshold.observe(label(score, correct))
    assert -1.0 <= threshold.floor("support", Controls()) <= 1.0
    assert 0.0 <= threshold.judge(seen(0.9), "support", controls=Controls(), draw=0.5).p_correct <= 1.0


@every
@patch.object(error_budget, "_EVERY", 1)  # else each sets its limit anew at a time of its own
@given(st.lists(st.tuples(scores, st.booleans()), max_size=20), scores)
def test_a_restored_strategy_decides_alike(
    make: Callable[[Pack], Threshold], labels: list[tuple[float, bool]], score: float
) -> None:
    one, two = make(PACK), make(PACK)
    for at, correct in labels:
        one.observe(label(at, correct))
    two.restore(json.loads(json.dumps(one.state())))
    for threshold in (one, two):
        threshold.note("support", 0.5, served=False, audited=False)
    verdicts = [each.judge(seen(score), "support", controls=Controls(), draw=0.5) for each in (one, two)]
    assert verdicts[0] == verdicts[1]
    assert one.standing("support") == two.standing("support")


@given(st.floats(min_value=-1e6, max_value=1e9))
def test_a_caller_may_shorten_a_life_and_not_lengthen_it(asked: float) -> None:
    ttl = PACK.of("support").ttl
    request = Request(Endpoint.CHAT, "m", {}, "", b"", controls=Controls(ttl=asked))
    assert FixedFreshness(PACK).ttl(request, "support") == max(0.0, min(asked, ttl))


def test_without_a_wish_the_pack_decides() -> None:
    request = Request(Endpoint.CHAT, "m", {}, "", b"")
    assert FixedFreshness(PACK).ttl(request, "support") == PACK.of("support").ttl
