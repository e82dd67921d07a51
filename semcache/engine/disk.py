"""Blocks on disk, so that prefixes survive a restart: one safetensors file each, written whole or not at all.

Knows files, checksums and what a block must say of itself. The least recently used files go when the folder is full.
Invariant: what is given back is bit for bit what was kept under that key, for those tokens and that parent; a file
that is damaged, cut off or foreign is deleted and reported as absent.
"""

from __future__ import annotations

import hashlib
import logging
import os
from array import array
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from semcache.errors import ConfigError

if TYPE_CHECKING:
    import torch

_log = logging.getLogger(__name__)
_SUFFIX = ".safetensors"
_FORMAT = "semcache-kv-1"


@dataclass(frozen=True, slots=True)
class Stored:
    """A block on its own: its chained key, that of its parent (the root's for the first), its tokens, and (layers, 2,
    heads, block, dim) keys and values in host memory."""

    key: bytes
    parent: bytes
    ids: tuple[int, ...]
    data: torch.Tensor


class DiskTier:
    """Blocks in `folder`, at most `most` bytes of them. `count(event)` hears of what was found damaged or given up.

    Raises ConfigError when the folder cannot be used.
    """

    def __init__(self, folder: Path, most: int, *, count: Callable[[str], None]) -> None:
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

    def write(self, block: Stored) -> bool:
        """Keep a block; False when the disk would not take it."""
        from safetensors.torch import save

        content = save({"kv": block.data}, metadata=_says(block))
        path = self._path(block.key)
        part = path.with_suffix(f".{os.getpid()}.part")
        try:
            path.parent.mkdir(mode=0o700, exist_ok=True)
            part.write_bytes(content)
            part.replace(path)
        except OSError as error:
            _log.warning("a block cannot be kept on disk: %s", error)
            part.unlink(missing_ok=True)
            return False
        self._bytes += len(content) - self._files.pop(block.key, 0)
        self._files[block.key] = len(content)
        while self._bytes > self._most and self._files:
            self._delete(next(iter(self._files)))
            self._count("evicted")
        return True

    def read(self, key: bytes, parent: bytes, ids: Sequence[int]) -> Stored | None:
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
        os.utime(path)
        return block

    def _damaged(self, key: bytes, why: str) -> None:
        _log.warning("block %s on disk cannot be used and is computed again: %s", key.hex(), why)
        self._count("damaged")
        self._delete(key)

    def _delete(self, key: bytes) -> None:
        self._bytes -= self._files.pop(key)
        self._path(key).unlink(missing_ok=True)

    def _path(self, key: bytes) -> Path:
        name = key.hex()
        return self._folder / name[:2] / f"{name}{_SUFFIX}"


def _says(block: Stored) -> dict[str, str]:
    return {
        "format": _FORMAT,
        "key": block.key.hex(),
        "parent": block.parent.hex(),
        "ids": array("q", block.ids).tobytes().hex(),
        "sha256": _checksum(block.key, block.parent, block.ids, block.data),
    }


def _checksum(key: bytes, parent: bytes, ids: Sequence[int], data: torch.Tensor) -> str:
    import torch

    digest = hashlib.sha256(key + parent + array("q", ids).tobytes() + f"{data.dtype} {tuple(data.shape)}".encode())
    digest.update(data.contiguous().view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _load(path: Path) -> Stored:
    from safetensors import safe_open

    path.stat()
    with safe_open(path, framework="pt") as file:
        says = file.metadata() or {}
        data = file.get_tensor("kv").clone()
    if says.get("format") != _FORMAT:
        raise ValueError("it was not written by this engine")
    ids = array("q")
    ids.frombytes(bytes.fromhex(says["ids"]))
    key, parent = bytes.fromhex(says["key"]), bytes.fromhex(says["parent"])
    if _checksum(key, parent, ids, data) != says["sha256"]:
        raise ValueError("its checksum is wrong")
    return Stored(key, parent, tuple(ids), data)
