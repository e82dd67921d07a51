"""Rates with their spread over permutations, and the share of the way to the oracle.

Pure arithmetic. Invariant: intervals are two-sided at 95%, by Student's t over the permutations.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eval.decisions.contenders import FAITHFUL, Contract
from eval.decisions.running import Bounds, Key, Measured, Run
from semcache.types.evidence import Interval

_CONTRACTS: tuple[Contract, Contract] = ("hit", "request")
_Z = 1.959963984540054
_RARE = 0.05


@dataclass(frozen=True, slots=True)
class Line:
    """One row of a table.

    `above` is the share of permutations whose error was above the target, `beyond` of those of which more were wrong
    than chance makes of an error of the target.

    `ratio` compares hits net of audits with those of the published vCache at the same target; `static` is what the best
    static threshold with the same error per request saves, and `way` the share of the distance from there to the
    oracle. None: not known.
    """

    key: Key
    permutations: int
    hits: Interval
    saved: Interval
    per_hit: Interval
    per_request: Interval
    above: float
    beyond: float
    ratio: float | None
    static: float | None
    way: float | None


def lines(measured: Measured) -> list[Line]:
    """A row for every contender, in the order in which they were run."""
    return [_line(measured, key, runs) for key, runs in measured.runs.items()]


def spread(values: Sequence[float]) -> Interval:
    """The mean of these values and its interval; of a single one the interval is unknown, and as wide as the value."""
    mean = statistics.fmean(values)
    if len(values) < 2:
        return Interval(mean, mean, mean)
    half = _student(len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))
    return Interval(mean, mean - half, mean + half)


def frontier(bounds: Sequence[Bounds], error: float) -> float:
    """The most that a static threshold saves at a mean error per request of at most `error`.

    Between two thresholds the line that connects them counts, for a mixture of both reaches it.
    """
    points = sorted(
        (statistics.fmean([one.error("request") for one in runs]), statistics.fmean([one.saved for one in runs]))
        for runs in zip(*[one.static for one in bounds], strict=True)
    )
    best = {0.0: statistics.fmean([one.exact for one in bounds])}
    for at, saved in points:
        best[at] = max(saved, *best.values())
    return float(np.interp(error, list(best), list(best.values())))


def _line(measured: Measured, key: Key, runs: Sequence[Run]) -> Line:
    bounds = measured.bounds[key.stream, key.insertion]
    saved = spread([one.saved for one in runs])
    per_hit, per_request = (spread([one.error(contract) for one in runs]) for contract in _CONTRACTS)
    published = Key(key.stream, key.insertion, FAITHFUL, "request", key.target)
    other = statistics.fmean([one.saved for one in measured.runs[published]]) if published in measured.runs else 0.0
    static = frontier(bounds, per_request.estimate)
    room = statistics.fmean([one.oracle for one in bounds]) - static
    return Line(
        key,
        len(runs),
        spread([one.hits for one in runs]),
        saved,
        per_hit,
        per_request,
        above=statistics.fmean([one.error(key.contract) > key.target for one in runs]),
        beyond=statistics.fmean([_chance(one, key.contract, key.target) < _RARE for one in runs]),
        ratio=saved.estimate / other if other else None,
        static=static,
        way=(saved.estimate - static) / room if room > 0 else None,
    )


def _chance(run: Run, contract: Contract, target: float) -> float:
    """The probability of so many wrong answers or more where each is wrong with the probability `target`."""
    of = run.semantic if contract == "hit" else run.requests
    yes, no = math.log(target), math.log1p(-target)
    ways = (math.lgamma(of + 1) - math.lgamma(n + 1) - math.lgamma(of - n + 1) for n in range(run.wrong))
    return 1.0 - math.fsum(math.exp(way + n * yes + (of - n) * no) for n, way in enumerate(ways))


def _student(freedom: int) -> float:
    """The 97.5% quantile of Student's t, by the expansion of Cornish and Fisher; tabled where that is too short."""
    known = {1: 12.706, 2: 4.303, 3: 3.182}
    z = _Z
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return known.get(freedom, z + math.fsum(term / float(freedom) ** power for power, term in enumerate(terms, 1)))
