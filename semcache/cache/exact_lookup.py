"""Exact lookup: finds the entry of an identical request.

Knows the registry, nothing of vectors or stores. Invariant: an entry of another category is served only if no rule puts
the request into a category, because the entry was stored under that category's terms.
"""

from __future__ import annotations

from semcache.cache.query import TermsMaker
from semcache.cache.quorum import Quorum, held_back
from semcache.matching import decide
from semcache.storage.entry_registry import EntryRegistry
from semcache.types import CacheKey, Forward, Outcome, Request, Serve, Why


class ExactLookup:
    """Looks for the same request. One instance a cache."""

    def __init__(self, registry: EntryRegistry, quorum: Quorum, terms: TermsMaker) -> None:
        self._registry, self._quorum, self._terms = registry, quorum, terms

    def look(self, request: Request, key: CacheKey, category: str | None) -> Serve | Forward | None:
        """Decide on an identical request, which a rule may put into `category`; None if there is no such entry."""
        if request.controls.no_cache:
            return Forward(Why.NO_CACHE, Outcome.BYPASS)
        card = self._registry.exact(key.exact)
        if card is None or (category is not None and card.category != category):
            return None
        decision = decide.exact(card, self._terms.undrawn(request, key, card.category))
        if isinstance(decision, Serve) and self._quorum.holds(card, request):
            return held_back(decision)
        return decision
