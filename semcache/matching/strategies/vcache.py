"""The online boundary of each entry, as vCache publishes it: serve an entry with the probability its own labels allow.

Schroeder et al., "vCache: Verified Semantic Prompt Caching" (ICLR 2026, arXiv 2502.03771), section 4, written from its
formulas. The target is its delta: the error per request, a forwarded request counting as right. Knows nothing of
features but the margin, or of other entries. Invariant: an entry with fewer than `FEWEST` observations, the two it
starts with included, is never served, and neither is one that a guard vetoes or that another answer is nearer than.

Two departures from the paper can be switched on. `log_grid` spaces the confidence levels by their logarithm: of the 50
published ones the second is 0.02 already, which caps the share of served requests at half for a target of 1%.
`predictive` integrates P(correct) over the uncertain boundary instead of bounding it from below.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from semcache.config.packs import Pack
from semcache.errors import InvalidArgument
from semcache.matching import features
from semcache.types import Candidate, Controls, Verdict, Why
from semcache.types.evidence import Label, Standing, State

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]

FEWEST = 6
ENTRIES = 100_000  # entries whose labels are kept; beyond, those whose last label is the oldest are forgotten
_MARGIN = features.NAMES.index("margin")
_SEEDS = ((0, 1, 0), (1000, 0, 1))  # score in thousandths, wrong, right
_LEVELS = 50
_TINY = 1e-6
_SEPARABLE_N = (6.0, 10.0, 20.0, 30.0, 48.0)
_SEPARABLE_VARIANCE = (0.0354, 0.0194, 0.0131, 0.0080, 0.0153)  # of the boundary, at so many observations
_NODES = 96
_STEPS = 200
_TOLERANCE = 1e-8  # of the gradient of the mean loss

Covariance: TypeAlias = tuple[float, float, float]
_Counts: TypeAlias = dict[int, list[int]]  # score in thousandths -> [wrong, right]


class Boundary(NamedTuple):
    """The logistic curve of an entry: P(correct) is one half at score `at`, known up to `variance`; `slope` > 0."""

    at: float
    slope: float
    variance: float


class VCacheThreshold:
    """`protocols.Threshold` with one logistic curve an entry, learned from the labels of its nearest requests."""

    def __init__(self, pack: Pack, *, log_grid: bool = False, predictive: bool = False) -> None:
        self._pack = pack
        self._log_grid = log_grid
        self._predictive = predictive
        self._seen: dict[int, _Counts] = {}
        self._labels: dict[str, int] = {}
        self._fitted: dict[int, Boundary] = {}

    def floor(self, category: str, controls: Controls) -> float:  # noqa: ARG002
        """The caller's score: by itself this strategy asks every entry's own curve, however far away the entry is."""
        return -1.0 if controls.min_score is None else max(-1.0, controls.min_score)

    def promising(self, candidates: Sequence[Candidate], text: str, category: str) -> Sequence[bool]:  # noqa: ARG002
        """The nearest alone."""
        return [nearest(one.around) for one in candidates]

    def judge(
        self,
        candidate: Candidate,
        category: str,
        *,
        controls: Controls,
        draw: float,
        tenant: str = "",  # noqa: ARG002
    ) -> Verdict:
        """Serve where `draw` exceeds the probability of exploring that keeps the target in expectation."""
        if any(conflict.veto for conflict in candidate.conflicts):
            return Verdict(False, 0.0, why=Why.GUARD)
        if not nearest(candidate.features):
            return Verdict(False, 0.0, why=Why.UNCERTAIN)
        boundary = self._boundary(candidate.card.id)
        if boundary is None:
            return Verdict(False, 0.0, why=Why.UNCERTAIN)
        score = round(candidate.score, 3)
        if self._predictive:
            p_correct = bound = predicted(boundary, score)
        else:
            p_correct = float(_curve(score - boundary.at, boundary.slope))
            bound = lower(boundary, score, _grid(self._log_grid))
        explore = exploring(bound, self._target(category, controls))
        serve = draw > explore and candidate.score >= self.floor(category, controls)
        return Verdict(serve, p_correct, why=Why.SEMANTIC if serve else Why.UNCERTAIN)

    def note(
        self,
        category: str,
        p_correct: float | None,
        *,
        served: bool,
        audited: bool,
        candidate: Candidate | None = None,
    ) -> None:
        """Nothing is counted here."""

    def observe(self, label: Label) -> None:
        """Add an observation to the entry, if it was the nearest to the request."""
        if not nearest(label.features):
            return
        self._labels[label.category] = self._labels.get(label.category, 0) + 1
        counts = self._seen.pop(label.entry_id, {})
        self._seen[label.entry_id] = counts  # last: labelled most recently
        counts.setdefault(round(label.score * 1000), [0, 0])[label.correct] += 1
        self._fitted.pop(label.entry_id, None)
        if len(self._seen) > ENTRIES:
            oldest = next(iter(self._seen))
            del self._seen[oldest]
            self._fitted.pop(oldest, None)

    def standing(self, category: str) -> Standing:
        """How many labels there are; what the strategy promises holds in expectation and is not tested."""
        note = "keeps the error per request in expectation, if each entry's P(correct) is logistic in the score"
        labels = self._labels.get(category, 0)
        return Standing("vcache", State.PROVISIONAL, self._target(category, Controls()), -1.0, labels=labels, note=note)

    def state(self) -> dict[str, Any]:
        """The observations of every entry, in the order of their last labels."""
        if not self._seen:
            return {}
        entries = [[entry, [[score, *n] for score, n in counts.items()]] for entry, counts in self._seen.items()]
        return {"entries": entries, "labels": dict(self._labels)}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` gave; {} forgets everything. Raises ValueError for a state that is not its own."""
        try:
            entries = {
                int(entry): {int(score): [int(wrong), int(right)] for score, wrong, right in counts}
                for entry, counts in state.get("entries", ())
            }
            labels = {str(category): int(n) for category, n in state.get("labels", {}).items()}
        except (AttributeError, TypeError, ValueError) as error:
            raise InvalidArgument(
                f"no state of the strategy vcache, which has `entries` and `labels`: {error}"
            ) from error
        self._seen, self._labels, self._fitted = entries, labels, {}

    def _target(self, category: str, controls: Controls) -> float:
        target = self._pack.target_of(category)
        return target if controls.max_error is None else min(target, controls.max_error)

    def _boundary(self, entry_id: int) -> Boundary | None:
        counts = self._seen.get(entry_id)
        if counts is None or sum([sum(n) for n in counts.values()]) + len(_SEEDS) < FEWEST:
            return None
        boundary = self._fitted.get(entry_id)
        if boundary is None:
            boundary = self._fitted[entry_id] = fit([(score, wrong, right) for score, (wrong, right) in counts.items()])
        return boundary


