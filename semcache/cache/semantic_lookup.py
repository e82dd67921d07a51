"""Semantic lookup: embeds a prompt, searches where its paraphrases may be, and decides on the neighbours.

Knows nothing of the exact tier's answers, nor of what happens after a decision. Invariant: only partitions of the
request's own scope and signature are searched, and a neighbour that was stored under another category's terms is served
only if it meets the terms of both. If earlier turns may be in other words, the signature leaves them out, and
`conversation_lookup` compares them.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from semcache.cache.conversation_lookup import ConversationLookup, RelatedConversation
from semcache.cache.neighbour_search import NeighbourSearch
from semcache.cache.placement import Placement, Places, bars_paraphrases, chain_of, guards_of
from semcache.cache.query import COLD, AskedRequest, Query, TermsMaker
from semcache.cache.quorum import Quorum, held_back
from semcache.config.packs import Category
from semcache.matching import decide, guards
from semcache.matching.profitability import ProfitabilityMonitor
from semcache.protocols import Threshold
from semcache.request import eligibility
from semcache.types import (
    CacheKey,
    Candidate,
    Card,
    Decision,
    Forward,
    Lookup,
    Outcome,
    Request,
    Serve,
    Timings,
    Verify,
    Why,
)

if TYPE_CHECKING:
    from semcache.types import Vector


class SemanticLookup:
    """Looks for paraphrases. One instance a cache."""

    def __init__(
        self,
        placement: Placement,
        strategy: Threshold,
        profitability: ProfitabilityMonitor,
        search: NeighbourSearch,
        conversations: ConversationLookup,
        quorum: Quorum,
        terms: TermsMaker,
    ) -> None:
        self._placement = placement
        self._embedding = placement.embedding
        self._pack = placement.pack
        self._strategy = strategy
        self._profitability = profitability
        self._search = search
        self._conversations = conversations
        self._quorum = quorum
        self._terms = terms

    async def look(self, query: Query, *, serving: bool = True) -> Lookup:
        """Look a request up. Raises CacheUnavailable.

        Where this is not `serving` paraphrases, what would be served is named, and forwarded.
        """
        request, named = query.request, self._pack.of(query.rule or "default")
        if self._bars_paraphrases(request, named):
            return query.lookup_without_paraphrases(named)
        equal = await self._conversations.equal(query) if serving else None
        if equal is not None and isinstance(equal.decision, Serve):
            return equal
        started = time.perf_counter()
        vector: Vector = (await self._embedding.of([request.text]))[0]
        embedded = time.perf_counter()
        categories = self._placement.categories(request, query.rule, vector)
        policy = categories[0]
        timings = Timings(key=query.seconds, embed=embedded - started)
        # The category of its rule was asked before anything was embedded.
        barred = None if policy is named else self._barred(query, policy)
        if barred is not None:
            return replace(barred, timings=timings)
        places = await self._placement.places(request, query.key, categories, vector)
        # From here on the request has its place, and its answer is kept whatever is decided.
        if request.controls.no_cache:
            decision: Decision = query.refused or COLD
        elif not self._profitability.open(policy.name, self._terms.draw, request.scope.tenant):
            # The probes of a closed category can find what is kept.
            decision = Forward(Why.UNPROFITABLE)
            timings = replace(timings, embed=time.perf_counter() - started)
        else:
            placed = time.perf_counter()
            asked = self._asked(request, query.key, policy, query.refused or COLD)
            strict, related = await self._candidates(asked, places)
            searched = time.perf_counter()
            decision = await self._free(asked, strict, related)
            if equal is not None and isinstance(decision, Forward):
                decision = equal.decision
            if not serving:
                decision = _forwarded(decision)
            if not query.quiet:
                self._note(policy.name, decision)
            done = time.perf_counter()
            timings = Timings(
                key=query.seconds, embed=placed - started, search=searched - placed, guard=done - searched
            )
        return Lookup(query.request_id, request, query.key, policy.name, decision, places.home, places.kept, timings)

    def _barred(self, query: Query, policy: Category) -> Lookup | None:
        """The lookup of a request that may not be looked up by meaning in this category; None of any other."""
        why = eligibility.ineligible(query.request, policy)
        if why is not None:
            return Lookup(query.request_id, query.request, None, policy.name, Forward(why, Outcome.BYPASS))
        return query.lookup_without_paraphrases(policy) if self._bars_paraphrases(query.request, policy) else None

    def _bars_paraphrases(self, request: Request, policy: Category) -> bool:
        return bars_paraphrases(request, policy, self._pack, self._embedding.longest_word)

    def _note(self, category: str, decision: Decision) -> None:
        """Have the decision counted, unless a verifier is asked first: only then is its fate known."""
        if isinstance(decision, Serve) and decision.edit:
            self._conversations.note(category, decision)
        elif not isinstance(decision, Verify):
            decide.note(self._strategy, category, decision)

    async def nearest(self, lookup: Lookup) -> list[Candidate]:
        """Return the neighbours of a request that was looked up, best first. Raises CacheUnavailable."""
        if lookup.key is None or lookup.vector is None:
            return []
        request, rule = lookup.request, lookup.category
        vector: Vector = (await self._embedding.of([request.text]))[0]
        categories = self._placement.categories(request, rule, vector)
        places = await self._placement.places(request, lookup.key, categories, vector)
        asked = self._asked(request, lookup.key, self._pack.of(rule), COLD)
        strict, related = await self._candidates(asked, places)
        known = {candidate.card.id for candidate in strict}
        others = [one.candidate for one in related if one.candidate.card.id not in known]
        return sorted([*strict, *others], key=lambda candidate: -candidate.score)

    def of_coming(self, lookup: Lookup, card: Card, score: float) -> Decision:
        """The decision on an answer that is still in the air.

        It is never served where earlier turns would have to be compared first: that takes too long.
        """
        assert lookup.key is not None
        policy = self._pack.of(lookup.category)
        if chain_of(lookup.request, [policy]) is not None:
            return COLD
        asked = self._asked(lookup.request, lookup.key, policy, COLD)
        return self._choose(asked, [Candidate(card, score)])

    def _asked(self, request: Request, key: CacheKey, policy: Category, otherwise: Forward) -> AskedRequest:
        terms = self._terms.of(request, key, policy.name, otherwise)
        return AskedRequest(request, policy, guards_of(policy, request), terms)

    async def _candidates(
        self, asked: AskedRequest, places: Places
    ) -> tuple[list[Candidate], list[RelatedConversation]]:
        """The nearest entries whose earlier turns are equal or taken for equal, best first, and related others."""
        if places.chain is None or places.conversation_vector is None:
            return await self._search.near(places.strict, places.vector), []
        found = await self._search.near(places.strict, places.vector) if places.strict else []
        related = await self._conversations.related(asked, places)
        if asked.policy.strategy == "certified":
            found += [one.candidate for one in related if not one.pairs]
        else:
            found += await self._conversations.matching(asked, related)
        return sorted(found, key=lambda candidate: -candidate.score), related

    async def _free(
        self, asked: AskedRequest, strict: Sequence[Candidate], related: Sequence[RelatedConversation]
    ) -> Decision:
        """The decision among candidates that no quorum holds back; the reason says so if only a held one would do."""
        held = self._quorum.held([*strict, *(one.candidate for one in related)], asked.request)
        if not held:
            return await self._among(asked, strict, related)
        free = await self._among(asked._replace(terms=replace(asked.terms, held=held)), strict, related)
        if not isinstance(free, Forward):
            return free
        wished = await self._among(asked, strict, related)
        if isinstance(wished, Serve):
            return held_back(wished)
        return wished if isinstance(wished, Forward) else replace(free, why=Why.UNCERTAIN)

    async def _among(
        self, asked: AskedRequest, strict: Sequence[Candidate], related: Sequence[RelatedConversation]
    ) -> Decision:
        decision = self._choose(asked, strict)
        if not isinstance(decision, Serve) and asked.policy.strategy == "certified":
            decision = await self._conversations.decided(asked, related) or decision
        return decision

    def _choose(self, asked: AskedRequest, candidates: Sequence[Candidate]) -> Decision:
        return decide.semantic(
            candidates,
            asked.request.text,
            asked.terms,
            self._strategy,
            partial(guards.conflicts, names=asked.guards),
            partial(guards.unless_vetoed, names=asked.guards),
        )


def _forwarded(decision: Decision) -> Forward:
    """The decision of a request to which no paraphrase may be served, with the one that would be."""
    if isinstance(decision, Forward):
        return decision
    nearest = Candidate(decision.card, decision.score, features=decision.features)
    return Forward(Why.EXACT_ONLY, nearest=nearest, p_correct=decision.p_correct)
