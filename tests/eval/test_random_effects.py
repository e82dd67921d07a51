"""Random effects of hands: what differs is found, and what few labels leave open is not taken for a difference."""

from __future__ import annotations

import numpy as np
import pytest

from eval.random_effects import between


@pytest.mark.parametrize(("deviation", "least", "most"), [(1.0, 0.6, 1.6), (0.0, 0.0, 0.2)])
def test_the_variance_between_hands_is_found_and_not_that_of_few_labels(
    deviation: float, least: float, most: float
) -> None:
    rng, groups, alone = np.random.default_rng(3), [], []
    for _ in range(30):
        x = np.stack([np.ones(60), rng.normal(0.0, 1.0, 60)], axis=1)
        intercept = 0.5 + deviation * rng.normal()
        y = (rng.random(60) < 1.0 / (1.0 + np.exp(-(intercept + x[:, 1])))).astype(float)
        groups.append((x, y))
        alone.append(np.log((y.sum() + 0.5) / (60.5 - y.sum())))
    mean, covariance = between(groups, np.array([0.0, 1.0]), np.array([0.5, 0.04]))
    assert mean == pytest.approx([0.5, 1.0], abs=0.4)
    assert least < covariance[0, 0] < most
    assert covariance == pytest.approx(covariance.T)
    if not deviation:
        assert covariance[0, 0] < 1.5 * float(np.var(alone))


def test_what_few_labels_leave_open_does_not_hide_how_far_hands_differ() -> None:
    rng, groups = np.random.default_rng(5), []
    for _ in range(200):
        y = (rng.random(10) < 1.0 / (1.0 + np.exp(-rng.normal()))).astype(float)
        groups.append((np.ones((10, 1)), y))
    _, covariance = between(groups, np.zeros(1), np.array([0.5]))
    assert 0.6 < covariance[0, 0] < 1.5
