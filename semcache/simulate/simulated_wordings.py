"""The wording tier of a simulated cache.

Knows cards and arrivals, no vectors. Invariant: it serves like the live cache's wording lookup, except that the trace
has already decided eligibility.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from semcache.config.packs import Pack
from semcache.matching import decide
from semcache.matching.unexplained_conflicts import unexplained
from semcache.matching.wording_tier import WordingTier, also_wording, edit_of
from semcache.request.wording import strictest
from semcache.storage.entry_registry import EntryRegistry
from semcache.storage.wording_index import WordingIndex
from semcache.types import Card, Serve
from semcache.types.evidence import Label


class SimulatedWordings:
    """Equal wordings among the cards of `registry`."""

    def __init__(self, pack: Pack, registry: EntryRegistry) -> None:
        self.tier = WordingTier(pack)
        self.index = WordingIndex()
        self._pack = pack
        self._registry = registry

    def serve(self, text: str, partitions: Sequence[bytes], terms: decide.RequestTerms) -> Serve | None:
        """Serve the newest entry of an equal wording, as far as its stratum allows; None where there is none."""
        for entry_id in self.index.find(partitions, text):
            card = self._registry.get(entry_id)
            served = None if card is None else self._judged(text, card, terms)
            if served is not None:
                self.tier.note(served.card.category, served.edit, audited=served.audit)
                return served
        return None

    def observe(self, label: Label, text: str) -> bool:
        """Learn from a label of a request with this text; False for one that is about meaning."""
        if edit_of(label) is not None:
            self.tier.observe(label)
            return True
        card = self._registry.get(label.entry_id)
        wording = None if card is None else also_wording(label, text, card.text)
        if wording is not None:
            self.tier.observe(wording)
        return False

    def _judged(self, text: str, card: Card, terms: decide.RequestTerms) -> Serve | None:
        edit = strictest(text, card.text, self.tier.kinds_between(card.category, text, card.text))
        if edit is None:
            return None
        names = self._pack.of(card.category).guards
        terms = replace(terms, category=card.category)
        return decide.wording(card, text, edit, terms, self.tier, lambda one, two: unexplained(one, two, names))
