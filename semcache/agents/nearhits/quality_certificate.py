"""Certification of a small model's answers, by comparisons with the large model's.

Pure; draws are arguments. Invariant: nothing is served before the certificate is there, each comparison is looked at
once, and as soon as the budget is overrun the path is closed and has to be certified anew, on comparisons that come
later.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from semcache.matching.strategies.certified.certificate import Certificate

_LEAST = 0.01
_HALVING = 200.0  # comparisons after which the share that is compared has halved


class PathState(StrEnum):
    """The standing of a path."""

    LEARNING = "learning"  # compared in the background, served by the large model
    OPEN = "open"
    CLOSED = "closed"  # was open and overran its budget: learning again


class QualityWatch:
    """The path of one category. `target` is the accepted share of served answers that are worse than the large one's.

    `confidence` is that of the certificate, `rate` the highest share of requests that are compared.
    """

    def __init__(self, target: float, *, confidence: float = 0.95, rate: float = 0.2) -> None:
        self.target, self._beta, self._highest = target, 1.0 - confidence, rate
        self._certificate = Certificate(self._beta)
        self.state = PathState.LEARNING
        self.closures = 0

    @property
    def open(self) -> bool:
        """True if answers are served."""
        return self.state is PathState.OPEN

    @property
    def level(self) -> float | None:
        """The lowest error that is certified, None before any is."""
        return self._certificate.level

    @property
    def rate(self) -> float:
        """The share of served answers to compare: less and less of them while they hold what was promised."""
        return max(_LEAST, self._highest * math.exp(-math.log(2) * self._certificate.audits / _HALVING))

    def sampled(self, draw: float) -> bool:
        """Return True to compare this one; `draw` is uniform in [0, 1) and says nothing of the answers."""
        return draw < (self.rate if self.open else self._highest)

    def take(self, *, wrong: bool) -> None:
        """Take a comparison of a request that went, or would have gone, to the small model."""
        self._certificate.take(self.target, wrong=wrong)
        if self._certificate.exceeded:
            self.closures += self.open
            self.state = PathState.CLOSED if self.open or self.state is PathState.CLOSED else PathState.LEARNING
            self._certificate = Certificate(self._beta)
        elif self._certificate.certified:
            self.state = PathState.OPEN

    def standing(self) -> dict[str, Any]:
        """The standing as operators are shown it."""
        return {
            "state": self.state.value,
            "target": self.target,
            "certified": self.level,
            "comparisons": self._certificate.audits,
            "worse": self._certificate.wrong,
            "closures": self.closures,
        }

    def snapshot(self) -> dict[str, Any]:
        """As JSON has it."""
        return {"state": self.state.value, "closures": self.closures, "certificate": self._certificate.state()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `snapshot` gave. Raises KeyError or ValueError for other data."""
        # Every comparison has a verdict here.
        self._certificate.restore({"undecided": 0, **state["certificate"]})
        self.state, self.closures = PathState(state["state"]), int(state["closures"])
