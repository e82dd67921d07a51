"""The frequency sketch: what it may and may not get wrong."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from semcache.retention.eviction.sketch import MOST, Sketch


@given(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 40), max_size=400))
def test_an_estimate_is_never_too_low(keys: list[int]) -> None:
    sketch = Sketch()
    for key in keys:
        sketch.add(key)
    for key, count in Counter(keys).items():
        assert min(count, MOST) <= sketch.estimate(key) <= MOST


def test_what_was_never_asked_is_hardly_ever_thought_to_be() -> None:
    sketch = Sketch(1024)
    for key in range(1000):
        sketch.add(key)
    assert sum(sketch.estimate(key) > 0 for key in range(10_000, 20_000)) < 1000


def test_growing_changes_no_estimate() -> None:
    sketch = Sketch()
    for key in range(300):
        for _ in range(key % 7):
            sketch.add(key)
    before = [sketch.estimate(key) for key in range(300)]
    sketch.fit(5000)
    assert [sketch.estimate(key) for key in range(300)] == before


def test_old_fame_fades() -> None:
    sketch = Sketch()
    for _ in range(20):
        sketch.add(1)
    for key in range(10_000):
        sketch.add(1000 + key)
    assert sketch.estimate(1) < MOST // 2
