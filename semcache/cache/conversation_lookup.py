"""Conversation lookup: finds stored conversations that match the request although earlier turns are in other words.

Knows the earlier turns of entries and the wording tier; nothing of how requests arrive. Invariant: everything except
the words of user and assistant is equal, and no guard vetoes a pair of turns. A hit is either equal in its wording,
turn by turn, or its whole chain is within one limit of doubt, in a stratum of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from semcache.cache.neighbour_search import NeighbourSearch
from semcache.cache.placement import Placement, Places, bars_paraphrases, chain_of, guards_of
from semcache.cache.query import AskedRequest, Query, TermsMaker
from semcache.cache.quorum import Quorum, held_back
from semcache.cache.turn_chains import TurnChains, cosine
from semcache.config.packs import Category
from semcache.matching import chains, decide
from semcache.matching.unexplained_conflicts import unexplained
from semcache.matching.wording_tier import Chain, WordingTier, features_of
from semcache.request import eligibility, turn_pairs
from semcache.request.conversation import TurnChain
from semcache.request.turn_pairs import TurnPair
from semcache.request.wording import Edit, strictest
from semcache.types import Candidate, Card, Forward, Lookup, Request, Serve, Timings, Why

_CONVERSATIONS = 4  # neighbours whose earlier turns are read and compared
_EQUAL = 8  # entries with the same last message whose earlier turns are read


@dataclass(frozen=True, slots=True)
class RelatedConversation:
    """A stored conversation that may match the request's, with the score of the last messages.

    `pairs` are its earlier turns that are in other words.
    """

    candidate: Candidate
    pairs: tuple[TurnPair, ...]


class ConversationLookup:
    """Looks for conversations in other words. One instance a cache."""

    def __init__(
        self,
        placement: Placement,
        search: NeighbourSearch,
        turns: TurnChains,
        tier: WordingTier,
        quorum: Quorum,
        terms: TermsMaker,
    ) -> None:
        self._placement, self._pack = placement, placement.pack
        self._search, self._turns = search, turns
        self._tier, self._quorum, self._terms = tier, quorum, terms
        self._names = [name for name, one in self._pack.categories.items() if one.context == "semantic"]

    async def equal(self, query: Query) -> Lookup | None:
        """The lookup of a request that a conversation of equal wording answers, turn by turn; None if none does.

        If a quorum holds the answer back, the lookup says so.
        """
        request = query.request
        names = [name for name in self._names if query.rule in (None, name) and self._tier.kinds(name)]
        policies = [self._pack.of(name) for name in names]
        if not names or request.controls.no_cache or self._bars_paraphrases(request, policies[0]):
            return None
        chain = chain_of(request, policies)
        if chain is None:
            return None
        partitions = self._placement.loose(request, chain, names)
        held: Lookup | None = None
        for entry_id in self._search.live.wordings.find(partitions, request.text)[:_EQUAL]:
            card = self._search.live.registry.get(entry_id)
            served = None if card is None else await self._equal(query, card, chain)
            if card is None or served is None:
                continue
            lookup = Lookup(query.request_id, request, query.key, card.category, served, card.partition)
            if self._quorum.holds(card, request):
                held = held or replace(lookup, decision=held_back(served))
                continue
            if not query.quiet:
                self._tier.note(card.category, served.edit, audited=served.audit)
            return replace(lookup, timings=Timings(key=query.seconds))
        return held

    async def related(self, asked: AskedRequest, places: Places) -> list[RelatedConversation]:
        """The stored conversations near the request's whose turns are the same or in other words, best first."""
        if places.chain is None or places.conversation_vector is None or not places.loose:
            return []
        found: list[RelatedConversation] = []
        neighbours = await self._search.near(places.loose, places.conversation_vector)
        for candidate in neighbours[:_CONVERSATIONS]:
            kept = await self._search.stored_chain(candidate.card)
            if kept is None:
                continue
            last = asked.request.text, candidate.card.text
            pairs = self._pairs(places.chain, kept, last, asked.policy)
            if pairs is not None:
                found.append(RelatedConversation(candidate, pairs))
        if not found:
            return []
        rows = await self._placement.embedding.of([one.candidate.card.text for one in found])
        scored = [
            replace(one, candidate=replace(one.candidate, score=cosine(places.vector, row)))
            for one, row in zip(found, rows, strict=True)
        ]
        return sorted(scored, key=lambda one: -one.candidate.score)

    async def decided(self, asked: AskedRequest, related: Sequence[RelatedConversation]) -> Serve | Forward | None:
        """The decision on conversations whose earlier turns differ; None if none of them can match the request."""
        missed: Forward | None = None
        for one in related:
            card, terms = one.candidate.card, asked.terms
            own = card.category == asked.policy.name
            if not one.pairs or decide.unusable(card, terms, terms.revalidate if own else 0.0) is not None:
                continue
            decision = await self._of_chain(asked, one)
            if isinstance(decision, Serve):
                return decision
            missed = missed or decision
        return missed

    async def _of_chain(self, asked: AskedRequest, one: RelatedConversation) -> Serve | Forward | None:
        """The decision on a conversation by the chain of its turns in other words; None if it is another one."""
        card, terms = one.candidate.card, asked.terms
        last = TurnPair("user", asked.request.text, card.text)
        links = await self._turns.links(asked, card, one.pairs if last.asked == last.kept else (*one.pairs, last))
        if links is None:
            return None
        verdict = self._tier.judge(asked.policy.name, Chain.TURNS, terms.controls, terms.tenant)
        said = [pair for pair in one.pairs if pair.role == "assistant" and not pair.beside_call]
        if verdict.serve and await self._turns.hold_together(asked, links, said):
            score = min([1.0, *(link.candidate.score for link in links)])
            return decide.served_by_wording(card, verdict, Chain.TURNS, score, terms)
        if not links:
            return None
        weakest = min(links, key=lambda link: link.p).candidate
        values = features_of(Chain.TURNS) if verdict.why is Why.CLOSED else weakest.features
        nearest = Candidate(card, weakest.score, features=values)
        return Forward(Why.UNCERTAIN, nearest=nearest, p_correct=chains.joint(links))

    async def matching(self, asked: AskedRequest, related: Sequence[RelatedConversation]) -> list[Candidate]:
        """Those whose every turn the strategy would serve; the score of each becomes that of its weakest turn."""
        found = []
        for one in related:
            links = await self._turns.links(asked, one.candidate.card, one.pairs) if one.pairs else []
            if links is not None and all(link.served for link in links):
                scores = [one.candidate.score, *(link.candidate.score for link in links)]
                found.append(replace(one.candidate, score=min(scores)))
        return found

    def note(self, category: str, served: Serve) -> None:
        """Take notice of what was served."""
        self._tier.note(category, served.edit, audited=served.audit)

    # Inside

    def _bars_paraphrases(self, request: Request, policy: Category) -> bool:
        return bars_paraphrases(request, policy, self._pack, self._placement.embedding.longest_word)

    def _pairs(
        self, asked: TurnChain, kept: TurnChain, last: tuple[str, str], policy: Category
    ) -> tuple[TurnPair, ...] | None:
        word = self._placement.embedding.longest_word
        return turn_pairs.pairs(asked, kept, last=last, longest=policy.max_chars, longest_word=word)

    async def _equal(self, query: Query, card: Card, chain: TurnChain) -> Serve | None:
        """The hit on an entry if its conversation is of equal wording, turn by turn, and that is enough; else None."""
        request, policy = query.request, self._pack.of(card.category)
        if eligibility.ineligible(request, policy) is not None or self._bars_paraphrases(request, policy):
            return None
        kept = await self._search.stored_chain(card)
        last = request.text, card.text
        pairs = None if kept is None else self._pairs(chain, kept, last, policy)
        if pairs is None:
            return None
        edit = self._strictest_edit([*pairs, TurnPair("user", *last)], card.category, guards_of(policy, request))
        if edit is None:
            return None
        terms = self._terms.of(request, query.key, card.category)
        verdict = self._tier.judge(card.category, edit, request.controls, request.scope.tenant)
        if not verdict.serve or decide.unusable(card, terms, terms.revalidate) is not None:
            return None
        return decide.served_by_wording(card, verdict, edit, 1.0, terms)

    def _strictest_edit(self, pairs: Sequence[TurnPair], category: str, names: Sequence[str]) -> Edit | None:
        """The kind of edit by which all turns are equal; None if one is not, or one of these guards objects."""
        edit = Edit.CHARACTERS
        for pair in pairs:
            kinds = self._tier.kinds_between(category, pair.asked, pair.kept)
            found = strictest(pair.asked, pair.kept, kinds) if pair.role == "user" else None
            if found is None or unexplained(pair.asked, pair.kept, names):
                return None
            edit = max(edit, found)
        return edit
