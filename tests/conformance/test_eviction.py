"""Conformance of `Eviction`, and of the accounting around it."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from semcache.config import plugins
from semcache.protocols import Eviction
from semcache.retention.eviction import PLAIN, POLICIES, Quota, SharedCapacity, Worth

every = pytest.mark.parametrize("name", sorted([*POLICIES, *plugins.names("evictions")]))
steps = st.lists(st.tuples(st.sampled_from(["insert", "touch", "forget", "evict"]), st.integers(0, 9)), max_size=80)
worths = st.builds(
    Worth,
    cost=st.floats(0.0, 10.0),
    key=st.integers(0, 12),
    cluster=st.integers(0, 4),
    p_serve=st.floats(0.0, 1.0),
    created=st.floats(0.0, 100.0),
    expires=st.floats(0.0, 300.0) | st.just(math.inf),
)


@every
@given(steps)
def test_a_victim_is_always_someone_who_is_there(name: str, actions: list[tuple[str, int]]) -> None:
    policy: Eviction = POLICIES[name]()
    held: set[int] = set()
    for action, id in actions:
        if action == "insert" and id not in held:
            policy.insert(id, 1.0)
            held.add(id)
        elif action == "touch" and id in held:
            policy.touch(id)
        elif action == "forget" and id in held:
            policy.forget(id)
            held.discard(id)
        elif action == "evict":
            victim = policy.victim()
            assert (victim in held) if held else (victim is None)
            assert policy.victim() == victim, "asking twice must not lose the victim"
            if victim is not None:
                policy.forget(victim)
                held.discard(victim)


class Books(RuleBasedStateMachine):
    """A quota beside a plain account of what it was told and what it gave up."""

    name = "lru"

    def __init__(self) -> None:
        super().__init__()
        self.capacity = 25.0
        self.quota = Quota(self.capacity, POLICIES[self.name]())
        self.held: dict[int, float] = {}

    @rule(id=st.integers(0, 30), weight=st.floats(0.0, 30.0), worth=worths)
    def admit(self, id: int, weight: float, worth: Worth) -> None:
        gone = self.quota.admit(id, weight, worth)
        self.held[id] = weight
        assert len(gone) == len(set(gone))
        for victim in gone:
            del self.held[victim]

    @rule(id=st.integers(0, 30))
    def touch(self, id: int) -> None:
        self.quota.touch(id)

    @rule(id=st.integers(0, 40))
    def forget(self, id: int) -> None:
        self.quota.forget(id)
        self.held.pop(id, None)

    @precondition(lambda self: self.held)
    @rule()
    def evict(self) -> None:
        victim = self.quota.evict()
        assert victim is not None
        del self.held[victim]

    @invariant()
    def nothing_beyond_capacity(self) -> None:
        assert sum(self.held.values()) <= self.capacity + 1e-6

    @invariant()
    def both_accounts_agree(self) -> None:
        assert len(self.quota) == len(self.held)
        assert all(id in self.quota for id in self.held)
        assert self.quota.held == pytest.approx(sum(self.held.values()), abs=1e-6)


@every
def test_the_books_balance_whatever_happens(name: str) -> None:
    machine = type(f"Books of {name}", (Books,), {"name": name})
    case = machine.TestCase
    case.settings = settings(max_examples=40, stateful_step_count=60, deadline=None)
    case("runTest").debug()


@every
def test_what_does_not_fit_at_all_pushes_nothing_out(name: str) -> None:
    quota = Quota(10.0, POLICIES[name]())
    quota.admit(1, 6.0)
    assert quota.admit(2, 11.0) == [2]
    assert len(quota) == 1


@every
def test_two_policies_told_the_same_choose_the_same(name: str) -> None:
    def gone() -> list[int]:
        quota = Quota(20, POLICIES[name]())
        victims = []
        for step in range(600):
            quota.touch(step * 7 % 41)
            victims += quota.admit(step * 13 % 97, 1.0, Worth(1.0 + step % 5, step * 13 % 97 + 1))
        return victims

    assert gone() == gone()


@every
def test_what_is_asked_all_the_time_survives_a_scan(name: str) -> None:
    """All but the first in line for it: an answer used between any two others must not be the one to go."""
    quota = Quota(10, POLICIES[name]())
    quota.admit(1, 1.0, Worth(key=1))
    for id in range(2, 200):
        quota.touch(1)
        assert 1 not in quota.admit(id, 1.0, Worth(key=id))


@every
def test_an_empty_policy_has_no_victim_and_starts_over(name: str) -> None:
    policy = POLICIES[name]()
    for _ in range(2):
        for id in range(50):
            policy.insert(id, 1.0, PLAIN)
            policy.touch(id)
        while (victim := policy.victim()) is not None:
            policy.forget(victim)
        assert len(policy) == 0


@every
def test_a_pool_works_with_it(name: str) -> None:
    pool = SharedCapacity(10, {"a": 6, "b": 4}, lambda _: POLICIES[name]())
    held: set[int] = set()
    for id in range(60):
        held.add(id)
        held -= set(pool.of("a" if id % 3 else "b").admit(id))
        assert pool.held == len(held) <= 10
