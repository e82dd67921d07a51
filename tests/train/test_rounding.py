"""Rounding of weights: on the grid that the export reads, and nearer to what the layer gave than nearest values are."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from semcache.train.bert_graph import _quantise
from semcache.train.rounding import rounded

LEVELS = 63


def nearest(weight: np.ndarray) -> np.ndarray:
    codes, scales = _quantise(weight, axis=1, levels=LEVELS)
    return codes * scales


def inputs(rng: np.random.Generator, count: int, width: int) -> np.ndarray:
    """Inputs that go together, as those of a layer do."""
    return rng.normal(size=(count, 6)) @ rng.normal(size=(6, width)) + 0.3 * rng.normal(size=(count, width))


@given(st.integers(0, 10_000), st.integers(1, 6), st.integers(1, 200))
def test_the_export_reads_back_what_was_rounded(seed: int, rows: int, width: int) -> None:
    rng = np.random.default_rng(seed)
    weight = rng.normal(size=(rows, width)).astype(np.float32)
    weight[0] *= rng.integers(0, 2)
    x = inputs(rng, 50, width)
    found = rounded(weight, x.T @ x, LEVELS)
    assert np.allclose(nearest(found), found, rtol=0.0, atol=1e-6 * np.abs(weight).max())
    assert (np.abs(found).max(axis=1) <= np.abs(weight).max(axis=1) * (1 + 1e-6)).all()


def test_what_a_layer_gives_changes_less_than_by_nearest_values() -> None:
    rng = np.random.default_rng(7)
    x, weight = inputs(rng, 2000, 256), rng.normal(size=(32, 256)).astype(np.float32)
    changes = [np.abs(x @ (weight - near).T).mean() for near in (rounded(weight, x.T @ x, LEVELS), nearest(weight))]
    assert changes[0] < 0.3 * changes[1]


def test_a_training_that_moves_no_weight_by_half_a_step_is_not_forgotten() -> None:
    rng = np.random.default_rng(7)
    x, begun = inputs(rng, 2000, 256), nearest(rng.normal(size=(32, 256)).astype(np.float32))
    step = np.abs(begun).max(axis=1, keepdims=True) / LEVELS
    moved = (begun + 0.2 * step * np.sign(x[0])).astype(np.float32)
    assert np.allclose(nearest(moved), begun, atol=1.01 * step.max())
    taught = x @ (moved - begun).T
    kept = [(x @ (near - begun).T) for near in (rounded(moved, x.T @ x, LEVELS), nearest(moved))]
    left = [float((taught * one).sum() / (taught * taught).sum()) for one in kept]
    assert left[0] > 0.95
    assert left[1] < 0.3
