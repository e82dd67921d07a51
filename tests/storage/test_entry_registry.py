"""The registry of live entries, and the entries it gives up when a category is full."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from semcache.retention.eviction import PLAIN, Quota, SharedCapacity, Worth
from semcache.retention.eviction.lru import Lru
from semcache.storage.entry_registry import EntryRegistry
from semcache.storage.hot_entries import HotEntries
from semcache.types import CacheKey, Card, Endpoint, Entry, Rejection, Scope


def card(id: int, exact: bytes | None = None, category: str = "a", expires: float = 10.0) -> Card:
    return Card(id, exact or str(id).encode(), b"", category, "", 0.0, expires)


def registry(capacity: int = 2) -> EntryRegistry:
    return EntryRegistry(lambda _: Quota(capacity, Lru()))


def test_a_newer_answer_to_the_same_request_replaces_the_older() -> None:
    held = registry()
    held.add(card(1, b"same"))
    assert [gone.id for gone in held.add(card(2, b"same"))] == [1]
    assert held.get(1) is None
    assert held.exact(b"same") == card(2, b"same")


def test_the_least_recently_used_of_the_same_category_goes() -> None:
    held = registry()
    held.add(card(1))
    held.add(card(2))
    held.add(card(9, category="b"))
    first = held.get(1)
    assert first is not None
    held.touch(first)
    assert [gone.id for gone in held.add(card(3))] == [2]
    assert held.counts() == {"a": 2, "b": 1}


def test_rejections_are_per_request() -> None:
    held = registry()
    held.reject([Rejection(1, b"x")])
    assert 1 in held.rejected(b"x")
    assert 1 not in held.rejected(b"y")


def test_what_an_entry_was_wrong_for_is_forgotten_with_it() -> None:
    held = registry()
    held.add(card(1))
    held.reject([Rejection(1, b"x"), Rejection(1, b"y"), Rejection(2, b"x")])
    held.remove(1)
    assert (1 in held.rejected(b"x"), 2 in held.rejected(b"x"), 1 in held.rejected(b"y")) == (False, True, False)


def test_an_answer_that_is_wrong_for_a_request_is_so_in_all_entries_but_that_request_s_own() -> None:
    held = registry(9)
    for one in (card(1), card(2), card(3), card(4, b"x"), card(5)):
        held.add(one)
    for alias in (2, 3, 4):
        held.regroup(alias, 1)
    held.reject([Rejection(2, b"x")])
    assert [number for number in range(1, 6) if number in held.rejected(b"x")] == [1, 2, 3]
    held.allow([Rejection(2, b"x")])
    assert [number for number in range(1, 6) if number in held.rejected(b"x")] == []


def test_a_category_with_no_room_keeps_nothing() -> None:
    held = registry(0)
    assert [gone.id for gone in held.add(card(1))] == [1]
    assert held.get(1) is None
    assert held.exact(b"1") is None


def test_a_category_gives_back_what_it_borrowed() -> None:
    """The entry that leaves is of another category than the one that came, and must be unfindable all the same."""
    held = EntryRegistry(SharedCapacity(3, {"a": 1, "b": 2}, lambda _: Lru()).of)
    for id in (1, 2, 3):
        assert held.add(card(id)) == []
    assert [gone.id for gone in held.add(card(9, category="b"))] == [1]
    assert held.get(1) is None
    assert held.exact(b"1") is None
    assert held.counts() == {"a": 2, "b": 1}


def test_an_entry_that_was_regrouped_is_found_with_its_new_class() -> None:
    held = registry()
    held.add(card(1))
    held.add(card(2))
    assert held.regroup(2, 1) == replace(card(2), answer=1)
    assert held.get(2) == held.exact(b"2") == replace(card(2), answer=1)
    assert held.regroup(77, 1) is None


class Listening(Lru):
    """Remembers what it was told."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[Worth] = []

    def insert(self, id: int, weight: float, worth: Worth = PLAIN) -> None:
        super().insert(id, weight, worth)
        self.told.append(worth)


def test_policies_are_told_what_an_entry_is_worth() -> None:
    """The same request has the same key under any id, and entries of one answer the cluster of the first of them."""
    policy = Listening()
    held = EntryRegistry(lambda _: Quota(9, policy))
    held.add(card(1, b"one"), cost=0.5, p_serve=0.9)
    held.add(replace(card(2, b"two"), answer=1))
    held.remove(1)
    held.add(card(3, b"one"))
    first, second, third = policy.told
    assert (first.cost, first.p_serve, first.created, first.expires) == (0.5, 0.9, 0.0, 10.0)
    assert first.key == third.key != second.key
    assert second.cluster == first.cluster == first.key


actions = st.lists(
    st.tuples(st.sampled_from(["add", "remove", "touch"]), st.integers(0, 8), st.integers(0, 4)), max_size=60
)


@given(actions, st.integers(0, 5))
def test_the_books_always_balance(steps: list[tuple[str, int, int]], capacity: int) -> None:
    held = registry(capacity)
    alive: dict[int, Card] = {}
    for action, id, exact in steps:
        known = held.get(id)
        if action == "add" and known is None:
            new = card(id, str(exact).encode())
            alive[id] = new
            for gone in held.add(new):
                del alive[gone.id]
        elif action == "remove":
            held.remove(id)
            alive.pop(id, None)
        elif known is not None:
            held.touch(known)
        assert {entry.id for entry in alive.values()} == {i for i in range(9) if held.get(i)}
        assert len(held) == len(alive) == sum(held.counts().values()) <= capacity
        assert all(held.exact(entry.exact) is held.get(entry.id) for entry in alive.values())


def entry(id: int, size: int) -> Entry:
    key = CacheKey(Scope(), b"", b"", "", b"")
    return Entry(id, key, Endpoint.CHAT, "m", "a", b"", "", b"x" * size, 0.0, 1.0)


def test_hot_entries_stay_within_their_bytes() -> None:
    hot = HotEntries(5000)
    for id in range(10):
        hot.put(entry(id, 1000))
    held = [id for id in range(10) if hot.get(id)]
    assert held == [7, 8, 9]
    hot.put(entry(99, 100_000))
    assert hot.get(99) is None
    hot.remove(9)
    assert hot.get(9) is None


def test_cards_are_given_up_by_the_category_that_is_fullest_for_its_quota() -> None:
    sizes = {"a": 10, "b": 4}
    held = EntryRegistry(lambda category: Quota(sizes[category], Lru()))
    for number in range(4):
        held.add(card(number))
        if number < 3:
            held.add(card(10 + number, category="b"))
    # b is 3/4 full and a 4/10; at 1/4 a is the fuller one.
    assert [one.id for one in held.give_up(3)] == [10, 11, 0]
    assert held.counts() == {"a": 3, "b": 1}
    assert len(held.give_up(100)) == 4
    assert held.give_up(1) == []


def test_what_borrowed_most_of_a_pool_gives_up_first() -> None:
    pool = SharedCapacity(10, {"a": 8.0, "b": 2.0}, lambda _: Lru())
    held = EntryRegistry(pool.of)
    for number in range(5):
        held.add(card(number))
        held.add(card(10 + number, category="b"))
    assert [one.id for one in held.give_up(4)] == [10, 11, 12, 13]
    assert pool.held == 6
