"""What is learned from re-asked answers, and how it is kept."""

from __future__ import annotations

import json
import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semcache.errors import InvalidArgument
from semcache.retention.freshness.hazard import RATES, TAIL, HazardPosterior, HazardPrior, Hazards, prior_quantile
from semcache.types import Volatility

DAY = 86400.0
PRIOR = HazardPrior(1 / (300 * DAY), RATES)
SLOW = Volatility.SLOW
observations = st.lists(
    st.tuples(
        st.sampled_from(["default", "news"]),
        st.sampled_from(list(Volatility)),
        st.floats(0.0, 1e9),
        st.booleans(),
    ),
    max_size=40,
)


def posterior(hazards: Hazards, kind: Volatility = SLOW, category: str = "default") -> HazardPosterior:
    return hazards.posterior(category, kind, PRIOR, 0.95)


def filled(age: float, count: int, differing: int, *, noise: float = 0.005, kind: Volatility = SLOW) -> Hazards:
    hazards = Hazards(noise)
    for number in range(count):
        hazards.observe("default", kind, age, number * differing // count != (number + 1) * differing // count)
    return hazards


def test_before_anything_was_seen_the_prior_holds() -> None:
    for kind in Volatility:
        found = posterior(Hazards(), kind)
        assert found.mean == pytest.approx(PRIOR.rate * RATES[kind])
        assert found.upper == pytest.approx(PRIOR.rate * RATES[kind] * prior_quantile(0.95))


def test_the_quantile_of_the_prior_is_that_of_its_definition() -> None:
    rng = random.Random(1)
    draws = sorted(rng.expovariate(rng.gammavariate(TAIL, 1.0)) for _ in range(200_000))
    for probability in (0.5, 0.9, 0.95):
        assert draws[int(probability * len(draws))] * (TAIL - 1) == pytest.approx(prior_quantile(probability), rel=0.05)


def test_changes_raise_the_bound_and_constancy_lowers_it() -> None:
    before = posterior(Hazards()).upper
    assert posterior(filled(7 * DAY, 50, 15)).upper > 5 * before
    assert posterior(filled(70 * DAY, 50, 0)).upper < before / 2


def test_one_early_change_already_counts() -> None:
    assert posterior(filled(DAY, 1, 1)).upper > 1.5 * posterior(Hazards()).upper


@pytest.mark.parametrize("truth", [2 * DAY, 30 * DAY, 400 * DAY])
def test_the_bound_covers_the_true_rate_in_most_worlds_and_is_not_far_off(truth: float) -> None:
    covered = 0
    for seed in range(50):
        rng, hazards = random.Random(seed), Hazards()
        for _ in range(80):
            age = math.exp(rng.uniform(math.log(0.05), math.log(2))) * truth
            hazards.observe("default", SLOW, age, rng.random() < -math.expm1(-age / truth))
        found = posterior(hazards)
        covered += found.upper >= 1 / truth
        assert found.upper < 4 / truth  # a bound that is never tight would shorten every life
    assert covered >= 40  # a bound without a margin would cover half


def test_wording_that_differs_at_any_age_is_not_taken_for_change() -> None:
    rng, hazards = random.Random(3), Hazards()
    for _ in range(300):
        hazards.observe("default", SLOW, math.exp(rng.uniform(math.log(60), math.log(30 * DAY))), rng.random() < 0.4)
    assert posterior(hazards).upper < 1 / (60 * DAY)  # taken at its word, four in ten changes are one every few minutes


def test_what_differs_more_with_age_is_taken_for_change_in_spite_of_noise() -> None:
    rng, hazards, truth = random.Random(4), Hazards(), 10 * DAY
    for _ in range(600):
        age = math.exp(rng.uniform(math.log(0.01), math.log(2))) * truth
        hazards.observe("default", SLOW, age, rng.random() < max(0.3, -math.expm1(-age / truth)))
    assert 0.5 / truth < posterior(hazards).upper < 4 / truth


def test_fast_prompts_lend_a_little_to_slow_ones_and_nothing_to_other_categories() -> None:
    hazards = filled(2 * DAY, 200, 60, kind=Volatility.FAST)
    before = posterior(Hazards()).upper
    assert posterior(hazards).upper > 1.2 * before
    assert posterior(hazards).upper < posterior(hazards, Volatility.FAST).upper / 2
    assert posterior(hazards, category="news").upper == pytest.approx(before)


def test_old_observations_fade() -> None:
    hazards = filled(7 * DAY, 100, 50)
    high = posterior(hazards).upper
    for _ in range(5000):
        hazards.observe("default", SLOW, 7 * DAY, False)
    found = posterior(hazards)
    assert found.upper < high / 20
    assert found.observations < 1001


@given(observations)
@settings(max_examples=50, deadline=None)
def test_a_saved_state_gives_the_same_to_the_bit_and_learns_on_the_same(
    rows: list[tuple[str, Volatility, float, bool]],
) -> None:
    one, two = Hazards(), Hazards()
    for category, kind, age, changed in rows:
        one.observe(category, kind, age, changed)
    two.restore(json.loads(json.dumps(one.state())))
    assert two.state() == one.state()
    for hazards in (one, two):
        hazards.observe("default", SLOW, 1000.0, True)
    assert posterior(one) == posterior(two)


@given(observations)
@settings(max_examples=50, deadline=None)
def test_bounds_stay_finite_and_above_the_mean_of_what_is_plausible(
    rows: list[tuple[str, Volatility, float, bool]],
) -> None:
    hazards = Hazards()
    for category, kind, age, changed in rows:
        hazards.observe(category, kind, age, changed)
    for kind in Volatility:
        found = posterior(hazards, kind)
        assert 0 < found.mean < math.inf
        assert 0 < found.upper < math.inf


def test_an_answer_compared_with_itself_at_once_teaches_nothing() -> None:
    hazards = Hazards()
    hazards.observe("default", SLOW, 0.0, True)
    assert hazards.state() == {}


@pytest.mark.parametrize("age", [-1.0, math.inf, math.nan])
def test_an_impossible_exposure_is_refused(age: float) -> None:
    with pytest.raises(InvalidArgument, match="exposure"):
        Hazards().observe("default", SLOW, age, True)


@pytest.mark.parametrize("noise", [0.0, 1.0, -0.1])
def test_an_impossible_noise_is_refused(noise: float) -> None:
    with pytest.raises(InvalidArgument, match="noise"):
        Hazards(noise)


@pytest.mark.parametrize(
    "state",
    [
        {"version": 7, "cells": []},
        {"version": 1},
        {"version": 1, "cells": [["default", "often", []]]},
        {"version": 1, "cells": [["default", "slow", [[3, 1.0, 2.0, 5.0]]]]},
        {"version": 1, "cells": [["default", "slow", [[3, 1.0, 0.0]]]]},
        {"version": 1, "cells": 3},
    ],
)
def test_a_foreign_state_is_refused_and_changes_nothing(state: dict[str, object]) -> None:
    hazards = filled(DAY, 3, 1)
    before = hazards.state()
    with pytest.raises(ValueError):
        hazards.restore(state)
    assert hazards.state() == before
