"""The local training of a client, and the update that it contributes.

Knows vectors of pairs and the model that was received, nothing of networks, masks or other clients. Invariant: the
tally comes from pairs that the map did not learn from, and so does the threshold wherever there are enough of them;
with noise, everything that is sent lies within the clipped part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from semcache.errors import InvalidArgument
from semcache.train import splits
from semcache.train.distill import linear_map
from semcache.train.federate import averaging, privacy
from semcache.train.federate.averaging import FederatedMap
from semcache.train.pairs import Pair

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from semcache.types import Matrix

CHECK = 0.2  # of the components, for threshold and tally
_APART = 7919
_START = 0.75  # a threshold to begin with


@dataclass(frozen=True, slots=True)
class FederationPlan:
    """The plan that all clients agree on.

    `embedder` is the id of the model whose vectors are mapped, `dim` its dimension. `rank` 0 learns the whole map.
    `rounds` train and one more measures; each passes over a client's pairs `epochs` times. `least` clients make a sum,
    `patience` is in seconds. `clip` 0 is no differential privacy; else the length of an update at most, and `noise` the
    standard deviation of the sum's noise in units of `clip`.
    """

    embedder: str
    dim: int
    rank: int = 0
    rounds: int = 20
    epochs: int = 1
    batch: int = 64
    rate: float = 2e-3
    seed: int = 7
    least: int = 3
    patience: float = 60.0
    clip: float = 0.0
    noise: float = 0.0

    def __post_init__(self) -> None:
        if self.rounds < 1 or self.epochs < 1 or self.batch < 1 or not self.rate > 0:
            raise InvalidArgument(f"rounds, epochs, batch and rate must be above 0, not {self}")
        if self.least < 2:
            raise InvalidArgument(f"least {self.least}: the sum of fewer than two updates is somebody's update")
        if self.noise < 0 or self.clip < 0 or (self.noise > 0 and not self.clip > 0):
            raise InvalidArgument(f"noise {self.noise} needs a clip above 0, not {self.clip}: it is in units of it")


@dataclass(frozen=True, slots=True)
class ClientPairs:
    """The vectors of a client's pairs: those to learn from, and those to find a threshold on and to count.

    Where they are not `apart`, for want of pairs, `check` finds a threshold and is not counted: a figure of what was
    learned from would flatter.
    """

    train: linear_map.PairVectors
    check: linear_map.PairVectors
    apart: bool = True


def part_of(plan: FederationPlan) -> linear_map.MapParametrisation:
    """The parametrisation of the map of this plan."""
    if plan.rank:
        return linear_map.LowRankMap(plan.dim, plan.rank, seed=plan.seed)
    return linear_map.FullMap(plan.dim)


def start(plan: FederationPlan) -> FederatedMap:
    """The model before the first round: vectors as they are."""
    return FederatedMap(linear_map.start(part_of(plan)), _START)


def client_pairs(pairs: Sequence[Pair], encode: Callable[[Sequence[str]], Matrix], *, seed: int) -> ClientPairs:
    """The client's pairs as vectors, apart by component; where the check part would be one class, all of them serve.

    Raises InvalidArgument for no pair.
    """
    clean = splits.distinct(pairs)
    if not clean:
        raise InvalidArgument("there is no pair to learn from, once repetitions and contradictions are taken out")
    # Not the caller's seed: of components that it has already chosen by that one, the same share would be none or all.
    parts = splits.split(clean, check=CHECK, test=0.0, seed=seed + _APART)
    apart = _both(parts.check) and bool(parts.train)
    train, check = (parts.train, parts.check) if apart else (clean, clean)
    return ClientPairs(linear_map.examples(train, encode), linear_map.examples(check, encode), apart)


def held_back(model: FederatedMap, held: ClientPairs, plan: FederationPlan) -> averaging.ScoreHistogram:
    """The scores of the client's pairs that it does not learn from; of none where all of them teach."""
    if not held.apart:
        return averaging.empty_histogram()
    return averaging.score_histogram(scores(part_of(plan), model, held.check), held.check.same)


def contribution(
    received: FederatedMap, held: ClientPairs, plan: FederationPlan, *, round_: int
) -> NDArray[np.float64]:
    """The update of this client in round `round_`, counted from 1; the last one, `plan.rounds` + 1, learns no map.

    It is for `add_noise` only, which makes of it what may be sent.
    """
    part, course = part_of(plan), linear_map.LinearMapOptions(plan.epochs, plan.batch, plan.rate, plan.seed + round_)
    seen = held_back(received, held, plan)
    after = received
    if round_ <= plan.rounds:
        after = replace(received, parameters=linear_map.fit(part, received.parameters, held.train, course))
    level = threshold(scores(part, after, held.check), held.check.same)
    after = replace(after, threshold=received.threshold if level is None else level)
    if plan.clip:  # samples and counts would say something of the client: all weigh alike, and nothing is counted
        return averaging.update(received, after, weight=1.0, sure=1.0, seen=averaging.empty_histogram())
    sure = 0.0 if level is None else float(len(held.check))
    return averaging.update(received, after, weight=float(len(held.train)), sure=sure, seen=seen)


def add_noise(
    update: NDArray[np.float64], plan: FederationPlan, *, clients: int, round_: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """The update as sent to a sum over so many clients: clipped and with its share of the noise, if agreed.

    The last round changes no map, whatever the data are: noise there would only spoil what its threshold belongs to.
    """
    if not plan.clip:
        return update
    told = len(update) - averaging.EXTRA + 1
    since = told - 1 if round_ > plan.rounds else 0
    changed = privacy.private(update[since:told], clip=plan.clip, noise=plan.noise, clients=clients, rng=rng)
    return np.concatenate([update[:since], changed, update[told:]])


def scores(
    part: linear_map.MapParametrisation, model: FederatedMap, pairs: linear_map.PairVectors
) -> NDArray[np.float64]:
    """The cosine of each pair under `model`."""
    return linear_map.cosines(linear_map.matrix_of(part, model.parameters), pairs)


def threshold(cosines: NDArray[np.float64], same: NDArray[np.bool_]) -> float | None:
    """The score, between two that occur, with the best F1; None for pairs of one class."""
    if not 0 < int(same.sum()) < len(same):
        return None
    order = np.argsort(-cosines, kind="stable")
    ranked, hits = cosines[order], np.cumsum(same[order])
    f1 = 2 * hits / (np.arange(1, len(same) + 1) + int(same.sum()))
    f1[:-1][ranked[:-1] == ranked[1:]] = -1.0  # equal scores are served together
    best = int(np.argmax(f1))
    return float(ranked[best] if best + 1 == len(ranked) else (ranked[best] + ranked[best + 1]) / 2)


def _both(pairs: Sequence[Pair]) -> bool:
    return 0 < sum(pair.same for pair in pairs) < len(pairs)
