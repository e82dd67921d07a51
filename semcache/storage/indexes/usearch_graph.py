"""Approximate search in a navigable graph (usearch), where hnswlib, which has to be compiled, cannot be had.

Knows nothing of partitions. Removed entries leave the graph at once, and their places are used again: there are no
tombstones to rebuild for. Invariant: `search` never returns a removed id, and len() is the number of live ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from usearch.index import Index

from semcache.errors import IndexFault
from semcache.storage.indexes.flat import checked_rows, checked_vector
from semcache.types import Neighbour

if TYPE_CHECKING:
    from pathlib import Path

    from semcache.storage.indexes.flat import Ids
    from semcache.types import Matrix, Vector

_LINKS, _BUILDING, _SEARCHING = 16, 100, 64  # links of a node; candidates while the graph is built, and searched


class UsearchIndex:
    """A graph of unit vectors."""

    def __init__(self, dim: int, *, capacity: int = 1024) -> None:
        del capacity  # it grows by itself
        self._dim = dim
        self._graph = Index(
            ndim=dim,
            metric="ip",
            dtype="f32",
            connectivity=_LINKS,
            expansion_add=_BUILDING,
            expansion_search=_SEARCHING,
        )

    @classmethod
    def load(cls, path: Path, dim: int, ids: Ids) -> UsearchIndex:
        """Read what `save` wrote; `ids` are the live ones. Raises IndexFault. The caller has verified the bytes."""
        index = cls(dim)
        try:
            index._graph.load(str(path))
        except (RuntimeError, ValueError, OSError) as error:
            raise IndexFault(f"{path.name} is no graph of usearch: {error}") from error
        if index._graph.ndim != dim:
            raise IndexFault(f"{path.name} is no graph of dimension {dim}, but of {index._graph.ndim}")
        if set(index.ids.tolist()) != set(ids.tolist()):
            raise IndexFault(f"{path.name} has other entries than the snapshot lists")
        return index

    def save(self, path: Path) -> None:
        """Write the graph with its vectors."""
        self._graph.save(str(path))

    def __len__(self) -> int:
        return len(self._graph)

    @property
    def tombstones(self) -> int:
        """0: nothing that was removed is left."""
        return 0

    def add(self, id: int, vector: Vector) -> None:
        """Insert, or replace the vector of `id`. Raises IndexFault for what is no finite unit vector of this size."""
        self._insert(np.array([id], np.int64), checked_vector(vector, self._dim)[None])

    def bulk_add(self, ids: Ids, matrix: Matrix) -> None:
        """Add many; of an id that occurs twice the last vector stays. Raises IndexFault and adds none."""
        checked = checked_rows(matrix, self._dim)
        if len(ids) != len(checked):
            raise IndexFault(f"{len(ids)} ids for {len(checked)} vectors")
        last = {entry_id: row for row, entry_id in enumerate(np.asarray(ids).tolist())}
        rows = list(last.values())
        self._insert(np.array(list(last), np.int64), checked[rows])

    def remove(self, id: int) -> None:
        """Forget `id`. Unknown ids are ignored."""
        if id in self._graph:
            self._graph.remove(id)

    def search(self, vector: Vector, k: int) -> list[Neighbour]:
        """At most k neighbours, best first. Raises IndexFault for what is no finite unit vector of this size."""
        query = checked_vector(vector, self._dim)
        k = min(k, len(self))
        if k <= 0:
            return []
        found = self._graph.search(query, k, threads=1)
        return [
            Neighbour(int(entry_id), max(-1.0, min(1.0, 1.0 - float(distance))))
            for entry_id, distance in zip(found.keys.tolist(), found.distances.tolist(), strict=True)
        ]

    @property
    def ids(self) -> Ids:
        """The live ids."""
        return np.fromiter((int(key) for key in self._graph.keys), np.int64, len(self._graph))

    def take(self, ids: Ids) -> tuple[Ids, Matrix]:
        """Those of `ids` that are live, with their vectors."""
        found = [entry_id for entry_id in ids.tolist() if entry_id in self._graph]
        rows = [np.asarray(self._graph.get(entry_id), np.float32).reshape(1, -1) for entry_id in found]
        matrix = np.concatenate(rows) if rows else np.empty((0, self._dim), np.float32)
        return np.array(found, np.int64), matrix

    def bytes_used(self) -> int:
        """Bytes of the graph as it says itself, room for growth included."""
        return int(self._graph.memory_usage)

    def _insert(self, ids: Ids, matrix: Matrix) -> None:
        if not len(ids):
            return
        for entry_id in ids.tolist():
            self.remove(entry_id)
        try:
            self._graph.add(ids.astype(np.uint64), matrix, threads=1)
        except (RuntimeError, ValueError) as error:
            raise IndexFault(f"usearch refused {len(ids)} vectors: {error}") from error
