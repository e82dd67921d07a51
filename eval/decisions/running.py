"""Every contender over every permutation of every stream, on as many processes as there are cores.

Knows how to run and to count, not what to make of the counts. Invariant: a run is given by its plan alone; how many
processes share the work changes nothing.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from eval.decisions import hindsight, resuming, streams
from eval.decisions.contenders import Contract, Insertion, Prior, contenders, learned, pack, seen_by, simulator
from eval.embedded import embedded
from semcache.simulate.arrivals import Arrival
from semcache.simulate.simulation_result import SimulationResult


@dataclass(frozen=True, slots=True)
class Plan:
    """The runs to do."""

    streams: tuple[str, ...] = streams.STREAMS
    contenders: tuple[str, ...] = ()
    targets: tuple[float, ...] = (0.005, 0.01, 0.02, 0.05)
    contracts: tuple[Contract, ...] = ("hit", "request")
    insertions: tuple[Insertion, ...] = ("always", "when-wrong")
    permutations: int = 10
    length: int = 4000
    seed: int = 7
    jobs: int = field(default=2, repr=False)  # changes no result

    @property
    def rung(self) -> float:
        """The target of the ablation ladder: the one nearest to 1%."""
        return min(self.targets, key=lambda one: abs(one - 0.01))


@dataclass(frozen=True, slots=True)
class Run:
    """One contender over one permutation. `net` counts requests for which the backend was not asked.

    `pairs` has a checksum of the two texts of each hit by meaning, which is the same in every permutation, and
    `mistaken` those of wrong hits.
    """

    requests: int
    exact: int
    semantic: int
    wrong: int
    net: int
    audits: int
    pairs: tuple[int, ...] = ()
    mistaken: tuple[int, ...] = ()

    @property
    def hits(self) -> float:
        """Share of requests served, by identity or by meaning."""
        return (self.exact + self.semantic) / self.requests

    @property
    def saved(self) -> float:
        """Share of requests that cost no call of the backend."""
        return self.net / self.requests

    def error(self, contract: Contract) -> float:
        """Wrong hits by meaning, as a share of hits by meaning or of requests; 0 without any."""
        of = self.semantic if contract == "hit" else self.requests
        return self.wrong / of if of else 0.0


@dataclass(frozen=True, slots=True)
class Key:
    """The key that the permutations of a run share. A static threshold has no target, and names itself."""

    stream: str
    insertion: Insertion
    contender: str
    contract: Contract = "hit"
    target: float = 0.0


@dataclass(frozen=True, slots=True)
class Bounds:
    """Of one permutation: what the exact tier alone and an oracle hit, and every static threshold."""

    exact: float
    oracle: float
    static: tuple[Run, ...]


@dataclass(slots=True)
class Measured:
    """Everything that was run; lists have one element a permutation, in their order."""

    runs: dict[Key, list[Run]] = field(default_factory=dict)
    bounds: dict[tuple[str, Insertion], list[Bounds]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Job:
    plan: Plan
    stream: str
    insertion: Insertion
    permutation: int
    priors: tuple[Prior, Prior]  # without guards, with guards


def run(plan: Plan, told: Callable[[int, int], None] | None = None, minutes: float | None = None) -> Measured:
    """Run a plan; `told` hears how many jobs are done, and of how many. Raises Unfinished after so many minutes."""
    jobs = list(_jobs(plan))
    done = resuming.computed(_one, jobs, processes=plan.jobs, minutes=minutes, told=told)
    measured = Measured()
    for job, (bounds, runs) in zip(jobs, done, strict=True):
        measured.bounds.setdefault((job.stream, job.insertion), []).append(bounds)
        for key, one in runs.items():
            measured.runs.setdefault(key, []).append(one)
    return measured


def _jobs(plan: Plan) -> Iterator[_Job]:
    chosen = [one for name, one in contenders().items() if name in plan.contenders]
    for stream in plan.streams:
        needed = {one.guards for one in chosen if one.prior}
        bare: Prior = learned(stream, plan.length, False) if False in needed else {}
        guarded: Prior = learned(stream, plan.length, True) if True in needed else {}
        for insertion in plan.insertions:
            for permutation in range(plan.permutations):
                yield _Job(plan, stream, insertion, permutation, (bare, guarded))


def _one(job: _Job) -> tuple[Bounds, dict[Key, Run]]:
    plan = job.plan
    seed = plan.seed * 1000 + job.permutation
    arrivals = streams.permuted(streams.build(job.stream, plan.length, seed=plan.seed), seed)
    vectors = embedded([one.text for one in arrivals])
    swept = hindsight.static(arrivals, vectors, job.insertion)
    static = tuple([Run(c.requests, c.exact, c.semantic, c.wrong, c.exact + c.semantic, 0) for c in swept])
    bounds = Bounds(hindsight.exact(arrivals), hindsight.oracle(arrivals), static)
    runs: dict[Key, Run] = {}
    for name, contender in contenders().items():
        if name not in plan.contenders:
            continue
        shown = seen_by(contender, arrivals)
        for contract in contender.contracts:
            if contract not in plan.contracts:
                continue
            for target in (plan.rung,) if contender.rung else plan.targets:
                given = pack(contender, target, contract)
                cache = simulator(contender, given, job.insertion, seed, job.priors[contender.guards])
                runs[Key(job.stream, job.insertion, name, contract, target)] = _counted(
                    cache.run(shown, vectors), shown
                )
    return bounds, runs


def _counted(result: SimulationResult, arrivals: Sequence[Arrival]) -> Run:
    said = result.summary()
    served = [
        (_checksum(arrivals[at].text, arrivals[int(result.source[at])].text), bool(result.wrong[at]))
        for at in np.flatnonzero(result.semantic)
    ]
    return Run(
        said["requests"],
        said["exact"],
        said["semantic"],
        said["wrong"],
        said["requests"] - said["backend_calls"],
        said["audits"],
        pairs=tuple(pair for pair, _ in served),
        mistaken=tuple(pair for pair, wrong in served if wrong),
    )


def _checksum(one: str, two: str) -> int:
    return zlib.crc32("\0".join(sorted((one, two))).encode())
