"""Wording lookup: finds an entry whose canonical wording equals the request's, before anything is embedded.

Knows the wording index and the wording tier; nothing of vectors. Invariant: only partitions of the request's own scope
and signature are searched, and an entry is served only if its own category would accept the request.
"""

from __future__ import annotations

from collections.abc import Sequence

from semcache.cache.placement import bars_paraphrases, guards_of
from semcache.cache.query import Query, TermsMaker
from semcache.cache.quorum import Quorum, held_back
from semcache.config.packs import Pack
from semcache.matching import decide
from semcache.matching.unexplained_conflicts import unexplained
from semcache.matching.wording_tier import WordingTier
from semcache.request import eligibility, keys
from semcache.request.wording import strictest
from semcache.storage.live_entries import LiveEntries
from semcache.types import Card, Forward, Lookup, Serve, Timings


class WordingLookup:
    """Looks for equal wordings. One instance a cache."""

    def __init__(
        self,
        pack: Pack,
        live: LiveEntries,
        tier: WordingTier,
        quorum: Quorum,
        terms: TermsMaker,
        *,
        embedder_id: str,
        salt: bytes,
    ) -> None:
        self.tier = tier
        self._pack = pack
        self._live = live
        self._quorum = quorum
        self._terms = terms
        self._embedder_id = embedder_id
        self._salt = salt
        self._names = [name for name in pack.categories if tier.kinds(name)]

    def look(self, query: Query) -> Lookup | None:
        """Return the lookup of a request that an equal wording answers, or would if it were not held back, or None."""
        request = query.request
        names = self._searched(query)
        policy = self._pack.of(query.rule or "default")
        if request.controls.no_cache or not names or bars_paraphrases(request, policy, self._pack):
            return None
        held: Lookup | None = None
        for card in self._cards(query, names):
            served = self._decide(query, card)
            if served is not None and self._quorum.holds(card, request):
                held = held or self._found(query, card, held_back(served))
            elif served is not None:
                if not query.quiet:
                    self.tier.note(card.category, served.edit, audited=served.audit)
                return self._found(query, card, served)
        return held

    def _searched(self, query: Query) -> list[str]:
        """The categories that may hold an equal wording; none if that of the request serves no other wordings.

        A rule that the request matches need not match the stored wording: "k8s" and "Kubernetes" are one wording.
        """
        if query.rule is None:
            return self._names
        if query.rule not in self._names:
            return []
        named = query.request.controls.category is not None
        return [query.rule] if named else [query.rule, *(name for name in self._names if name != query.rule)]

    @staticmethod
    def _found(query: Query, card: Card, decision: Serve | Forward) -> Lookup:
        timings = Timings(key=query.seconds)
        return Lookup(
            query.request_id, query.request, query.key, card.category, decision, card.partition, timings=timings
        )

    def _cards(self, query: Query, names: Sequence[str]) -> list[Card]:
        partitions = keys.partitions_of(query.key.signature, names, self._embedder_id, self._salt)
        ids = self._live.wordings.find(partitions, query.request.text)
        return [card for entry_id in ids if (card := self._live.registry.get(entry_id)) is not None]

    def _decide(self, query: Query, card: Card) -> Serve | None:
        request, policy = query.request, self._pack.of(card.category)
        # That of the request was asked before.
        if policy is not self._pack.of(query.rule or "default") and (
            eligibility.ineligible(request, policy) is not None or bars_paraphrases(request, policy, self._pack)
        ):
            return None
        kinds = self.tier.kinds_between(card.category, request.text, card.text)
        if query.rule is not None and query.rule != card.category:
            kinds &= self.tier.kinds_between(query.rule, request.text, card.text)
            if self._pack.target_of(query.rule) < self._pack.target_of(card.category):
                return None
        edit = strictest(request.text, card.text, kinds)
        if edit is None:
            return None
        terms = self._terms.of(request, query.key, card.category)
        names = guards_of(policy, request)
        return decide.wording(
            card, request.text, edit, terms, self.tier, lambda asked, cached: unexplained(asked, cached, names)
        )
