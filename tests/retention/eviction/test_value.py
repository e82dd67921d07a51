"""The default policy: what it weighs, what it remembers, and that it finds the memory that suits the traffic."""

from __future__ import annotations

import random

from semcache.retention.eviction import POLICIES, Quota, Worth
from semcache.retention.eviction.value import ValueEviction


def saved(name: str, capacity: int, requests: list[int], cost: dict[int, float] | None = None) -> float:
    """The cost that hits spare; what is asked for weighs 1 and is stored under a new id each time."""
    quota = Quota(capacity, POLICIES[name]())
    held: dict[int, int] = {}
    of: dict[int, int] = {}
    total = 0.0
    for at, key in enumerate(requests):
        price = (cost or {}).get(key, 1.0)
        if key in held:
            total += price
            quota.touch(held[key])
            continue
        id = at + 1
        held[key], of[id] = id, key
        for victim in quota.admit(id, 1.0, Worth(price, key + 1, created=float(at))):
            del held[of.pop(victim)]
    return total


def test_it_gives_up_what_saves_the_least_by_its_weight() -> None:
    quota = Quota(30.0, ValueEviction())
    quota.admit(1, 10.0, Worth(cost=5.0))
    quota.admit(2, 10.0, Worth(cost=1.0))
    quota.admit(3, 5.0, Worth(cost=2.0))
    assert quota.admit(4, 10.0, Worth(cost=5.0)) == [2]


def test_it_gives_up_what_is_hardly_ever_served() -> None:
    quota = Quota(2, ValueEviction())
    quota.admit(1, 1.0, Worth(p_serve=0.2))
    quota.admit(2, 1.0, Worth(p_serve=0.9))
    assert quota.admit(3, 1.0, Worth(p_serve=0.9)) == [1]


def test_it_gives_up_what_ends_soon_before_what_will_be_asked_for_longer() -> None:
    quota = Quota(2, ValueEviction())
    for at in range(200):
        quota.admit(at, 1.0, Worth(created=float(at * 10), expires=float(at * 10) + 1e6))
    quota.admit(1001, 1.0, Worth(cost=2.0, created=2000.0, expires=2000.5))
    assert quota.admit(1002, 1.0, Worth(cost=1.0, created=2000.0, expires=1e6)) == [1001]


def test_costs_that_are_not_known_leave_the_order_of_use() -> None:
    """A model without a price makes every cost 0; the policy must go on by use alone."""
    quota = Quota(2, ValueEviction())
    quota.admit(1, 1.0, Worth(cost=0.0))
    quota.admit(2, 1.0, Worth(cost=0.0))
    quota.touch(1)
    assert quota.admit(3, 1.0, Worth(cost=0.0)) == [2]


def test_what_left_too_early_is_known_again() -> None:
    quota = Quota(2, ValueEviction())
    quota.admit(1, 1.0, Worth(key=77))
    for _ in range(5):
        quota.touch(1)
    quota.forget(1)
    quota.admit(2, 1.0, Worth(key=77))
    quota.admit(3, 1.0, Worth(key=5))
    assert quota.admit(4, 1.0, Worth(key=6)) == [3]


def test_it_keeps_the_popular_where_popularity_lasts() -> None:
    rng = random.Random(1)
    weights = [1.0 / (rank + 1) for rank in range(2000)]
    requests = rng.choices(range(2000), weights, k=15_000)
    assert saved("value", 60, requests) > 1.05 * saved("lru", 60, requests)


def test_a_flood_of_what_is_asked_once_pushes_out_little_of_what_is_asked_for() -> None:
    """Ten times the honest traffic in misses, by whoever wants the answers of others gone."""
    rng = random.Random(4)
    weights = [1.0 / (rank + 1) for rank in range(500)]
    honest = rng.choices(range(500), weights, k=20_000)
    flood = iter(range(10_000, 10**6))
    late = rng.choices(range(500), weights, k=3_000)
    mixed = [one for key in late for one in (key, *[next(flood) for _ in range(10)])]
    before = saved("value", 1000, honest)
    assert saved("value", 1000, honest + mixed) - before > 0.97 * len(late)
    assert saved("lru", 1000, honest + mixed) - saved("lru", 1000, honest) < 0.9 * len(late), "this can fail"


def test_it_keeps_the_recent_where_nothing_lasts() -> None:
    """Each key is asked a few times within a short while and never again: old fame must not fill the cache."""
    rng = random.Random(2)
    requests = [at // 4 + rng.randrange(60) for at in range(15_000)]
    assert saved("value", 50, requests) > 0.85 * saved("lru", 50, requests)
    assert saved("value", 50, requests) > 1.2 * saved("lec", 50, requests)


def test_it_saves_more_than_policies_blind_to_cost() -> None:
    rng = random.Random(3)
    cost = {key: rng.choice([1.0, 10.0]) for key in range(1000)}
    requests = rng.choices(range(1000), [1.0 / (rank + 1) ** 0.8 for rank in range(1000)], k=10_000)
    best = max(saved(name, 50, requests, cost) for name in ("lru", "lfu", "sieve", "s3-fifo", "w-tinylfu"))
    assert saved("value", 50, requests, cost) > 1.1 * best
