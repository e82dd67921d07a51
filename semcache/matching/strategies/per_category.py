"""One score threshold a category, calibrated on labels: the lowest at which the expected error meets the target.

The map from score to P(correct) is an isotonic regression of the labels; a neighbour is served iff the labels at or
above its score err at most at the target, one more wrong one counted in (the correction of conformal risk control,
Angelopoulos et al. 2022, arXiv 2208.02814, section 2). Labels are meant to come from `fit`, on traffic like that to
come; those of live traffic are folded in, each weighted by the inverse of its chance to be labelled.

Knows the score and the vetoes of guards, and nothing else of a candidate. Invariant: a category without the labels that
its target takes is not served from.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np

from semcache.config.packs import Pack
from semcache.errors import InvalidArgument
from semcache.matching.strategies.vcache import nearest
from semcache.types import Candidate, Controls, Verdict, Why
from semcache.types.evidence import Label, LabelSource, Standing, State

AUDITED = 0.02  # share of hits whose answers are checked, where the pack allows as much
_BINS = 200  # in a unit of score
_HEAVIEST = 100.0  # weight of a label

_Bins: TypeAlias = dict[int, list[float]]  # score in units of 1 / _BINS, rounded down -> weights [wrong, right]


class Curve(NamedTuple):
    """P(correct) is `levels[i]` from score `edges[i]` on; served is from `threshold` on, inf: nothing."""

    edges: tuple[float, ...]
    levels: tuple[float, ...]
    threshold: float

    def at(self, score: float) -> float:
        """P(correct) at a score; 0 below every label."""
        place = bisect.bisect_right(self.edges, score)
        return self.levels[place - 1] if place else 0.0


@dataclass(slots=True)
class _Tally:
    """The labels of one category."""

    bins: _Bins = field(default_factory=dict)
    heaviest: float = 1.0
    labels: int = 0
    audits: int = 0
    wrong: int = 0


class PerCategoryThreshold:
    """`protocols.Threshold` with one isotonic curve and one threshold a category."""

    def __init__(self, pack: Pack) -> None:
        self._pack = pack
        self._tallies: dict[str, _Tally] = {}
        self._curves: dict[str, Curve] = {}

    @classmethod
    def fit(cls, pack: Pack, labels: Iterable[Label]) -> Self:
        """Calibrated on these labels, in this order."""
        threshold = cls(pack)
        for label in labels:
            threshold.observe(label)
        return threshold

    def floor(self, category: str, controls: Controls) -> float:
        """The category's threshold, or the caller's score if that is higher; 1 if nothing can be served."""
        floor = min(1.0, self._curve(category).threshold)
        return floor if controls.min_score is None else max(floor, controls.min_score)

    def promising(self, candidates: Sequence[Candidate], text: str, category: str) -> Sequence[bool]:  # noqa: ARG002
        """All of them: only guards object to what reaches the threshold."""
        return [True] * len(candidates)

    def judge(
        self,
        candidate: Candidate,
        category: str,
        *,
        controls: Controls,
        draw: float,  # noqa: ARG002
        tenant: str = "",  # noqa: ARG002
    ) -> Verdict:
        """Serve at or above the threshold, and have a small share of that audited."""
        if any(conflict.veto for conflict in candidate.conflicts):
            return Verdict(False, 0.0, why=Why.GUARD)
        curve = self._curve(category)
        p_correct = curve.at(candidate.score)
        serve = candidate.score >= max(curve.threshold, self.floor(category, controls))
        if controls.max_error is not None and controls.max_error < self._pack.target_of(category):
            serve = serve and 1.0 - p_correct <= controls.max_error
        audit = min(AUDITED, self._pack.of(category).audit) if serve else 0.0
        return Verdict(serve, p_correct, audit, why=Why.SEMANTIC if serve else Why.BELOW_THRESHOLD)

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
        """Count a label of the nearest neighbour, by the inverse of its chance; feedback counts once."""
        tally = self._tallies.setdefault(label.category, _Tally())
        tally.labels += 1
        if label.source is LabelSource.AUDIT:
            tally.audits += 1
            tally.wrong += not label.correct
        if not nearest(label.features):
            return
        weight = min(_HEAVIEST, 1.0 / label.chance) if label.chance > 0.0 else 1.0
        tally.heaviest = max(tally.heaviest, weight)
        tally.bins.setdefault(math.floor(label.score * _BINS), [0.0, 0.0])[label.correct] += weight
        self._curves.pop(label.category, None)

    def standing(self, category: str) -> Standing:
        """The threshold, and the labels that it rests on."""
        curve, tally = self._curve(category), self._tallies.get(category, _Tally())
        serves = math.isfinite(curve.threshold)
        note = "calibrated, not certified" if serves else "too few labels, or none good enough, to serve at this target"
        return Standing(
            "per-category",
            State.PROVISIONAL,
            self._pack.target_of(category),
            min(1.0, curve.threshold),
            risk=1.0 - curve.at(curve.threshold) if serves else None,
            labels=tally.labels,
            audits=tally.audits,
            wrong=tally.wrong,
            audit_rate=min(AUDITED, self._pack.of(category).audit),
            note=note,
        )

    def state(self) -> dict[str, Any]:
        """The weights of the labels, by category and score."""
        return {
            category: {
                "bins": [[place, *weights] for place, weights in tally.bins.items()],
                "heaviest": tally.heaviest,
                "counts": [tally.labels, tally.audits, tally.wrong],
            }
            for category, tally in self._tallies.items()
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` gave; {} forgets everything. Raises ValueError for a state that is not its own."""
        try:
            self._tallies = {
                str(category): _Tally(
                    {int(place): [float(wrong), float(right)] for place, wrong, right in one["bins"]},
                    float(one["heaviest"]),
                    *map(int, one["counts"]),
                )
                for category, one in state.items()
            }
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise InvalidArgument(
                f"no state of the strategy per-category, which has `bins`, `heaviest` and `counts`: {error!r}"
            ) from error
        self._curves = {}

    def _curve(self, category: str) -> Curve:
        curve = self._curves.get(category)
        if curve is None:
            tally = self._tallies.get(category, _Tally())
            policy = self._pack.of(category)
            curve = calibrated(tally.bins, self._pack.target_of(category), policy.contract, tally.heaviest)
            self._curves[category] = curve
        return curve


