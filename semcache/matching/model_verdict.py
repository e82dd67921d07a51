"""A language model's verdict on a request and an entry, as served answers and labels carry it.

A verdict follows the features of the neighbour as three more numbers. Pure. Invariant: the strategy learns from no
label that was chosen by a verdict.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from semcache.matching import features
from semcache.matching.logistic import log_odds
from semcache.types.evidence import Label, LabelSource

PLAIN = len(features.NAMES)  # features of a neighbour of which no verdict was had
_WITH_VERDICT = PLAIN + 3
_DIFFERENT = 0.05  # P(yes) up to which a verdict makes a known difference


@dataclass(frozen=True, slots=True)
class ModelVerdict:
    """A model's verdict: P(yes), the belief's log-odds before it, and if the label is a random sample.

    All answers that a verdict refused are labelled, but only the audited ones of those that it let pass. So only labels
    that are `sampled` show how many neighbours like these are right.
    """

    p_yes: float
    odds: float
    sampled: bool

    @property
    def different(self) -> bool:
        """True if the answer is known to be another's."""
        return self.p_yes <= _DIFFERENT


def model_verdict_about(before: float, p_yes: float, *, sampled: bool) -> ModelVerdict:
    """The verdict on a neighbour of this P(correct)."""
    return ModelVerdict(p_yes, log_odds(before), sampled)


def with_model_verdict(values: tuple[float, ...], verdict: ModelVerdict) -> tuple[float, ...]:
    """The features of a neighbour followed by a verdict on it, in place of one that followed them before."""
    return (*values[:PLAIN], verdict.odds, verdict.p_yes, float(verdict.sampled))


def model_verdict_of(label: Label) -> ModelVerdict | None:
    """The verdict that a label carries; None for a label without one."""
    if len(label.features) != _WITH_VERDICT:
        return None
    odds, p_yes, sampled = label.features[PLAIN:]
    return ModelVerdict(p_yes, odds, sampled > 0.0)


def without_model_verdict(label: Label) -> Label | None:
    """The label as the strategy learns from it; None if the verdict chose which answers were labelled.

    It is given as the label of a miss, so that a judged hit enters no certificate of hits by meaning.
    """
    verdict = model_verdict_of(label)
    if verdict is None:
        return label
    if not verdict.sampled or label.source in (LabelSource.VERDICT, LabelSource.UNDECIDED):
        return None
    source = LabelSource.FEEDBACK if label.source is LabelSource.FEEDBACK else LabelSource.MISS
    return replace(label, features=label.features[:PLAIN], source=source, served=False)
