"""The KV events of vLLM and SGLang: from bytes to values, in both forms that releases have sent.

A batch is a msgpack array [ts, events, dp_rank]; an event is a map with `type` (current) or an array whose first item
is the type (older releases), its fields in the order of the definition. Fields that a release added are ignored,
missing ones have their defaults. Knows no sockets and keeps no state.
Invariant: whatever the bytes are, `decode` returns a batch or raises `MalformedKvEvent`; token ids and salts are never
logged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import msgspec

BlockHash: TypeAlias = int | bytes
_STORED = (
    "block_hashes",
    "parent_block_hash",
    "token_ids",
    "block_size",
    "lora_id",
    "medium",
    "lora_name",
    "extra_keys",
    "group_idx",
)
_REMOVED = ("block_hashes", "medium", "group_idx")
_MAX_BLOCK = 1 << 16


class MalformedKvEvent(ValueError):
    """Bytes that are no batch of KV events; the message says what is wrong and holds nothing of a prompt."""


@dataclass(frozen=True, slots=True)
class BlocksStored:
    """Blocks came into a medium: `tokens[i]` are the ids of `hashes[i]`, the first one's parent is `parent`."""

    hashes: tuple[BlockHash, ...]
    parent: BlockHash | None
    tokens: tuple[tuple[int, ...], ...]
    medium: str
    adapter: str
    extra: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class BlocksRemoved:
    """Blocks left a medium; None is every medium."""

    hashes: tuple[BlockHash, ...]
    medium: str | None


@dataclass(frozen=True, slots=True)
class BlocksCleared:
    """Nothing is held any more."""


Event: TypeAlias = BlocksStored | BlocksRemoved | BlocksCleared


@dataclass(frozen=True, slots=True)
class KvEventBatch:
    """The changes of one step of the engine; `at` is the engine's Unix time."""

    at: float
    events: tuple[Event, ...]


def decode(payload: bytes) -> KvEventBatch:
    """Read one message. Events of unknown types, and of cache groups other than the first, are left out."""
    try:
        at, events, *_ = msgspec.msgpack.decode(payload)
        return KvEventBatch(float(at), tuple(event for raw in events if (event := _event(raw)) is not None))
    except MalformedKvEvent:
        raise
    except (msgspec.DecodeError, TypeError, ValueError, KeyError, RecursionError, OverflowError) as error:
        raise MalformedKvEvent(f"no batch of KV events: {type(error).__name__}") from None


def _event(raw: Any) -> Event | None:
    if isinstance(raw, Mapping):
        kind, fields = raw.get("type"), raw
    else:
        kind, *values = raw
        fields = dict(zip(_REMOVED if kind == "BlockRemoved" else _STORED, values, strict=False))
    # A hybrid model has several groups of layers; the first one stands for all of them.
    if fields.get("group_idx") not in (None, 0):
        return None
    match kind:
        case "BlockStored":
            return _stored(fields)
        case "BlockRemoved":
            medium = fields.get("medium")
            return BlocksRemoved(_hashes(fields["block_hashes"]), medium if isinstance(medium, str) else None)
        case "AllBlocksCleared":
            return BlocksCleared()
    return None


def _stored(fields: Mapping[Any, Any]) -> BlocksStored:
    hashes, parent = _hashes(fields["block_hashes"]), fields.get("parent_block_hash")
    ids, size = fields["token_ids"], fields["block_size"]
    if type(size) is not int or not 0 < size <= _MAX_BLOCK or not isinstance(ids, list):
        raise MalformedKvEvent("BlockStored: block_size and token_ids do not make blocks")
    if len(ids) != size * len(hashes) or not all(type(token) is int for token in ids):
        raise MalformedKvEvent(f"BlockStored: {len(ids)} token ids are not {len(hashes)} blocks of {size}")
    adapter = fields.get("lora_name") or fields.get("lora_id") or ""
    extra = fields.get("extra_keys") or ()
    return BlocksStored(
        hashes,
        None if parent is None else _hashes([parent])[0],
        tuple(tuple(ids[at : at + size]) for at in range(0, len(ids), size)),
        str(fields.get("medium") or "GPU"),
        str(adapter),
        tuple(extra) if isinstance(extra, Sequence) and not isinstance(extra, str | bytes) else (extra,),
    )


def _hashes(raw: Any) -> tuple[BlockHash, ...]:
    if not isinstance(raw, list) or not all(type(value) in (int, bytes) for value in raw):
        raise MalformedKvEvent("block hashes must be a list of integers or bytes")
    return tuple(raw)
