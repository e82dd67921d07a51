"""A snapshot comes back as it was, or is refused with the reason."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np
import pytest

from semcache.errors import IndexFault
from semcache.storage.indexes import snapshot as disk
from semcache.storage.indexes.hnsw import HnswIndex
from semcache.storage.indexes.partitions import PartitionedIndex

if TYPE_CHECKING:
    from pathlib import Path

DIM = 16
GRAPH, SMALL, OTHER = b"g" * 16, b"s" * 16, b"\x00" * 16


def units(count: int, seed: int = 0) -> np.ndarray:
    rows = np.random.default_rng(seed).standard_normal((count, DIM)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


VECTORS = units(400)


def filled() -> PartitionedIndex:
    partitioned = PartitionedIndex(DIM, promote_at=100)
    partitioned.bulk_add(GRAPH, range(300), VECTORS[:300])
    while partitioned.step(100):
        pass
    for entry_id in range(20):
        partitioned.remove(entry_id)
    partitioned.bulk_add(SMALL, range(300, 350), VECTORS[300:350])
    partitioned.add(OTHER, 399, VECTORS[399])
    return partitioned


def load(folder: Path, **changes: object) -> tuple[PartitionedIndex, int]:
    return disk.load(folder, **{"embedder_id": "e/1", "dim": DIM} | changes)  # type: ignore[arg-type]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    disk.snapshot(filled(), tmp_path / "index", embedder_id="e/1", head=41)
    return tmp_path / "index"


def test_everything_comes_back(folder: Path) -> None:
    partitioned, head = load(folder, into=PartitionedIndex(DIM, promote_at=100))
    before = filled()
    assert head == 41
    assert partitioned.partitions() == before.partitions() == {GRAPH: 280, SMALL: 50, OTHER: 1}
    assert isinstance(partitioned.indexes()[GRAPH], HnswIndex)
    for partition in (GRAPH, SMALL, OTHER):
        for query in units(30, seed=9):
            assert partitioned.search(partition, query, 5) == before.search(partition, query, 5)
    assert 5 not in {neighbour.entry_id for neighbour in partitioned.search(GRAPH, VECTORS[5], 280)}


def test_a_loaded_index_goes_on_working(folder: Path) -> None:
    partitioned, _ = load(folder)
    partitioned.remove(25)
    partitioned.add(GRAPH, 5, VECTORS[5])
    partitioned.add(GRAPH, 1000, VECTORS[360])
    assert partitioned.search(GRAPH, VECTORS[360], 1)[0].entry_id == 1000
    assert partitioned.search(GRAPH, VECTORS[5], 1)[0].entry_id == 5
    assert len(partitioned) == 332


def test_an_empty_index_has_a_snapshot_too(tmp_path: Path) -> None:
    disk.snapshot(PartitionedIndex(DIM), tmp_path, embedder_id="e/1", head=0)
    partitioned, head = load(tmp_path)
    assert (len(partitioned), head) == (0, 0)


def test_a_partition_under_construction_is_saved_whole(tmp_path: Path) -> None:
    partitioned = PartitionedIndex(DIM, promote_at=100)
    partitioned.bulk_add(GRAPH, range(300), VECTORS[:300])
    partitioned.step(20)
    disk.snapshot(partitioned, tmp_path, embedder_id="e/1", head=1)
    loaded, _ = load(tmp_path, into=PartitionedIndex(DIM, promote_at=100))
    assert loaded.partitions() == {GRAPH: 300}
    assert loaded.building == 300


def test_a_newer_snapshot_replaces_the_older(folder: Path) -> None:
    partitioned = filled()
    partitioned.remove(399)
    disk.snapshot(partitioned, folder, embedder_id="e/1", head=42)
    loaded, head = load(folder)
    assert head == 42
    assert OTHER not in loaded.partitions()
    named = {entry["file"] for entry in json.loads((folder / "manifest.json").read_text())["files"].values()}
    assert {path.name for path in folder.iterdir()} == named | {"manifest.json"}


def test_an_interrupted_snapshot_leaves_the_older_one(folder: Path) -> None:
    partitioned = filled()
    partitioned.remove(399)
    disk.stage(partitioned, folder, embedder_id="e/1", head=42)
    loaded, head = load(folder)
    assert head == 41
    assert OTHER in loaded.partitions()


def test_files_of_others_are_left_alone(folder: Path) -> None:
    (folder / "notes.txt").write_text("mine")
    disk.snapshot(filled(), folder, embedder_id="e/1", head=42)
    assert (folder / "notes.txt").read_text() == "mine"


def test_no_snapshot(tmp_path: Path) -> None:
    with pytest.raises(IndexFault, match="no snapshot"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("changes", "says"), [({"embedder_id": "e/2"}, "embedder 'e/1', not 'e/2'"), ({"dim": 32}, "dim 16, not 32")]
)
def test_another_embedder_is_refused(folder: Path, changes: dict[str, object], says: str) -> None:
    with pytest.raises(IndexFault, match=says):
        load(folder, **changes)


FILES = ["flat.ids.npy", "flat.vectors", f"graph-{GRAPH.hex()}", f"graph-{GRAPH.hex()}.ids.npy", "manifest.json"]


def path_of(folder: Path, name: str) -> Path:
    return next(path for path in folder.iterdir() if path.name == name or path.name[17:] == name)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("where", [0.1, 0.5, 0.9])
def test_a_flipped_bit_is_found(folder: Path, name: str, where: float) -> None:
    path = path_of(folder, name)
    content = bytearray(path.read_bytes())
    content[int(len(content) * where)] ^= 1
    path.write_bytes(content)
    with pytest.raises(IndexFault):
        load(folder)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("damage", ["shorter", "longer", "empty", "gone"])
def test_a_file_of_another_length_is_found(folder: Path, name: str, damage: str) -> None:
    path = path_of(folder, name)
    content = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes({"shorter": content[:-1], "longer": content + b"\0", "empty": b""}[damage])
    with pytest.raises(IndexFault):
        load(folder)


def rewrite(folder: Path, **changes: object) -> None:
    body = json.loads((folder / "manifest.json").read_text()) | changes
    del body["checksum"]
    sealed = json.dumps(body, sort_keys=True, separators=(",", ":")).encode()
    body["checksum"] = blake2b(sealed, digest_size=32).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(body))


def test_a_manifest_may_be_written_anew(folder: Path) -> None:
    rewrite(folder)
    assert load(folder)[1] == 41


@pytest.mark.parametrize(
    ("changes", "says"),
    [({"format": 2}, "format 2, not 1"), ({"count": 7}, "holds 331 entries, not 7"), ({"graphs": []}, "entries, not")],
)
def test_a_manifest_that_lies_is_refused(folder: Path, changes: dict[str, object], says: str) -> None:
    rewrite(folder, **changes)
    with pytest.raises(IndexFault, match=says):
        load(folder)


@pytest.mark.parametrize("content", ["[]", "null", "{}", "{"])
def test_a_manifest_that_is_none_is_refused(folder: Path, content: str) -> None:
    (folder / "manifest.json").write_text(content)
    with pytest.raises(IndexFault, match="manifest"):
        load(folder)


def test_a_place_that_cannot_be_written_is_an_index_fault(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(IndexFault, match="cannot be written"):
        disk.snapshot(filled(), tmp_path / "file", embedder_id="e/1", head=0)


def test_vectors_are_no_more_for_others_to_read_than_the_store(folder: Path) -> None:
    assert folder.stat().st_mode & 0o077 == 0
