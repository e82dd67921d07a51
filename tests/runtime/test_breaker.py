"""How long a failing part is left alone."""

from __future__ import annotations

from semcache.runtime.breaker import Breaker


def test_calls_that_fail_together_count_once() -> None:
    breaker = Breaker(shortest=0.5, longest=15.0)
    for _ in range(32):
        breaker.failed(100.0, TimeoutError())
    assert not breaker.closed(100.4)
    assert breaker.closed(100.5)


def test_the_pause_doubles_while_the_part_keeps_failing_and_ends_with_a_success() -> None:
    breaker = Breaker(shortest=0.5, longest=15.0)
    now, pauses = 0.0, []
    for _ in range(8):
        breaker.failed(now, OSError("gone"))
        opened = now
        while not breaker.closed(now):
            now += 0.5
        pauses.append(now - opened)
    assert pauses == [0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 15.0, 15.0]
    breaker.succeeded()
    assert breaker.error is None
    breaker.failed(now, OSError("gone"))
    assert breaker.closed(now + 0.5)
