"""Nobody may be starved, and a tenant's cached prefix may decide only while that tenant is not in debt."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from semcache.engine.fairness import TenantDeficits, WaitingRequest
from semcache.engine.overload import Throughput, refusal


def served(costs: dict[str, list[int]], *, quantum: int, cached: dict[str, int], rounds: int) -> list[dict[str, int]]:
    """Tokens served by tenant after each choice, when every tenant always has a request waiting."""
    deficits, taken = TenantDeficits(quantum), dict.fromkeys(costs, 0)
    history = []
    for number in range(rounds):
        waiting = [WaitingRequest(tenant, at, cached[tenant]) for at, tenant in enumerate(costs)]
        best = deficits.rank(waiting)[0]
        cost = costs[best.tenant][number % len(costs[best.tenant])]
        deficits.pay(best.tenant, prompt=cost)
        taken[best.tenant] += cost
        history.append(dict(taken))
    return history


@given(
    st.integers(1, 300),
    st.dictionaries(st.sampled_from("abcd"), st.lists(st.integers(1, 200), min_size=1, max_size=4), min_size=2),
    st.dictionaries(st.sampled_from("abcd"), st.integers(0, 5000)),
)
def test_service_of_tenants_that_always_wait_differs_by_a_bound(
    quantum: int, costs: dict[str, list[int]], cached: dict[str, int]
) -> None:
    """Whatever is cached for whom: the DLPM bound, a quantum and two largest requests."""
    history = served(costs, quantum=quantum, cached={name: cached.get(name, 0) for name in costs}, rounds=200)
    largest = max(map(max, costs.values()))
    for taken in history:
        assert max(taken.values()) - min(taken.values()) <= 2 * (quantum + largest)


def test_within_its_means_the_longest_prefix_is_first() -> None:
    deficits = TenantDeficits(1000)
    waiting = [
        WaitingRequest("a", 1, 0),
        WaitingRequest("b", 2, 64),
        WaitingRequest("a", 3, 128),
        WaitingRequest("b", 4, 64),
    ]
    assert [one.order for one in deficits.rank(waiting)] == [3, 2, 4, 1]
    deficits.pay("a", generated=600)
    assert [one.order for one in deficits.rank(waiting)] == [2, 4, 3, 1]


def test_who_was_passed_over_too_often_is_next_whatever_is_cached() -> None:
    waiting = [
        WaitingRequest("a", 1, 0, overdue=True),
        WaitingRequest("a", 2, 64),
        WaitingRequest("a", 3, 0, overdue=True),
    ]
    assert [one.order for one in TenantDeficits(10).rank(waiting)] == [1, 3, 2]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 10_000)), max_size=40))
def test_somebody_is_chosen_whenever_somebody_waits(payments: list[tuple[str, int]]) -> None:
    deficits, rng = TenantDeficits(10), random.Random(1)
    for tenant, tokens in payments:
        deficits.pay(tenant, prompt=tokens)
        waiting = [WaitingRequest(rng.choice("abc"), at, 0) for at in range(3)]
        ranked = deficits.rank(waiting)
        assert sorted(one.order for one in ranked) == [0, 1, 2]
        assert deficits.left(ranked[0].tenant) > 0
    deficits.forget([])
    assert all(deficits.left(tenant) <= 10 for tenant in "abc")


def test_a_flood_of_tenants_in_debt_is_forgotten_and_who_is_present_is_not() -> None:
    deficits = TenantDeficits(10)
    deficits.pay("present", prompt=90)
    for number in range(10_000):
        deficits.pay(f"once {number}", prompt=90)
        deficits.forget(["present"])
    assert len(deficits._left) < 2000
    assert deficits.left("present") == deficits.left("once 9999") == -80


def test_a_wait_is_foreseen_from_the_pace() -> None:
    pace = Throughput()
    assert refusal(pace, queued=0, tokens=10**6, max_waiting=9, max_wait=5) is None
    for _ in range(50):
        pace.step(100, 0.1)
    assert refusal(pace, queued=3, tokens=4900, max_waiting=9, max_wait=5) is None
    late = refusal(pace, queued=3, tokens=9000, max_waiting=9, max_wait=5)
    assert late is not None
    assert late.retry_after == 4
    full = refusal(pace, queued=9, tokens=100, max_waiting=9, max_wait=5)
    assert full is not None
    assert full.retry_after >= 1
