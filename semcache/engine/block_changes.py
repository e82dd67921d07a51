"""Changes of the cached blocks, and how vLLM's KV events say them.

A batch is a msgpack array [ts, events, dp_rank] with events as maps, the form of vLLM 0.32, which its routers read.
Blocks are named by 64 bits of their chained keys; the first block of a chain carries the `cache_salt` of its requests.
Knows keys and token ids, nothing of pages or sockets. Invariant: changes keep their order; only blocks that hold exact
keys and values may be announced, since a router takes their tokens for all that matters.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import msgspec

Medium = Literal[
    "GPU", "CPU"
]  # vLLM's names of the cache itself, whatever device it is on, and of host memory behind it


@dataclass(frozen=True, slots=True)
class BlockAdded:
    """A block came into a medium. `parent` is the key of the block before it, None for the first of a chain."""

    key: bytes
    parent: bytes | None
    ids: Sequence[int]
    salt: str
    medium: Medium = "GPU"


@dataclass(frozen=True, slots=True)
class BlockLeft:
    """A block left a medium."""

    key: bytes
    medium: Medium = "GPU"


@dataclass(frozen=True, slots=True)
class AllBlocksLeft:
    """Nothing is cached any more."""


BlockChange: TypeAlias = BlockAdded | BlockLeft | AllBlocksLeft


def encode(at: float, changes: Iterable[BlockChange]) -> bytes:
    """One message, of the Unix time `at`; blocks of one size that follow one another are one event."""
    events: list[dict[str, Any]] = []
    last: BlockChange | None = None
    for change in changes:
        match change:
            case BlockAdded():
                follows = isinstance(last, BlockAdded) and (last.key, last.medium) == (change.parent, change.medium)
                if not follows:
                    events.append(_stored(change))
                event = events[-1]
                event["block_hashes"].append(_hash(change.key))
                event["token_ids"].extend(change.ids)
                event["extra_keys"].append([change.salt] if change.salt and change.parent is None else None)
            case BlockLeft():
                if not (isinstance(last, BlockLeft) and last.medium == change.medium):
                    events.append({"type": "BlockRemoved", "block_hashes": [], "medium": change.medium, "group_idx": 0})
                events[-1]["block_hashes"].append(_hash(change.key))
            case AllBlocksLeft():
                events.append({"type": "AllBlocksCleared"})
        last = change
    return msgspec.msgpack.encode([at, events, 0])


def _stored(change: BlockAdded) -> dict[str, Any]:
    return {
        "type": "BlockStored",
        "block_hashes": [],
        "parent_block_hash": None if change.parent is None else _hash(change.parent),
        "token_ids": [],
        "block_size": len(change.ids),
        "lora_id": None,
        "medium": change.medium,
        "lora_name": None,
        "extra_keys": [],
        "group_idx": 0,
        "kv_cache_spec_kind": "full_attention",
    }


def _hash(key: bytes) -> int:
    return int.from_bytes(key[-8:], "big")
