"""A request with a large model's answer to it, as it is shown to a small model, with the record of its uses.

Pure: times are Unix seconds. Invariant: what a use was worth fades with time alone, and never below 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from semcache.agents.multiplex.models import tokens_of

if TYPE_CHECKING:
    from semcache.types import Vector

DECAY = 0.9  # of an offload's worth an hour later (IC-Cache, section 5)
_HOUR = 3600.0
_EMA = 0.2
_OVERHEAD = 16  # tokens of the frames of two messages


@dataclass(frozen=True, slots=True)
class NearExample:
    """One example. `partition` is the hard boundary within which it may be shown.

    `quality` in [0, 1] is that of the answer, `cost` the US dollars that it took. `offloads` counts answers of a small
    model that were good with it, as of `used`; `gain` is the mean of what a better answer would have brought at its
    uses, `replays` counts the attempts at one.
    """

    id: int
    partition: bytes
    prompt: str
    answer: str
    vector: Vector
    created: float
    cost: float = 0.0
    quality: float = 1.0
    offloads: float = 0.0
    used: float = 0.0
    uses: int = 0
    gain: float = 0.0
    replays: int = 0

    @property
    def tokens(self) -> int:
        """Tokens that it adds to a prompt, about."""
        return tokens_of((self.prompt, self.answer)) + _OVERHEAD

    @property
    def size(self) -> int:
        """Bytes that it takes: its texts and its vector."""
        return len(self.prompt.encode()) + len(self.answer.encode()) + self.vector.nbytes

    def utility(self, now: float) -> float:
        """Its good offloads, each worth 0.9 of itself an hour later."""
        return self.offloads * float(DECAY ** (max(0.0, now - self.used) / _HOUR))

    def after(self, now: float, quality: float) -> NearExample:
        """The example after a use: `quality` in [0, 1] is that of the small model's answer."""
        lost = 1.0 - quality
        gain = lost if self.uses == 0 else self.gain + _EMA * (lost - self.gain)
        return replace(self, offloads=self.utility(now) + quality, used=now, uses=self.uses + 1, gain=gain)
