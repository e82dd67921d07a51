"""Blocks on disk, so that prefixes survive a restart: one safetensors file each, written whole or not at all.

Knows files, checksums and the metadata of a block. The least recently used files go when the folder is full. Invariant:
a block that is given back was kept under that key, for those tokens and that parent, bit for bit unless it was `lossy`;
a file that is damaged, cut off or foreign is deleted and reported as absent.
"""

from __future__ import annotations

import hashlib
import logging
import os
from array import array
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from semcache.engine.kv_codec import CODECS, decoded, encoded
from semcache.errors import ConfigError

if TYPE_CHECKING:
    import torch

_log = logging.getLogger(__name__)
_SUFFIX = ".safetensors"
_FORMAT = "semcache-kv-2"
_SAID = ("format", "key", "parent", "ids", "codec", "dtype", "shape")


@dataclass(frozen=True, slots=True)
class StoredBlock:
    """A block on its own: its chained key, its parent's (the root key for the first), its tokens, its keys and values.

    `data` is (layers, 2, heads, block, dim), in host memory. A `lossy` one may lose some of its bits on disk: its key
    is never that of an exact one.
    """

    key: bytes
    parent: bytes
    ids: tuple[int, ...]
    data: torch.Tensor
    lossy: bool = False


class DiskTier:
    """Blocks in `folder`, at most `most` bytes of them.

    `count(event)` is called for each block that was damaged or evicted. `codec`, one of `kv_codec.CODECS`, is how lossy
    blocks are written; the others are too where it loses nothing.

    Raises ConfigError when the folder cannot be used.
    """

    def __init__(self, folder: Path, most: int, *, count: Callable[[str], None], codec: str = "raw") -> None:
        self._lossy, self._exact = codec, codec if codec == "lossless" else "raw"
        self._folder, self._most, self._count = folder, most, count
        self._files: OrderedDict[bytes, int] = OrderedDict()  # key to size, least recently used first
        self._bytes = 0
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            found = [(path.stat(), path) for path in folder.glob(f"*/*{_SUFFIX}")]
            for path in folder.glob("*/*.part"):
                path.unlink(missing_ok=True)
        except OSError as error:
            raise ConfigError(f"engine disk {str(folder)!r} cannot be used: {error.strerror or error}") from error
        for status, path in sorted(found, key=lambda one: one[0].st_mtime):
            try:
                self._files[bytes.fromhex(path.name.removesuffix(_SUFFIX))] = status.st_size
            except ValueError:
                continue  # not ours
            self._bytes += status.st_size

    def __contains__(self, key: object) -> bool:
        return key in self._files

    def size(self, key: bytes) -> int:
        """Bytes of the file of a block, 0 where there is none."""
        return self._files.get(key, 0)

    def write(self, block: StoredBlock) -> bool:
        """Keep a block; False when the disk would not take it."""
        content = _file(block, self._lossy if block.lossy else self._exact)
        path = self._path(block.key)
        part = path.with_suffix(f".{os.getpid()}.part")
        try:
            path.parent.mkdir(mode=0o700, exist_ok=True)
            part.write_bytes(content)
            part.replace(path)
        except OSError as error:
            _log.warning("a block cannot be kept on disk: %s", error)
            with suppress(OSError):
                part.unlink(missing_ok=True)
            return False
        self._bytes += len(content) - self._files.pop(block.key, 0)
        self._files[block.key] = len(content)
        while self._bytes > self._most and self._files:
            self._delete(next(iter(self._files)))
            self._count("evicted")
        return True

    def read(self, key: bytes, parent: bytes, ids: Sequence[int]) -> StoredBlock | None:
        """The block under a key, None when there is none that is whole and right."""
        if key not in self._files:
            return None
        path = self._path(key)
        try:
            block = _load(path)
        except FileNotFoundError:
            self._bytes -= self._files.pop(key)
            return None
        except Exception as error:  # safetensors and torch each raise their own for what is no block
            self._damaged(key, str(error))
            return None
        if block.key != key or block.parent != parent or block.ids != tuple(ids):
            self._damaged(key, "it is another block than its name says")
            return None
        self._files.move_to_end(key)
        with suppress(OSError):  # a disk that can only be read forgets the order at a restart, no more
            os.utime(path)
        return block

    def _damaged(self, key: bytes, why: str) -> None:
        _log.warning("block %s on disk cannot be used and is computed again: %s", key.hex(), why)
        self._count("damaged")
        self._delete(key)

    def _delete(self, key: bytes) -> None:
        self._bytes -= self._files.pop(key)
        try:
            self._path(key).unlink(missing_ok=True)
        except OSError as error:
            _log.warning("a block cannot be deleted from disk: %s", error)

    def _path(self, key: bytes) -> Path:
        name = key.hex()
        return self._folder / name[:2] / f"{name}{_SUFFIX}"


def _file(block: StoredBlock, codec: str) -> bytes:
    import numpy as np
    from safetensors.numpy import save

    payload = encoded(block.data, codec)
    says = {
        "format": _FORMAT,
        "key": block.key.hex(),
        "parent": block.parent.hex(),
        "ids": array("q", block.ids).tobytes().hex(),
        "codec": codec,
        "dtype": str(block.data.dtype).removeprefix("torch."),
        "shape": " ".join(map(str, block.data.shape)),
    }
    says["sha256"] = _checksum(says, payload)
    content: bytes = save({"kv": np.frombuffer(payload, np.uint8)}, metadata=says)
    return content


def _checksum(says: Mapping[str, str], payload: bytes) -> str:
    digest = hashlib.sha256(repr([says[name] for name in _SAID]).encode())
    digest.update(payload)
    return digest.hexdigest()


def _load(path: Path) -> StoredBlock:
    import torch
    from safetensors import safe_open

    path.stat()
    with safe_open(path, framework="numpy") as file:
        says = file.metadata() or {}
        payload = file.get_tensor("kv").tobytes()
    if says.get("format") != _FORMAT or says["codec"] not in CODECS:
        raise ValueError("it was not written by this engine")
    if _checksum(says, payload) != says["sha256"]:
        raise ValueError("its checksum is wrong")
    ids = array("q")
    ids.frombytes(bytes.fromhex(says["ids"]))
    shape = tuple(map(int, says["shape"].split()))
    data = decoded(payload, says["codec"], shape=shape, dtype=getattr(torch, says["dtype"]))
    lossy = says["codec"] in ("int8", "int4")
    return StoredBlock(bytes.fromhex(says["key"]), bytes.fromhex(says["parent"]), tuple(ids), data, lossy)
