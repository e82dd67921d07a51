"""The terms of a belief and their prior: what is known of P(correct) before the first label of a category.

The terms are 1 (the bias), the features, products of two features (the interactions), and how far the local verifier's
verdict exceeds each of some bends, in this order. Knows features by their names. Invariant: every term has a weight in
every prior, a learned one or a stated one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from semcache.matching import features
from semcache.matching.strategies.certified.calibration import START

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

INTERACTIONS = (
    *(("nearness", name) for name in ("nearness", "margin", "vote", "overlap", "spelling", "missing", "surplus")),
    *(
        ("crowd", name)
        for name in ("nearness", "margin", "vote", "overlap", "spelling", "same_words", "missing", "surplus")
    ),
)
# Log-odds of the local verifier from which its verdict may be worth more than below: of pairs that it is surest of, far
# fewer are wrong than a straight line says.
BENDS = (0.0, 2.0, 4.0)
_BENT = tuple(f"word>{bend:g}" for bend in BENDS)
TERMS = ("bias", *features.NAMES, *(f"{one}*{two}" for one, two in INTERACTIONS), *_BENT)
BIAS = 0  # place among the terms; the others follow it
FEATURES = slice(1, 1 + len(features.NAMES))
PRODUCTS = slice(FEATURES.stop, FEATURES.stop + len(INTERACTIONS))
BENT = slice(PRODUCTS.stop, PRODUCTS.stop + len(BENDS))
FIRST = np.array([features.NAMES.index(one) for one, _ in INTERACTIONS])  # places of the factors, among the features
SECOND = np.array([features.NAMES.index(two) for _, two in INTERACTIONS])
_VERDICT = features.NAMES.index("word")
# Mean and deviation of weights that no prior learns: ordinary questions hold too few traps to learn them from, and of
# a text that was typed again other pairs say nothing.
STATED = {
    "reordered": (-4.0, 1.0),
    "verbatim": (6.0, 0.7),
    **dict.fromkeys(features.OF_GUARDS, (-6.0, 1.5)),
}
# The same where the local verifier was asked, which was trained on words that change places.
HEARD = {"reordered": (-0.5, 1.0)}
# The same of weights where a prior was learned from data that no verifier was asked about.
UNASKED = {"asked": (0.0, 0.3), "word": (0.5, 0.4), **dict.fromkeys(_BENT, (0.0, 0.1))}


@dataclass(frozen=True, slots=True)
class BeliefPrior:
    """The belief about a category before its first label; arrays have shape (len(TERMS),).

    `center` and `scale` standardise the terms, `mean` and `deviation` describe their weights, `answers` is the variance
    of the offsets of answers. `calibration` starts a `Calibration`, and `risks` are quantiles of the lowest
    1 - P(correct) of a request in the data that the prior was learned from. `with_verifier` is the belief about
    candidates that the local verifier was asked about, and of requests for which it was; None where it is no other.
    """

    center: Array
    scale: Array
    mean: Array
    deviation: Array
    answers: float
    calibration: tuple[float, ...] = START
    risks: tuple[float, ...] = ()
    with_verifier: BeliefPrior | None = None

    @classmethod
    def read(cls, data: Mapping[str, Any], *, asked: bool = False) -> BeliefPrior:
        """From the JSON that training writes: a row [center, scale, mean, deviation] a term, and the same under "told".

        Terms it lacks get the weight that `STATED` says, or `HEARD` where a verifier was `asked`, or else 0. Raises
        KeyError or ValueError for other data.
        """
        rows = data["terms"]
        table = np.array([rows.get(name) or _unseen(name, asked=asked) for name in TERMS], dtype=np.float64)
        if table.shape != (len(TERMS), 4) or not np.isfinite(table).all():
            raise ValueError("a prior has four finite numbers a term")
        columns = (table[:, 0], table[:, 1], table[:, 2], table[:, 3])
        calibration = tuple(data.get("calibration", START))
        with_verifier = cls.read(data["told"], asked=True) if "told" in data else None
        return cls(*columns, float(data["answers"]), calibration, tuple(data.get("risks", ())), with_verifier)

    def units(self, center: Array, scale: Array) -> Array:
        """The matrix that turns terms as this prior standardises them into those with another center and scale."""
        found: Array = np.diag(self.scale / scale)
        bias = (1.0 - self.center[BIAS]) / self.scale[BIAS]
        found[:, BIAS] = (self.center - center) / scale / bias
        found[BIAS, BIAS] = (1.0 - center[BIAS]) / scale[BIAS] / bias
        return found


def _unseen(name: str, *, asked: bool) -> list[float]:
    mean, deviation = (STATED | (HEARD if asked else UNASKED)).get(name, (0.0, 0.1))
    return [0.0, 1.0, mean, deviation]


def terms(values: tuple[float, ...]) -> Array:
    """The terms of these features, not standardised. Raises ValueError for another number of features."""
    if len(values) != len(features.NAMES):
        raise ValueError(f"{len(values)} features, not {len(features.NAMES)}")
    given = np.array(values, dtype=np.float64)
    return np.concatenate(([1.0], given, products(given), bent(values[_VERDICT])))


def products(given: Array) -> Array:
    """The interactions of these features."""
    found: Array = given[FIRST] * given[SECOND]
    return found


def bent(verdict: float) -> list[float]:
    """How far the local verifier's verdict, as log-odds, exceeds each of the bends."""
    return [max(0.0, verdict - bend) for bend in BENDS]
