"""One vector index per partition: exact while a partition is small, a graph once it has grown.

A graph is built in slices while the index it will replace still answers: `step` does one slice and its caller
decides when there is time. The same path rebuilds a graph that has too many tombstones.
Knows nothing of threads, texts or answers; one thread owns it. A partition is named by opaque bytes (16 of them).
Invariant: an id lies in at most one partition, and a search sees exactly the live entries of its own partition.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np

from semcache.errors import InvalidArgument
from semcache.storage.indexes.flat import FlatIndex, checked_rows, checked_vector

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semcache.storage.indexes.flat import Ids
    from semcache.storage.indexes.graphs import GraphIndex
    from semcache.types import Matrix, Neighbour, Vector

LEAST_TOMBSTONES = 256


class Partition:
    """The entries of one partition; `growing` is the graph that will replace `index`, `todo` what it still lacks."""

    __slots__ = ("growing", "index", "key", "todo")

    def __init__(self, key: bytes, index: FlatIndex | GraphIndex) -> None:
        self.key = key
        self.index = index
        self.growing: GraphIndex | None = None
        self.todo: Ids = np.empty(0, np.int64)


class PartitionedIndex:
    """All partitions of one embedder. `promote_at` entries turn a flat partition into a graph.

    `tombstones` is the share of removed entries that has a graph rebuilt.
    """

    def __init__(
        self,
        dim: int,
        *,
        promote_at: int = 4096,
        tombstones: float = 0.33,
    ) -> None:
        if dim < 1 or promote_at < 1 or not 0 < tombstones < 1:
            raise InvalidArgument(
                f"dim {dim} and promote_at {promote_at} must be positive, tombstones {tombstones} between 0 and 1"
            )
        self.dim = dim
        self._promote_at, self._tombstones = promote_at, tombstones
        self._partitions: dict[bytes, Partition] = {}
        self._home: dict[int, Partition] = {}
        self._building: deque[Partition] = deque()

    def __len__(self) -> int:
        return len(self._home)

    def add(self, partition: bytes, id: int, vector: Vector) -> None:
        """Insert, replace, or move `id` here from another partition. Raises IndexFault for what is no unit vector."""
        checked = checked_vector(vector, self.dim)
        home = self._home.get(id)
        if home is not None and home.key != partition:
            self.remove(id)
        home = self._open(partition)
        home.index.add(id, checked)
        if home.growing is not None:
            home.growing.add(id, checked)
        self._home[id] = home
        self._review(home)

    def bulk_add(self, partition: bytes, ids: Sequence[int] | Ids, matrix: Matrix) -> None:
        """Add many at once; they are searchable on return. Raises IndexFault and adds none.

        Into a partition that is a graph already this takes about 0.2 ms a vector.
        """
        array = np.asarray(ids, np.int64)
        checked = checked_rows(matrix, self.dim)
        if len(array) == 0:
            return
        for entry_id in array.tolist():
            home = self._home.get(entry_id)
            if home is not None and home.key != partition:
                self.remove(entry_id)
        home = self._open(partition)
        home.index.bulk_add(array, checked)
        if home.growing is not None:
            home.todo = np.concatenate([home.todo, array])
        self._home.update(dict.fromkeys(array.tolist(), home))
        self._review(home)

    def remove(self, id: int) -> None:
        """Forget `id`, wherever it lies; unknown ids are ignored."""
        home = self._home.pop(id, None)
        if home is None:
            return
        home.index.remove(id)
        if home.growing is not None:
            home.growing.remove(id)
        if len(home.index) == 0:
            del self._partitions[home.key]
            self._drop_build(home)
        else:
            self._review(home)

    def search(self, partition: bytes, vector: Vector, k: int) -> list[Neighbour]:
        """At most k neighbours within the partition, best first; none when it is empty or unknown."""
        home = self._partitions.get(partition)
        if home is None:
            checked_vector(vector, self.dim)
            return []
        return home.index.search(vector, k)

    def search_all(self, partitions: Sequence[bytes], vector: Vector, k: int) -> list[Neighbour]:
        """At most k neighbours within several partitions, best first."""
        if len(partitions) == 1:
            return self.search(partitions[0], vector, k)
        found = [neighbour for partition in partitions for neighbour in self.search(partition, vector, k)]
        return sorted(found, key=lambda neighbour: -neighbour.score)[:k]

    def step(self, budget: int = 8) -> bool:
        """Put at most `budget` vectors into a graph under construction; False when there is none.

        One vector takes about 0.2 ms.
        """
        if not self._building:
            return False
        home = self._building[0]
        assert home.growing is not None
        ids, home.todo = home.todo[:budget], home.todo[budget:]
        found, matrix = home.index.take(ids)
        home.growing.bulk_add(found, matrix)
        if len(home.todo) == 0:
            home.index, home.growing = home.growing, None
            self._building.popleft()
            self._review(home)
        return bool(self._building)

    def ids(self) -> set[int]:
        """Every id held."""
        return set(self._home)

    def places(self) -> dict[int, bytes]:
        """The partition of every id held."""
        return {entry_id: home.key for entry_id, home in self._home.items()}

    def partitions(self) -> dict[bytes, int]:
        """Entries per partition."""
        return {key: len(home.index) for key, home in self._partitions.items()}

    def quick(self, partition: bytes) -> bool:
        """Return True if a search there takes well under a millisecond: not while a large one's graph is built."""
        home = self._partitions.get(partition)
        return home is None or home.growing is None or len(home.index) <= 2 * self._promote_at

    @property
    def building(self) -> int:
        """Vectors that graphs under construction still lack."""
        return sum(len(home.todo) for home in self._building)

    def bytes_used(self) -> int:
        """Estimated bytes of vectors, graphs and the map of ids."""
        indexes = sum(
            home.index.bytes_used() + (home.growing.bytes_used() if home.growing else 0)
            for home in self._partitions.values()
        )
        return indexes + 640 * len(self._partitions) + 120 * len(self._home)

    def indexes(self) -> dict[bytes, FlatIndex | GraphIndex]:
        """The index that answers in each partition, for snapshots."""
        return {key: home.index for key, home in self._partitions.items()}

    def adopt(self, partition: bytes, index: FlatIndex | GraphIndex) -> None:
        """Take a whole index as a new partition, as when a snapshot is loaded; its ids must be new here."""
        ids = index.ids.tolist()
        if partition in self._partitions or not self._home.keys().isdisjoint(ids):
            raise InvalidArgument(f"partition {partition.hex()} or one of its ids is in the index already")
        home = Partition(partition, index)
        self._partitions[partition] = home
        self._home.update(dict.fromkeys(ids, home))
        self._review(home)

    def _open(self, partition: bytes) -> Partition:
        home = self._partitions.get(partition)
        if home is None:
            home = self._partitions[partition] = Partition(partition, FlatIndex(self.dim))
        return home

    def _review(self, home: Partition) -> None:
        """Start a graph for a partition that has outgrown its index, or bring a shrunken graph back to flat."""
        live = len(home.index)
        if isinstance(home.index, FlatIndex):
            if home.growing is None and live > self._promote_at:
                self._build(home)
            elif home.growing is not None and live <= self._promote_at // 2:
                self._drop_build(home)
            return
        if live <= self._promote_at // 2:
            self._drop_build(home)
            flat = FlatIndex(self.dim, capacity=live)
            flat.bulk_add(*home.index.take(home.index.ids))
            home.index = flat
        elif home.growing is None and home.index.tombstones > max(LEAST_TOMBSTONES, self._tombstones * live):
            self._build(home)

    def _build(self, home: Partition) -> None:
        from semcache.storage.indexes.graphs import graph_kind

        home.growing = graph_kind()(self.dim, capacity=len(home.index) + self._promote_at)
        home.todo = home.index.ids.copy()
        self._building.append(home)

    def abandon(self) -> None:
        """Give up the graphs under construction; what answers now goes on answering."""
        for home in list(self._building):
            self._drop_build(home)

    def _drop_build(self, home: Partition) -> None:
        if home.growing is not None:
            home.growing, home.todo = None, np.empty(0, np.int64)
            self._building.remove(home)