def nearest(traits: Sequence[float]) -> bool:
    """Return True if these features are those of a candidate no other answer is nearer than. Without features: yes."""
    return not traits or traits[_MARGIN] >= 0.0


def exploring(p_correct: float, delta: float) -> float:
    """The least probability of forwarding that keeps the error of this one request at `delta`; negative: serve always.

    1 - delta / (1 - P(correct)), section 4.
    """
    wrong = 1.0 - p_correct
    return 1.0 - delta / wrong if wrong > 0.0 else -math.inf


def lower(boundary: Boundary, score: float, levels: tuple[Floats, Floats]) -> float:
    """The best of the lower bounds of P(correct) at `score`, one a confidence level: (1 - e) L(score; t'(e)).

    `levels` are the e and their standard normal quantiles; t'(e) is the upper confidence limit of the boundary.
    """
    epsilon, quantile = levels
    limits = np.clip(boundary.at + quantile * math.sqrt(boundary.variance), 0.0, 1.0)
    return float(np.max((1.0 - epsilon) * _curve(score - limits, boundary.slope)))


def predicted(boundary: Boundary, score: float) -> float:
    """The mean of P(correct) at `score` over a normal boundary kept to [0, 1], by Gauss-Hermite quadrature."""
    nodes, weights = _hermite()
    limits = np.clip(boundary.at + math.sqrt(2.0 * boundary.variance) * nodes, 0.0, 1.0)
    return min(1.0, float(weights @ _curve(score - limits, boundary.slope)))


