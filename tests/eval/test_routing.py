"""The simulation behind the numbers on routing: no policy beats the bound, and one replica is one cache."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.prefix_caches import BLOCK, POLICIES, Arrival, Lru, bound, share
from eval.replicas import POLICIES as ROUTERS
from eval.replicas import Policy, Simulation, key_of

paths = st.lists(st.integers(0, 2), min_size=1, max_size=5)


def trace(chains: list[list[int]], apart: float = 100.0) -> list[Arrival]:
    """Requests so far apart that none are in flight together; a block's id names its whole chain."""
    names: dict[tuple[int, ...], int] = {}
    return [
        Arrival(
            at * apart,
            len(chain) * BLOCK,
            1,
            tuple(names.setdefault(tuple(chain[: end + 1]), len(names)) for end in range(len(chain))),
        )
        for at, chain in enumerate(chains)
    ]


@given(st.lists(paths, min_size=1, max_size=30), st.integers(1, 12))
@settings(max_examples=60)
def test_no_policy_finds_more_than_the_bound(chains: list[list[int]], capacity: int) -> None:
    arrivals = trace(chains)
    most = bound(arrivals, capacity)
    for make in POLICIES.values():
        assert share(arrivals, make(capacity)) <= most + 1e-12


@given(st.lists(paths, min_size=1, max_size=30))
@settings(max_examples=30)
def test_with_room_for_everything_all_are_the_bound(chains: list[list[int]]) -> None:
    arrivals = trace(chains)
    assert {round(share(arrivals, make(10_000)), 9) for make in POLICIES.values()} == {
        round(bound(arrivals, 10_000), 9)
    }


@pytest.mark.parametrize("router", ROUTERS)
def test_one_replica_finds_what_one_cache_finds(router: Policy) -> None:
    rng = random.Random(1)
    arrivals = trace([[rng.randrange(3) for _ in range(rng.randint(1, 6))] for _ in range(200)])
    run = Simulation(1, 20, 25_000.0, router).run([(arrival, "") for arrival in arrivals])
    assert run.share == pytest.approx(share(arrivals, Lru(20)))
    assert run.imbalance == 1.0


def test_who_hears_of_evictions_believes_what_is_held() -> None:
    rng = random.Random(1)
    arrivals = trace([[rng.randrange(3) for _ in range(rng.randint(1, 6))] for _ in range(200)])
    simulation = Simulation(1, 20, 25_000.0, "semcache+events")
    simulation.run([(arrival, "") for arrival in arrivals])
    (server,) = simulation.servers
    for arrival in arrivals:
        believed = server.tree.match([key_of(block) for block in arrival.blocks], 1e9)[0]
        assert believed == server.cache.match(arrival.blocks)


def test_every_request_is_served_whatever_the_order() -> None:
    rng = random.Random(2)
    arrivals = trace([[rng.randrange(3) for _ in range(6)] for _ in range(100)], apart=0.01)
    for order in ("fcfs", "lpm", "deficit"):
        simulation = Simulation(2, 50, 1_000.0, "semcache", max_running=2, order=order)  # type: ignore[arg-type]
        run = simulation.run([(arrival, str(at % 3)) for at, arrival in enumerate(arrivals)])
        assert sum(map(len, run.first.values())) == 100
        assert all(seconds > 0 for tenant in run.first.values() for seconds in tenant)
