"""What every eviction policy must do, and what the accounting around it must guarantee."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.eviction import POLICIES, Quota
from semcache.protocols import Eviction

every = pytest.mark.parametrize("name", sorted(POLICIES))
steps = st.lists(st.tuples(st.sampled_from(["insert", "touch", "forget", "evict"]), st.integers(0, 9)), max_size=80)


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


weighted = st.lists(st.tuples(st.integers(0, 9), st.floats(0.1, 40.0)), max_size=60)


@every
@given(weighted, st.floats(0.0, 60.0))
def test_a_quota_never_holds_more_than_its_capacity(name: str, items: list[tuple[int, float]], capacity: float) -> None:
    quota = Quota(capacity, POLICIES[name]())
    weights: dict[int, float] = {}
    for id, weight in items:
        gone = quota.admit(id, weight)
        weights[id] = weight
        for victim in gone:
            del weights[victim]
        assert sum(weights.values()) <= capacity + 1e-6
        assert len(quota) == len(weights)


@every
def test_what_does_not_fit_at_all_pushes_nothing_out(name: str) -> None:
    quota = Quota(10.0, POLICIES[name]())
    quota.admit(1, 6.0)
    assert quota.admit(2, 11.0) == [2]
    assert len(quota) == 1


def test_lru_gives_up_what_was_used_longest_ago() -> None:
    quota = Quota(3, POLICIES["lru"]())
    for id in (1, 2, 3):
        quota.admit(id)
    quota.touch(1)
    assert quota.admit(4) == [2]
    quota.touch(99)
