"""A linear map of unit vectors, learned from labelled pairs in seconds on a laptop.

P(same answer) = sigmoid(scale * cosine + shift) of the mapped vectors, fitted by log loss with Adam (Kingma and Ba
2015, algorithm 1). With `prefixes`, the loss is the mean over the first so many dimensions as well, so that the leading
ones carry most (Matryoshka, Kusupati et al. 2022, equation 1). Knows vectors and no model; needs numpy alone.
Invariant: equal examples, start and options give equal parameters.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from semcache.errors import InvalidArgument
from semcache.train.pairs import Pair

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from semcache.types import Matrix

    Array = NDArray[np.float32]

SCALE, SHIFT = 10.0, -7.5  # where learning starts: even odds at a cosine of 0.75
_HASTE = 10.0  # scale and shift learn so much faster than the map
_MOMENTS = (0.9, 0.999)
_TINY = 1e-8
_ANSWERS = 2  # scale and shift, behind the map's own parameters


class MapParametrisation(Protocol):
    """The dependence of a map of shape (rows, dim) on its parameters, float32 of shape (size,)."""

    size: int

    def start(self) -> Array:
        """The parameters to begin with."""
        ...

    def matrix(self, parameters: Array) -> Array:
        """The map, shape (rows, dim)."""
        ...

    def pull(self, gradient: Array) -> Array:
        """The gradient of the parameters, from that of the map."""
        ...


class FullMap:
    """Every number of the map is learned; `matrix` is where it begins, the identity if it is a dimension."""

    def __init__(self, matrix: Array | int) -> None:
        self._start = np.eye(matrix, dtype=np.float32) if isinstance(matrix, int) else matrix.astype(np.float32)
        self.size = self._start.size

    def start(self) -> Array:
        """The parameters before learning."""
        return self._start.ravel().copy()

    def matrix(self, parameters: Array) -> Array:
        """The map of these parameters."""
        return parameters.reshape(self._start.shape)

    def pull(self, gradient: Array) -> Array:
        """The gradient by the parameters, from that by the map."""
        return gradient.ravel()


class LowRankMap:
    """The identity plus A @ B of rank `rank`, where only A is learned, from zero (Hu et al. 2021, section 4.1).

    B is drawn once from `seed` and has orthonormal rows: with B the same everywhere, the mean of maps is the map of the
    mean of parameters (Sun et al. 2024, "Improving LoRA in privacy-preserving federated learning", section 4).
    """

    def __init__(self, dim: int, rank: int, *, seed: int) -> None:
        if not 1 <= rank <= dim:
            raise InvalidArgument(f"rank {rank} must be from 1 to the dimension, {dim}")
        drawn = np.random.default_rng(seed).normal(size=(dim, rank))
        self._b = np.linalg.qr(drawn)[0].T.astype(np.float32)
        self._dim, self.size = dim, dim * rank

    def start(self) -> Array:
        """The parameters before learning: zero."""
        return np.zeros(self.size, np.float32)

    def matrix(self, parameters: Array) -> Array:
        """The map of these parameters."""
        found: Array = np.eye(self._dim, dtype=np.float32) + parameters.reshape(self._dim, -1) @ self._b
        return found

    def pull(self, gradient: Array) -> Array:
        """The gradient by the parameters, from that by the map."""
        found: Array = (gradient @ self._b.T).ravel()
        return found


@dataclass(frozen=True, slots=True)
class PairVectors:
    """Pairs as vectors: `one` and `two` float32 of shape (n, dim), `same` bool of shape (n,)."""

    one: Array
    two: Array
    same: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.same)


@dataclass(frozen=True, slots=True)
class LinearMapOptions:
    """Options of learning: `rate` is Adam's step size, `batch` pairs a step."""

    epochs: int = 3
    batch: int = 128
    rate: float = 1e-3
    seed: int = 7


