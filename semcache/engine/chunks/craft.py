"""The share of a chunk to compute anew: as much as its context mattered and has changed (Cache-Craft).

Agarwal et al. 2025, section 3: when a chunk is computed in full behind others, the attention that its tokens pay to
each of those (inter) and to itself (intra) is measured. Later, variants of the chunk, computed behind different chunks,
are compared with the chunks that stand before it now. Knows attention weights and keys of chunks, nothing of models.
Invariant: behind the same chunks in the same order nothing is computed anew; fractions are in [0, 1].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from semcache.engine.chunks.chunk import Chunk

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True, eq=False)
class Variant:
    """A chunk as it was behind the chunks with the keys `before`.

    `inter` is the attention that it paid to each of those, per token of its own and of theirs; `intra` that within it;
    `leaning` (tokens,) what each token of it paid to all before.
    """

    chunk: Chunk
    before: tuple[bytes, ...]
    inter: tuple[float, ...]
    intra: float
    leaning: tuple[float, ...]

    @property
    def impact(self) -> float:
        """Cache context impact, in [0.5, 1): how much its context mattered, against itself."""
        if not self.inter:
            return 0.5
        return 1 / (1 + math.exp(-min(50.0, sum(self.inter) / max(self.intra, 1e-9))))

    def overlap(self, now: Sequence[bytes]) -> float:
        """How much of the attention went to chunks that stand before it `now` too, less for every change of order."""
        if tuple(now) == self.before:
            return 1.0
        common = [(key, share) for key, share in zip(self.before, self.inter, strict=True) if key in now]
        total = sum(self.inter)
        if not common or total <= 0:
            return 0.0
        pairs = list(combinations([now.index(key) for key, _ in common], 2))
        turned = sum(one > other for one, other in pairs)
        order = 1 - turned / len(pairs) if pairs else 1.0
        return order * sum(share for _, share in common) / total

    def fraction(self, now: Sequence[bytes], *, alpha: float = 1.0) -> float:
        """The share of tokens to compute anew behind the chunks `now`; `alpha` scales it for a model."""
        if tuple(now) == self.before:
            return 0.0
        return min(1.0, alpha * self.impact * (1 - self.overlap(now)))

    def worst(self, fraction: float) -> list[int]:
        """The tokens that lean most on what stands before, that share of them, by their number in the chunk."""
        count = math.ceil(fraction * len(self.leaning))
        return sorted(range(len(self.leaning)), key=lambda at: -self.leaning[at])[:count]


def best_variant(variants: Sequence[Variant], now: Sequence[bytes], *, alpha: float = 1.0) -> Variant:
    """The variant that needs least; the latest of equals."""
    return min(reversed(variants), key=lambda one: one.fraction(now, alpha=alpha))


def measure_variant(
    chunk: Chunk, before: Sequence[bytes], spans: Sequence[range], own: range, attention: torch.Tensor
) -> Variant:
    """A variant measured on (n, n) `attention`, averaged over layers and heads.

    In the prompt of that attention the chunk took the positions `own`, and the chunks `before` it took `spans`.
    """
    rows = attention[own.start : own.stop]
    size = len(own)
    inter = tuple(float(rows[:, span.start : span.stop].sum()) / (size * len(span)) for span in spans)
    intra = float(rows[:, own.start : own.stop].sum()) / size**2
    first = spans[0].start if spans else own.start
    leaning = tuple(rows[:, first : own.start].sum(-1).tolist())
    return Variant(chunk, tuple(before), inter, intra, leaning)
