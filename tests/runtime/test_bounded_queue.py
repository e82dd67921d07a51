"""However much is offered, what waits stays within its bounds and comes out in the order in which it came."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.runtime.bounded_queue import BoundedQueue


@given(st.lists(st.one_of(st.none(), st.integers(0, 40)), max_size=80))
def test_what_waits_stays_within_bounds_and_in_order(steps: list[int | None]) -> None:
    waiting: BoundedQueue[int] = BoundedQueue(number=5, size=100)
    expected: list[tuple[int, int]] = []
    for name, size in enumerate(steps):
        if size is None:
            if expected:
                assert waiting.take() == expected.pop(0)[0]
            else:
                with pytest.raises(IndexError):
                    waiting.take()
            continue
        room = len(expected) < 5 and sum(one for _, one in expected) + size <= 100
        assert waiting.offer(name, size) is room
        expected += [(name, size)] * room
        assert [*waiting] == [one for one, _ in expected]
        assert (len(waiting), waiting.bytes_held) == (len(expected), sum(one for _, one in expected))


def test_a_piece_that_is_given_back_comes_first_again_even_where_there_is_no_room_left() -> None:
    waiting: BoundedQueue[str] = BoundedQueue(number=2, size=100)
    assert waiting.offer("first", 60)
    assert waiting.offer("second", 40)
    taken = waiting.take()
    assert waiting.offer("third", 60)
    waiting.give_back(taken, 60)
    assert [*waiting] == ["first", "second", "third"]
    assert (len(waiting), waiting.bytes_held) == (3, 160)
    assert not waiting.offer("fourth", 1)
