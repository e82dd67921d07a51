"""The audit itself: samples of each path between two tenants and within one, and what they tell.

Knows probes as functions, nothing of HTTP. The four kinds of samples of a path (between tenants or within one, asked
before or not) are taken in one shuffled order, so that what drifts on the machine drifts in all of them. Invariant: a
verdict is about times alone, at one family-wise level for all paths.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from statistics import median

from semcache.cli.timing.timing_probes import Probe
from semcache.cli.timing.two_samples import Compared, compare, rejected, smallest_distance, smallest_shift

VICTIM, OTHER = "victim", "other"
_WARM = 5  # samples of each kind that are thrown away


@dataclass(frozen=True, slots=True)
class PathResult:
    """The verdict on one path. Times are seconds; `visible` is the smallest difference that would show."""

    path: str
    between: Compared
    within: Compared
    told: bool
    seen: bool
    visible: float
    medians: tuple[float, float, float, float]

    def row(self) -> dict[str, float | str | bool]:
        """As JSON has it; times in milliseconds."""
        other, fresh, own, own_fresh = (round(1e3 * one, 3) for one in self.medians)
        return {
            "path": self.path,
            "between_d": round(self.between.distance, 3),
            "between_p": self.between.p,
            "told_apart": self.told,
            "within_d": round(self.within.distance, 3),
            "within_p": self.within.p,
            "within_told_apart": self.seen,
            "within_guessed_right": round(self.within.told_right, 3),
            "visible_ms": round(1e3 * self.visible, 3),
            "between_asked_ms": other,
            "between_unasked_ms": fresh,
            "within_asked_ms": own,
            "within_unasked_ms": own_fresh,
        }


@dataclass(frozen=True, slots=True)
class Audit:
    """The results of all paths; `distance` is the smallest that the first step of Holm's procedure rejects."""

    paths: tuple[PathResult, ...]
    samples: int
    level: float
    distance: float

    @property
    def leaks(self) -> list[str]:
        """The paths on which one tenant tells what another has asked."""
        return [one.path for one in self.paths if one.told]

    @property
    def blind(self) -> list[str]:
        """The paths on which not even a tenant's own earlier request shows: the audit says nothing about them."""
        return [one.path for one in self.paths if not one.seen]


def audit(
    probes: Mapping[str, Probe],
    *,
    samples: int,
    level: float,
    rng: random.Random,
    note: Callable[[str], None] = lambda _: None,
) -> Audit:
    """Take `samples` of each kind on every path, and compare them."""
    kinds = list(product((OTHER, VICTIM), (True, False)))
    taken: dict[str, dict[tuple[str, bool], list[float]]] = {}
    for path, probe in probes.items():
        note(f"{path}: {4 * samples:,} timed requests")
        times: dict[tuple[str, bool], list[float]] = {kind: [] for kind in kinds}
        for who, asked in kinds * _WARM:
            probe.sample(VICTIM, who, asked=asked)
        order = kinds * samples
        rng.shuffle(order)
        for who, asked in order:
            times[who, asked].append(probe.sample(VICTIM, who, asked=asked))
        taken[path] = times
    between = [compare(times[OTHER, True], times[OTHER, False]) for times in taken.values()]
    within = [compare(times[VICTIM, True], times[VICTIM, False]) for times in taken.values()]
    told, seen = (rejected([one.p for one in some], level) for some in (between, within))
    strictest = level / max(1, len(taken))
    results = [
        PathResult(
            path,
            between[at],
            within[at],
            told[at],
            seen[at],
            smallest_shift(times[OTHER, True], times[OTHER, False], strictest),
            (
                median(times[OTHER, True]),
                median(times[OTHER, False]),
                median(times[VICTIM, True]),
                median(times[VICTIM, False]),
            ),
        )
        for at, (path, times) in enumerate(taken.items())
    ]
    return Audit(tuple(results), samples, level, smallest_distance(samples, strictest))
