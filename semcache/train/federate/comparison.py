"""Federated training compared with no training, with training on all pairs, and with each client alone.

Knows pairs and vectors; runs the simulator. Invariant: the test part shares no text with what was learned from, and
every F1 is at a threshold that was found on other pairs.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from semcache.errors import InvalidArgument
from semcache.train import metrics, splits
from semcache.train.distill import linear_map
from semcache.train.federate import local_training
from semcache.train.federate.averaging import FederatedMap, ScoreHistogram
from semcache.train.federate.in_process import Told, simulate
from semcache.train.federate.local_training import ClientPairs, FederationPlan
from semcache.train.pairs import Pair

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from semcache.types import Matrix

Encode = Callable[[Sequence[str]], "Matrix"]


@dataclass(frozen=True, slots=True)
class FederationComparison:
    """The federated model, what clients saw of it, and the figures of each way by its name."""

    model: FederatedMap
    seen: ScoreHistogram
    figures: Mapping[str, dict[str, Any]]
    samples: Sequence[int]


def divide_pairs(pairs: Sequence[Pair], clients: int, encode: Encode | None, *, seed: int) -> list[list[Pair]]:
    """The pairs of each of so many clients, whole components at a time; every client has some.

    With `encode`, clients differ in what they ask about: components are clustered by meaning (k-means). Without, they
    are dealt at random. Raises InvalidArgument for fewer components than clients.
    """
    held: dict[str, list[Pair]] = {}
    for pair, component in zip(pairs, splits.components(pairs), strict=True):
        held.setdefault(component, []).append(pair)
    names = sorted(held)
    if len(names) < clients:
        raise InvalidArgument(f"{len(names)} groups of pairs that share no text cannot be shared among {clients}")
    if encode is None:
        random.Random(seed).shuffle(names)
        places = [number % clients for number in range(len(names))]
    else:
        vectors = encode([held[name][0].one for name in names])
        library = import_module("sklearn.cluster")
        places = library.KMeans(clients, random_state=seed, n_init=1).fit_predict(vectors).tolist()
    return [[pair for name, place in zip(names, places, strict=True) if place == k for pair in held[name]]
            for k in range(clients)]  # fmt: skip


def compare(
    owners: Sequence[Sequence[Pair]],
    test: Sequence[Pair],
    encode: Encode,
    plan: FederationPlan,
    *,
    masked: bool = False,
    told: Told = lambda *_: None,
) -> FederationComparison:
    """Train in every way on the same pairs and measure on `test`. Raises InvalidArgument."""
    holdings = [local_training.client_pairs(pairs, encode, seed=plan.seed) for pairs in owners]
    judge = linear_map.examples(test, encode)
    everything = ClientPairs(_joined([one.train for one in holdings]), _joined([one.check for one in holdings]))
    model, seen = simulate(holdings, plan, masked=masked, told=told)
    figures = {
        "none": _figures(plan, _level(local_training.start(plan), everything, plan), judge),
        "alone": _alone(holdings, plan, judge),
        "federated": _figures(plan, model, judge),
        "central": _figures(plan, _central(everything, plan), judge),
    }
    return FederationComparison(model, seen, figures, [len(one.train) for one in holdings])


def _central(everything: ClientPairs, plan: FederationPlan) -> FederatedMap:
    """One training on all pairs, by the same code; as many passes as do best on its own check part, up to ten."""
    part, model = local_training.part_of(plan), local_training.start(plan)
    best, found = -1.0, model
    for epoch in range(10):
        course = linear_map.LinearMapOptions(1, plan.batch, plan.rate, plan.seed + epoch)
        model = replace(model, parameters=linear_map.fit(part, model.parameters, everything.train, course))
        rows = local_training.scores(part, model, everything.check)
        reached = metrics.measure(rows, everything.check.same).average_precision
        if reached > best:
            best, found = reached, model
    return _level(found, everything, plan)


def _alone(holdings: Sequence[ClientPairs], plan: FederationPlan, judge: linear_map.PairVectors) -> dict[str, Any]:
    """The mean over clients that train for themselves, for as long as they would together."""
    rows = []
    for held in holdings:
        model = local_training.start(plan)
        for round_ in range(1, plan.rounds + 1):
            course = linear_map.LinearMapOptions(plan.epochs, plan.batch, plan.rate, plan.seed + round_)
            fitted = linear_map.fit(local_training.part_of(plan), model.parameters, held.train, course)
            model = replace(model, parameters=fitted)
        rows.append(_figures(plan, _level(model, held, plan), judge))
    return {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}


def _level(model: FederatedMap, held: ClientPairs, plan: FederationPlan) -> FederatedMap:
    found = local_training.threshold(
        local_training.scores(local_training.part_of(plan), model, held.check), held.check.same
    )
    return model if found is None else replace(model, threshold=found)


def _figures(plan: FederationPlan, model: FederatedMap, judge: linear_map.PairVectors) -> dict[str, Any]:
    rows: NDArray[np.float64] = local_training.scores(local_training.part_of(plan), model, judge)
    quality = {name: value for name, value in asdict(metrics.measure(rows, judge.same)).items() if name != "curve"}
    served = rows >= model.threshold
    precision, recall = (float((served & judge.same).sum()) / max(int(of.sum()), 1) for of in (served, judge.same))
    return {
        "f1": 2 * precision * recall / max(precision + recall, 1e-12),
        "precision": precision,
        "recall": recall,
        "threshold": model.threshold,
        "best_f1": quality["f1"],
        **{name: quality[name] for name in ("average_precision", "roc_auc", "recall_95", "recall_99")},
    }


def _joined(parts: Sequence[linear_map.PairVectors]) -> linear_map.PairVectors:
    one, two = (np.concatenate([getattr(part, side) for part in parts]) for side in ("one", "two"))
    return linear_map.PairVectors(one, two, np.concatenate([part.same for part in parts]))
