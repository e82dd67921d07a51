"""What may be served after its time, and how often it is asked anew."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.retention.freshness import Refetches
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
    ],
)
def test_the_ages_of_an_entry(now: float, revalidate: float, age: str) -> None:
    assert card().staleness(now, revalidate) == age


@given(st.floats(0, 1e6), st.floats(0, 1e6), st.floats(0, 1e5))
def test_an_entry_never_gets_younger(now: float, later: float, revalidate: float) -> None:
    order = ["fresh", "stale", "expired"]
    first, second = sorted([now, later])
    assert order.index(card().staleness(first, revalidate)) <= order.index(card().staleness(second, revalidate))


def test_a_popular_stale_entry_is_asked_anew_once() -> None:
    refetches = Refetches(lease=60.0)
    assert [refetches.claim(7, now) for now in (0.0, 0.0, 1.0, 59.9)] == [True, False, False, False]
    assert refetches.claim(8, 1.0)
    refetches.finish(7)
    assert refetches.claim(7, 2.0)


def test_a_refetch_that_never_came_back_is_tried_again_and_forgotten() -> None:
    refetches = Refetches(lease=60.0)
    assert refetches.claim(7, 0.0)
    assert refetches.claim(7, 60.0)
    for one in range(1000):
        refetches.claim(one, 1000.0 * one)
    assert len(refetches) == 1
    refetches.finish(12345)
