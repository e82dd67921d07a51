"""Replay of a trace through a pack, at several sizes, and through fixed thresholds for comparison.

Knows arrivals, packs and strategies; no files, no embedder and no prose. Invariant: all compared runs see the same
arrivals in the same order, starting from an empty cache.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from semcache.config.packs import Pack
from semcache.matching.strategies import ByCategory
from semcache.matching.strategies.static import StaticThreshold
from semcache.retention.freshness import LearnedFreshness, Volatility
from semcache.simulate import bounds
from semcache.simulate.arrivals import Arrival
from semcache.simulate.simulation_result import SimulationResult
from semcache.simulate.simulator import Experiment, Simulator

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from semcache.types import Matrix, Vector
    from semcache.types.evidence import Standing

Progress = Callable[[int], None]  # told how many arrivals were simulated since it was last told

GRID = (0.98, 0.95, 0.92, 0.88, 0.84, 0.80, 0.75, 0.70)
REFINED = 4
_NOTHING = 2.0  # no score reaches this threshold
_AS_LIVE = Experiment(wording=True)
_HOPELESS = 0.3


@dataclass(frozen=True, slots=True)
class Trace:
    """Arrivals in order of time, their vectors, and the tokens that each answer cost."""

    arrivals: Sequence[Arrival]
    vectors: Matrix
    tokens: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.arrivals)


@dataclass(frozen=True, slots=True)
class PackRun:
    """The run of a pack on a trace with room for `size` entries, None where its own quotas hold.

    `exact_bound` and `answer_bound` are the hits that offline-optimal eviction reaches with as many entries: those of
    an exact cache, and those of a cache that serves every request whose answer it holds.
    """

    size: int | None
    result: SimulationResult
    standings: dict[str, Standing]
    exact_bound: int
    answer_bound: int

    @property
    def right(self) -> int:
        """Right hits of both tiers."""
        return int(((self.result.exact | self.result.semantic) & ~self.result.wrong).sum())


@dataclass(frozen=True, slots=True)
class FixedThresholdRun:
    """A run with one fixed score for all categories; None: only exact hits. `hits` are those of both tiers."""

    threshold: float | None
    hits: int
    semantic: int
    wrong: int
    looked_up: int

    @property
    def error_per_hit(self) -> float:
        """Wrong hits by meaning of all hits by meaning; 0 without any."""
        return self.wrong / self.semantic if self.semantic else 0.0

    @property
    def error_per_request(self) -> float:
        """Wrong hits by meaning of all requests that were looked up; 0 without any."""
        return self.wrong / self.looked_up if self.looked_up else 0.0

    def error(self, contract: str) -> float:
        """The error that the contract of a category ("hit" or "request") speaks of."""
        return self.error_per_hit if contract == "hit" else self.error_per_request


def run(
    trace: Trace,
    pack: Pack,
    size: int | None,
    *,
    seed: int,
    verify: Callable[[str, str], float | None] | None = None,
    progress: Progress | None = None,
) -> PackRun:
    """Simulate a pack from an empty cache on. `verify` is as in `Simulator`."""
    sized = pack if size is None else with_size(pack, size)
    threshold = ByCategory(sized)
    simulator = Simulator(
        sized,
        threshold,
        rng=random.Random(seed),
        experiment=_AS_LIVE,
        freshness=MemoisedFreshness(sized),
        verify=verify,
    )
    result = simulator.run(trace.arrivals, trace.vectors, _steps(progress))
    capacity = sized.capacity or sum(one.quota for one in pack.categories.values())
    return PackRun(
        size,
        result,
        {name: threshold.standing(name) for name in result.categories()},
        bounds.belady(bounds.exact_keys(trace.arrivals), capacity),
        bounds.belady(bounds.answer_keys(trace.arrivals), capacity),
    )


def with_size(pack: Pack, size: int) -> Pack:
    """The same pack with room for `size` entries in all, which its categories share as they need."""
    quotas = {name: msgspec.structs.replace(one, quota=min(one.quota, size)) for name, one in pack.categories.items()}
    return msgspec.structs.replace(pack, capacity=size, categories=quotas)


def fixed_threshold_runs(
    trace: Trace, pack: Pack, size: int | None, *, error: float, contract: str, progress: Progress | None = None
) -> list[FixedThresholdRun]:
    """Fixed thresholds on the same trace, guards and all: a grid, and more of them where the error crosses `error`.

    By falling threshold, the first without any hit by likeness: equal wordings are served by each.
    """
    sized = pack if size is None else with_size(pack, size)
    lives = MemoisedFreshness(sized)
    found = {level: _static(trace, sized, level, lives, progress) for level in (_NOTHING, *GRID[:1])}
    for level in GRID[1:]:
        if found[min(found)].error_per_hit > _HOPELESS:
            break
        found[level] = _static(trace, sized, level, lives, progress)
    for _ in range(REFINED):
        good = [level for level, one in found.items() if one.error(contract) <= error]
        low = max([level for level in found if level < min(good)], default=None) if good else None
        if low is None:
            break
        high = min(*good, 1.0)
        middle = round((low + high) / 2, 4)
        found[middle] = _static(trace, sized, middle, lives, progress)
    return [found[level] for level in sorted(found, reverse=True)]


def most_fixed_runs() -> int:
    """How many simulations `fixed_threshold_runs` makes at most, for progress bars."""
    return 1 + len(GRID) + REFINED


def best_fixed_run(found: Sequence[FixedThresholdRun], error: float, contract: str) -> FixedThresholdRun:
    """The run with most hits of those within this error, known in hindsight.

    Where equal wordings alone are beyond it, as in a log whose answers differ each time, the highest threshold.
    """
    return max([one for one in found if one.error(contract) <= error], key=lambda one: one.hits, default=found[0])


def contract_of(pack: Pack) -> str:
    """The contract of the category `default`, by which whole traces are judged."""
    return pack.of("default").contract


class MemoisedFreshness(LearnedFreshness):
    """The TTLs of a cache that has not seen an answer change yet, computed once a prompt."""

    def __init__(self, pack: Pack) -> None:
        super().__init__(pack)
        self._kinds: dict[str, Volatility] = {}

    def kind(self, text: str, vector: Vector | None = None) -> Volatility:
        """How fast the answer to a prompt changes."""
        found = self._kinds.get(text)
        if found is None:
            found = self._kinds[text] = super().kind(text, vector)
        return found


def _static(
    trace: Trace, pack: Pack, level: float, lives: MemoisedFreshness, progress: Progress | None
) -> FixedThresholdRun:
    same: dict[str, Any] = {"strategy": "static", "threshold": level}
    categories = {name: msgspec.structs.replace(one, **same) for name, one in pack.categories.items()}
    fixed = msgspec.structs.replace(pack, categories=categories)
    strategy = StaticThreshold(fixed)
    simulator = Simulator(fixed, strategy, rng=random.Random(0), experiment=_AS_LIVE, freshness=lives)
    result = simulator.run(trace.arrivals, trace.vectors, _steps(progress))
    semantic, wrong = int(result.semantic.sum()), int((result.semantic & result.wrong).sum())
    hits, threshold = semantic + int(result.exact.sum()), None if level == _NOTHING else level
    return FixedThresholdRun(threshold, hits, semantic, wrong, int(result.looked_up.sum()))


def _steps(progress: Progress | None) -> Progress | None:
    """Progress in steps out of progress in totals."""
    if progress is None:
        return None
    before = 0

    def told(done: int) -> None:
        nonlocal before
        progress(done - before)
        before = done

    return told
