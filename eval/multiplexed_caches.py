"""The simulation of "On optimal caching and model multiplexing" (2306.02003, section 5): cache and models together.

Prompts come by a power law (alpha 0.9); what each of two models costs for a prompt is 1 or 1 + ratio, with even odds
and independently. 20 prompts, room for 10 and 10,000 requests: the paper's pages at hand do not say its own. A policy
is a way to evict and a way to choose a model. Knows no texts. Invariant: every policy sees the same requests and costs.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from eval.choosing import QueryCosts
from semcache.retention.eviction import POLICIES, Policy, Worth

PROMPTS, ROOM, REQUESTS, ALPHA = 20, 10, 10_000, 0.9
SEEDS = 30
_CHOICES: dict[str, tuple[str, str]] = {
    "LFU, always large": ("lfu", "large"),
    "LFU, always small": ("lfu", "small"),
    "LFU, multiplexer": ("lfu", "cheapest"),
    "LEC, always large": ("lec", "large"),
    "LEC, multiplexer": ("lec", "cheapest"),
    "this cache's default, multiplexer": ("value", "cheapest"),
}
BASELINE = "LFU, always large"
OURS = "LEC, multiplexer"
BOUND = "best fixed cache"


class PaperLec:
    """The victim has been asked for the least often times what a miss on it is sure to cost."""

    def __init__(self, worth: Callable[[int], float]) -> None:
        self._worth, self._asked, self._held = worth, Counter[int](), set[int]()

    def insert(self, id: int, _weight: float, _worth: Worth) -> None:
        self._asked[id] += 1
        self._held.add(id)

    def touch(self, id: int) -> None:
        self._asked[id] += 1

    def forget(self, id: int) -> None:
        self._held.discard(id)

    def __contains__(self, id: object) -> bool:
        return id in self._held

    def __len__(self) -> int:
        return len(self._held)

    def victim(self) -> int:
        return min(sorted(self._held), key=lambda one: (self._asked[one] * self._worth(one), self._asked[one]))


def simulated(ratio: float, seeds: int = SEEDS) -> list[dict[str, Any]]:
    """The mean cost of a request under each policy, and how many times less than the baseline's that is."""
    runs: dict[str, list[float]] = {name: [] for name in [*_CHOICES, BOUND]}
    late: dict[str, list[float]] = {name: [] for name in runs}
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        weights = (1.0 + np.arange(PROMPTS)) ** -ALPHA
        weights /= weights.sum()
        costs = 1.0 + ratio * rng.integers(0, 2, size=(PROMPTS, 2))
        requests = rng.choice(PROMPTS, size=REQUESTS, p=weights).tolist()
        for name, (eviction, model) in _CHOICES.items():
            spent = _run(eviction, model, costs, requests)
            runs[name].append(float(spent.mean()))
            late[name].append(float(spent[REQUESTS // 2 :].mean()))
        cheapest = weights * costs.min(1)
        runs[BOUND].append(float(np.sort(cheapest)[: PROMPTS - ROOM].sum()))
        late[BOUND].append(runs[BOUND][-1])
    base = runs[BASELINE]
    return [
        {
            "ratio": ratio,
            "policy": name,
            "cost": statistics.fmean(found),
            "sd": statistics.stdev(found),
            "times less": statistics.fmean(base) / statistics.fmean(found),
            "late times less": statistics.fmean(late[BASELINE]) / statistics.fmean(late[name]),
        }
        for name, found in runs.items()
    ]


def _run(eviction: str, model: str, costs: np.ndarray, requests: list[int]) -> np.ndarray:
    known = QueryCosts[int](2, float(costs.max()), deviation=0.0)
    fixed = {"small": 0, "large": 1}.get(model)

    def worth(id: int) -> float:
        return known.worth(id) if fixed is None else known.bounds(id)[fixed]

    policy: Policy | PaperLec = PaperLec(worth) if eviction == "lec" else POLICIES[eviction]()
    spent = np.zeros(len(requests))
    for at, prompt in enumerate(requests):
        if prompt in policy:
            policy.touch(prompt)
            continue
        chosen = known.cheapest(prompt) if fixed is None else fixed
        spent[at] = costs[prompt, chosen]
        known.learn(prompt, chosen, float(spent[at]))
        policy.insert(prompt, 1.0, Worth(cost=worth(prompt), key=prompt + 1, cluster=prompt + 1, created=float(at)))
        if len(policy) > ROOM:
            victim = policy.victim()
            assert victim is not None
            policy.forget(victim)
    return spent
