"""The table of slots against a dict: nothing is lost, nothing is found that is not there."""

from __future__ import annotations

import random
from array import array

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semcache.retention.eviction.slot_table import Slots

# Numbers that follow each other, that share their low bits, and that are random: ids come in all of these ways.
IDS = st.one_of(
    st.integers(0, 300),
    st.integers(0, 300).map(lambda number: number << 40),
    st.integers(-(1 << 63), (1 << 63) - 1),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.booleans(), IDS), max_size=400), st.integers(0, 300))
def test_it_finds_what_a_dict_finds(steps: list[tuple[bool, int]], many: int) -> None:
    column = array("q")
    slots, known = Slots(column), dict[int, int]()
    for keep, id in [*((True, number * 64) for number in range(many)), *steps]:
        if keep and id not in known:
            column.append(id)
            known[id] = len(column) - 1
            slots.put(id, known[id])
        elif not keep and id in known:
            assert slots.take(id) == known.pop(id)
        assert slots.find(id) == known.get(id)
        assert (id in slots) == (id in known)
    assert len(slots) == len(known)
    for id in column:
        assert slots.find(id) == known.get(id)


def test_taking_what_is_not_there_is_an_error() -> None:
    slots = Slots(array("q"))
    with pytest.raises(KeyError):
        slots.take(1)
    assert "1" not in slots


@pytest.mark.parametrize("stride", [0, 1, 1 << 20])
def test_it_grows_past_many_ids_and_lets_every_other_go(stride: int) -> None:
    rng = random.Random(stride)
    column = array("q", [number * stride if stride else rng.getrandbits(63) for number in range(5_000)])
    slots = Slots(column)
    for slot, id in enumerate(column):
        slots.put(id, slot)
    assert [slots.find(id) for id in column] == list(range(len(column)))
    assert [slots.take(id) for id in column[::2]] == list(range(0, len(column), 2))
    assert [slots.find(id) for id in column[1::2]] == list(range(1, len(column), 2))
    assert not any(id in slots for id in column[::2])
