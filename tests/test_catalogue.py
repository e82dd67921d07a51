"""What a process knows of live entries, and what it gives up when a category is full."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from semcache.answers import Answers
from semcache.catalogue import Catalogue
from semcache.eviction import Quota
from semcache.eviction.lru import Lru
from semcache.types import CacheKey, Card, Endpoint, Entry, Rejection, Scope


def card(id: int, exact: bytes | None = None, category: str = "a", expires: float = 10.0) -> Card:
    return Card(id, exact or str(id).encode(), b"", category, "", 0.0, expires)


def catalogue(capacity: int = 2) -> Catalogue:
    return Catalogue(lambda _: Quota(capacity, Lru()))


def test_a_newer_answer_to_the_same_request_replaces_the_older() -> None:
    held = catalogue()
    held.add(card(1, b"same"))
    assert [gone.id for gone in held.add(card(2, b"same"))] == [1]
    assert held.get(1) is None
    assert held.exact(b"same") == card(2, b"same")


def test_the_least_recently_used_of_the_same_category_goes() -> None:
    held = catalogue()
    held.add(card(1))
    held.add(card(2))
    held.add(card(9, category="b"))
    first = held.get(1)
    assert first is not None
    held.touch(first)
    assert [gone.id for gone in held.add(card(3))] == [2]
    assert held.counts() == {"a": 2, "b": 1}


def test_rejections_are_per_request() -> None:
    held = catalogue()
    held.reject([Rejection(1, b"x")])
    assert 1 in held.rejected(b"x")
    assert 1 not in held.rejected(b"y")


def test_a_category_with_no_room_keeps_nothing() -> None:
    held = catalogue(0)
    assert [gone.id for gone in held.add(card(1))] == [1]
    assert held.get(1) is None
    assert held.exact(b"1") is None


actions = st.lists(
    st.tuples(st.sampled_from(["add", "remove", "touch"]), st.integers(0, 8), st.integers(0, 4)), max_size=60
)


@given(actions, st.integers(0, 5))
def test_the_books_always_balance(steps: list[tuple[str, int, int]], capacity: int) -> None:
    held = catalogue(capacity)
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


def test_hot_answers_stay_within_their_bytes() -> None:
    answers = Answers(5000)
    for id in range(10):
        answers.put(entry(id, 1000))
    held = [id for id in range(10) if answers.get(id)]
    assert held == [7, 8, 9]
    answers.put(entry(99, 100_000))
    assert answers.get(99) is None
    answers.remove(9)
    assert answers.get(9) is None
