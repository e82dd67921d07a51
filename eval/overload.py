"""A load test by simulation: what stretching the error target takes off an overloaded model.

Every prompt of a set comes once, in random order, to a cache that holds all earlier ones; what it does not serve goes
to a model with a queue. Knows `Relaxation` and scores, no strategy: the score for a target is found on the other half
of the classes.
Invariant: a run is a function of its stream and seed; both sides of a comparison get the same arrivals.
"""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass

import numpy as np

from eval.eviction_workloads import Texts
from semcache.matching.break_even import Relaxation

TARGET, CERTIFIED = 0.01, 0.05
WARM = 0.3
_PHASE = 120.0
_CALM, _STEP = 0.7, 1.4
_SERVERS, _SERVICE = 4, 4.0
_QUEUE_MAX, _SLO = 20, 20.0


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Of every arrival: the best score among all earlier ones, and whether that answer is right."""

    score: np.ndarray
    right: np.ndarray


@dataclass(frozen=True, slots=True)
class Load:
    """The figures between the step up and the step down.

    Requests, calls of the model, semantic errors per hit, and the 95th percentile of waiting plus service in seconds.
    """

    requests: int
    calls: int
    error: float
    p95: float


def neighbours(source: Texts, vectors: np.ndarray, seed: int) -> Neighbours:
    """Search every prompt among those that came before it."""
    order = np.random.default_rng(seed).permutation(len(source.group))
    rows, group = vectors[order], source.group[order]
    score = np.full(len(rows), -1.0)
    right = np.zeros(len(rows), bool)
    for start in range(0, len(rows), 1000):
        block = rows[start : start + 1000] @ rows[: start + 1000].T
        block[np.arange(block.shape[1])[None, :] >= np.arange(start, start + len(block))[:, None]] = -1.0
        best = block.argmax(1)
        here = slice(start, start + len(block))
        score[here] = block[np.arange(len(block)), best]
        right[here] = group[here] == group[best]
    return Neighbours(score, right)


def thresholds(known: Neighbours, targets: np.ndarray) -> np.ndarray:
    """The lowest score from which the error per hit stays within each target, in hindsight."""
    order = np.argsort(-known.score)
    error = np.cumsum(~known.right[order]) / np.arange(1, len(order) + 1)
    scores = known.score[order]
    found = []
    for target in targets:
        good = np.flatnonzero(error <= target)
        found.append(scores[good[-1]] if len(good) else 1.0)
    return np.array(found)


def overload(known: Neighbours, scale: tuple[np.ndarray, np.ndarray], seed: int, relax_to: float | None) -> Load:
    """Calm, a step to twice the load, calm again. `scale` gives the score from which is served, by target."""
    rng = np.random.default_rng(seed)
    floor = float(np.interp(TARGET, *scale))
    warm = int(WARM * len(known.score))
    missed = float((known.score[warm:] < floor).mean())
    relaxation = Relaxation()
    free = [0.0] * _SERVERS
    waiting: deque[float] = deque()
    done: deque[tuple[float, float]] = deque()
    now, second, at = 0.0, 0.0, warm
    requests = calls = hits = errors = 0
    times: list[float] = []
    while now < 3 * _PHASE and at < len(known.score):
        step = _PHASE <= now < 2 * _PHASE
        now += rng.exponential(_SERVICE * missed / _SERVERS / (_STEP if step else _CALM))
        while now >= second:
            while waiting and waiting[0] <= second:
                waiting.popleft()
            while done and done[0][0] <= second - 30.0:
                done.popleft()
            late = [taken for end, taken in done if end <= second]
            p95 = float(np.quantile(late, 0.95)) if late else 0.0
            relaxation.observe(second, queue=len(waiting), queue_max=_QUEUE_MAX, p95=p95, slo=_SLO)
            floor = float(np.interp(relaxation.target(TARGET, relax_to, CERTIFIED), *scale))
            second += 1.0
        service = rng.exponential(_SERVICE)
        served = known.score[at] >= floor
        if step:
            requests += 1
            calls += not served
            hits += bool(served)
            errors += bool(served and not known.right[at])
        if not served:
            begin = max(now, heapq.heappop(free))
            heapq.heappush(free, begin + service)
            waiting.append(begin)
            done.append((begin + service, begin + service - now))
            if step:
                times.append(begin + service - now)
        at += 1
    assert at < len(known.score), "the stream is too short for this load"
    return Load(requests, calls, errors / max(1, hits), float(np.quantile(times, 0.95)))
