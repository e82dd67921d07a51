"""A flat vector index of a simulated cache: partitions searched by comparing a query with every row.

Knows nothing of texts and answers. Invariant: a search sees exactly the live entries of the partitions that it names,
and scores computed ahead equal the product with the rows as they are now.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from semcache.types import Neighbour

if TYPE_CHECKING:
    from semcache.types import Matrix, Vector

Places: TypeAlias = dict[bytes, int]  # of one query: its row among those that a partition foresaw


class SimulatedIndex:
    """Partitions by their names. An entry lies in one of them."""

    def __init__(self) -> None:
        self._partitions: dict[bytes, SimulatedPartition] = {}

    def add(self, name: bytes, id: int, vector: Vector) -> None:
        """Take in a vector whose id is new."""
        self._open(name, len(vector)).add(id, vector)

    def remove(self, name: bytes, id: int) -> None:
        """Forget an id; unknown ones are ignored."""
        partition = self._partitions.get(name)
        if partition is not None:
            partition.remove(id)

    def search(self, names: Sequence[bytes], vector: Vector, k: int, places: Places) -> list[Neighbour]:
        """At most k neighbours within these partitions, best first."""
        found: list[Neighbour] = []
        for name in names:
            partition = self._partitions.get(name)
            if partition is not None:
                found += partition.search(vector, k, foreseen=places.get(name))
        return found if len(names) == 1 else sorted(found, key=lambda one: -one.score)[:k]

    @contextmanager
    def foresight(self, asked: Sequence[Sequence[bytes]], vectors: Matrix) -> Iterator[list[Places]]:
        """Compare a block of coming queries at once; `asked` names the partitions of each. Yields their places."""
        rows_of: dict[bytes, list[int]] = {}
        places: list[Places] = []
        for row, names in enumerate(asked):
            places.append({name: len(rows_of.setdefault(name, [])) for name in names})
            for name in names:
                rows_of[name].append(row)
        partitions = [self._open(name, vectors.shape[1]) for name in rows_of]
        for partition, rows in zip(partitions, rows_of.values(), strict=True):
            partition.foresee(vectors[rows])
        try:
            yield places
        finally:
            for partition in partitions:
                partition.forget()

    def _open(self, name: bytes, dim: int) -> SimulatedPartition:
        partition = self._partitions.get(name)
        if partition is None:
            partition = self._partitions[name] = SimulatedPartition(dim)
        return partition


class SimulatedPartition:
    """A growing matrix of unit vectors that can compare a block of coming queries in one product.

    One product of two matrices is some ten times as fast as as many products with a vector, each of which has to fetch
    every row from memory.
    """

    def __init__(self, dim: int) -> None:
        self._count = 0
        self._ids = np.empty(4, np.int64)
        self._matrix: Matrix = np.empty((4, dim), np.float32)
        self._row_of: dict[int, int] = {}
        self._queries: Matrix = np.empty((0, dim), np.float32)
        self._ahead: Matrix = np.empty((0, 4), np.float32)

    def __len__(self) -> int:
        return self._count

    def add(self, id: int, vector: Vector) -> None:
        """Take in a vector whose id is new."""
        if self._count == len(self._ids):
            self._grow()
        row = self._row_of[id] = self._count
        self._ids[row], self._matrix[row] = id, vector
        if len(self._queries):
            self._ahead[:, row] = self._queries @ vector
        self._count += 1

    def remove(self, id: int) -> None:
        """Forget an id; the last row takes its place. Unknown ids are ignored."""
        row = self._row_of.pop(id, None)
        if row is None:
            return
        self._count -= 1
        last = self._count
        if row != last:
            self._ids[row], self._matrix[row] = self._ids[last], self._matrix[last]
            self._row_of[int(self._ids[row])] = row
            self._ahead[:, row] = self._ahead[:, last]

    def foresee(self, queries: Matrix) -> None:
        """Compare these queries with every row at once; `search` may then be given a query's row among them."""
        self._queries = np.ascontiguousarray(queries, np.float32)
        self._ahead = np.empty((len(self._queries), len(self._ids)), np.float32)
        np.matmul(self._queries, self._matrix[: self._count].T, out=self._ahead[:, : self._count])

    def forget(self) -> None:
        """Drop what was computed ahead."""
        self._queries, self._ahead = self._queries[:0], self._ahead[:0]

    def search(self, vector: Vector, k: int, *, foreseen: int | None = None) -> list[Neighbour]:
        """At most k neighbours, best first. `foreseen` is the row of this vector in the matrix given to `foresee`."""
        count = self._count
        k = min(k, count)
        if k <= 0:
            return []
        # Not `matrix @ vector`: BLAS would start its threads for it, which costs more than the product itself.
        rough = np.vecdot(self._matrix[:count], vector) if foreseen is None else self._ahead[foreseen, :count]
        best = np.argpartition(rough, count - k)[count - k :] if k < count else np.arange(k)
        # Scored anew, for the last bits of a product depend on the shapes of what is multiplied.
        scores = np.vecdot(self._matrix[best], vector)
        order = np.lexsort((self._ids[best], -scores))
        pairs = zip(self._ids[best][order].tolist(), scores[order].tolist(), strict=True)
        return [Neighbour(entry_id, max(-1.0, min(1.0, score))) for entry_id, score in pairs]

    def _grow(self) -> None:
        count, capacity = self._count, 2 * len(self._ids)
        ids, matrix = np.empty(capacity, np.int64), np.empty((capacity, self._matrix.shape[1]), np.float32)
        ahead = np.empty((len(self._ahead), capacity), np.float32)
        ids[:count], matrix[:count], ahead[:, :count] = self._ids, self._matrix, self._ahead
        self._ids, self._matrix, self._ahead = ids, matrix, ahead
