"""Borrowing between categories: what is free may be used, and what is owed is given back first."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from semcache.config import packs
from semcache.retention.eviction import Quota, SharedCapacity, quotas
from semcache.retention.eviction.lru import Lru
from semcache.retention.eviction.shared_capacity import CapacityShare


def pool(capacity: float = 10, **shares: float) -> SharedCapacity:
    return SharedCapacity(capacity, shares, lambda _: Lru())


def test_a_category_may_use_what_the_others_leave() -> None:
    shared = pool(a=5, b=5)
    assert [gone for id in range(10) for gone in shared.of("a").admit(id)] == []
    assert len(shared.of("a")) == 10


def test_what_was_borrowed_is_given_back_first_and_no_more_than_that() -> None:
    shared = pool(a=5, b=5)
    for id in range(10):
        shared.of("a").admit(id)
    given_back = [gone for id in range(100, 110) for gone in shared.of("b").admit(id)]
    assert given_back[:5] == [0, 1, 2, 3, 4]
    assert (len(shared.of("a")), len(shared.of("b"))) == (5, 5)
    assert given_back[5:] == [100, 101, 102, 103, 104]


def test_debts_are_measured_by_the_quota() -> None:
    shared = pool(12, a=6, b=3, c=3)
    for id in range(6):
        shared.of("a").admit(id)
    for id in range(10, 16):
        shared.of("b").admit(id)
    assert shared.of("c").admit(20) == [10]


def test_a_category_without_a_quota_keeps_nothing() -> None:
    shared = pool(a=5, off=0)
    assert shared.of("off").admit(1) == [1]
    assert len(shared.of("off")) == 0


def test_what_is_too_heavy_for_all_comes_straight_back() -> None:
    shared = pool(a=5, b=5)
    shared.of("a").admit(1, 3.0)
    assert shared.of("b").admit(2, 11.0) == [2]
    assert len(shared.of("a")) == 1


def test_a_category_that_the_pack_does_not_know_has_the_default_quota() -> None:
    shared = pool(default=5)
    assert shared.of("unheard of").admit(1) == []


actions = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(0, 30), st.sampled_from(["admit", "touch", "forget"])), max_size=150
)


@given(actions, st.integers(1, 12), st.tuples(*[st.integers(0, 6)] * 3))
def test_no_category_loses_what_lies_within_its_share(
    steps: list[tuple[str, int, str]], capacity: int, weights: tuple[int, int, int]
) -> None:
    quota = dict(zip("abc", weights, strict=True))
    shared = pool(capacity, **quota)
    held: dict[str, set[int]] = {name: set() for name in "abc"}
    for name in "abc":
        shared.of(name)
    for name, number, action in steps:
        id = number * 3 + "abc".index(name)
        member = shared.of(name)
        if action == "touch":
            member.touch(id)
        elif action == "forget":
            member.forget(id)
            held[name].discard(id)
        else:
            before = {other: len(ids) for other, ids in held.items()}
            gone = member.admit(id)
            held[name].add(id)
            for other in "abc":
                lost = held[other] & set(gone)
                held[other] -= lost
                if lost and other != name:
                    assert before[other] > capacity * quota[other] / sum(quota.values())
        assert {other: len(shared.of(other)) for other in "abc"} == {other: len(ids) for other, ids in held.items()}
        assert sum(len(ids) for ids in held.values()) <= capacity


def test_a_pack_chooses_between_strict_quotas_and_a_pool() -> None:
    pack = packs.load("default")
    strict = msgspec.structs.replace(pack, capacity=None)
    assert isinstance(quotas(strict)("default"), Quota)
    of = quotas(msgspec.structs.replace(pack, capacity=100))
    assert isinstance(of("default"), CapacityShare)
    assert of("default") is of("default")
