"""The prior of the certified strategy, learned from groups of labelled candidates, one group a kind of traffic.

Knows features and labels, not where they come from. Invariant: equal groups give an equal prior, and every group has
the same say, however large it is.

The weights of all groups together are fitted first, then those of each group are shrunk towards them; how far the
groups still differ is how far a new category may (empirical Bayes: Efron and Morris 1975). The weights of guards are
not learned: a class of similar questions says nothing about the harm of a wrong number, so their prior stays a strong
veto.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from semcache.matching import features
from semcache.matching.strategies.certified.belief import Belief
from semcache.matching.strategies.certified.belief_prior import STATED, TERMS, UNASKED, BeliefPrior, terms
from semcache.matching.strategies.certified.calibration import Calibration, basis

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_RIDGE = 3.0  # labels' worth of pull of a standardised weight towards zero
_SHRINK = 20.0  # the same of a group's weight towards that of all
_LEAST, _MOST = 0.1, 1.5  # bounds of a weight's deviation between groups
_NEARNESS, _ASKED = features.NAMES.index("nearness"), features.NAMES.index("asked")
_ANSWERS = 0.5  # variance of an answer's offset


Groups: TypeAlias = "Mapping[str, tuple[Sequence[tuple[float, ...]], Sequence[bool]]]"


def fit(groups: Groups) -> dict[str, Any]:
    """The prior as `BeliefPrior.read` takes it, from each group's features and labels.

    Candidates that the local verifier was asked about make a prior of their own, under "told"; those that a guard
    vetoes have no say, nor have texts that were typed again. Raises ValueError without labels.
    """
    with_verifier, without_verifier = (
        {name: _of_kind(*group, asked=asked) for name, group in groups.items()} for asked in (True, False)
    )
    if not any(labels for _, labels in without_verifier.values()):
        return _fitted(with_verifier)
    made = _fitted(without_verifier)
    return {**made, "told": _fitted(with_verifier)} if any(labels for _, labels in with_verifier.values()) else made


def _of_kind(
    values: Sequence[tuple[float, ...]], labels: Sequence[bool], *, asked: bool
) -> tuple[list[tuple[float, ...]], list[bool]]:
    """Those that the local verifier was asked about, or the others."""
    chosen = [place for place, one in enumerate(values) if bool(one[_ASKED]) is asked]
    return [values[place] for place in chosen], [labels[place] for place in chosen]


def _fitted(groups: Groups) -> dict[str, Any]:
    tables = {name: _table(*group) for name, group in groups.items() if len(group[1])}
    if not tables:
        raise ValueError("no labels to learn a prior from")
    every = np.vstack([x for x, _ in tables.values()])
    asked = bool(every[:, TERMS.index("asked")].any())
    learned = [place for place, name in enumerate(TERMS) if name not in STATED and (asked or name not in UNASKED)]
    everything = every[:, learned]
    shares = np.concatenate([np.full(len(y), 1.0 / len(y)) for _, y in tables.values()])
    shares /= shares.sum()
    center = shares @ everything
    scale = np.sqrt(shares @ (everything - center) ** 2)
    center[0], scale[0] = 0.0, 1.0
    scale[scale < 1e-9] = 1.0
    size = float(np.median([len(y) for _, y in tables.values()]))
    zeros = np.zeros(len(learned))
    whole = logistic(
        (everything - center) / scale,
        np.concatenate([y for _, y in tables.values()]),
        shares * size * len(tables),
        zeros,
        _RIDGE,
    )
    own = []
    for x, y in tables.values():
        weights = np.full(len(y), min(1.0, size / len(y)))
        own.append(logistic((x[:, learned] - center) / scale, y, weights, whole, _SHRINK))
    # A group without a term says nothing of how far its weight may differ.
    has = np.array([x[:, learned].any(axis=0) for x, _ in tables.values()])
    spread = (np.where(has, np.array(own) - whole, 0.0) ** 2).sum(axis=0) / np.maximum(1, has.sum(axis=0))
    deviation = np.clip(np.sqrt(spread), _LEAST, _MOST)
    rows = {
        TERMS[place]: [round(float(value), 6) for value in row]
        for place, *row in zip(learned, center, scale, whole, deviation, strict=True)
    }
    made = {"terms": rows, "answers": _ANSWERS, "labels": {name: len(y) for name, (_, y) in tables.items()}}
    return {**made, "calibration": _calibration(BeliefPrior.read(made, asked=asked), tables, shares * size)}


def _calibration(prior: BeliefPrior, tables: Mapping[str, tuple[Array, Array]], weights: Array) -> list[float]:
    """The calibration of the log-odds of a belief that has learned nothing yet, as `Calibration.mean` has it."""
    belief = Belief(prior)
    count = 1 + len(features.NAMES)
    rows = [tuple(row[1:count]) for x, _ in tables.values() for row in x]
    start = Calibration()
    unit = np.sqrt(np.diag(start.covariance))
    x = np.array([basis(belief.log_odds(row, 0), row[_NEARNESS]) for row in rows]) * unit
    y = np.concatenate([y for _, y in tables.values()])
    return [round(float(value), 4) for value in logistic(x, y, weights, start.mean / unit, 1.0) * unit]


def _table(values: Sequence[tuple[float, ...]], correct: Sequence[bool]) -> tuple[Array, Array]:
    x = np.array([terms(one) for one in values])
    decided = [place for place, name in enumerate(TERMS) if name in features.OF_GUARDS or name == "verbatim"]
    kept = (x[:, decided] < 1.0).all(axis=1)
    return x[kept], np.array(correct, dtype=np.float64)[kept]


def logistic(x: Array, y: Array, weights: Array, start: Array, ridge: float) -> Array:
    """Weights of largest posterior density, shape (d,), by Newton's method.

    `x` are terms, shape (n, d), `y` outcomes, 0 or 1, and `weights` how much each counts, shape (n,). Coefficients are
    expected around `start`, shape (d,), with a precision of `ridge`.
    """
    w = start.copy()
    for _ in range(50):
        p = 1.0 / (1.0 + np.exp(-np.clip(x @ w, -30, 30)))
        gradient = x.T @ (weights * (y - p)) - ridge * (w - start)
        bend = (x * (weights * p * (1 - p))[:, None]).T @ x + ridge * np.eye(len(w))
        step = np.linalg.solve(bend, gradient)
        w += step * min(1.0, 5.0 / max(1e-9, float(np.abs(step).max())))
        if np.abs(step).max() < 1e-6:
            break
    return w
