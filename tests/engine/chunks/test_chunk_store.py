"""Chunks and documents in the store: right variants, bounded room, the most valuable evicted last."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.engine.chunks.chunk_store import ChunkStore, chunk_key
from semcache.engine.chunks.craft import Variant, best_variant, measure_variant

torch = pytest.importorskip("torch", reason="needs the extra `engine`")

from semcache.engine.chunks.chunk import Chunk  # noqa: E402

A, B, C, D = b"a", b"b", b"c", b"d"


def variant(
    before: tuple[bytes, ...], inter: tuple[float, ...], *, ids: tuple[int, ...] = (1, 2), intra: float = 1.0
) -> Variant:
    return Variant(Chunk(ids, 0, torch.zeros(1, 2, 1, len(ids), 2)), before, inter, intra, tuple(range(len(ids))))


Shares = st.lists(st.floats(0, 10), max_size=4)


@given(Shares, st.lists(st.sampled_from([A, B, C, D]), unique=True), st.floats(0, 10), st.floats(0.1, 4))
def test_fractions_are_shares(inter: list[float], now: list[bytes], intra: float, alpha: float) -> None:
    one = variant((A, B, C, D)[: len(inter)], tuple(inter), intra=intra)
    assert 0 <= one.overlap(now) <= 1
    assert 0.5 <= one.impact <= 1
    assert 0 <= one.fraction(now, alpha=alpha) <= 1
    assert one.fraction(one.before, alpha=alpha) == 0


def test_less_is_computed_the_more_of_the_context_is_there() -> None:
    one = variant((A, B, C), (0.5, 0.3, 0.2))
    nows = [(A, B, C), (A, B), (A,), (C,), (D,)]
    assert [one.fraction(now) for now in nows] == sorted(one.fraction(now) for now in nows)


def test_another_order_costs() -> None:
    one = variant((A, B, C), (0.5, 0.3, 0.2))
    assert one.overlap((C, B, A)) == 0
    assert 0 < one.overlap((B, A, C)) < one.overlap((A, B, C, D)) == 1


def test_a_chunk_that_leans_on_its_context_is_computed_more() -> None:
    leaning, alone = variant((A,), (5.0,)), variant((A,), (0.1,))
    assert leaning.fraction((B,)) > alone.fraction((B,))


def test_the_variant_with_the_nearest_context_is_best() -> None:
    some = [variant((A,), (1.0,)), variant((A, B), (0.5, 0.5)), variant((), ())]
    assert best_variant(some, (A, B)) is some[1]
    assert best_variant(some, (A, B)).worst(0.5) == [1]


def test_attention_is_measured_where_it_goes() -> None:
    attention = torch.zeros(6, 6)
    attention[4, 0], attention[4, 4], attention[5, 2] = 0.8, 0.2, 0.5
    chunk = Chunk((1, 2), 4, torch.zeros(1, 2, 1, 2, 2))
    made = measure_variant(chunk, [A, B], [range(2), range(2, 4)], range(4, 6), attention)
    assert made.inter == pytest.approx((0.2, 0.125))
    assert made.intra == pytest.approx(0.05)
    assert made.leaning == pytest.approx((0.8, 0.5))


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(1, 4)), max_size=40), st.integers(1, 300))
def test_the_store_is_never_larger_than_its_room(puts: list[tuple[int, int, int]], room: int) -> None:
    store = ChunkStore(room, variants=2)
    for name, context, size in puts:
        ids = (name,) * size
        store.keep(chunk_key(b"", ids), variant((bytes([context]),), (1.0,), ids=ids))
        held = {one: store.find(chunk_key(b"", (one,) * n), (one,) * n) for one in range(6) for n in range(1, 5)}
        assert store.bytes <= room
        assert all(len(found) <= 2 for found in held.values())


def test_a_chunk_is_found_by_its_tokens_and_root_alone() -> None:
    store = ChunkStore(10_000)
    one = variant((A,), (1.0,))
    key = chunk_key(b"tenant", (1, 2))
    assert store.keep(key, one)
    assert store.find(key, (1, 2)) == [one]
    assert store.find(key, (1, 3)) == []
    assert store.find(chunk_key(b"other", (1, 2)), (1, 2)) == []


def test_what_is_used_stays() -> None:
    store = ChunkStore(3 * 32)
    keys = [chunk_key(b"", (at, at)) for at in range(4)]
    made = [variant((A,), (1.0,), ids=(at, at)) for at in range(4)]
    for at in range(3):
        store.keep(keys[at], made[at])
    for _ in range(3):
        store.used(keys[0], made[0], fraction=0.1)
    store.used(keys[2], made[2], fraction=0.9)
    store.keep(keys[3], made[3])
    assert [bool(store.find(keys[at], (at, at))) for at in range(4)] == [True, False, True, True]
    assert not store.keep(keys[0], variant((A,), (1.0,), ids=(7,) * 99))
