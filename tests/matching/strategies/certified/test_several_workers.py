"""The error budgets of several workers: together they have spent as much as one worker would have."""

from __future__ import annotations

import pytest

from semcache.config.packs import load
from semcache.matching import features
from semcache.matching.judged_tier import DoubtedNeighbour, JudgedTier
from semcache.matching.model_verdict import model_verdict_about, with_model_verdict
from semcache.matching.strategies.certified import CertifiedThreshold
from semcache.types import Controls
from semcache.types.evidence import Label, LabelSource

PLAIN = tuple([0.0] * len(features.NAMES))
HITS, EVERY = 800, 10


def audit(number: int, values: tuple[float, ...], *, correct: bool) -> Label:
    at, exact = float(number), b"%d" % number
    return Label(at, "default", "t", 1, 0, exact, 0.95, values, 0.99, correct, LabelSource.AUDIT, True, 0.1, number)


def spent_by_meaning(workers: int, wrong: int) -> float:
    """The errors that all workers together believe to have spent, after so many wrong audits."""
    every = [CertifiedThreshold(load("default"), grants=1.0 / workers) for _ in range(workers)]
    for number in range(HITS):
        every[number % workers].note("default", 0.99, served=True, audited=number // workers % EVERY == 0)
    for number in range(HITS // EVERY):
        for one in every:
            one.observe(audit(number + 1, PLAIN, correct=number >= wrong))
    return sum(one._of("default").control.budget.spent for one in every)


def spent_on_words(workers: int, wrong: int) -> float:
    """The same of hits on a language model's verdict."""
    every = [JudgedTier(load("default"), grants=1.0 / workers) for _ in range(workers)]
    neighbour = DoubtedNeighbour("default", 0.9, Controls())
    values = with_model_verdict(PLAIN, model_verdict_about(0.9, 0.99, sampled=True))
    for number in range(HITS):
        every[number % workers].note(neighbour, 0.99, served=True, audited=number // workers % EVERY == 0)
    for number in range(HITS // EVERY):
        for one in every:
            one.observe(audit(number + 1, values, correct=number >= wrong))
    return sum(one._of("default").budget.spent for one in every)


@pytest.mark.parametrize("spent", [spent_by_meaning, spent_on_words])
@pytest.mark.parametrize("wrong", [0, 2])
def test_an_audit_settles_the_risk_of_one_hit_however_many_workers_learn_of_it(spent, wrong: int) -> None:
    assert spent(8, wrong) == pytest.approx(spent(1, wrong), rel=0.1)
