"""The load that relaxing the target takes off an overloaded model, with the certified strategy before a queue.

A stream warms the cache up, and goes on in calm, at twice the load, and in calm again. Knows the strategy and
`Relaxation`, which is fed once a second as the proxy feeds it. Invariant: with and without relaxation the same requests
come at the same times, and take the model as long.
"""

from __future__ import annotations

import argparse
import heapq
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import msgspec
import numpy as np

from eval.decisions import resuming, streams
from eval.decisions.contenders import contenders, pack, simulator
from eval.decisions.figures import spread
from eval.decisions.report import Section, Table, between, percent
from eval.embedded import embedded
from semcache.matching.break_even import Relaxation
from semcache.matching.strategies.certified import CertifiedThreshold
from semcache.types import Outcome

_TARGET, _RELAX_TO = 0.01, 0.05
_WARM = 0.5
_CALM, _STEP = 0.7, 2.0
_SERVERS, _SERVICE, _QUEUE = 4, 4.0, 10  # calls at once, seconds of a call, calls that may wait
_STREAMS = ("clinc150", "banking77", "hint3", "mix")


@dataclass(frozen=True, slots=True)
class Job:
    """One order of a stream."""

    stream: str
    length: int
    seed: int
    relax_to: float | None


@dataclass(frozen=True, slots=True)
class Load:
    """The figures of a step of load.

    Shares of requests that called the model, of hits by meaning that were wrong, and the 95th percentile of waiting
    plus service, in seconds. `share` is the mean relaxation.
    """

    calls: float
    wrong: float
    p95: float
    share: float


def run(job: Job) -> Load:
    """A stream through a cold cache, the second half of it under load."""
    arrivals = streams.permuted(streams.build(job.stream, job.length), job.seed)
    vectors = embedded([one.text for one in arrivals])
    contender = contenders()["certified"]
    given = msgspec.structs.replace(pack(contender, _TARGET, "hit"), relax_to=job.relax_to)
    cache = simulator(contender, given, "always", job.seed, {})
    threshold = cache.threshold
    assert isinstance(threshold, CertifiedThreshold)
    warm = int(_WARM * len(arrivals))
    steps = list(map(cache.step, arrivals[:warm], vectors[:warm]))
    missed = float(np.mean([one.backend_calls for one in steps[warm // 2 :]]))
    rng = np.random.default_rng(job.seed)
    gaps, services = rng.exponential(1.0, len(arrivals)), rng.exponential(_SERVICE, len(arrivals))
    relaxation, free, waiting = Relaxation(), [0.0] * _SERVERS, deque[float]()
    now = second = 0.0
    calls: list[int] = []
    wrong: list[bool] = []
    times: list[float] = []
    shares: list[float] = []
    third = (len(arrivals) - warm) / 3
    for at in range(warm, len(arrivals)):
        loaded = third <= at - warm < 2 * third
        now += gaps[at] * _SERVICE * missed / _SERVERS / (_STEP if loaded else _CALM)
        while now >= second:
            while waiting and waiting[0] <= second:
                waiting.popleft()
            relaxation.observe(second, queue=len(waiting), queue_max=_QUEUE)
            threshold.relax(relaxation.share)
            second += 1.0
        step = cache.step(arrivals[at], vectors[at])
        taken = 0.0
        for _ in range(step.backend_calls):
            begin = max(now, heapq.heappop(free))
            heapq.heappush(free, begin + services[at])
            waiting.append(begin)
            taken = begin + services[at] - now
        if loaded:
            calls.append(step.backend_calls)
            shares.append(relaxation.share)
            if step.outcome is Outcome.SEMANTIC:
                wrong.append(not step.correct)
            if step.backend_calls:
                times.append(taken)
    return Load(
        float(np.mean(calls)),
        float(np.mean(wrong)) if wrong else 0.0,
        float(np.quantile(times, 0.95)),
        float(np.mean(shares)),
    )


def section(chosen: argparse.Namespace, command: str, told: Callable[[int, int], None]) -> Section:
    """Each stream with and without relaxation."""
    seeds = range(chosen.seed, chosen.seed + chosen.permutations)
    jobs = [Job(one, chosen.length, seed, to) for one in _STREAMS for seed in seeds for to in (None, _RELAX_TO)]
    done = dict(
        zip(jobs, resuming.computed(run, jobs, processes=chosen.jobs, minutes=chosen.minutes, told=told), strict=True)
    )
    rows, facts = [], {}
    for stream in _STREAMS:
        off, on = ([done[Job(stream, chosen.length, seed, to)] for seed in seeds] for to in (None, _RELAX_TO))
        cuts = [1.0 - one.calls / other.calls for one, other in zip(on, off, strict=True)]
        cells = [
            between(spread([getattr(one, name) for one in side])) for name in ("calls", "wrong") for side in (off, on)
        ]
        waits = [f"{np.mean([one.p95 for one in side]):.0f}" for side in (off, on)]
        rows.append(
            [stream, between(spread(cuts)), *cells, *waits, percent(float(np.mean([one.share for one in on])), 0)]
        )
        facts[stream] = [float(np.mean(cuts)), float(np.mean([one.wrong for one in on]))]
    about = [
        command,
        f"the certified strategy at {percent(_TARGET, 0)}% per hit, relax_to {percent(_RELAX_TO, 0)}%, cold cache, "
        f"{len(seeds)} orders of up to {chosen.length} requests of the reporting half, seeds from {chosen.seed}",
        f"the second half of a stream comes at {_CALM}, {_STEP} and {_CALM} times what {_SERVERS} servers of "
        f"{_SERVICE:.0f} s a call can take; figures are of the middle part, means with 95% intervals",
    ]
    heads = ["stream", "less traffic %", "calls %", "relaxed", "wrong hits %", "relaxed", "p95 s", "relaxed", "share %"]
    return Section(
        "overload", "Overload: what relaxing the target saves", about, [Table("Under load", heads, rows)], facts
    )
