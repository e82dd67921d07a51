"""A page that is handed out twice mixes two conversations; one that is lost shrinks the cache for good."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from semcache.engine.page_pool import PagePool


@given(
    st.integers(1, 8), st.lists(st.tuples(st.sampled_from(["take", "share", "drop"]), st.integers(0, 99)), max_size=80)
)
def test_pages_are_held_and_freed_as_a_counter_would(size: int, moves: list[tuple[str, int]]) -> None:
    pool, holders = PagePool(size), Counter[int]()
    for move, number in moves:
        held = sorted(+holders)
        if move == "take":
            page = pool.take(number % size if number % 2 else None)
            assert (page is None) == (len(held) == size)
            if page is not None:
                assert page not in held
                holders[page] = 1
        elif held:
            page = held[number % len(held)]
            pool.share(page) if move == "share" else pool.drop(page)
            holders[page] += 1 if move == "share" else -1
        assert pool.free == size - len(+holders)
        assert all(pool.holders(page) == holders[page] for page in range(size))


def test_neighbours_are_handed_out_while_they_are_free() -> None:
    pool = PagePool(6)
    first = pool.take()
    assert first is not None
    assert [pool.take(first), pool.take(first + 1)] == [first + 1, first + 2]
    pool.drop(first + 1)
    assert pool.take(first) == first + 1
    assert pool.take(after=5) not in (None, first, first + 1, first + 2)
