"""Quality and cost of a student beside its teacher.

Knows pairs, vectors and a clock. Invariant: teacher and student are timed in turns within one run, on the same texts
and one text at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from semcache.train import card, metrics
from semcache.train.pairs import Pair

if TYPE_CHECKING:
    from semcache.types import Matrix

Encode = Callable[[Sequence[str]], "Matrix"]
_FLOAT = 4  # bytes of a number in an index
CANDIDATES = 10


@dataclass(frozen=True, slots=True)
class StudentRow:
    """One row of the report. `vector_bytes` are those of a vector in an index, `size` those of the model's files."""

    name: str
    dim: int
    vector_bytes: int
    quality: metrics.Quality
    milliseconds: float | None = None
    size: int | None = None


def prefixes(dim: int) -> list[int]:
    """The leading dimensions to look at: 64, 128, 256... below `dim`."""
    return [width for width in (64, 128, 256, 512) if width < dim]


def row(name: str, pairs: Sequence[Pair], encode: Encode, *, width: int | None = None) -> StudentRow:
    """The figures of an embedder, or of its first `width` dimensions."""

    def cut(texts: Sequence[str]) -> Matrix:
        vectors = encode(texts)[:, :width]
        short: Matrix = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
        return short

    found = card.quality(pairs, cut)
    dim = width or int(encode([pairs[0].one]).shape[1])
    return StudentRow(name, dim, _FLOAT * dim, found)


def rescored(texts: Sequence[str], whole: Encode, short: Encode) -> dict[str, float]:
    """How often the nearest other text at full precision is found by the short vectors, alone and after a re-score.

    `alone` is the share of texts whose nearest is the short vectors' nearest, `rescored` that of those where it is
    among their ten nearest, which full vectors then put in order.
    """
    full, little = whole(texts), short(texts)
    wanted, near = full @ full.T, little @ little.T
    for scores in (wanted, near):
        np.fill_diagonal(scores, -np.inf)
    truth = wanted.max(axis=1)
    found = np.argsort(-near, axis=1)[:, :CANDIDATES]
    reached = np.take_along_axis(wanted, found, axis=1)
    return {
        "candidates": CANDIDATES,
        "alone": float((reached[:, 0] >= truth - 1e-6).mean()),
        "rescored": float((reached.max(axis=1) >= truth - 1e-6).mean()),
    }


def latency(encoders: Mapping[str, Encode], texts: Sequence[str], clock: Callable[[], float]) -> dict[str, float]:
    """The median milliseconds of one text alone, by encoder; `clock` gives seconds."""
    took: dict[str, list[float]] = {name: [] for name in encoders}
    for encode in encoders.values():
        encode(texts[:2])
    for text in texts:
        for name, encode in encoders.items():
            since = clock()
            encode([text])
            took[name].append(1000 * (clock() - since))
    return {name: median(some) for name, some in took.items()}


def size(folder: Path) -> int:
    """Bytes of what an embedder loads from a folder."""
    files = [folder / name for name in ("model.onnx", "vectors.npy", "tokenizer.json")]
    return sum(path.stat().st_size for path in files if path.is_file())


def as_json(one: StudentRow) -> dict[str, Any]:
    """The row as JSON has it."""
    figures = {name: round(getattr(one.quality, name), 4) for name in card.FIGURES}
    return {
        "name": one.name,
        "dim": one.dim,
        "vector_bytes": one.vector_bytes,
        "milliseconds": None if one.milliseconds is None else round(one.milliseconds, 3),
        "size": one.size,
        **figures,
    }
