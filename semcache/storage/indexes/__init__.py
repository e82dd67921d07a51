"""Vector indexes: the stored prompts near a query, within one partition.

`IndexOwner(PartitionedIndex(dim))` is what the cache uses; importing this module loads neither numpy nor hnswlib.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from semcache.storage.indexes.owner import IndexOwner
    from semcache.storage.indexes.partitions import PartitionedIndex

__all__ = ["IndexOwner", "PartitionedIndex"]


def __getattr__(name: str) -> object:
    if name == "IndexOwner":
        from semcache.storage.indexes.owner import IndexOwner

        return IndexOwner
    if name == "PartitionedIndex":
        from semcache.storage.indexes.partitions import PartitionedIndex

        return PartitionedIndex
    raise AttributeError(f"module 'semcache.storage.indexes' has no attribute {name!r}")
