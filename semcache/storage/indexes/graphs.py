"""The graph index of this installation: hnswlib's where it is installed, usearch's, which has wheels, elsewhere.

Knows which packages there are. Invariant: one kind in one process; a snapshot of the other kind is not taken up.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypeAlias

from semcache.errors import ConfigError

if TYPE_CHECKING:
    from semcache.storage.indexes.hnsw import HnswIndex
    from semcache.storage.indexes.usearch_graph import UsearchIndex

    GraphIndex: TypeAlias = HnswIndex | UsearchIndex


@cache
def graph_name() -> str:
    """The package that graphs are made with. Raises ConfigError where there is none."""
    found = next((name for name in ("hnswlib", "usearch") if find_spec(name) is not None), None)
    if found is None:
        raise ConfigError("no vector index: pip install usearch, or hnswlib where there is a C++ compiler")
    return found


def graph_kind() -> type[GraphIndex]:
    """The class of graphs. Raises ConfigError where there is none."""
    if graph_name() == "hnswlib":
        from semcache.storage.indexes.hnsw import HnswIndex

        return HnswIndex
    from semcache.storage.indexes.usearch_graph import UsearchIndex

    return UsearchIndex
