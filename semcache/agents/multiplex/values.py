"""What the cache's entries are worth where a pack names several models: what the cheapest acceptable one would take.

Knows a pack's models and entries, no quota. Pure. Invariant: an entry is never worth more than its own answer cost, and
where the pack says nothing of the quality of its model it is worth just that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from semcache.agents.multiplex.cheapest_acceptable import worth_of
from semcache.agents.multiplex.models import Model
from semcache.config.agent_packs import ModelSpec
from semcache.types import Entry


def worth_by(models: Mapping[str, ModelSpec], allowed: float) -> Callable[[Entry], float]:
    """US dollars that an entry spares (2306.02003, section 4).

    `allowed` is the loss of quality in [0, 1] that is accepted. A model without a quality is never taken for another.
    """
    known = {
        name: Model(name, one.prompt, one.completion, one.quality)
        for name, one in models.items()
        if one.quality is not None
    }

    def worth(entry: Entry) -> float:
        own = known.get(entry.model)
        if own is None:
            return entry.cost
        offers = [(one.cost(entry.usage), max(0.0, own.quality - one.quality)) for one in known.values()]
        return min(entry.cost, worth_of(offers, allowed))

    return worth