def calibrated(bins: Mapping[int, list[float]], target: float, contract: str, heaviest: float) -> Curve:
    """The isotonic curve of weighted labels, and the lowest score at or above which they err at most at `target`.

    A label as heavy as any, and wrong, is counted in. The error is a share of the labels at or above the score, or of
    all labels where the contract is "request".
    """
    if not bins:
        return Curve((), (), math.inf)
    places = sorted(bins)
    edges = [place / _BINS for place in places]
    weights = np.array([bins[place] for place in places])
    wrong, total = (np.cumsum(column[::-1])[::-1] for column in (weights[:, 0], weights.sum(axis=1)))
    of = total if contract == "hit" else np.full_like(total, total[0])
    good = np.flatnonzero(wrong + heaviest <= target * (of + heaviest))
    threshold = edges[int(good[0])] if len(good) else math.inf
    starts, levels = _isotonic(edges, weights)
    return Curve(starts, levels, threshold)


def _isotonic(edges: list[float], weights: Any) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Starts and levels of the blocks of the isotonic regression, by pooling adjacent violators."""
    blocks: list[tuple[float, float, float]] = []  # start, right, total
    for edge, (wrong, right) in zip(edges, weights.tolist(), strict=True):
        block = (edge, right, wrong + right)
        while blocks and blocks[-1][1] * block[2] >= block[1] * blocks[-1][2]:
            start, before, total = blocks.pop()
            block = (start, before + block[1], total + block[2])
        blocks.append(block)
    return tuple([start for start, _, _ in blocks]), tuple([right / total for _, right, total in blocks])
