"""The wider search for a neighbour that a language model may be asked about: all categories, and lower scores.

Knows the index and the pack; decides nothing. Invariant: only partitions of the request's own scope and signature are
searched, and a neighbour is named only if the terms of its category allow it to be served to the request.
"""

from __future__ import annotations

from semcache.cache.placement import bars_paraphrases, chain_of
from semcache.cache.quorum import Quorum
from semcache.config.packs import Pack
from semcache.learning import labelling
from semcache.matching import decide, doubts
from semcache.matching.doubts import Doubt
from semcache.protocols import Threshold
from semcache.request import eligibility, keys
from semcache.storage.live_entries import LiveEntries
from semcache.types import Candidate, Card, Lookup

LOWEST = 0.3  # cosine similarity below which no paraphrase has been found
_LOOKED_AT = 3
_NEIGHBOURS = 8


class WiderSearch:
    """Searches the partitions of one cache."""

    def __init__(self, pack: Pack, live: LiveEntries, quorum: Quorum, *, embedder_id: str, salt: bytes) -> None:
        self._pack, self._live, self.quorum = pack, live, quorum
        self._embedder_id, self._salt = embedder_id, salt
        self._names = [name for name, one in pack.categories.items() if one.cache and one.semantic]

    async def best(
        self, lookup: Lookup, threshold: Threshold, now: float, *, besides: Card | None = None
    ) -> Doubt | None:
        """The most probable neighbour that no guard vetoes, with its features and P(correct); None without one.

        `now` is the Unix time at which it has to be fresh. Neighbours with the answer of `besides` are passed over.
        """
        request, key = lookup.request, lookup.key
        policies = [self._pack.of(name) for name in self._names]
        if key is None or lookup.vector is None or chain_of(request, policies) is not None:
            return None
        named = request.controls.category
        names = self._names if named is None else [name for name in self._names if name == named]
        partitions = keys.partitions_of(key.signature, names, self._embedder_id, self._salt)
        found = self._live.index.search_now(partitions, lookup.vector, _NEIGHBOURS)
        if found is None:
            found = await self._live.index.search_all(partitions, lookup.vector, _NEIGHBOURS)
        lowest = max(LOWEST, request.controls.min_score or LOWEST)
        judged: list[Doubt] = []
        for one in found:
            card = self._live.registry.get(one.entry_id)
            if card is None or one.score < lowest or not self._allowed(lookup, card, now):
                continue
            if besides is not None and card.answer_class == besides.answer_class:
                continue
            full = labelling.featured(lookup, Candidate(card, one.score), self._pack.of(lookup.category))
            if not doubts.vetoed(full):
                verdict = threshold.judge(full, lookup.category, controls=request.controls, draw=0.0)
                judged.append(Doubt(full, verdict.p_correct))
            if len(judged) == _LOOKED_AT:
                break
        return max(judged, key=lambda doubt: doubt.before, default=None)

    def _allowed(self, lookup: Lookup, card: Card, now: float) -> bool:
        request, policy = lookup.request, self._pack.of(card.category)
        if eligibility.ineligible(request, policy) is not None or bars_paraphrases(request, policy, self._pack):
            return False
        assert lookup.key is not None
        if card.exact == lookup.key.exact:
            # The request's own earlier answer.
            return False
        rejected = self._live.registry.rejected(lookup.key.exact)
        terms = decide.RequestTerms.of(request, policy.name, now=now, rejected=rejected)
        return decide.unusable(card, terms, 0.0) is None
