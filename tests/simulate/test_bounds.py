"""The bounds hold against brute force and against every simulation."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st

from semcache.simulate import Simulator, bounds
from semcache.types import Why
from tests.simulate.worlds import Fixed, pack, traffic


def best(keys: Sequence[int], capacity: int) -> int:
    """The most hits of any choice of what to hold, by trying all."""

    @cache
    def most(place: int, held: frozenset[int]) -> int:
        if place == len(keys):
            return 0
        key = keys[place]
        if key in held:
            return 1 + most(place + 1, held)
        choices = [held] if len(held) >= capacity else [held | {key}]
        choices += [(held - {victim}) | {key} for victim in held]
        return max(most(place + 1, choice) for choice in choices if len(choice) <= capacity)

    return most(0, frozenset())


@settings(max_examples=150, deadline=None)
@given(st.lists(st.integers(0, 4), max_size=11), st.integers(0, 4))
def test_nothing_beats_belady_and_belady_is_reached(keys: list[int], capacity: int) -> None:
    assert bounds.belady(keys, capacity) == best(keys, capacity)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 30), st.floats(0.0, 1.0))
def test_no_simulation_beats_a_bound(seed: int, capacity: int, floor: float) -> None:
    arrivals, vectors = traffic(seed, 250, tenants=("a", "b"))
    result = Simulator(pack(quota=capacity), Fixed(floor), rng=random.Random(0)).run(arrivals, vectors)
    right = int(((result.exact | result.semantic) & ~result.wrong).sum())
    assert right <= bounds.belady(bounds.answer_keys(arrivals), capacity)
    none = Simulator(pack(quota=capacity), Fixed(2.0), rng=random.Random(0)).run(arrivals, vectors)
    assert int(none.exact.sum()) <= bounds.belady(bounds.exact_keys(arrivals), capacity)


def test_bypassed_requests_count_for_nothing() -> None:
    arrivals, _ = traffic(1, 50)
    assert bounds.exact_keys([replace(one, refused=Why.LIVE) for one in arrivals]) == []
    assert bounds.distinct(arrivals) == bounds.distinct([replace(one, refused=Why.EXACT_ONLY) for one in arrivals])
