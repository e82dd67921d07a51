"""What the shipped decision believes of pairs before a verifier is asked: the same features, guards and prior.

Knows an encoder and the decision's own functions. Invariant: a pair is believed as the live cache would believe it of a
cache that holds nothing but its first text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from semcache import features, guards
from semcache.thresholds.certified.belief import Belief
from semcache.thresholds.certified.calibration import Calibration
from semcache.thresholds.certified.priors import shipped
from semcache.thresholds.certified.strategy import CAUTION, FLOOR
from semcache.types import Candidate, Card

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from semcache.train.recipe.mixture import Embed


def believed(pairs: Sequence[tuple[str, str]], embed: Embed) -> NDArray[np.float64]:
    """P(correct) of serving the first text's answer to the second, (n,); NaN where the two are too far apart."""
    prior = shipped("any")
    belief, calibration = Belief(prior), Calibration(prior.calibration)
    one, two = (embed([pair[side] for pair in pairs]) for side in (0, 1))
    found = np.full(len(pairs), np.nan)
    for place, ((cached, asked), score) in enumerate(zip(pairs, (one * two).sum(axis=1).tolist(), strict=True)):
        if score < FLOOR:
            continue
        card = Card(1, b"", b"", "default", cached, 0.0, float("inf"))
        candidate = Candidate(card, min(1.0, score), guards.conflicts(asked, cached, guards.GUARDS))
        odds = belief.log_odds(features.of(asked, candidate), card.answer_class)
        found[place] = calibration.corrected(odds, CAUTION)
    return found
