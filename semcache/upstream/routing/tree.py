"""The blocks that one replica is believed to hold: the prompt tree of MemServe (2406.17565, section 6).

Keys are chained, so a set of keys is a tree: a key's ancestors are what precedes it in any chain. Knows no prompts and
no events. Invariant: at most `capacity` blocks; a block that was seen or sent more recently outlives an older one, and
a block that was used in a chain outlives those behind it (leaves go first).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

CONFIRMED = float("inf")


@dataclass(slots=True)
class _Block:
    """`credit` is 1 in the accelerator's memory and less below it; `until` a time after which it is not believed."""

    credit: float
    until: float


class HeldPrefix(NamedTuple):
    """How many leading blocks a replica holds, and the sum of their credits."""

    blocks: int
    credit: float


class PromptTree:
    """The blocks of one replica. Times are monotonic seconds."""

    def __init__(self, capacity: int = 100_000) -> None:
        self._capacity = capacity
        self._blocks: OrderedDict[bytes, _Block] = OrderedDict()

    def __len__(self) -> int:
        return len(self._blocks)

    def match(self, keys: Sequence[bytes], now: float, *, confirmed: bool = False) -> HeldPrefix:
        """The leading blocks that are believed to be there.

        With `confirmed`, blocks that were only sent and not seen yet are left out.
        """
        matched, credit = 0, 0.0
        for key in keys:
            block = self._blocks.get(key)
            if block is None or block.until < now or (confirmed and block.until != CONFIRMED):
                break
            matched += 1
            credit += block.credit
        return HeldPrefix(matched, credit)

    def match_again(self, keys: Sequence[bytes], held: HeldPrefix, now: float) -> HeldPrefix:
        """`match` by what it returned before, looked up anew only where the end of that has moved.

        Leaves go first, so what precedes a block that is there is taken for being there, at the credit that it had.
        """
        at = held.blocks
        moved = (at > 0 and not self._believed(keys[at - 1], now)) or (at < len(keys) and self._believed(keys[at], now))
        return self.match(keys, now) if moved else held

    def expect(self, keys: Sequence[bytes], until: float) -> None:
        """Believe in blocks that were sent for, up to a time; what was seen stays seen."""
        for key in reversed(keys):
            block = self._blocks.get(key)
            if block is None:
                self._blocks[key] = _Block(1.0, until)
            elif block.until != CONFIRMED:
                block.until = max(block.until, until)
        self._used(keys)

    def confirm(self, keys: Sequence[bytes], credit: float = 1.0) -> None:
        """Believe in blocks that were seen."""
        for key in keys:
            self._blocks[key] = _Block(credit, CONFIRMED)
        self._used(keys)

    def forget(self, keys: Sequence[bytes]) -> None:
        """No longer believe in those of these blocks that were only sent for: others may have been seen since."""
        for key in keys:
            block = self._blocks.get(key)
            if block is not None and block.until != CONFIRMED:
                del self._blocks[key]

    def remove(self, keys: Sequence[bytes]) -> None:
        """These blocks have gone; unknown ones are ignored."""
        for key in keys:
            self._blocks.pop(key, None)

    def halve(self) -> None:
        """No longer believe in the half that was used longest ago."""
        for _ in range((len(self._blocks) + 1) // 2):
            self._blocks.popitem(last=False)

    def clear(self) -> None:
        """Believe in nothing."""
        self._blocks.clear()

    def _believed(self, key: bytes, now: float) -> bool:
        block = self._blocks.get(key)
        return block is not None and block.until >= now

    def _used(self, keys: Sequence[bytes]) -> None:
        for key in reversed(keys):
            self._blocks.move_to_end(key)
        while len(self._blocks) > self._capacity:
            self._blocks.popitem(last=False)
