"""Batches of texts of similar length, so that little is spent on padding.

Knows lengths, no texts and no model; has the interface of `torch.utils.data.BatchSampler` without importing torch.
Invariant: an epoch holds every row once, in batches that depend on the seed and the epoch alone.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence

_POOL = 30  # batches whose rows are sorted together: enough to save the padding, few enough to stay random


class LengthBatchSampler:
    """Batches of at most `batch_size` rows; `lengths` holds what each row costs, say its tokens."""

    drop_last = False

    def __init__(self, lengths: Sequence[int], batch_size: int, *, seed: int) -> None:
        self.batch_size = batch_size
        self._lengths, self._seed, self._epoch = lengths, seed, 0

    def set_epoch(self, epoch: int) -> None:
        """Draw other batches in this epoch, counted from 0."""
        self._epoch = epoch

    def __len__(self) -> int:
        return math.ceil(len(self._lengths) / self.batch_size)

    def __iter__(self) -> Iterator[list[int]]:
        rng = random.Random(f"{self._seed}:{self._epoch}")
        rows = list(range(len(self._lengths)))
        rng.shuffle(rows)
        size = self.batch_size * _POOL
        pools = [sorted(rows[at : at + size], key=self._lengths.__getitem__) for at in range(0, len(rows), size)]
        # Cut across the pools' borders, so that only the last batch of all is short.
        ordered = [row for pool in pools for row in pool]
        batches = [ordered[at : at + self.batch_size] for at in range(0, len(ordered), self.batch_size)]
        rng.shuffle(batches)
        return iter(batches)