def fit(observed: Sequence[tuple[int, int, int]]) -> Boundary:
    """The curve of an entry from (score in thousandths, wrong, right); the two starting observations are added here.

    Logistic regression without a penalty, as published; where the labels are separable, and no finite slope is best, it
    ends where the gradient vanishes, and the variance is tabled by the number of observations (their repository).
    """
    rows = np.array([*_SEEDS, *observed], dtype=np.float64)
    scores, wrong, right = rows[:, 0] / 1000.0, rows[:, 1], rows[:, 2]
    n = wrong + right
    intercept, coefficient, (v00, v01, v11) = _regress(scores, n, right)
    slope = max(coefficient, _TINY)
    at = min(1.0, max(0.0, -intercept / slope))
    if scores[right > 0].min() > scores[wrong > 0].max():
        variance = float(np.interp(n.sum(), _SEPARABLE_N, _SEPARABLE_VARIANCE))
    else:
        d0, d1 = -1.0 / slope, intercept / slope**2
        variance = d0 * d0 * v00 + 2.0 * d0 * d1 * v01 + d1 * d1 * v11
    return Boundary(at, slope, max(0.0, variance) if math.isfinite(variance) else 1.0)


def _regress(scores: Floats, n: Floats, right: Floats) -> tuple[float, float, Covariance]:
    """Intercept, coefficient and their covariances, by Newton's method; a step is halved until the loss falls."""
    tolerance = _TOLERANCE * float(n.sum())
    most = float(right.sum()), float(right @ scores)
    b0 = b1 = 0.0
    margin = np.zeros_like(scores)
    now = _loss(margin, n, right)
    for _ in range(_STEPS):
        expected = n * _curve(margin, 1.0)
        g0, g1 = float(expected.sum()) - most[0], float(expected @ scores) - most[1]
        if max(abs(g0), abs(g1)) <= tolerance:
            break
        v00, v01, v11 = _covariance(scores, n, expected)
        step0, step1 = v00 * g0 + v01 * g1, v01 * g0 + v11 * g1
        size = 1.0
        while size > _TINY:
            trial = (b0 - size * step0) + (b1 - size * step1) * scores
            after = _loss(trial, n, right)
            if after < now:
                break
            size /= 2.0
        else:
            break
        b0, b1, margin, now = b0 - size * step0, b1 - size * step1, trial, after
    return b0, b1, _covariance(scores, n, n * _curve(margin, 1.0))


def _covariance(scores: Floats, n: Floats, expected: Floats) -> Covariance:
    """The inverse of the information matrix: of the intercept, between the two, of the coefficient."""
    spread = expected * (1.0 - expected / n)
    weighted = spread * scores
    i00, i01, i11 = float(spread.sum()), float(weighted.sum()), float(weighted @ scores)
    determinant = max(i00 * i11 - i01 * i01, 1e-300)
    return i11 / determinant, -i01 / determinant, i00 / determinant


def _loss(margin: Floats, n: Floats, right: Floats) -> float:
    return float(n @ np.logaddexp(0.0, margin) - right @ margin)


def _curve(distance: Any, slope: float) -> Any:
    return 1.0 / (1.0 + np.exp(-np.clip(slope * distance, -700.0, 700.0)))


@cache
def _grid(by_logarithm: bool) -> tuple[Floats, Floats]:
    from statistics import NormalDist

    spaced = np.geomspace if by_logarithm else np.linspace
    epsilon: Floats = spaced(_TINY, 1.0 - _TINY, _LEVELS)
    return epsilon, np.array([NormalDist().inv_cdf(1.0 - e) for e in epsilon])


@cache
def _hermite() -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.hermite.hermgauss(_NODES)
    return nodes, weights / math.sqrt(math.pi)
