"""The kind of traffic of a category: several calibrations, weighted by how well each predicted the labels.

Within one kind of traffic, prompts differ little in how far a belief can be trusted; between kinds they differ much.
One calibration for all kinds would take a single surprise as a sign that everything has changed, and unlearn that
slowly. Several narrow ones take it as evidence about the kind, which some right answers weaken and a second surprise
confirms (a mixture of experts whose weights are their posterior: Jacobs et al. 1991, "Adaptive mixtures of local
experts", with Bayes' rule in place of a gating network). Knows predicted log-odds, nearness and outcomes, as
`calibration` does. Invariant: the weights add up to 1, and a label is predicted before it is learned from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from semcache.matching.label_noise import FAITHFUL, LabelNoise
from semcache.matching.logistic import LIKELIEST
from semcache.matching.strategies.certified.calibration import COLD, VARIANCES, WARM, Calibration, Coefficients

_FINE = 0.01  # log-odds: how closely those are sought that are needed
_FADE = 2e-4  # of the way back to the first weights, a label


class Kind(NamedTuple):
    """A kind's share of all traffic, what it adds to the coefficients, and the variances of these.

    In a kind with `near`, similarity is informative.
    """

    share: float
    slope: float = 0.0
    intercept: float = 0.0
    excess: float = 0.0
    near: float = 0.0
    variances: Coefficients = VARIANCES

    def added(self) -> Coefficients:
        """The amounts that the kind adds to the coefficients."""
        return Coefficients(self.intercept, self.slope, self.excess, self.near)


# How far the verdict is worth more or less with one hand than with another, as a random effect of the hand: measured on
# twelve hands of which the verifier had read nothing, as their questions come in one after the other.
_HAND = Coefficients(intercept=0.12, slope=0.007, excess=0.03, near=0.33)
_TOPIC = VARIANCES._replace(near=1.0)
# Where the local verifier was asked: hands as those; some whose rewordings are plainer than it takes them to be;
# traffic in which its verdict says half as much, which natural questions are nearer to; some that it is too sure of;
# some in which an answer serves a whole topic: much of what it doubts is right there, what it is sure of as surely as
# anywhere, and likeness tells more than it does; and some whose questions hardly ever come again: what it doubts is
# different there, and what it is sure of as surely right as anywhere.
HEARD = (
    Kind(0.63, variances=_HAND),
    Kind(0.1, intercept=0.8, variances=_HAND),
    Kind(0.04, slope=-0.5),
    Kind(0.04, intercept=-2.0, variances=_HAND),
    Kind(0.04, slope=-0.7, intercept=0.5, excess=0.7, near=2.5, variances=_TOPIC),
    Kind(0.15, slope=1.0, intercept=-2.0, excess=-1.0, variances=_HAND),
)
# Where nobody was asked: the same of likeness alone.
UNHEARD = (Kind(0.96), Kind(0.04, slope=-0.7, intercept=0.5, excess=0.7, near=1.5, variances=_TOPIC))


class KindsOfTraffic:
    """The calibration of one category, over `kinds`. The other parameters are those of `Calibration`."""

    def __init__(
        self,
        start: Sequence[float],
        noise: LabelNoise = FAITHFUL,
        *,
        kinds: Sequence[Kind] = HEARD,
        cold: float = COLD,
        warm: float = WARM,
    ) -> None:
        self._noise, self._shares = noise, [kind.share for kind in kinds]
        self.weights = self._shares.copy()
        self._needed: dict[float, float] = {}  # by probability, since the last label
        self._of = [
            Calibration(start, noise, variances=kind.variances, cold=cold, warm=warm, likeness=kind.near > 0.0)
            for kind in kinds
        ]
        for one, kind in zip(self._of, kinds, strict=True):
            one.mean = [mean + more for mean, more in zip(one.mean, kind.added(), strict=True)]

    def add(self, predicted: float, nearness: float, *, correct: bool) -> None:
        """Learn from a label whose log-odds had been predicted."""
        self._needed.clear()
        self._weigh(predicted, nearness, correct=correct)
        for one in self._of:
            one.add(predicted, nearness, correct=correct)

    def doubt(self) -> None:
        """Forget the kind of the traffic and how sure the coefficients are: the traffic has changed."""
        self._needed.clear()
        self.weights = self._shares.copy()
        for one in self._of:
            one.doubt()

    def corrected(self, predicted: float, nearness: float, deviate: float = 0.0) -> float:
        """P(correct) of these log-odds, of each kind lowered by `deviate` standard deviations of its correction."""
        return sum(
            [
                weight * one.corrected(predicted, nearness, deviate)
                for weight, one in zip(self.weights, self._of, strict=True)
            ]
        )

    def needed(self, p_correct: float) -> float:
        """The least log-odds that may be worth this probability, however near the candidate is; up to `_FINE` less."""
        if p_correct not in self._needed:
            low, high = -LIKELIEST, LIKELIEST
            while high - low > _FINE:
                middle = (low + high) / 2.0
                best = sum([weight * one.at_most(middle) for weight, one in zip(self.weights, self._of, strict=True)])
                low, high = (low, middle) if best >= p_correct else (middle, high)
            self._needed[p_correct] = low
        return self._needed[p_correct]

    def state(self) -> dict[str, Any]:
        """As JSON has it."""
        return {"weights": self.weights, "kinds": [one.state() for one in self._of]}

    def restore(self, state: Mapping[str, Any] | Sequence[Any]) -> None:
        """Take up what `state` gave. Raises ValueError for that of another version.

        What versions gave that knew one calibration alone is no belief about kinds, which is learned anew.
        """
        if not isinstance(state, Mapping):
            return
        weights, kinds = state["weights"], state["kinds"]
        if len(weights) != len(self._of):
            raise ValueError(f"a calibration of {len(weights)} kinds of traffic, not {len(self._of)}: learn anew")
        self._needed.clear()
        self.weights = [float(one) for one in weights]
        for one, known in zip(self._of, kinds, strict=True):
            one.restore(known)

    def _weigh(self, predicted: float, nearness: float, *, correct: bool) -> None:
        said = [self._noise.said_correct(one.expected(predicted, nearness)) for one in self._of]
        likely = [w * (p if correct else 1.0 - p) for w, p in zip(self.weights, said, strict=True)]
        total = sum(likely)
        self.weights = [
            (1.0 - _FADE) * one / total + _FADE * share for one, share in zip(likely, self._shares, strict=True)
        ]
