"""Partitions, promotion to a graph, and rebuilding it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semcache.errors import IndexFault, InvalidArgument
from semcache.storage.indexes.flat import FlatIndex
from semcache.storage.indexes.hnsw import HnswIndex
from semcache.storage.indexes.partitions import PartitionedIndex

DIM = 16
A, B, C = b"a" * 16, b"b" * 16, b"c" * 16


def units(count: int, seed: int = 0, dim: int = DIM) -> np.ndarray:
    rows = np.random.default_rng(seed).standard_normal((count, dim)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def finish(partitioned: PartitionedIndex) -> None:
    while partitioned.step(50):
        pass


def ids_of(partitioned: PartitionedIndex, partition: bytes, vector: np.ndarray, k: int = 10) -> list[int]:
    return [neighbour.entry_id for neighbour in partitioned.search(partition, vector, k)]


def test_partitions_do_not_see_each_other() -> None:
    partitioned = PartitionedIndex(DIM)
    vector = units(1)[0]
    partitioned.add(A, 1, vector)
    partitioned.add(B, 2, vector)
    assert ids_of(partitioned, A, vector) == [1]
    assert ids_of(partitioned, B, vector) == [2]
    assert ids_of(partitioned, C, vector) == []


def test_adding_an_id_elsewhere_moves_it() -> None:
    partitioned = PartitionedIndex(DIM)
    vector = units(1)[0]
    partitioned.add(A, 1, vector)
    partitioned.add(B, 1, vector)
    assert partitioned.partitions() == {B: 1}
    assert ids_of(partitioned, A, vector) == []
    partitioned.bulk_add(A, [1, 2], units(2))
    assert partitioned.partitions() == {A: 2}
    assert len(partitioned) == 2


def test_adding_nothing_to_a_graph_is_nothing() -> None:
    graph = HnswIndex(DIM)
    graph.bulk_add(np.empty(0, np.int64), np.empty((0, DIM), np.float32))
    assert len(graph) == 0


def test_an_emptied_partition_is_forgotten() -> None:
    partitioned = PartitionedIndex(DIM)
    empty = partitioned.bytes_used()
    partitioned.add(A, 1, units(1)[0])
    assert partitioned.bytes_used() > empty
    partitioned.remove(1)
    partitioned.remove(1)
    assert partitioned.partitions() == {}
    assert partitioned.bytes_used() == empty


@pytest.mark.parametrize("broken", [np.full((1, DIM), np.nan), np.zeros((1, DIM)), units(1, dim=DIM + 1)])
def test_a_refused_vector_leaves_no_trace(broken: np.ndarray) -> None:
    partitioned = PartitionedIndex(DIM)
    partitioned.add(A, 1, units(1)[0])
    for call in (
        lambda: partitioned.add(B, 1, broken[0]),
        lambda: partitioned.bulk_add(B, [1], broken),
        lambda: partitioned.search(A, broken[0], 1),
        lambda: partitioned.search(C, broken[0], 1),
    ):
        with pytest.raises(IndexFault):
            call()
    assert partitioned.partitions() == {A: 1}


def test_ids_and_vectors_must_be_as_many() -> None:
    with pytest.raises(IndexFault, match="2 ids for 3 vectors"):
        PartitionedIndex(DIM).bulk_add(A, [1, 2], units(3))


def test_a_bulk_load_is_searchable_before_its_graph_is_built() -> None:
    partitioned = PartitionedIndex(DIM, promote_at=100)
    vectors = units(500)
    partitioned.bulk_add(A, range(500), vectors)
    assert partitioned.building == 500
    assert not partitioned.quick(A)
    assert isinstance(partitioned.indexes()[A], FlatIndex)
    assert all(ids_of(partitioned, A, vectors[entry_id], 1) == [entry_id] for entry_id in range(0, 500, 7))


def test_a_bulk_load_in_batches_waits_for_no_graph() -> None:
    partitioned = PartitionedIndex(DIM, promote_at=100)
    vectors = units(900)
    for start in range(0, 600, 200):
        partitioned.bulk_add(A, range(start, start + 200), vectors[start : start + 200])
        partitioned.step(10)
    assert partitioned.building == 570
    partitioned.bulk_add(A, range(50), vectors[600:650])
    partitioned.remove(300)
    finish(partitioned)
    assert isinstance(partitioned.indexes()[A], HnswIndex)
    assert partitioned.partitions() == {A: 599}
    for entry_id in set(range(600)) - {300}:
        vector = vectors[entry_id + 600] if entry_id < 50 else vectors[entry_id]
        assert ids_of(partitioned, A, vector, 1) == [entry_id]


def test_a_partition_becomes_a_graph_while_it_changes() -> None:
    partitioned = PartitionedIndex(DIM, promote_at=100)
    vectors = units(700)
    partitioned.bulk_add(A, range(500), vectors[:500])
    removed = set()
    for turn in range(40):
        partitioned.step(7)
        partitioned.add(A, 500 + turn, vectors[500 + turn])
        for gone in (turn, 499 - turn, 300 + turn):
            partitioned.remove(gone)
            removed.add(gone)
        partitioned.add(A, 200 + turn, vectors[600 + turn])
    finish(partitioned)
    assert isinstance(partitioned.indexes()[A], HnswIndex)
    live = set(range(540)) - removed
    assert len(partitioned) == len(live)
    assert partitioned.partitions() == {A: len(live)}
    for entry_id in live:
        vector = vectors[entry_id + 400] if 200 <= entry_id < 240 else vectors[entry_id]
        assert ids_of(partitioned, A, vector, 1) == [entry_id]
    for entry_id in removed:
        assert entry_id not in ids_of(partitioned, A, vectors[entry_id], 20)


def test_tombstones_are_cleared_away() -> None:
    partitioned = PartitionedIndex(DIM, promote_at=100, tombstones=0.25)
    vectors = units(2000)
    partitioned.bulk_add(A, range(2000), vectors)
    finish(partitioned)
    for entry_id in range(600):
        partitioned.remove(entry_id)
    assert partitioned.building > 0
    assert ids_of(partitioned, A, vectors[1000], 1) == [1000]
    finish(partitioned)
    index = partitioned.indexes()[A]
    assert isinstance(index, HnswIndex)
    assert index.tombstones < 256
    assert len(index) == 1400
    assert all(ids_of(partitioned, A, vectors[entry_id], 1) == [entry_id] for entry_id in range(600, 2000, 11))


def test_a_shrunken_graph_becomes_flat_again() -> None:
    partitioned = PartitionedIndex(DIM, promote_at=100)
    vectors = units(300)
    partitioned.bulk_add(A, range(300), vectors)
    finish(partitioned)
    assert isinstance(partitioned.indexes()[A], HnswIndex)
    for entry_id in range(260):
        partitioned.remove(entry_id)
    assert isinstance(partitioned.indexes()[A], FlatIndex)
    assert partitioned.building == 0
    assert sorted(ids_of(partitioned, A, vectors[270], 100)) == list(range(260, 300))


def test_a_partition_that_empties_during_its_build_is_gone() -> None:
    partitioned = PartitionedIndex(DIM, promote_at=10)
    partitioned.bulk_add(A, range(50), units(50))
    partitioned.step(5)
    for entry_id in range(50):
        partitioned.remove(entry_id)
    assert not partitioned.step(5)
    assert partitioned.partitions() == {}


def test_an_abandoned_build_leaves_exact_search() -> None:
    partitioned = PartitionedIndex(DIM, promote_at=10)
    vectors = units(50)
    partitioned.bulk_add(A, range(50), vectors)
    partitioned.step(5)
    partitioned.abandon()
    assert partitioned.building == 0
    assert ids_of(partitioned, A, vectors[33], 1) == [33]


def test_bulk_add_keeps_the_last_of_equal_ids() -> None:
    partitioned = PartitionedIndex(DIM)
    vectors = units(3)
    partitioned.bulk_add(A, [1, 1, 2], vectors)
    assert ids_of(partitioned, A, vectors[1], 1) == [1]
    assert len(partitioned) == 2


@pytest.mark.parametrize("options", [{"dim": 0}, {"dim": 4, "promote_at": 0}, {"dim": 4, "tombstones": 1.5}])
def test_senseless_options_are_refused(options: dict[str, int]) -> None:
    with pytest.raises(InvalidArgument):
        PartitionedIndex(**options)


steps = st.lists(
    st.tuples(
        st.sampled_from(["add", "remove", "step", "bulk"]),
        st.sampled_from([A, B]),
        st.integers(0, 40),
        st.integers(0, 9),
    ),
    max_size=80,
)


@settings(max_examples=80, deadline=None)
@given(steps)
def test_a_partitioned_index_behaves_like_a_dictionary(actions: list[tuple[str, bytes, int, int]]) -> None:
    partitioned = PartitionedIndex(DIM, promote_at=5)
    pool = units(50)
    expected: dict[int, tuple[bytes, int]] = {}
    for verb, partition, number, seed in actions:
        if verb == "add":
            partitioned.add(partition, number, pool[(number + seed) % 50])
            expected[number] = (partition, (number + seed) % 50)
        elif verb == "bulk":
            ids = list(range(number, number + seed))
            partitioned.bulk_add(partition, ids, pool[[entry_id % 50 for entry_id in ids]])
            expected.update({entry_id: (partition, entry_id % 50) for entry_id in ids})
        elif verb == "remove":
            partitioned.remove(number)
            expected.pop(number, None)
        else:
            partitioned.step(3)
        assert len(partitioned) == len(expected)
    for partition in (A, B):
        mine = {entry_id: pool[row] for entry_id, (home, row) in expected.items() if home == partition}
        found = partitioned.search(partition, pool[0], 100)
        assert {neighbour.entry_id for neighbour in found} == set(mine)
        for neighbour in found:
            assert neighbour.score == pytest.approx(float(mine[neighbour.entry_id] @ pool[0]), abs=1e-5)
