"""Conformance of `SavedStates`: learned states by name."""

from __future__ import annotations

from tests.conformance.stores import every


@every
async def test_the_newest_saved_state_wins_whoever_comes_last(store):
    assert await store.learned("threshold") is None
    await store.learn("threshold", 5, b"five")
    await store.learn("threshold", 3, b"three")
    await store.learn("other", 1, b"")
    assert await store.learned("threshold") == (5, b"five")
    await store.learn("threshold", 5, b"five again")
    await store.learn("threshold", 8, b"\x00" * 100_000)
    assert await store.learned("threshold") == (8, b"\x00" * 100_000)
    assert await store.learned("other") == (1, b"")
