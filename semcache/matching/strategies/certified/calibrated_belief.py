"""A belief with its calibration: P(correct) of candidates for which the same evidence is available.

Without the local verifier's verdict, the words, places and numbers of two prompts decide; with it, mostly the verdict.
Labels of one kind would mislead the other: in traffic full of traps, similarity is worth little, while the verdict is
worth as much as ever. So each kind has a belief of its own. Knows features and labels, nothing of budgets. Invariant: a
label is predicted before it is learned from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from semcache.matching import features
from semcache.matching.label_noise import LabelNoise
from semcache.matching.strategies.certified.belief import HOPELESS, Belief
from semcache.matching.strategies.certified.belief_prior import BeliefPrior
from semcache.matching.strategies.certified.calibration import COLD
from semcache.matching.strategies.certified.drift import DriftAlarm
from semcache.matching.strategies.certified.error_budget import Contract
from semcache.matching.strategies.certified.kinds_of_traffic import UNHEARD, Kind, KindsOfTraffic

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from semcache.types.evidence import Label

_NEARNESS = features.NAMES.index("nearness")
# Log-odds of caution before the first label where nobody was asked, and the surprise that allows for one more where the
# local verifier was.
_COLD: Mapping[Contract, float] = {"hit": COLD, "request": 1.0}
_VERIFIER_WARM = 5.0
# Of the deviations of the prior with the verifier, which hold the noise of what single groups taught: measured on hands
# of which the verifier had read nothing, where the belief follows them too far.
_ALIKE = 0.7


class CalibratedBelief:
    """The belief of one category about candidates of which equally much is known; it starts from `prior`."""

    def __init__(self, prior: BeliefPrior, noise: LabelNoise, calibration: KindsOfTraffic | None = None) -> None:
        self._noise = noise
        self.belief = Belief(prior, noise=noise)
        self.calibration = calibration or KindsOfTraffic(prior.calibration, noise, kinds=(Kind(1.0),))
        self.drift = DriftAlarm(noise)

    def log_odds(self, values: tuple[float, ...], answer: int) -> float:
        """The log-odds of being correct, before their calibration."""
        return self.belief.log_odds(values, answer)

    def corrected(self, odds: float, values: tuple[float, ...], caution: float = 0.0) -> float:
        """P(correct) of these log-odds, lowered by `caution` standard deviations of the calibration."""
        return self.calibration.corrected(odds, values[_NEARNESS], caution)

    def probability(self, values: tuple[float, ...], answer: int, caution: float = 0.0) -> float:
        """P(correct) of a candidate, lowered alike."""
        return self.corrected(self.log_odds(values, answer), values, caution)

    def promising(
        self, around: Sequence[tuple[float, ...]], answers: Sequence[int], longest: int, least: float, *, asked: bool
    ) -> NDArray[Any]:
        """Which candidates could be right with a probability of `least`, as `Belief.at_best` has them; shape (n,)."""
        needed = self.calibration.needed(least)
        if HOPELESS < needed <= 0.0:
            # Moderated log-odds are nearer to 0 than their bound.
            needed = HOPELESS
        return self.belief.at_best(around, answers, longest, asked=asked) >= needed

    def contradicted(self, label: Label, odds: float) -> bool:
        """Weigh a label, before it is learned from; True where so much was believed wrongly that all is doubtful."""
        return self.drift.take(self.corrected(odds, label.features), correct=label.correct)

    def learn(self, label: Label, odds: float, *, sampled: bool) -> None:
        """Learn from a label whose log-odds had been predicted as `odds`; a report is not `sampled`."""
        self.belief.learn(label.features, label.answer, correct=label.correct)
        if sampled:
            self.calibration.add(odds, label.features[_NEARNESS], correct=label.correct)

    def relearn(self, labels: Sequence[Label], prior: BeliefPrior) -> None:
        """Rebuild the belief alone; the calibration stays."""
        belief = Belief(prior, noise=self._noise)
        for label in labels:
            belief.learn(label.features, label.answer, correct=label.correct)
        self.belief = belief

    def state(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "belief": self.belief.state(),
            "calibration": self.calibration.state(),
            "drift": self.drift.logs,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` gave. Raises ValueError for that of another version."""
        self.belief.restore(state["belief"])
        self.calibration.restore(state["calibration"])
        if "drift" in state:
            self.drift.restore(state["drift"])


def belief_without_verifier(prior: BeliefPrior, noise: LabelNoise, contract: Contract) -> CalibratedBelief:
    """The belief about candidates of which the local verifier was not asked."""
    kinds = KindsOfTraffic(prior.calibration, noise, kinds=UNHEARD, cold=_COLD[contract])
    return CalibratedBelief(prior, noise, kinds)


def belief_with_verifier(prior: BeliefPrior, noise: LabelNoise) -> CalibratedBelief:
    """The belief about candidates of which the local verifier was asked.

    What the prior says of strangers' prompts, others of them have borne out (`python -m eval.priors`), so that it is
    not doubted before the first label. Then each tells how far this traffic is from theirs, and few tell it badly.
    """
    with_verifier = prior_with_verifier(prior)
    return CalibratedBelief(
        with_verifier, noise, KindsOfTraffic(with_verifier.calibration, noise, cold=0.0, warm=_VERIFIER_WARM)
    )


def prior_with_verifier(prior: BeliefPrior) -> BeliefPrior:
    """The prior of candidates that the local verifier was asked about."""
    with_verifier = prior.with_verifier or prior
    return replace(with_verifier, deviation=_ALIKE * with_verifier.deviation)
