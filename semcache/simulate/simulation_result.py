"""The result of a simulation: one array per quantity, and the figures that people compare.

Knows nothing of how requests were decided. Invariant: arrays have one element per arrival, in the order of arrival; an
error is a served answer that differs from the backend's answer at that time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from semcache.simulate.arrivals import Arrival, SimulationStep
from semcache.types import Outcome, Why
from semcache.types.evidence import Interval, wilson

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Flags = NDArray[np.bool_]
    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SimulationResult:
    """One simulated trace. `score` and `p_correct` are NaN where there was no candidate; `source` is -1 without a hit.

    `wrong` marks wrong hits of either tier, `looked_up` what was not bypassed. `entries` and `evicted` count what the
    cache held in the end and what it gave up for want of room.
    """

    at: Floats
    category: NDArray[np.str_]
    exact: Flags
    semantic: Flags
    looked_up: Flags
    wrong: Flags
    audited: Flags
    score: Floats
    p_correct: Floats
    source: NDArray[np.int64]
    calls: NDArray[np.int64]
    cost: Floats
    latency: Floats
    why: tuple[Why, ...]
    entries: int = 0
    evicted: int = 0

    def __len__(self) -> int:
        return len(self.at)

    def summary(self, category: str | None = None) -> dict[str, Any]:
        """Counts and rates as JSON has them, of all arrivals or of one category.

        `hit_rate` counts hits of both tiers, `net_hit_rate` the requests for which the backend was not asked: audited
        hits are no savings. `error_per_hit` is of hits by meaning, `error_per_request` of all requests looked up; both
        come as [estimate, low, high] with a 95% interval (Wilson), None where nothing was counted. `cost_saved` is net
        of audits; `latency_saved` is not, for clients do not wait for an audit.
        """
        mask = np.ones(len(self), bool) if category is None else self.category == category
        hits = self.exact | self.semantic
        count = int(mask.sum())
        semantic, wrong = int((self.semantic & mask).sum()), int((self.semantic & self.wrong & mask).sum())
        looked = int((self.looked_up & mask).sum())
        cost, spent = float(self.cost[mask].sum()), float(self.cost[mask & (self.calls > 0)].sum())
        latency, saved = float(self.latency[mask].sum()), float(self.latency[mask & hits].sum())
        return {
            "requests": count,
            "exact": int((self.exact & mask).sum()),
            "semantic": semantic,
            "misses": int((~hits & self.looked_up & mask).sum()),
            "bypassed": count - looked,
            "audits": int((self.audited & mask).sum()),
            "wrong": wrong,
            "stale": int((self.exact & self.wrong & mask).sum()),
            "hit_rate": _share(int((hits & mask).sum()), count),
            "semantic_hit_rate": _share(semantic, count),
            "net_hit_rate": _share(int((mask & (self.calls == 0)).sum()), count),
            "error_per_hit": _rate(wrong, semantic),
            "error_per_request": _rate(wrong, looked),
            "backend_calls": int(self.calls[mask].sum()),
            "cost": cost,
            "cost_saved": cost - spent,
            "latency": latency,
            "latency_saved": saved,
        }

    def categories(self) -> list[str]:
        """The categories that occur."""
        return sorted(str(name) for name in np.unique(self.category))


def gather(
    arrivals: Sequence[Arrival], steps: Sequence[SimulationStep], *, entries: int, evicted: int
) -> SimulationResult:
    """The arrays of these steps."""
    outcomes = [step.outcome for step in steps]
    return SimulationResult(
        at=np.array([one.at for one in arrivals], np.float64),
        category=np.array([one.category for one in arrivals], np.str_),
        exact=np.array([one is Outcome.EXACT for one in outcomes], bool),
        semantic=np.array([one is Outcome.SEMANTIC for one in outcomes], bool),
        looked_up=np.array([one is not Outcome.BYPASS for one in outcomes], bool),
        wrong=np.array([step.correct is False for step in steps], bool),
        audited=np.array([step.audited for step in steps], bool),
        score=_floats([step.score for step in steps]),
        p_correct=_floats([step.p_correct for step in steps]),
        source=np.array([-1 if step.source is None else step.source for step in steps], np.int64),
        calls=np.array([step.backend_calls for step in steps], np.int64),
        cost=np.array([one.cost for one in arrivals], np.float64),
        latency=np.array([one.latency for one in arrivals], np.float64),
        why=tuple([step.why for step in steps]),
        entries=entries,
        evicted=evicted,
    )


def interval(wrong: int, count: int) -> Interval | None:
    """A rate with its Wilson score interval at 95%; None of nothing."""
    return wilson(wrong, count) if count else None


def _rate(wrong: int, count: int) -> list[float] | None:
    found = interval(wrong, count)
    return None if found is None else [found.estimate, found.low, found.high]


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _floats(values: Sequence[float | None]) -> Floats:
    return np.array([math.nan if value is None else value for value in values], np.float64)
