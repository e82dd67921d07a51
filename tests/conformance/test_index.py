"""Conformance of `VectorIndex`, compared with a dictionary and brute force."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semcache.errors import IndexFault
from semcache.storage.indexes.flat import FlatIndex
from semcache.storage.indexes.hnsw import HnswIndex
from semcache.storage.indexes.usearch_graph import UsearchIndex
from semcache.types import Neighbour

if TYPE_CHECKING:
    from collections.abc import Callable

    from semcache.protocols import VectorIndex
    from semcache.types import Matrix, Vector

DIM = 16
INDEXES: dict[str, Callable[[int], VectorIndex]] = {"flat": FlatIndex, "hnsw": HnswIndex, "usearch": UsearchIndex}


@pytest.fixture(params=INDEXES)
def index(request: pytest.FixtureRequest) -> VectorIndex:
    return INDEXES[request.param](DIM)


def unit(seed: int, dim: int = DIM) -> Vector:
    vector = np.random.default_rng(seed).standard_normal(dim).astype(np.float32)
    return vector / np.linalg.norm(vector)


def clustered(count: int, dim: int, *, clusters: int, seed: int = 0) -> Matrix:
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((clusters, dim))
    points = centres[rng.integers(0, clusters, count)] + 0.3 * rng.standard_normal((count, dim))
    return (points / np.linalg.norm(points, axis=1, keepdims=True)).astype(np.float32)


def brute(entries: dict[int, Vector], query: Vector, k: int) -> list[Neighbour]:
    scored = [Neighbour(entry_id, float(vector @ query)) for entry_id, vector in entries.items()]
    return sorted(scored, key=lambda neighbour: -neighbour.score)[:k]


def test_an_empty_index_finds_nothing(index: VectorIndex) -> None:
    assert index.search(unit(0), 3) == []
    assert len(index) == 0


def test_a_vector_finds_itself_with_score_one(index: VectorIndex) -> None:
    for entry_id in range(20):
        index.add(entry_id, unit(entry_id))
    best = index.search(unit(7), 1)[0]
    assert best.entry_id == 7
    assert best.score == pytest.approx(1.0, abs=1e-6)
    assert best.score <= 1.0


def test_more_neighbours_than_entries_are_not_an_error(index: VectorIndex) -> None:
    index.add(1, unit(1))
    index.add(2, unit(2))
    assert {neighbour.entry_id for neighbour in index.search(unit(1), 50)} == {1, 2}
    assert index.search(unit(1), 0) == []


def test_removal_is_final_and_idempotent(index: VectorIndex) -> None:
    for entry_id in range(10):
        index.add(entry_id, unit(entry_id))
    index.remove(3)
    index.remove(3)
    index.remove(999)
    assert len(index) == 9
    assert 3 not in {neighbour.entry_id for neighbour in index.search(unit(3), 10)}
    for entry_id in range(10):
        index.remove(entry_id)
    assert len(index) == 0
    assert index.search(unit(3), 5) == []


def test_adding_again_replaces_the_vector(index: VectorIndex) -> None:
    for entry_id in range(5):
        index.add(entry_id, unit(entry_id))
    index.add(2, unit(77))
    assert len(index) == 5
    assert index.search(unit(77), 1)[0] == Neighbour(2, pytest.approx(1.0, abs=1e-6))  # type: ignore[arg-type]
    assert all(neighbour.score < 0.999 for neighbour in index.search(unit(2), 5))


def test_a_removed_entry_can_come_back(index: VectorIndex) -> None:
    for entry_id in range(5):
        index.add(entry_id, unit(entry_id))
    index.remove(4)
    index.add(4, unit(44))
    assert len(index) == 5
    assert index.search(unit(44), 1)[0].entry_id == 4


def test_ids_use_all_63_bits(index: VectorIndex) -> None:
    index.add(2**63 - 1, unit(1))
    assert index.search(unit(1), 1)[0].entry_id == 2**63 - 1


def test_the_index_keeps_its_own_copy(index: VectorIndex) -> None:
    vector = unit(1)
    index.add(1, vector)
    vector[:] = unit(2)
    assert index.search(unit(1), 1)[0].score == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        (np.full(DIM, np.nan, np.float32), "nan"),
        (np.full(DIM, np.inf, np.float32), "inf"),
        (np.zeros(DIM, np.float32), "unit vector"),
        (np.ones(DIM, np.float32), "unit vector"),
        (unit(0, DIM + 1), "dimension 16"),
        (np.float32(1), "dimension 16"),
    ],
    ids=["nan", "infinite", "zero", "long", "dimension", "scalar"],
)
def test_what_is_no_unit_vector_is_refused(index: VectorIndex, broken: Vector, says: str) -> None:
    index.add(1, unit(1))
    with pytest.raises(IndexFault, match=says):
        index.add(2, broken)
    with pytest.raises(IndexFault, match=says):
        index.search(broken, 1)
    assert len(index) == 1
    assert index.search(unit(1), 5) == [Neighbour(1, pytest.approx(1.0, abs=1e-6))]  # type: ignore[arg-type]


def test_it_grows(index: VectorIndex) -> None:
    vectors = clustered(3000, DIM, clusters=50)
    for entry_id, vector in enumerate(vectors):
        index.add(entry_id, vector)
    assert len(index) == 3000
    found = [index.search(vectors[entry_id], 1)[0].score for entry_id in range(0, 3000, 10)]
    assert min(found) > 0.9999


@pytest.mark.parametrize("name", INDEXES)
def test_recall_on_clustered_vectors(name: str) -> None:
    vectors = clustered(4000, 64, clusters=100, seed=1)
    index = INDEXES[name](64)
    for entry_id, vector in enumerate(vectors):
        index.add(entry_id, vector)
    for entry_id in range(0, 4000, 5):
        index.remove(entry_id)
    entries = {entry_id: vector for entry_id, vector in enumerate(vectors) if entry_id % 5}
    live = np.stack(list(entries.values()))
    hits = 0
    queries = clustered(4100, 64, clusters=100, seed=1)[4000:]
    for query in queries:
        best = float((live @ query).max())
        hits += index.search(query, 5)[0].score >= best - 1e-5
    assert hits >= (100 if name == "flat" else 97)


operations = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.integers(0, 12), st.integers(0, 1000)),
        st.tuples(st.just("remove"), st.integers(0, 12), st.just(0)),
        st.tuples(st.just("search"), st.integers(1, 15), st.integers(0, 1000)),
    ),
    max_size=60,
)


@pytest.mark.parametrize("name", INDEXES)
@settings(max_examples=60, deadline=None)
@given(steps=operations)
def test_any_sequence_agrees_with_brute_force(name: str, steps: list[tuple[str, int, int]]) -> None:
    index = INDEXES[name](DIM)
    entries: dict[int, Vector] = {}
    for verb, number, seed in steps:
        if verb == "add":
            index.add(number, unit(seed))
            entries[number] = unit(seed)
        elif verb == "remove":
            index.remove(number)
            entries.pop(number, None)
        else:
            found = index.search(unit(seed), number)
            expected = brute(entries, unit(seed), number)
            assert [n.score for n in found] == pytest.approx([n.score for n in expected], abs=1e-5)
            for neighbour in found:
                assert neighbour.score == pytest.approx(float(entries[neighbour.entry_id] @ unit(seed)), abs=1e-5)
        assert len(index) == len(entries)
