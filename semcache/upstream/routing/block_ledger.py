"""The blocks that a replica's KV events announce, kept in its prompt tree.

Engine hashes are never recomputed (their extra keys differ between releases): a block's own key is chained from the
token ids that its event carries, and the engine's hash is remembered for it (as llm-d does).
Knows values, no bytes and no sockets. Invariant: after any sequence of events the tree holds exactly the blocks whose
chain to the root was announced and that are in at least one medium; numbers that skip are a gap, never a guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import Enum, auto
from itertools import chain

from semcache.upstream.routing.kv_events import (
    BlockHash,
    BlocksCleared,
    BlocksRemoved,
    BlocksStored,
    Event,
    KvEventBatch,
)
from semcache.upstream.routing.prompts import root, token_keys
from semcache.upstream.routing.tree import PromptTree

SALT_MARK = "semcache-"
_OUR_SALT = re.compile(SALT_MARK + r"[0-9a-f]{48}")
_CREDIT = {"GPU": 1.0, "CPU": 0.75, "CPU_PINNED": 0.75}
_DISK_CREDIT = 0.25


class BatchResult(Enum):
    """The result of taking a batch."""

    APPLIED = auto()
    OLD = auto()  # seen before
    GAP = auto()  # earlier ones are missing: replay from `Ledger.expected`, or call `restart`


class BlockLedger:
    """Applies the batches of one publisher to `tree`; more than `most` blocks are taken for nonsense and forgotten."""

    def __init__(self, tree: PromptTree, *, most: int = 2_000_000) -> None:
        self._tree = tree
        self._most = most
        self._keys: dict[BlockHash, bytes] = {}
        self._media: dict[BlockHash, set[str]] = {}
        self._newest = float("-inf")
        self.expected: int | None = None
        self.unit: int | None = None
        self.adapters: set[str] = set()

    def take(self, number: int, batch: KvEventBatch) -> BatchResult:
        """Apply batch number `number`, unless it is old or others are missing before it."""
        if self.expected is not None and number < self.expected:
            if batch.at <= self._newest:
                return BatchResult.OLD
            self.restart()  # the publisher counts anew, later in time: it is another process
        if number != (self.expected or 0):
            return BatchResult.GAP
        self.expected, self._newest = number + 1, max(self._newest, batch.at)
        for event in batch.events:
            self._apply(event)
        return BatchResult.APPLIED

    def restart(self, number: int | None = None) -> None:
        """Believe nothing, and go on from batch `number`, by default the first one."""
        self._clear()
        self.expected, self._newest = number, float("-inf")

    def _apply(self, event: Event) -> None:
        match event:
            case BlocksStored():
                self._store(event)
            case BlocksRemoved(hashes, medium):
                self._remove(hashes, medium)
            case BlocksCleared():
                self._clear()

    def _store(self, event: BlocksStored) -> None:
        extra = event.extra if len(event.extra) == len(event.hashes) else (event.extra, *[None] * len(event.hashes))
        if event.parent is None:
            parent = root(_salt(event.extra), event.adapter)
        elif event.parent in self._keys:
            parent = self._keys[event.parent]
        else:
            return  # its chain was not announced: nothing can be said of what precedes it
        if len(self._keys) + len(event.hashes) > self._most:
            self._clear()
            return
        self.adapters.add(event.adapter)
        held: list[tuple[bytes, float]] = []
        for name, ids, more in zip(event.hashes, event.tokens, extra, strict=False):
            other = "".join(word for word in _words(more) if not _OUR_SALT.fullmatch(word))
            if other:  # an image, say: such a block equals none that is made of token ids alone
                parent = root(parent.hex(), other)
            self.unit = len(ids)
            parent = next(token_keys(parent, ids, len(ids)))
            self._keys[name] = parent
            self._media.setdefault(name, set()).add(event.medium)
            held.append((parent, self._credit(name)))
        for key, credit in reversed(held):  # the beginning of a chain last, so that it is given up last
            self._tree.confirm([key], credit)

    def _remove(self, hashes: Iterable[BlockHash], medium: str | None) -> None:
        for name in hashes:
            left = self._media.get(name, set())
            left.difference_update([medium] if medium is not None else list(left))
            key = self._keys.get(name)
            if key is None:
                continue
            if left:
                self._tree.confirm([key], self._credit(name))
            else:
                del self._keys[name], self._media[name]
                self._tree.remove([key])

    def _clear(self) -> None:
        self._keys.clear()
        self._media.clear()
        self._tree.clear()

    def _credit(self, name: BlockHash) -> float:
        return max(_CREDIT.get(medium, _DISK_CREDIT) for medium in self._media[name])


def _salt(extra: Iterable[object]) -> str:
    """Our salt among extra keys. How they are nested differs between releases; a salt of ours is known by its form."""
    return next((word for word in _words(extra) if _OUR_SALT.fullmatch(word)), "")


def _words(value: object) -> Iterator[str]:
    if isinstance(value, list | tuple):
        yield from chain.from_iterable(map(_words, value))
    elif value is not None:
        yield value if isinstance(value, str) else repr(value)