def examples(pairs: Sequence[Pair], encode: Callable[[Sequence[str]], Matrix]) -> PairVectors:
    """The vectors of the pairs; a text is embedded once."""
    texts = list(dict.fromkeys(text for pair in pairs for text in (pair.one, pair.two)))
    rows, place = encode(texts), {text: row for row, text in enumerate(texts)}
    one, two = (rows[[place[text] for text in side]] for side in ([p.one for p in pairs], [p.two for p in pairs]))
    return PairVectors(one, two, np.array([pair.same for pair in pairs], dtype=np.bool_))


def start(part: MapParametrisation) -> Array:
    """The parameters before any learning: those of `part`, then scale and shift."""
    return np.concatenate([part.start(), np.array([SCALE, SHIFT], np.float32)])


def matrix_of(part: MapParametrisation, parameters: Array) -> Array:
    """The map of these parameters, shape (rows, dim)."""
    return part.matrix(parameters[:-_ANSWERS])


def cosines(matrix: Array, pairs: PairVectors) -> NDArray[np.float64]:
    """The cosine of each pair after the map, shape (n,); 0 where a vector is mapped to nothing."""
    (one, _), (two, _) = _unit(pairs.one @ matrix.T), _unit(pairs.two @ matrix.T)
    found: NDArray[np.float64] = np.einsum("ij,ij->i", one.astype(np.float64), two.astype(np.float64))
    return found


def fit(
    part: MapParametrisation,
    parameters: Array,
    pairs: PairVectors,
    course: LinearMapOptions,
    *,
    prefixes: Sequence[int] = (),
) -> Array:
    """The parameters after `course.epochs` passes over `pairs`. `prefixes` are numbers of leading dimensions."""
    found = parameters.astype(np.float32)
    rates = np.full(len(found), course.rate, np.float32)
    rates[-_ANSWERS:] *= _HASTE
    mean, square = np.zeros_like(found), np.zeros_like(found)
    rng = random.Random(course.seed)
    step = 0
    for _ in range(course.epochs):
        rows = list(range(len(pairs)))
        rng.shuffle(rows)
        for at in range(0, len(rows), course.batch):
            chosen = rows[at : at + course.batch]
            batch = PairVectors(pairs.one[chosen], pairs.two[chosen], pairs.same[chosen])
            gradient = loss(part, found, batch, prefixes)[1]
            step += 1
            mean = _MOMENTS[0] * mean + (1 - _MOMENTS[0]) * gradient
            square = _MOMENTS[1] * square + (1 - _MOMENTS[1]) * gradient**2
            ahead = mean / (1 - _MOMENTS[0] ** step)
            found -= rates * ahead / (np.sqrt(square / (1 - _MOMENTS[1] ** step)) + _TINY)
    return found


def loss(
    part: MapParametrisation, parameters: Array, pairs: PairVectors, prefixes: Sequence[int] = ()
) -> tuple[float, Array]:
    """The mean log loss (nats a pair) and its gradient, shape (part.size + 2,)."""
    matrix, (scale, shift) = matrix_of(part, parameters), parameters[-_ANSWERS:]
    one, two = pairs.one @ matrix.T, pairs.two @ matrix.T
    widths = sorted({*(width for width in prefixes if width < len(matrix)), len(matrix)})
    total, gradient = 0.0, np.zeros_like(matrix)
    answers = np.zeros(_ANSWERS, np.float32)
    for width in widths:
        (u, long), (v, wide) = _unit(one[:, :width]), _unit(two[:, :width])
        cosine = np.einsum("ij,ij->i", u, v)
        logit = scale * cosine + shift
        signed = np.where(pairs.same, logit, -logit)
        total += float(np.logaddexp(0.0, -signed).mean()) / len(widths)
        off = (1.0 / (1.0 + np.exp(-logit)) - pairs.same) / (len(pairs) * len(widths))
        answers += np.array([off @ cosine, off.sum()], np.float32)
        slope = (scale * off)[:, None]
        to_one, to_two = (slope * (v - cosine[:, None] * u) / long, slope * (u - cosine[:, None] * v) / wide)
        gradient[:width] += to_one.T @ pairs.one + to_two.T @ pairs.two
    return total, np.concatenate([part.pull(gradient), answers]).astype(np.float32)


def _unit(rows: Array) -> tuple[Array, Array]:
    long = np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), _TINY)
    return rows / long, long
