"""The learned map: its gradient, what it learns, and that leading dimensions say most."""

from __future__ import annotations

import numpy as np
import pytest

from semcache.errors import InvalidArgument
from semcache.train.distill import linear_map, pca
from tests.train.federate.owners import DIM, pairs


@pytest.mark.parametrize(
    "part", [linear_map.FullMap(DIM), linear_map.LowRankMap(DIM, 3, seed=1), linear_map.FullMap(np.eye(DIM)[:5])]
)
@pytest.mark.parametrize("prefixes", [(), (2, 4)])
def test_the_gradient_is_the_slope(part: linear_map.MapParametrisation, prefixes: tuple[int, ...]) -> None:
    examples = pairs(40, 3)
    exact = linear_map.PairVectors(examples.one.astype(np.float64), examples.two.astype(np.float64), examples.same)
    rng = np.random.default_rng(0)
    at = linear_map.start(part).astype(np.float64) + rng.normal(0, 0.1, part.size + 2)
    gradient = linear_map.loss(part, at, exact, prefixes)[1]
    for place in [*rng.integers(0, part.size, 6), part.size, part.size + 1]:
        step = np.zeros_like(at)
        step[place] = 1e-4
        slope = (
            linear_map.loss(part, at + step, exact, prefixes)[0] - linear_map.loss(part, at - step, exact, prefixes)[0]
        ) / 2e-4
        assert gradient[place] == pytest.approx(slope, abs=2e-5, rel=2e-3)


def test_it_learns_which_directions_matter_and_equal_starts_end_alike() -> None:
    part, course = linear_map.FullMap(DIM), linear_map.LinearMapOptions(epochs=8, batch=32, rate=1e-2)
    start = linear_map.start(part)
    found = linear_map.fit(part, start, pairs(600, 1), course)
    judge = pairs(1000, 2)

    def gap(parameters: np.ndarray) -> float:
        scores = linear_map.cosines(linear_map.matrix_of(part, parameters), judge)
        return float(scores[judge.same].mean() - scores[~judge.same].mean())

    assert gap(found) > gap(start) + 0.1
    assert np.array_equal(found, linear_map.fit(part, start, pairs(600, 1), course))
    assert np.array_equal(start, linear_map.start(part)), "the start is not written to"


def test_nested_training_puts_what_matters_first() -> None:
    backwards = linear_map.FullMap(np.eye(DIM, dtype=np.float32)[::-1])  # what matters begins at the end
    part, course = backwards, linear_map.LinearMapOptions(epochs=8, batch=32, rate=1e-2)
    plain, nested = (
        linear_map.matrix_of(
            part, linear_map.fit(part, linear_map.start(part), pairs(600, 1), course, prefixes=prefixes)
        )
        for prefixes in ((), (2,))
    )
    judge = pairs(1000, 2)

    def gap(matrix: np.ndarray) -> float:
        scores = linear_map.cosines(matrix[:2], judge)
        return float(scores[judge.same].mean() - scores[~judge.same].mean())

    assert gap(nested) > gap(plain) + 0.1


def test_principal_directions_are_orthonormal_ordered_and_the_best_of_their_number() -> None:
    vectors = np.random.default_rng(0).normal(size=(300, 12)).astype(np.float32) * np.arange(1, 13)[::-1]
    found = pca.directions(vectors, 5)
    assert found @ found.T == pytest.approx(np.eye(5), abs=1e-5)
    kept = np.square(vectors @ found.T).sum(axis=0)
    assert list(kept) == sorted(kept, reverse=True)
    random = np.linalg.qr(np.random.default_rng(1).normal(size=(12, 5)))[0].T
    assert kept.sum() > np.square(vectors @ random.T).sum()
    assert np.array_equal(found, pca.directions(vectors, 5))


@pytest.mark.parametrize(("count", "dim"), [(300, 1), (300, 13), (4, 5)])
def test_dimensions_that_cannot_be_told_are_refused(count: int, dim: int) -> None:
    with pytest.raises(InvalidArgument, match="dimension"):
        pca.directions(np.ones((count, 12), np.float32), dim)


def test_a_rank_that_does_not_fit_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="rank 9"):
        linear_map.LowRankMap(DIM, 9, seed=1)
