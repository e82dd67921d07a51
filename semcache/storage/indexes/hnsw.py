"""Approximate search in a navigable graph (hnswlib), for partitions of more than a few thousand vectors.

Knows nothing of partitions. hnswlib answers silently wrong when read during an insert, so one thread owns an index.
A removed entry stays in the graph as a tombstone: using its slot again costs six fresh inserts and wears the graph,
so the owner rebuilds when `tombstones` have become too many (see `partitions`).
Invariant: `search` never returns a removed id, and len() is the number of live ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import hnswlib
import numpy as np

from semcache.errors import IndexFault
from semcache.storage.indexes.flat import checked_rows, checked_vector
from semcache.types import Neighbour

if TYPE_CHECKING:
    from pathlib import Path

    from semcache.storage.indexes.flat import Ids
    from semcache.types import Matrix, Vector

_LINKS, _BUILDING, _SEARCHING = 16, 100, 64  # links of a node; candidates while the graph is built, and searched


class HnswIndex:
    """A graph of unit vectors."""

    def __init__(self, dim: int, *, capacity: int = 1024) -> None:
        self._dim = dim
        self._dead: set[int] = set()
        self._graph = hnswlib.Index(space="ip", dim=dim)
        self._graph.init_index(max_elements=max(16, capacity), M=_LINKS, ef_construction=_BUILDING, random_seed=100)
        self._graph.set_ef(_SEARCHING)

    @classmethod
    def load(cls, path: Path, dim: int, ids: Ids) -> HnswIndex:
        """Read what `save` wrote; `ids` are the live ones. Raises IndexFault. The caller has verified the bytes."""
        index = cls.__new__(cls)
        index._dim = dim
        index._graph = hnswlib.Index(space="ip", dim=dim)
        try:
            index._graph.load_index(str(path))
        except RuntimeError as error:
            raise IndexFault(f"{path.name} is no graph of dimension {dim}: {error}") from error
        index._graph.set_ef(_SEARCHING)
        labels = set(index._graph.get_ids_list())
        index._dead = labels - set(ids.tolist())
        if len(labels) - len(index._dead) != len(ids):
            raise IndexFault(f"{path.name} lacks entries that the snapshot lists")
        return index

    def save(self, path: Path) -> None:
        """Write the graph with its vectors and tombstones."""
        self._graph.save_index(str(path))

    def __len__(self) -> int:
        return int(self._graph.element_count) - len(self._dead)

    @property
    def tombstones(self) -> int:
        """Removed entries that the graph still holds."""
        return len(self._dead)

    def add(self, id: int, vector: Vector) -> None:
        """Insert, or replace the vector of `id`. Raises IndexFault for what is no finite unit vector of this size."""
        self._insert(np.array([id], np.int64), checked_vector(vector, self._dim)[None])

    def bulk_add(self, ids: Ids, matrix: Matrix) -> None:
        """Add many; of an id that occurs twice the last vector stays. Raises IndexFault and adds none."""
        checked = checked_rows(matrix, self._dim)
        if len(ids) != len(checked):
            raise IndexFault(f"{len(ids)} ids for {len(checked)} vectors")
        self._insert(ids, checked)

    def remove(self, id: int) -> None:
        """Bury `id`. Unknown ids are ignored."""
        if id in self._dead:
            return
        try:
            self._graph.mark_deleted(id)
        except RuntimeError:  # hnswlib's way to say that it does not know the label
            return
        self._dead.add(id)

    def search(self, vector: Vector, k: int) -> list[Neighbour]:
        """At most k neighbours, best first. Raises IndexFault for what is no finite unit vector of this size."""
        query = checked_vector(vector, self._dim)
        k = min(k, len(self))
        while k > 0:
            try:
                labels, distances = self._graph.knn_query(query, k=k, num_threads=1)
            except RuntimeError:  # fewer than k could be reached
                k //= 2
                continue
            return [
                Neighbour(entry_id, max(-1.0, min(1.0, 1.0 - distance)))
                for entry_id, distance in zip(labels[0].tolist(), distances[0].tolist(), strict=True)
            ]
        return []

    @property
    def ids(self) -> Ids:
        """The live ids."""
        labels = np.array(self._graph.get_ids_list(), np.int64)
        return labels[~np.isin(labels, np.fromiter(self._dead, np.int64))] if self._dead else labels

    def take(self, ids: Ids) -> tuple[Ids, Matrix]:
        """Those of `ids` that are live, with their vectors."""
        found: list[int] = []
        rows: list[Matrix] = []
        for entry_id in ids.tolist():
            if entry_id in self._dead:
                continue
            try:
                rows.append(self._graph.get_items([entry_id], return_type="numpy"))
            except RuntimeError:  # not here
                continue
            found.append(entry_id)
        matrix = np.concatenate(rows) if rows else np.empty((0, self._dim), np.float32)
        return np.array(found, np.int64), matrix

    def bytes_used(self) -> int:
        """Estimated bytes, room for growth included: vector, links (twice m on the ground level), label, lock, map."""
        capacity, count = int(self._graph.max_elements), int(self._graph.element_count)
        links = int(self._graph.M)
        return capacity * (4 * self._dim + 8 * links + 4 + 8 + 40 + 12) + count * (48 + 5 * links // 16)

    def _insert(self, ids: Ids, matrix: Matrix) -> None:
        if not len(ids):  # hnswlib raises for nothing to add
            return
        needed, capacity = int(self._graph.element_count) + len(ids), int(self._graph.max_elements)
        if needed > capacity:
            self._graph.resize_index(max(needed, 2 * capacity))
        try:
            self._graph.add_items(matrix, ids, num_threads=1)
        except RuntimeError as error:
            raise IndexFault(f"hnswlib refused {len(ids)} vectors: {error}") from error
        self._dead.difference_update(ids.tolist())
