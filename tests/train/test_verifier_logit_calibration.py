"""Calibration: probabilities mean what they say, and never more than the labels can support."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.errors import InvalidArgument
from semcache.train.verifier import logit_calibration
from semcache.train.verifier.logit_calibration import LogitScale


def drawn(count: int, slope: float, intercept: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    logits = rng.normal(0.0, 4.0, count).astype(np.float32)
    p = 1.0 / (1.0 + np.exp(-(slope * logits + intercept)))
    return logits, rng.random(count) < p


def test_the_true_scale_is_found() -> None:
    logits, same = drawn(20_000, 0.6, -1.5)
    found = logit_calibration.fit(logits, same.tolist())
    assert found.slope == pytest.approx(0.6, abs=0.03)
    assert found.intercept == pytest.approx(-1.5, abs=0.1)
    assert logit_calibration.expected_error(found.of(logits), same.tolist()) < 0.01


def test_few_labels_allow_no_high_probability() -> None:
    logits, same = drawn(200, 2.0, 0.0)
    few, many = logit_calibration.fit(logits, same.tolist()), logit_calibration.fit(*drawn(20_000, 2.0, 0.0))
    assert few.most < 0.98 < many.most < 1.0
    assert float(few.of(np.array([50.0], np.float32))[0]) == few.most


def test_a_verifier_that_ranks_backwards_is_refused() -> None:
    logits, same = drawn(500, 1.0, 0.0)
    with pytest.raises(InvalidArgument, match="ranks pairs"):
        logit_calibration.fit(-logits, same.tolist())


def test_one_class_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="both classes"):
        logit_calibration.fit(np.zeros(3, np.float32), [True] * 3)


@pytest.mark.parametrize(
    ("right", "of", "bound"), [(10, 10, 0.7411), (99, 100, 0.9534), (0, 5, 0.0), (950, 1000, 0.9371)]
)
def test_the_bound_is_that_of_clopper_and_pearson(right: int, of: int, bound: float) -> None:
    assert logit_calibration.lower_bound(right, of) == pytest.approx(bound, abs=2e-4)


@given(st.lists(st.floats(-60, 60, width=32), min_size=2, max_size=20), st.floats(0.1, 3), st.floats(-3, 3))
def test_order_and_bounds_are_kept(logits: list[float], slope: float, intercept: float) -> None:
    p = LogitScale(slope, intercept, 0.01, 0.99).of(np.array(sorted(logits), np.float32))
    assert np.all(np.diff(p) >= 0)
    assert np.all((p >= 0.01) & (p <= 0.99))
