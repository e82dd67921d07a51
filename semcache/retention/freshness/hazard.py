"""The rate at which answers change, learned from answers that were asked for again.

The time until an answer changes is taken as exponential with a rate (hazard) h, one for each cell: a category and a
volatility. A priori h ~ Gamma(1, b), and with changes seen as they happen it would become Gamma(1 + changes, b +
exposure). Three things make it less simple, so that the posterior is summed on a grid. The pack knows b but roughly,
so b is Gamma-distributed itself, which makes h heavy-tailed (Lomax) and quick to learn. An answer that was e seconds
old is only found to differ or not. And some differences are mere wording: P(differs) = f + (1 - f)(1 - exp(-h e)) with
an unknown f. What differs as often after a minute as after a week is wording; where the ages do not tell, h keeps the
doubt. The other cells of a category lend what they saw, at a discount.

Knows no prompts, clock or packs. Durations are seconds, rates are per second.
Invariant: the same observations in the same order give the same state, to the bit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from semcache.errors import InvalidArgument
from semcache.types import Volatility

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

TAIL = 1.5  # shape of the Gamma distribution of b
MEMORY = 1000.0  # observations after which a new one weighs e times as much as an old one
POOLED = 4.0  # changes that the other cells of a category are worth, at most
NOISE = 0.005  # share of unchanged answers that a judge is expected to call changed
_GRID = np.logspace(-3.0, 6.0, 226)  # rates, in units of the prior mean
_FALSE = np.array([0.0, 0.01, 0.025, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9])  # values of f
_VERSION = 1


# Prior rates relative to SLOW, whose answers live as long as the pack says: four years against half a year for FAST.
RATES: Mapping[Volatility, float] = {
    Volatility.NEVER: 0.1,
    Volatility.SLOW: 1.0,
    Volatility.FAST: 8.0,
    Volatility.RELATIVE: 100.0,
}


@dataclass(frozen=True, slots=True)
class HazardPrior:
    """The prior of a category's rate of change.

    `rate` is the mean of h for SLOW prompts, per second; those of other kinds change `rates` times as often.
    """

    rate: float
    rates: Mapping[Volatility, float]


@dataclass(frozen=True, slots=True)
class HazardPosterior:
    """The mean of h and its upper credible bound, per second, and what the cell itself saw (fading with age)."""

    mean: float
    upper: float
    observations: float = 0.0
    differing: float = 0.0


def prior_quantile(probability: float) -> float:
    """Of h a priori, in units of its mean: h ~ Lomax(TAIL), which is Gamma(1, b) with b ~ Gamma(TAIL)."""
    return (TAIL - 1) * math.expm1(-math.log1p(-probability) / TAIL)


class _Cell:
    """Observations by the power of two of their exposure: how many, how many of them differed, seconds in all."""

    __slots__ = ("_known", "bins", "version")

    def __init__(self) -> None:
        self.bins: dict[int, list[float]] = {}
        self.version = 0
        self._known: tuple[int, HazardPrior, Array] | None = None

    def add(self, exposure: float, changed: bool) -> None:
        keep = 1.0 - 1.0 / MEMORY
        for row in self.bins.values():
            row[:] = [value * keep for value in row]
        row = self.bins.setdefault(math.frexp(exposure)[1], [0.0, 0.0, 0.0])
        row[0] += 1.0
        row[1] += changed
        row[2] += exposure
        self.version += 1

    def likelihood(self, prior: HazardPrior, kind: Volatility, beliefs: Array) -> Array:
        """The log-likelihood of h along the grid, up to a constant; `beliefs` are the prior chances of `_FALSE`."""
        if self._known is None or self._known[:2] != (self.version, prior):
            rates = _GRID * prior.rate * prior.rates[kind]
            self._known = self.version, prior, self._likelihood(rates, beliefs)
        return self._known[2]

    def _likelihood(self, rates: Array, beliefs: Array) -> Array:
        count, differing, seconds = np.array(list(self.bins.values())).T
        age, same = seconds / count, count - differing
        # ln of (1 - f) exp(-h e), for the answers that did not differ
        found = np.log1p(-_FALSE)[:, None] * same.sum() - rates * float(same @ age) + np.log(beliefs)[:, None]
        some = differing > 0
        if some.any():
            moved = -np.expm1(-np.outer(rates, age[some]))
            differs = _FALSE[:, None, None] + (1 - _FALSE)[:, None, None] * moved
            found += np.log(np.maximum(differs, 1e-300)) @ differing[some]
        top = found.max(axis=0)
        return np.asarray(top + np.log(np.exp(found - top).sum(axis=0)))


class Hazards:
    """The cells. `noise` is the share of unchanged answers that the judge calls changed, as far as known: (0, 1)."""

    def __init__(self, noise: float = NOISE) -> None:
        if not 0 < noise < 1:
            raise InvalidArgument(f"the judge's noise is a share between 0 and 1, not {noise!r}")
        # f ~ Beta(1, 1 / noise - 1), each value of `_FALSE` standing for its surroundings.
        edges = np.concatenate([[0.0], (_FALSE[1:] + _FALSE[:-1]) / 2, [1.0]])
        self._beliefs = np.maximum(np.diff(1 - (1 - edges) ** (1 / noise - 1)), 1e-12)
        self._cells: dict[tuple[str, Volatility], _Cell] = {}
        self._known: dict[tuple[str, Volatility], tuple[object, HazardPosterior]] = {}

    def observe(self, category: str, kind: Volatility, exposure: float, changed: bool) -> None:
        """An answer that was `exposure` seconds old was asked for again, and the new one differed or not.

        Nothing is learned at an exposure of 0. Raises InvalidArgument for one that is negative or not finite.
        """
        if not (math.isfinite(exposure) and exposure >= 0):
            raise InvalidArgument(f"an exposure is a finite number of seconds from 0 on, not {exposure!r}")
        if exposure > 0:
            self._cells.setdefault((category, kind), _Cell()).add(exposure, changed)

    def posterior(self, category: str, kind: Volatility, prior: HazardPrior, confidence: float) -> HazardPosterior:
        """The posterior of the rate in one cell; it is below `upper` with probability `confidence`."""
        cells = {one: cell for one in Volatility if (cell := self._cells.get((category, one))) is not None}
        basis = (prior, confidence, [(one, cell.version) for one, cell in cells.items()])
        known = self._known.get((category, kind))
        if known is None or known[0] != basis:
            known = basis, self._posterior(cells, kind, prior, confidence)
            self._known[category, kind] = known
        return known[1]

    def _posterior(
        self, cells: Mapping[Volatility, _Cell], kind: Volatility, prior: HazardPrior, confidence: float
    ) -> HazardPosterior:
        """The others count by a power prior (Ibrahim and Chen 2000), for no more than about `POOLED` changes."""
        scale = prior.rate
        if not cells:
            return HazardPosterior(scale * prior.rates[kind], scale * prior_quantile(confidence) * prior.rates[kind])
        rates = _GRID * scale
        density = np.log(_GRID) - (TAIL + 1) * np.log1p(_GRID / (TAIL - 1))
        for other, cell in cells.items():
            weight = 1.0
            if other != kind:
                _, differing, seconds = map(sum, zip(*cell.bins.values(), strict=True))
                weight = POOLED / (POOLED + differing + scale * prior.rates[other] * seconds)
            density = density + weight * cell.likelihood(prior, other, self._beliefs)
        mass = np.exp(density - density.max())
        mass /= mass.sum()
        below = np.cumsum(mass) - mass / 2
        upper = math.exp(float(np.interp(confidence, below, np.log(rates))))
        own = cells.get(kind)
        seen = [sum(row[column] for row in own.bins.values()) for column in (0, 1)] if own else [0.0, 0.0]
        return HazardPosterior(float(mass @ rates) * prior.rates[kind], upper * prior.rates[kind], *seen)

    def state(self) -> dict[str, Any]:
        """The cells, as JSON has it; {} when nothing was observed."""
        if not self._cells:
            return {}
        cells = [
            [category, str(kind), [[power, *row] for power, row in cell.bins.items()]]
            for (category, kind), cell in self._cells.items()
        ]
        return {"version": _VERSION, "cells": cells}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` gave, instead of what was known. Raises ValueError for anything else."""
        cells: dict[tuple[str, Volatility], _Cell] = {}
        if state:
            if state.get("version") != _VERSION:
                raise ValueError(f"no state of hazards of version {_VERSION}: version {state.get('version')!r}")
            try:
                for category, kind, rows in state["cells"]:
                    cell = cells[str(category), Volatility(kind)] = _Cell()
                    cell.bins = {int(power): _row(values) for power, *values in rows}
            except (KeyError, TypeError) as error:
                raise ValueError(f"no state of hazards: {error}") from error
        self._cells = cells
        self._known.clear()


def _row(values: list[Any]) -> list[float]:
    count, differing, seconds = map(float, values)
    if not (count > 0 and 0 <= differing <= count * (1 + 1e-9) and 0 < seconds < math.inf):
        raise ValueError(f"no row of a state of hazards: {values!r}")
    return [count, differing, seconds]
