"""The choice of an arm: the small model with examples, the small model alone, or the large model.

A contextual bandit with one linear model an arm, and a bias against the costly arm that grows with its load and then
saturates (IC-Cache, section 4). Draws and loads are arguments. Pure. Invariant: with nothing learned the large model is
asked; load shifts a choice by at most `push`, however high it is.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from semcache.agents.multiplex import signals
from semcache.agents.multiplex.ridge import Ridge

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_COMFORTABLE = 0.7  # load, where 1 is a full large model: from here on it adds to the worth of others
_NEW = 0.1  # share of a load that is new at each request
_STRENGTH = 5.0  # comparisons that an arm's prior is worth: a certificate stands behind every answer
NEIGHBOURHOOD = ("nearest", "helpful", "shown", "margin")


class Arm(StrEnum):
    """The model that answers, with or without examples."""

    EXAMPLES = "small-with-examples"
    SMALL = "small"
    LARGE = "large"


@dataclass(frozen=True, slots=True)
class BanditChoice:
    """An arm, the quality that each is expected to give, and whether they are too alike to tell: then compare."""

    arm: Arm
    expected: Mapping[Arm, float]
    unclear: bool
    bias: float


class ModelBandit:
    """Learns what each arm's answers are worth. `prices` are the arms' costs as shares of the large model's.

    `thrift` is the quality that a large call is worth, `push` the most that load can add to it.
    """

    def __init__(
        self,
        prices: Mapping[Arm, float],
        *,
        priors: Mapping[Arm, float] | None = None,
        thrift: float = 0.05,
        push: float = 0.2,
    ) -> None:
        self._prices, self._thrift = dict(prices), thrift
        self._push = push
        start = {Arm.EXAMPLES: 0.6, Arm.SMALL: 0.5, Arm.LARGE: 0.95, **(priors or {})}
        size = len(signals.REQUEST) + len(NEIGHBOURHOOD)
        self._arms = {arm: Ridge(size, prior=start[arm], strength=_STRENGTH, noise=0.2) for arm in Arm}
        self._load = 0.0

    @property
    def bias(self) -> float:
        """The part of the large model's worth that load takes off; lasting bias says that capacity is missing."""
        return self._push * max(0.0, math.tanh(self._load - _COMFORTABLE))

    def see(self, load: float) -> None:
        """Note the large model's load, 1 where it is full."""
        if math.isfinite(load):
            self._load += _NEW * (load - self._load)

    def choose(
        self, context: Array, normals: Mapping[Arm, float] | None = None, *, examples: bool = True
    ) -> BanditChoice:
        """The best arm; without `examples` that arm is left out. `normals` are standard normal draws (Thompson)."""
        expected: dict[Arm, float] = {}
        worth: dict[Arm, float] = {}
        for arm in Arm:
            if arm is Arm.EXAMPLES and not examples:
                continue
            mean, deviation = self._arms[arm].predict(context)
            expected[arm] = mean
            drawn = mean + deviation * (normals or {}).get(arm, 0.0)
            worth[arm] = drawn - self._thrift * self._prices[arm] - (self.bias if arm is Arm.LARGE else 0.0)
        best = max(worth, key=worth.__getitem__)
        unclear = statistics.pstdev(worth.values()) < 0.1
        return BanditChoice(best, expected, unclear, self.bias)

    def learn(self, context: Array, arm: Arm, quality: float) -> None:
        """Take the quality in [0, 1] of an arm's answer. Raises ValueError for what is not finite."""
        self._arms[arm].learn(context, quality)

    def state(self) -> dict[str, Any]:
        """As JSON has it."""
        return {arm.value: one.state() for arm, one in self._arms.items()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` gave. Raises ValueError for that of another version."""
        for arm, one in self._arms.items():
            one.restore(state[arm.value])


def context(text: str, scores: tuple[float, ...], gains: tuple[float, ...]) -> Array:
    """The context that an arm's quality is predicted from: request, similarity and helpfulness of its examples."""
    nearest = max(scores, default=0.0)
    helpful = max(gains, default=0.0)
    around = [nearest, helpful, math.log1p(len(scores)), nearest - min(scores, default=0.0)]
    return np.concatenate((signals.of_request(text), around))
