"""The decision to replace the installed verifier by a newly trained one.

The new one must be better here, and no worse elsewhere. Pure. Both give probabilities of the same labelled pairs: those
held out of this cache's labels, and the check set that ships. Invariant: a verifier that would let through a larger
share of wrong answers of the check set, or whose probabilities are worse than the old one's on the held-out labels, is
refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Probabilities = NDArray[np.float64]

SERVING = 0.95  # P(same) that counts as let through: with a fair belief beside it, an answer is served from here on
_LOSS = 0.02  # nats of log loss that the check set may lose
_SLACK = 0.005  # of the wrong pairs of the check set, let through beyond the old one's


@dataclass(frozen=True, slots=True)
class VerifierScores:
    """How one verifier does on labelled pairs: mean log loss in nats, and the shares it lets through at `SERVING`."""

    pairs: int
    log_loss: float
    served_right: float
    served_wrong: float


@dataclass(frozen=True, slots=True)
class ReplacementDecision:
    """Old and new on the held-out labels and on the check set, and why the new one is refused: () if it is not."""

    labels_old: VerifierScores
    labels_new: VerifierScores
    check_old: VerifierScores
    check_new: VerifierScores
    against: tuple[str, ...]


def verifier_scores(p: Probabilities, same: Sequence[bool]) -> VerifierScores:
    """The standing of probabilities `p` (n,) against labels."""
    y = np.asarray(same, dtype=bool)
    known = np.clip(p, 1e-6, 1.0 - 1e-6)
    loss = float(-np.log(np.where(y, known, 1.0 - known)).mean())
    served = p >= SERVING
    return VerifierScores(len(y), round(loss, 4), _share(served[y]), _share(served[~y]))


def compare(
    labels: Sequence[bool], labels_p: tuple[Probabilities, Probabilities],
    check: Sequence[bool], check_p: tuple[Probabilities, Probabilities],
) -> ReplacementDecision:  # fmt: skip
    """Old and new probabilities of the same pairs, each as (old, new)."""
    here_old, here_new = (verifier_scores(p, labels) for p in labels_p)
    there_old, there_new = (verifier_scores(p, check) for p in check_p)
    against = []
    if here_new.log_loss >= here_old.log_loss:
        against.append(f"log loss on held-out labels {here_new.log_loss:.3f}, was {here_old.log_loss:.3f}")
    if there_new.log_loss > there_old.log_loss + _LOSS:
        against.append(f"log loss on the check set {there_new.log_loss:.3f}, was {there_old.log_loss:.3f}")
    for where, old, new in (("held-out labels", here_old, here_new), ("the check set", there_old, there_new)):
        if new.served_wrong > old.served_wrong + _SLACK:
            against.append(f"wrong pairs of {where} let through {new.served_wrong:.1%}, was {old.served_wrong:.1%}")
    return ReplacementDecision(here_old, here_new, there_old, there_new, tuple(against))


def _share(served: NDArray[np.bool_]) -> float:
    return round(float(served.mean()), 5) if len(served) else 0.0
