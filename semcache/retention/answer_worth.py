"""The worth of an answer that several models could give: the cost of the cheapest acceptable one.

Pure. Invariant: an entry is never worth more than the call that it saves.

This is the coupling of Zhu et al., "On optimal caching and model multiplexing" (2306.02003, section 4): the cache
evicts the entry with the least P(query) * min over models of its cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter

from semcache.config.agent_packs import ModelSpec
from semcache.config.packs import Pack
from semcache.types import Entry


def worth_of(costs: Iterable[tuple[float, float]], allowed: float) -> float:
    """Return the cost of the cheapest acceptable model.

    `costs` are (US dollars, expected loss), the reference's among them. Where none is acceptable, the one that loses
    least counts. Raises ValueError without any.
    """
    offers = list(costs)
    if not offers:
        raise ValueError("no model: an entry is worth what asking the cheapest acceptable one costs")
    acceptable = [cost for cost, loss in offers if loss <= allowed]
    return min(acceptable) if acceptable else min(offers, key=lambda one: one[1])[0]


def worth_by(models: Mapping[str, ModelSpec], allowed: float) -> Callable[[Entry], float]:
    """Return a function that gives the US dollars that an entry saves.

    `allowed` is the accepted loss of quality in [0, 1]. A model without a stated quality is never accepted for another.
    """
    known = {name: (one, one.quality) for name, one in models.items() if one.quality is not None}

    def worth(entry: Entry) -> float:
        if entry.model not in known:
            return entry.cost
        used, (_, own) = entry.usage, known[entry.model]
        offers = [
            ((used.prompt_tokens * one.prompt + used.completion_tokens * one.completion) / 1e6, max(0.0, own - quality))
            for one, quality in known.values()
        ]
        return min(entry.cost, worth_of(offers, allowed))

    return worth


def worth_in(pack: Pack) -> Callable[[Entry], float]:
    """Return the worth of an entry: where the pack names models, what the cheapest acceptable one would take."""
    if not pack.models:
        return attrgetter("cost")
    return worth_by(pack.models, pack.near.target if pack.near is not None else pack.target)
