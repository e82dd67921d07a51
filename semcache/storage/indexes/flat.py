"""Exact search by comparing the query with every vector: right up to a few thousand of them.

Knows nothing of partitions and threads; one thread owns it.
Invariant: rows 0 to n-1 of matrix and ids are the live entries, in no particular order, each id once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from semcache.errors import IndexFault
from semcache.types import Neighbour

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from semcache.types import Matrix, Vector

    Ids = NDArray[np.int64]


class FlatIndex:
    """A growing matrix of unit vectors. Keeps 8 bytes an entry beside its vector."""

    def __init__(self, dim: int, *, capacity: int = 4) -> None:
        self._dim = dim
        self._count = 0
        self._ids: Ids = np.empty(max(1, capacity), np.int64)
        self._matrix: Matrix = np.empty((max(1, capacity), dim), np.float32)

    def __len__(self) -> int:
        return self._count

    def add(self, id: int, vector: Vector) -> None:
        """Insert, or replace the vector of `id`. Raises IndexFault for what is no finite unit vector of this size."""
        checked = checked_vector(vector, self._dim)
        row = self._row(id)
        if row is None:
            self._reserve(1)
            row = self._count
            self._count += 1
        self._ids[row] = id
        self._matrix[row] = checked

    def bulk_add(self, ids: Ids, matrix: Matrix) -> None:
        """Add many at once; of an id that occurs twice the last vector stays. Raises IndexFault and adds none."""
        checked = checked_rows(matrix, self._dim)
        if len(ids) != len(checked):
            raise IndexFault(f"{len(ids)} ids for {len(checked)} vectors")
        if len(np.unique(ids)) != len(ids) or np.isin(ids, self.ids).any():
            for entry_id, vector in zip(ids.tolist(), checked, strict=True):
                self.add(entry_id, vector)
            return
        self._reserve(len(ids))
        end = self._count + len(ids)
        self._ids[self._count : end] = ids
        self._matrix[self._count : end] = checked
        self._count = end

    def remove(self, id: int) -> None:
        """Forget `id`; the last row takes its place. Unknown ids are ignored."""
        row = self._row(id)
        if row is None:
            return
        self._count -= 1
        self._ids[row] = self._ids[self._count]
        self._matrix[row] = self._matrix[self._count]

    def search(self, vector: Vector, k: int) -> list[Neighbour]:
        """At most k neighbours, best first. Raises IndexFault for what is no finite unit vector of this size."""
        query = checked_vector(vector, self._dim)
        k = min(k, self._count)
        if k <= 0:
            return []
        # Not `matrix @ query`: BLAS would start its threads for it, and on a busy machine they cost twenty times the
        # product itself. vecdot stays in this thread and is as fast as single-threaded BLAS.
        scores = np.vecdot(self._matrix[: self._count], query)
        best = scores.argpartition(-k)[-k:] if k < self._count else slice(0, self._count)
        found = sorted(zip((-scores[best]).tolist(), self._ids[best].tolist(), strict=True))
        return [Neighbour(entry_id, max(-1.0, min(1.0, -behind))) for behind, entry_id in found]

    @property
    def ids(self) -> Ids:
        """The live ids; a view that the next change invalidates."""
        return self._ids[: self._count]

    @property
    def matrix(self) -> Matrix:
        """The live vectors in the order of `ids`; a view that the next change invalidates."""
        return self._matrix[: self._count]

    def take(self, ids: Ids) -> tuple[Ids, Matrix]:
        """Those of `ids` that are here, with their vectors."""
        rows = np.flatnonzero(np.isin(self.ids, ids))
        return self._ids[rows], self._matrix[rows]

    def bytes_used(self) -> int:
        """Bytes reserved, room for growth included."""
        return self._matrix.nbytes + self._ids.nbytes

    def _row(self, id: int) -> int | None:
        rows = np.flatnonzero(self.ids == id)
        return int(rows[0]) if len(rows) else None

    def _reserve(self, extra: int) -> None:
        needed, capacity = self._count + extra, len(self._ids)
        if needed <= capacity:
            return
        capacity = max(needed, 2 * capacity)
        ids, matrix = np.empty(capacity, np.int64), np.empty((capacity, self._dim), np.float32)
        ids[: self._count], matrix[: self._count] = self.ids, self.matrix
        self._ids, self._matrix = ids, matrix


def checked_vector(vector: Vector, dim: int) -> Vector:
    """Return `vector` as contiguous float32, or raise IndexFault unless it is a unit vector of `dim`."""
    row: Vector = np.ascontiguousarray(vector, np.float32)
    if row.shape != (dim,):
        raise IndexFault(f"a vector of shape {row.shape} does not fit an index of dimension {dim}")
    square = float(row @ row)
    if not abs(square - 1) < 1e-2:  # also false for NaN and infinity
        raise IndexFault(
            f"a vector of squared length {square:.4g} is no unit vector: normalise it before it is indexed"
        )
    return row


def checked_rows(matrix: Matrix, dim: int) -> Matrix:
    """Return `matrix` as contiguous float32, or raise IndexFault unless its rows are unit vectors of `dim`."""
    rows: Matrix = np.ascontiguousarray(matrix, np.float32)
    if rows.ndim != 2 or rows.shape[1] != dim:
        raise IndexFault(f"a vector of shape {rows.shape[1:]} does not fit an index of dimension {dim}")
    squares = np.vecdot(rows, rows)
    if not np.all(np.abs(squares - 1) < 1e-2):  # also false for NaN and infinity
        worst = squares[~(np.abs(squares - 1) < 1e-2)][0]
        raise IndexFault(f"a vector of squared length {worst:.4g} is no unit vector: normalise it before it is indexed")
    return rows
