"""P(correct) of a candidate: a Bayesian logistic regression on its features, with an effect of its answer.

Each category has a Gaussian belief about the weights that starts from the shipped prior and moves with its own labels,
and each answer an offset that starts from zero: both shrink to their parents, so that a new category and a new answer
begin with what is known of the others. Knows features by their names and nothing of thresholds.
Invariant: the covariance stays symmetric and positive, P(correct) stays inside (0, 1), and equal labels in equal order
give equal beliefs.

One label is one step of Newton's method with the Laplace approximation (Spiegelhalter and Lauritzen 1990, "Sequential
updating of conditional probabilities", section 4); the predictive probability is MacKay's (1992, "The evidence
framework applied to classification networks", section 4.2).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semcache.matching import features
from semcache.matching.label_noise import FAITHFUL, LabelNoise
from semcache.matching.logistic import sigmoid
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
# Log-odds of the local verifier from which its word may be worth more than below: of pairs that it is surest of, far
# fewer are wrong than a straight line says.
BENDS = (0.0, 2.0, 4.0)
_BENT = tuple(f"word>{bend:g}" for bend in BENDS)
TERMS = ("bias", *features.NAMES, *(f"{one}*{two}" for one, two in INTERACTIONS), *_BENT)
_ONE = np.array([features.NAMES.index(one) for one, _ in INTERACTIONS])
_TWO = np.array([features.NAMES.index(two) for _, two in INTERACTIONS])
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
ANSWERS = 20_000  # whose offsets are kept; beyond, the one whose last label is the oldest is forgotten
HOPELESS = -1.0  # log-odds below which nothing is moderated
_AROUND = len(features.AROUND)
_UNBOUNDED = [features.NAMES.index(name) - _AROUND for name in ("missing", "surplus", "misspelt")]
_NEARNESS, _AGAIN = features.NAMES.index("nearness"), -math.log(1.0 - features.AGAIN) - 1e-9
_VERBATIM = features.NAMES.index("verbatim") - _AROUND
_WORD = features.NAMES.index("word")
_ASKED = features.NAMES.index("asked") - _AROUND
_HIGHEST = np.array([{"length": 3.0, "word": 0.0}.get(name, 1.0) for name in features.NAMES[_AROUND:]])
_WORDS = np.array([-features.LOUDEST, *BENDS, features.LOUDEST])  # between these, what a word adds is linear
_BENDINGS = np.maximum(0.0, _WORDS[:, None] - np.array(BENDS))


@dataclass(frozen=True, slots=True)
class BeliefPrior:
    """The belief about a category before its first label; arrays have shape (len(TERMS),).

    `center` and `scale` standardise the terms, `mean` and `deviation` describe their weights, `answers` is the variance
    of the offsets of answers. `calibration` starts a `Calibration`, and `risks` are quantiles of the lowest
    1 - P(correct) of a request in the data that the prior was learned from. `told` is the belief about candidates that
    the local verifier was asked about, and of requests for which it was; None where it is no other.
    """

    center: Array
    scale: Array
    mean: Array
    deviation: Array
    answers: float
    calibration: tuple[float, ...] = START
    risks: tuple[float, ...] = ()
    told: BeliefPrior | None = None

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
        told = cls.read(data["told"], asked=True) if "told" in data else None
        return cls(*columns, float(data["answers"]), calibration, tuple(data.get("risks", ())), told)


def _unseen(name: str, *, asked: bool) -> list[float]:
    mean, deviation = (STATED | (HEARD if asked else UNASKED)).get(name, (0.0, 0.1))
    return [0.0, 1.0, mean, deviation]


def terms(values: tuple[float, ...]) -> Array:
    """The terms of these features, not standardised. Raises ValueError for another number of features."""
    if len(values) != len(features.NAMES):
        raise ValueError(f"{len(values)} features, not {len(features.NAMES)}")
    given = np.array(values, dtype=np.float64)
    return np.concatenate(([1.0], given, given[_ONE] * given[_TWO], _bent(values[_WORD])))


def _bent(word: float) -> list[float]:
    return [max(0.0, word - bend) for bend in BENDS]


class _Unfolded(NamedTuple):
    """The mean weights for terms that are not standardised: of the bias, features, interactions and bends of the word.

    The interactions also as matrices: of the features around with each other (`inner`) and with the rest (`outer`).
    """

    bias: float
    own: Array
    crossed: Array
    bent: Array
    inner: Array
    outer: Array


class Belief:
    """The belief about one category. `memory` is the number of labels after which half is forgotten."""

    def __init__(self, prior: BeliefPrior, *, noise: LabelNoise = FAITHFUL, memory: float = 20_000.0) -> None:
        self._prior = prior
        self._noise = noise
        self._forget = math.log(2) / memory
        self.mean = prior.mean.copy()
        self.covariance = np.diag(prior.deviation**2)
        self.answers: dict[int, tuple[float, float]] = {}
        self._unfolded: _Unfolded | None = None

    def log_odds(self, values: tuple[float, ...], answer: int) -> float:
        """Log-odds of being correct, for a candidate with these features and of this answer class.

        Those that are hopeless by the mean of the belief alone are not moderated by its spread, which would cost more
        than it tells.
        """
        offset, variance = self.answers.get(answer, (0.0, self._prior.answers))
        given = np.array(values)
        plain = self._plain()
        mean = plain.bias + float(plain.own @ given) + float(plain.crossed @ (given[_ONE] * given[_TWO])) + offset
        if values[_WORD] > BENDS[0]:
            mean += float(plain.bent @ _bent(values[_WORD]))
        if mean < HOPELESS:
            return mean
        x = self._standard(values)
        spread = float(x @ self.covariance @ x) + variance
        return mean / math.sqrt(1.0 + math.pi * spread / 8.0)

    def contributions(self, values: tuple[float, ...], answer: int) -> dict[str, float]:
        """The mean log-odds by their source; each feature has one half of an interaction."""
        plain, given = self._plain(), np.array(values)
        parts = plain.own * given
        parts[_WORD] += float(plain.bent @ _bent(values[_WORD]))
        crossed = 0.5 * plain.crossed * given[_ONE] * given[_TWO]
        np.add.at(parts, _ONE, crossed)
        np.add.at(parts, _TWO, crossed)
        own = {name: float(value) for name, value in zip(features.NAMES, parts, strict=True) if value}
        return {"base": plain.bias, "answer": self.answers.get(answer, (0.0, 0.0))[0]} | own

    def at_best(
        self, around: Sequence[tuple[float, ...]], answers: Sequence[int], longest: int, *, asked: bool = False
    ) -> Array:
        """Log-odds that no candidate with these surroundings can exceed, however alike the texts are; shape (n,).

        Each of `around` holds the features of `features.AROUND`; the texts have up to `longest` characters, and the
        local verifier may be `asked`. Log-odds below 0 are bounded as far as they are not moderated.
        """
        given, plain = np.array(around), self._plain()
        highest = _HIGHEST.copy()
        highest[_UNBOUNDED] = math.log1p(longest / 2 + 1)
        if not asked:
            highest[_ASKED] = 0.0
        best: Array = plain.bias + given @ plain.own[:_AROUND] + ((given @ plain.inner) * given).sum(axis=1)
        gains = np.maximum(plain.own[_AROUND:] + given @ plain.outer, 0.0)
        gains[given[:, _NEARNESS] < _AGAIN, _VERBATIM] = 0.0
        best += gains @ highest
        if asked:
            best += float((plain.own[_WORD] * _WORDS + _BENDINGS @ plain.bent).max())
        if self.answers:
            best += [self.answers.get(answer, (0.0, 0.0))[0] for answer in answers]
        return best

    def learn(self, values: tuple[float, ...], answer: int, *, correct: bool) -> None:
        """Move by one label."""
        x = self._standard(values)
        offset, variance = self.answers.get(answer, (0.0, self._prior.answers))
        direction = self.covariance @ x
        mean = float(self.mean @ x) + offset
        slope, bend = self._gradient(mean, correct=correct)
        total = float(x @ direction) + variance
        shrink = bend / (1.0 + bend * total)
        step = slope / (1.0 + bend * total)
        self.mean += direction * step
        self._unfolded = None
        self.covariance -= np.outer(direction, direction) * shrink
        # Old labels count less and less: the variances grow back to those of the prior.
        lost = np.maximum(0.0, self._prior.deviation**2 - self.covariance.diagonal())
        self.covariance += np.diag(self._forget * lost)
        self.answers.pop(answer, None)
        self.answers[answer] = (offset + variance * step, variance * (1.0 - variance * shrink))
        if len(self.answers) > ANSWERS:
            del self.answers[next(iter(self.answers))]

    def _plain(self) -> _Unfolded:
        if self._unfolded is None:
            weights = self.mean / self._prior.scale
            count = 1 + len(features.NAMES)
            crossed, bent = weights[count : -len(BENDS)], weights[-len(BENDS) :]
            square = np.zeros((_AROUND, len(features.NAMES)))
            np.add.at(square, (_ONE, _TWO), crossed)
            self._unfolded = _Unfolded(
                float(weights[0] - weights @ self._prior.center),
                weights[1:count],
                crossed,
                bent,
                square[:, :_AROUND],
                square[:, _AROUND:],
            )
        return self._unfolded

    def _standard(self, values: tuple[float, ...]) -> Array:
        return (terms(values) - self._prior.center) / self._prior.scale

    def _gradient(self, mean: float, *, correct: bool) -> tuple[float, float]:
        """First derivative and negative expected second derivative of the log-likelihood at log-odds `mean`."""
        p = sigmoid(mean)
        reach, said = self._noise.reach, self._noise.said_correct(p)
        slope = reach * p * (1.0 - p) / (said * (1.0 - said))
        return slope * (float(correct) - said), max(1e-6, slope * reach * p * (1.0 - p))

    def state(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "terms": list(TERMS),
            "mean": self.mean.tolist(),
            "covariance": self.covariance.tolist(),
            "answers": {str(answer): list(pair) for answer, pair in self.answers.items()},
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` gave. Raises ValueError for that of another version."""
        if state.get("terms") != list(TERMS):
            raise ValueError("these beliefs are about other features: learn anew from the label log")
        self.mean = np.array(state["mean"], dtype=np.float64)
        self._unfolded = None
        self.covariance = np.array(state["covariance"], dtype=np.float64)
        self.answers = {int(answer): (float(one), float(two)) for answer, (one, two) in state["answers"].items()}
