"""Batches by length: nothing lost, little padded, and the same again after a break."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from semcache.train.length_batches import LengthBatchSampler


@given(st.lists(st.integers(1, 64), max_size=300), st.integers(1, 40), st.integers(0, 3))
def test_an_epoch_holds_every_row_once(lengths: list[int], size: int, epoch: int) -> None:
    batches = LengthBatchSampler(lengths, size, seed=1)
    batches.set_epoch(epoch)
    drawn = list(batches)
    assert sorted(row for batch in drawn for row in batch) == list(range(len(lengths)))
    assert len(drawn) == len(batches)
    assert all(len(batch) <= size for batch in drawn)
    assert drawn == list(batches), "a resumed epoch must see the same batches"


def test_most_padding_is_saved_and_epochs_differ() -> None:
    rng = random.Random(0)
    lengths = [rng.randrange(4, 64) for _ in range(3000)]

    def padded(batches: list[list[int]]) -> int:
        return sum(len(batch) * max(lengths[row] for row in batch) for batch in batches)

    batches = LengthBatchSampler(lengths, 32, seed=1)
    first = list(batches)
    plain = [list(range(at, min(at + 32, 3000))) for at in range(0, 3000, 32)]
    assert padded(first) - sum(lengths) < 0.15 * (padded(plain) - sum(lengths))
    batches.set_epoch(1)
    assert list(batches) != first
