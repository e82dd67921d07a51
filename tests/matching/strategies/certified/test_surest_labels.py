"""A judge that errs is named as the cause where little is served for it, and hard traffic is not taken for one."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from semcache.config import packs
from semcache.matching import features
from semcache.matching.label_noise import FAITHFUL, LabelNoise
from semcache.matching.strategies.certified import CertifiedThreshold
from semcache.types.evidence import LabelSource, State
from tests.matching.strategies.certified.cases import SURE, UNSURE, label

PACK = packs.load("default")
REMEDY = "judge.false_yes, judge.false_no"
TOLD = LabelNoise(0.1, 0.1)


def taught(
    *, noise: float, seed: int, wrong: tuple[float, float], told: LabelNoise = FAITHFUL, labels: int = 600
) -> CertifiedThreshold:
    """A strategy after so many misses, half of them of the surest neighbours; `wrong` are the true shares of errors."""
    rng, threshold = random.Random(seed), CertifiedThreshold(PACK, noise=told)
    for number in range(labels):
        sure = number % 2 == 0
        right = rng.random() >= wrong[not sure]
        heard = right != (rng.random() < noise)
        one = label(SURE if sure else UNSURE, correct=heard, source=LabelSource.MISS)
        threshold.observe(replace(one, features=features.with_verdict(one.features, 0.999 if sure else 0.3)))
    return threshold


@pytest.mark.parametrize("seed", range(5))
def test_a_judge_that_errs_in_ten_of_a_hundred_is_named_with_the_remedy(seed: int) -> None:
    standing = taught(noise=0.1, seed=seed, wrong=(0.005, 0.6)).standing("support")
    assert standing.state is not State.CERTIFIED
    assert "its own errors" in standing.note
    assert REMEDY in standing.note


@pytest.mark.parametrize("seed", range(5))
def test_a_judge_whose_noise_was_told_is_not_named_again(seed: int) -> None:
    assert REMEDY not in taught(noise=0.1, seed=seed, wrong=(0.005, 0.6), told=TOLD).standing("support").note


@pytest.mark.parametrize("seed", range(5))
def test_hard_traffic_is_not_taken_for_a_judge_that_errs(seed: int) -> None:
    """Nearly all that is less alike is wrong, and more of the surest than the target allows."""
    assert REMEDY not in taught(noise=0.0, seed=seed, wrong=(0.02, 0.9)).standing("support").note


def test_a_verifier_that_says_nothing_of_this_traffic_is_not_taken_for_a_judge_that_errs() -> None:
    assert REMEDY not in taught(noise=0.0, seed=1, wrong=(0.45, 0.6)).standing("support").note


def test_a_restart_keeps_the_evidence_and_another_noise_begins_it_anew() -> None:
    state = taught(noise=0.1, seed=1, wrong=(0.005, 0.6)).state()
    for noise, named in ((LabelNoise(), True), (TOLD, False)):
        restored = CertifiedThreshold(PACK, noise=noise)
        restored.restore(state)
        assert (REMEDY in restored.standing("support").note) is named


def test_a_state_from_before_there_was_such_evidence_is_taken_up() -> None:
    state = taught(noise=0.1, seed=1, wrong=(0.005, 0.6)).state()
    del state["support"]["surest"]
    restored = CertifiedThreshold(PACK)
    restored.restore(state)
    assert REMEDY not in restored.standing("support").note
