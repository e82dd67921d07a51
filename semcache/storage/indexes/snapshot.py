"""A partitioned index on disk, so that a start need not read every vector from the store and build the graphs anew.

A folder holds manifest.json and the files that it names; each is named by its content, so that replacing the
manifest is the only step that changes what a reader sees. One process writes a folder at a time.
Knows nothing of the store: `head`, the sequence number of the last change that the index reflects, is an argument.
Invariant: `load` returns exactly what was saved or raises IndexFault; no byte is trusted before its checksum.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from semcache.errors import IndexFault
from semcache.storage.indexes.flat import FlatIndex
from semcache.storage.indexes.partitions import PartitionedIndex

if TYPE_CHECKING:
    from semcache.storage.indexes.graphs import GraphIndex

FORMAT = 1
MANIFEST = "manifest.json"
STAGING = ".staging-"


@dataclass(slots=True)
class Staged:
    """Files that have been written and are not yet visible: what a manifest will say, and where they lie."""

    folder: Path
    place: Path
    manifest: dict[str, Any]
    files: list[str] = field(default_factory=list)


def snapshot(partitioned: PartitionedIndex, folder: Path, *, embedder_id: str, head: int) -> None:
    """Write `partitioned` to `folder`, replacing what was there in one step. Raises IndexFault."""
    commit(stage(partitioned, folder, embedder_id=embedder_id, head=head))


def stage(partitioned: PartitionedIndex, folder: Path, *, embedder_id: str, head: int) -> Staged:
    """Copy the content into files beside the snapshot. This half needs the index to stand still."""
    try:
        # Prompts can be guessed from their vectors: they are as private as the store.
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        place = Path(tempfile.mkdtemp(prefix=STAGING, dir=folder))
    except OSError as error:
        raise IndexFault(f"the snapshot cannot be written to {folder}: {error}") from error
    staged = Staged(folder, place, {})
    try:
        flat: list[tuple[bytes, FlatIndex]] = []
        graphs: list[dict[str, str]] = []
        for key, index in partitioned.indexes().items():
            if isinstance(index, FlatIndex):
                flat.append((key, index))
            else:
                graphs.append(_stage_graph(staged, key, index))
        ids = np.concatenate([np.empty(0, np.int64), *(index.ids for _, index in flat)])
        np.save(place / "flat.ids", ids, allow_pickle=False)
        with (place / "flat.vectors").open("wb") as out:
            for _, index in flat:
                index.matrix.tofile(out)
        staged.files += ["flat.ids.npy", "flat.vectors"]
    except (OSError, RuntimeError) as error:  # graphs say RuntimeError
        shutil.rmtree(place, ignore_errors=True)
        raise IndexFault(f"the snapshot cannot be written to {folder}: {error}") from error
    staged.manifest = {
        "format": FORMAT,
        "embedder": embedder_id,
        "dim": partitioned.dim,
        "count": len(partitioned),
        "head": head,
        "flat": [[key.hex(), len(index)] for key, index in flat],
        "graphs": graphs,
    }
    return staged


def commit(staged: Staged) -> None:
    """Make staged files durable, name them by content and point the manifest at them. May run in any thread."""
    try:
        files: dict[str, dict[str, Any]] = {}
        for name in staged.files:
            path = staged.place / name
            digest = _digest(path)
            stored = f"{digest[:16]}-{name}"
            _sync(path)
            path.replace(staged.folder / stored)
            files[name] = {"file": stored, "bytes": (staged.folder / stored).stat().st_size, "blake2b": digest}
        body = {**staged.manifest, "files": files}
        draft = staged.place / MANIFEST
        draft.write_text(json.dumps({**body, "checksum": _checksum(body)}, indent=1), encoding="utf-8")
        _sync(draft)
        _sync(staged.folder)
        draft.replace(staged.folder / MANIFEST)
        _sync(staged.folder)
        _sweep(staged.folder, {MANIFEST, *(entry["file"] for entry in files.values())})
    except OSError as error:
        raise IndexFault(f"the snapshot cannot be written to {staged.folder}: {error}") from error


def load(
    folder: Path, *, embedder_id: str, dim: int, into: PartitionedIndex | None = None
) -> tuple[PartitionedIndex, int]:
    """Return the index in `folder` and its head. Raises IndexFault that names what is missing, foreign or damaged.

    `into` is an empty index to fill, for other options than the defaults.
    """
    manifest = _manifest(folder)
    expected = {"format": FORMAT, "embedder": embedder_id, "dim": dim}
    for key, value in expected.items():
        if manifest.get(key) != value:
            raise IndexFault(f"the snapshot in {folder} has {key} {manifest.get(key)!r}, not {value!r}")
    paths = {name: _verified(folder, entry) for name, entry in manifest["files"].items()}
    partitioned = PartitionedIndex(dim) if into is None else into
    try:
        _adopt_flat(partitioned, manifest["flat"], paths)
        for entry in manifest["graphs"]:
            from semcache.storage.indexes.graphs import graph_kind, graph_name

            if entry.get("kind", "hnswlib") != graph_name():
                raise IndexFault(f"the snapshot in {folder} was made with {entry.get('kind', 'hnswlib')}")
            ids = np.load(paths[entry["ids"]], allow_pickle=False)
            graph = graph_kind().load(paths[entry["graph"]], dim, ids)
            partitioned.adopt(bytes.fromhex(entry["partition"]), graph)
    except (OSError, ValueError, KeyError) as error:
        raise IndexFault(f"the snapshot in {folder} is inconsistent: {error!r}") from error
    if len(partitioned) != manifest["count"]:
        raise IndexFault(f"the snapshot in {folder} holds {len(partitioned)} entries, not {manifest['count']}")
    return partitioned, int(manifest["head"])


def _stage_graph(staged: Staged, key: bytes, index: GraphIndex) -> dict[str, str]:
    graph, ids = f"graph-{key.hex()}", f"graph-{key.hex()}.ids.npy"
    index.save(staged.place / graph)
    np.save(staged.place / ids, index.ids, allow_pickle=False)
    staged.files += [graph, ids]
    from semcache.storage.indexes.graphs import graph_name

    return {"partition": key.hex(), "graph": graph, "ids": ids, "kind": graph_name()}


def _adopt_flat(partitioned: PartitionedIndex, partitions: list[list[Any]], paths: dict[str, Path]) -> None:
    ids = np.load(paths["flat.ids.npy"], allow_pickle=False)
    vectors = np.fromfile(paths["flat.vectors"], np.float32).reshape(len(ids), partitioned.dim)
    start = 0
    for key, count in partitions:
        index = FlatIndex(partitioned.dim, capacity=count)
        index.bulk_add(ids[start : start + count], vectors[start : start + count])
        partitioned.adopt(bytes.fromhex(key), index)
        start += count


def _manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise IndexFault(f"there is no snapshot in {folder}") from error
    except (OSError, ValueError) as error:
        raise IndexFault(f"{path} cannot be read: {error}") from error
    if not isinstance(manifest, dict):
        raise IndexFault(f"{path} is no manifest")
    if manifest.pop("checksum", None) != _checksum(manifest):
        raise IndexFault(f"{path} is damaged: its checksum does not match")
    return manifest


def _verified(folder: Path, entry: dict[str, Any]) -> Path:
    path = folder / str(entry["file"])
    try:
        if path.stat().st_size != entry["bytes"]:
            raise IndexFault(f"{path} is damaged: {path.stat().st_size} bytes, not {entry['bytes']}")
        digest = _digest(path)
    except OSError as error:
        raise IndexFault(f"the snapshot lacks {path.name}: {error}") from error
    if digest != entry["blake2b"]:
        raise IndexFault(f"{path} is damaged: its checksum does not match")
    return path


def _checksum(body: dict[str, Any]) -> str:
    return blake2b(json.dumps(body, sort_keys=True, separators=(",", ":")).encode(), digest_size=32).hexdigest()


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, lambda: blake2b(digest_size=32)).hexdigest()


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sweep(folder: Path, keep: set[str]) -> None:
    """Delete what earlier snapshots and interrupted ones left; a file that cannot be deleted now is left for later."""
    for path in folder.iterdir():
        if path.name.startswith(STAGING):
            shutil.rmtree(path, ignore_errors=True)
        elif path.name not in keep and path.name[16:17] == "-":
            with suppress(OSError):
                path.unlink()
