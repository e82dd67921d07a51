"""Clipping, noise and the accountant. If these fail, a stated epsilon is a lie."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.errors import InvalidArgument
from semcache.train.federate import averaging, federated_model, local_training, privacy
from semcache.train.federate.in_process import simulate
from tests.train.federate import owners


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=40), st.floats(0.01, 10))
def test_without_noise_nothing_is_longer_than_the_clip(values: list[float], clip: float) -> None:
    sent = privacy.private(np.array(values), clip=clip, noise=0.0, clients=5, rng=np.random.default_rng(0))
    assert np.linalg.norm(sent) <= clip


def test_the_noise_of_all_clients_together_is_what_was_agreed() -> None:
    rngs = [np.random.default_rng(seed) for seed in range(25)]
    sent = [privacy.private(np.zeros(20_000), clip=0.5, noise=3.0, clients=25, rng=rng) for rng in rngs]
    assert np.std(np.sum(sent, axis=0)) == pytest.approx(1.5, rel=0.03)


@pytest.mark.parametrize(
    ("noise", "rounds", "delta", "expected"),
    [
        # Balle and Wang 2018, algorithm 1: the least noise for (1, 1e-5) is 3.7306.
        (3.730632, 1, 1e-5, 1.0),
        (3.730632 * 10, 100, 1e-5, 1.0),  # a hundred rounds cost as much as one with a tenth of the noise
    ],
)
def test_epsilon_is_that_of_the_literature(noise: float, rounds: int, delta: float, expected: float) -> None:
    assert privacy.epsilon(noise, rounds, delta) == pytest.approx(expected, abs=2e-3)


@given(st.floats(0.5, 50), st.integers(1, 200))
def test_epsilon_is_never_above_the_renyi_bound(noise: float, rounds: int) -> None:
    # Mironov 2017, proposition 3 with corollary 3: a looser bound, by another way.
    bound = rounds / (2 * noise**2) + math.sqrt(2 * rounds * math.log(1e5)) / noise
    found = privacy.epsilon(noise, rounds, 1e-5)
    assert 0 <= found <= bound * (1 + 1e-9)
    assert privacy.epsilon(noise * 2, rounds, 1e-5) <= found
    assert privacy.epsilon(noise, rounds + 1, 1e-5) >= found


def test_without_noise_there_is_no_bound() -> None:
    assert privacy.epsilon(0.0, 5, 1e-5) == math.inf
    with pytest.raises(InvalidArgument, match="delta"):
        privacy.epsilon(1.0, 5, 0.0)


def test_a_private_update_tells_neither_samples_nor_counts() -> None:
    plan, small, large = owners.plan(clip=0.5, noise=0.0), owners.owner(1, 20), owners.owner(2, 90)
    for held in (small, large):
        bare = local_training.contribution(local_training.start(plan), held, plan, round_=1)
        sent = local_training.add_noise(bare, plan, clients=3, round_=1, rng=np.random.default_rng(0))
        assert list(sent[-802:-800]) == [1.0, 1.0], "every client weighs the same"
        assert not sent[-800:].any(), "nothing is counted"
        assert np.linalg.norm(sent[:-802]) <= 0.5


def test_the_round_that_only_measures_leaves_the_map_that_it_measured() -> None:
    plan, seen = owners.plan(rounds=2, clip=0.5, noise=1.0), []
    model, _ = simulate(
        [owners.owner(number) for number in range(3)], plan, told=lambda _, before, __: seen.append(before)
    )
    assert not np.array_equal(seen[1].parameters, seen[2].parameters), "noise, while it learns"
    assert np.array_equal(model.parameters, seen[2].parameters)
    bare = local_training.contribution(seen[2], owners.owner(1), plan, round_=3)
    assert not bare[: -averaging.EXTRA].any(), "there is nothing of the data in it that noise would have to hide"
    sent = local_training.add_noise(bare, plan, clients=3, round_=3, rng=np.random.default_rng(0))
    assert sent[-averaging.EXTRA] != bare[-averaging.EXTRA], "a threshold does come from the data"


@pytest.mark.parametrize("noise", [0.3, 0.7, 1.1, 2.0, 5.0, 23.0])
def test_the_stated_epsilon_is_never_less_than_the_real_one(noise: float) -> None:
    spent = federated_model.privacy_spent(owners.plan(rounds=4, clip=1.0, noise=noise))
    assert spent is not None
    exact = privacy.epsilon(noise, 5, spent["delta"])
    assert exact <= spent["epsilon"] <= exact + 1e-3


def test_noise_without_a_clip_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="clip"):
        owners.plan(noise=1.0)
