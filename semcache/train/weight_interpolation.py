"""Interpolation of trained weights with those of the base.

A model that was fine-tuned on one domain is worse on others; on the line between both sets of weights lie models that
keep most of either (WiSE-FT: Wortsman et al. 2022, "Robust fine-tuning of zero-shot models", section 4). Knows weights
and labelled pairs, not how the weights were trained. Invariant: the share is chosen on pairs that were neither trained
on nor are reported, and the model is left with the weights that the report names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from semcache.train.card import quality
from semcache.train.pairs import Pair

if TYPE_CHECKING:
    from semcache.types import Matrix

SHARES = (1.0, 0.8, 0.6, 0.4)  # of the way from the base to the trained weights, tried in this order
MAY_LOSE = 0.005  # of the average precision on any set of general pairs; one domain may lose several times that
KEPT = 0.85  # of what was won on the check pairs: the rest is little beside what going all the way forgets


@dataclass(frozen=True, slots=True)
class MixMeasurement:
    """A share of the trained weights, the average precision on the check pairs and on each set of general pairs."""

    share: float
    check: float
    general: Mapping[str, float]


def weights_of(model: Any) -> dict[str, Any]:
    """A copy of the weights of a SentenceTransformer."""
    return {name: value.detach().clone() for name, value in model.state_dict().items()}


def mix(model: Any, base: Mapping[str, Any], trained: Mapping[str, Any], share: float) -> None:
    """Give `model` the weights at `share` of the way from `base` (0) to `trained` (1)."""
    model.load_state_dict(
        {name: base[name].lerp(value, share) if value.is_floating_point() else value for name, value in trained.items()}
    )


def settle(
    model: Any,
    base: Mapping[str, Any],
    check: Sequence[Pair],
    general: Mapping[str, Sequence[Pair]],
    *,
    share: float | None = None,
    may_lose: float = MAY_LOSE,
) -> dict[str, Any]:
    """Mix `base` into the trained `model`, in place, and return what was seen and chosen, as JSON has it.

    Without a `share` it is chosen from `SHARES` by `choose`. Raises InvalidArgument for sets of pairs of one class.
    """
    trained = weights_of(model)

    def look(at: float) -> MixMeasurement:
        mix(model, base, trained, at)
        encode = _encoder(model)
        found = {name: quality(pairs, encode).average_precision for name, pairs in {"": check, **general}.items()}
        return MixMeasurement(at, found.pop(""), found)

    looks = [look(at) for at in (*SHARES, 0.0)] if share is None else []
    chosen = choose(looks[:-1], looks[-1], may_lose) if share is None else share
    mix(model, base, trained, chosen)
    return {
        "share": chosen,
        "looks": [
            {
                "share": one.share,
                "check": round(one.check, 4),
                "general": {name: round(value, 4) for name, value in one.general.items()},
            }
            for one in looks
        ],
    }


def choose(looks: Sequence[MixMeasurement], base: MixMeasurement, may_lose: float) -> float:
    """The least share that keeps most (`KEPT`) of the most that can be won on the check pairs.

    Shares that lose more than `may_lose` on a general set do not count; where all do, or nothing is won, it is the
    least of all.
    """
    kept = [
        look for look in looks if all(base.general[name] - value <= may_lose for name, value in look.general.items())
    ]
    won = max((look.check - base.check for look in kept), default=0.0)
    if won <= 0:
        return min(look.share for look in looks)
    return min(look.share for look in kept if look.check - base.check >= KEPT * won)


def _encoder(model: Any) -> Callable[[Sequence[str]], Matrix]:
    return lambda texts: model.encode(list(texts), normalize_embeddings=True, show_progress_bar=False)
