"""A store of computed chunks by their tokens: variants of each, in a bounded number of bytes.

The key of a chunk is made of everything that must be equal for keys and values to be shared (model, dtype, tokenizer,
tenant: `root`), and its tokens are compared before it is used. When room is short the variant goes that saved least per
byte: uses times the share that needed no computing. Knows bytes and counts, no tensors' content, no clock. Invariant:
never more than `capacity` bytes, nor more than `variants` of a chunk.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from semcache.engine.chunks.craft import Variant


def chunk_key(root: bytes, ids: Sequence[int]) -> bytes:
    """The key of a chunk under a root."""
    return hashlib.blake2b(root + array("q", ids).tobytes(), digest_size=16).digest()


@dataclass(slots=True, eq=False)
class _Kept:
    variant: Variant
    saved: float
    entered: float


class ChunkStore:
    """Variants of chunks by key."""

    def __init__(self, capacity: int, *, variants: int = 4) -> None:
        self._capacity, self._variants = capacity, variants
        self._kept: dict[bytes, list[_Kept]] = {}
        self._floor = 0.0  # what the last evicted was worth: newcomers start there, so that old fame fades
        self.bytes = 0

    def find(self, key: bytes, ids: Sequence[int]) -> list[Variant]:
        """Variants of a chunk, oldest first."""
        return [one.variant for one in self._kept.get(key, ()) if one.variant.chunk.ids == tuple(ids)]

    def all(self, key: bytes) -> list[Variant]:
        """Whatever is kept under a key, oldest first."""
        return [one.variant for one in self._kept.get(key, ())]

    def used(self, key: bytes, variant: Variant, *, fraction: float) -> None:
        """A variant was used, and this fraction of it computed anew."""
        for one in self._kept.get(key, ()):
            if one.variant is variant:
                one.saved += 1 - fraction

    def keep(self, key: bytes, variant: Variant) -> bool:
        """Keep a variant, in place of one with the same context; False when it is larger than all room there is."""
        size = variant.chunk.bytes
        if size > self._capacity:
            return False
        mine = self._kept.setdefault(key, [])
        for one in [one for one in mine if one.variant.before == variant.before]:
            self._drop(key, one)
        mine = self._kept.setdefault(key, [])
        if len(mine) >= self._variants:
            self._drop(key, min(mine, key=_worth))
        while self.bytes + size > self._capacity:
            worst, victim = min(
                ((name, one) for name, some in self._kept.items() for one in some), key=lambda pair: _worth(pair[1])
            )
            self._floor = max(self._floor, _worth(victim))
            self._drop(worst, victim)
        self._kept.setdefault(key, []).append(_Kept(variant, 1.0, self._floor))
        self.bytes += size
        return True

    def _drop(self, key: bytes, kept: _Kept) -> None:
        self._kept[key].remove(kept)
        if not self._kept[key]:
            del self._kept[key]
        self.bytes -= kept.variant.chunk.bytes


def _worth(kept: _Kept) -> float:
    return kept.entered + kept.saved * len(kept.variant.chunk.ids) / kept.variant.chunk.bytes
