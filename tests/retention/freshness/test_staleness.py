"""How old an entry is, and what may be served after its time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.types import Card


def card(created: float = 100.0, expires: float = 200.0) -> Card:
    return Card(1, b"e" * 32, b"s" * 16, "default", "text", created, expires)


@pytest.mark.parametrize(
    ("now", "revalidate", "age"),
    [
        (100.0, 0.0, "fresh"),
        (199.9, 0.0, "fresh"),
        (200.0, 0.0, "expired"),
        (200.0, 30.0, "stale"),
        (229.9, 30.0, "stale"),
        (230.0, 30.0, "expired"),
        (1e9, 30.0, "expired"),
        (41.0, 0.0, "fresh"),  # the clock of another machine, a little ahead
        (39.0, 30.0, "expired"),  # one that was far ahead: it would outlive its time by so much
    ],
)
def test_the_ages_of_an_entry(now: float, revalidate: float, age: str) -> None:
    assert card().staleness(now, revalidate) == age


@given(st.floats(100, 1e6), st.floats(100, 1e6), st.floats(0, 1e5))
def test_an_entry_never_gets_younger(now: float, later: float, revalidate: float) -> None:
    order = ["fresh", "stale", "expired"]
    first, second = sorted([now, later])
    assert order.index(card().staleness(first, revalidate)) <= order.index(card().staleness(second, revalidate))
