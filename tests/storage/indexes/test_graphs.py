"""Without a compiler the cache finds the same: usearch's graph takes over, and keeps its snapshots to itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from semcache.errors import IndexFault
from semcache.storage.indexes import graphs, snapshot
from semcache.storage.indexes.hnsw import HnswIndex
from semcache.storage.indexes.partitions import PartitionedIndex
from semcache.storage.indexes.usearch_graph import UsearchIndex

DIM, COUNT = 16, 300


@pytest.fixture
def wheels_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphs, "graph_name", lambda: "usearch")


def filled() -> tuple[PartitionedIndex, np.ndarray]:
    rows = np.random.default_rng(0).standard_normal((COUNT, DIM)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    index = PartitionedIndex(DIM, promote_at=64)
    index.bulk_add(b"p" * 16, np.arange(COUNT), rows)
    while index.step():
        pass
    return index, rows


def test_hnswlib_is_the_choice_where_it_is_installed() -> None:
    assert graphs.graph_kind() is HnswIndex


@pytest.mark.usefixtures("wheels_alone")
def test_a_graph_of_usearch_answers_and_comes_back_from_its_snapshot(tmp_path: Path) -> None:
    index, rows = filled()
    [graph] = index.indexes().values()
    assert isinstance(graph, UsearchIndex)
    index.remove(7)
    snapshot.snapshot(index, tmp_path / "index", embedder_id="e", head=3)
    again, head = snapshot.load(tmp_path / "index", embedder_id="e", dim=DIM)
    assert (head, len(again)) == (3, COUNT - 1)
    for entry_id in (0, 100, 299):
        assert again.search(b"p" * 16, rows[entry_id], 1)[0].entry_id == entry_id
    assert 7 not in [one.entry_id for one in again.search(b"p" * 16, rows[7], 10)]


def test_a_snapshot_of_the_other_kind_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index, _ = filled()
    snapshot.snapshot(index, tmp_path / "index", embedder_id="e", head=3)
    monkeypatch.setattr(graphs, "graph_name", lambda: "usearch")
    with pytest.raises(IndexFault, match="made with hnswlib"):
        snapshot.load(tmp_path / "index", embedder_id="e", dim=DIM)
