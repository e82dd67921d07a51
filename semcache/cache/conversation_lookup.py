"""Conversation lookup: finds stored conversations that match the request although earlier turns are in other words.

Knows the earlier turns of entries and the wording tier; nothing of how requests arrive. Invariant: everything except
the words of user and assistant is equal, and no guard vetoes a pair of turns. A hit is either equal in its wording,
turn by turn, or its whole chain is within one limit of doubt, in a stratum of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from semcache.cache.neighbour_search import NeighbourSearch
from semcache.cache.placement import Placement, Places, chain_of, exact_alone, guards_of
from semcache.cache.query import AskedRequest, Query
from semcache.cache.quorum import Quorum, held_back
from semcache.config.packs import Category
from semcache.matching import accounted, chains, decide, features, guards
from semcache.matching.chains import ChainLink
from semcache.matching.verification import Verifiers
from semcache.matching.wording_tier import Chain, Kind, WordingTier, features_of
from semcache.protocols import Threshold
from semcache.request import eligibility, turn_pairs
from semcache.request.conversation import TurnChain
from semcache.request.turn_pairs import TurnPair
from semcache.request.wording import Edit, strictest
from semcache.types import Candidate, Card, Forward, Lookup, Outcome, Request, Serve, Timings, Why

if TYPE_CHECKING:
    from semcache.types import Vector

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
    """Looks for conversations in other words. One instance a cache. `draw` gives uniform random numbers in [0, 1)."""

    def __init__(
        self,
        placement: Placement,
        search: NeighbourSearch,
        strategy: Threshold,
        tier: WordingTier,
        verifiers: Verifiers,
        quorum: Quorum,
        *,
        clock: Callable[[], float],
        draw: Callable[[], float],
    ) -> None:
        self._placement, self._pack = placement, placement.pack
        self._search, self._strategy = search, strategy
        self._tier, self._verifiers, self._quorum = tier, verifiers, quorum
        self._clock, self._draw = clock, draw
        self._names = [name for name, one in self._pack.categories.items() if one.context == "semantic"]

    async def equal(self, query: Query) -> Lookup | None:
        """The lookup of a request that a conversation of equal wording answers, turn by turn; None if none does.

        If a quorum holds the answer back, the lookup says so.
        """
        request = query.request
        names = [name for name in self._names if query.rule in (None, name) and self._tier.kinds(name)]
        policies = [self._pack.of(name) for name in names]
        if not names or request.controls.no_cache or self._exact_alone(request, policies[0]):
            return None
        chain = chain_of(request, policies)
        if chain is None:
            return None
        shelves = self._placement.loose(request, chain, names)
        held: Lookup | None = None
        for entry_id in self._search.live.wordings.find(shelves, request.text)[:_EQUAL]:
            card = self._search.live.registry.get(entry_id)
            served = None if card is None else await self._equal(query, card, chain)
            if card is None or served is None:
                continue
            lookup = Lookup(query.request_id, request, query.key, card.category, served, card.shelf)
            if self._quorum.holds(card, request):
                held = held or replace(lookup, decision=held_back(served))
                continue
            if not query.quiet:
                self._tier.note(card.category, served.edit, audited=served.audit)
            return replace(lookup, timings=Timings(key=query.seconds))
        return held

    async def related(self, asked: AskedRequest, places: Places) -> list[RelatedConversation]:
        """The stored conversations near the request's whose turns are the same or in other words, best first."""
        if places.chain is None or places.said is None or not places.loose:
            return []
        found: list[RelatedConversation] = []
        neighbours = await self._search.near(places.loose, places.said)
        for candidate in neighbours[:_CONVERSATIONS]:
            kept = await self._search.chain_of(candidate.card)
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
            replace(one, candidate=replace(one.candidate, score=_cosine(places.vector, row)))
            for one, row in zip(found, rows, strict=True)
        ]
        return sorted(scored, key=lambda one: -one.candidate.score)

    async def decided(self, asked: AskedRequest, related: Sequence[RelatedConversation]) -> Serve | Forward | None:
        """The decision on conversations whose earlier turns differ; None if none of them can match the request."""
        left: Forward | None = None
        for one in related:
            card, terms = one.candidate.card, asked.terms
            own = card.category == asked.policy.name
            if not one.pairs or decide.unusable(card, terms, terms.revalidate if own else 0.0) is not None:
                continue
            last = TurnPair("user", asked.request.text, card.text)
            links = await self._links(asked, one, one.pairs if last.asked == last.kept else (*one.pairs, last))
            if links is None:
                continue
            verdict = self._tier.judge(asked.policy.name, Chain.TURNS, terms.controls, terms.tenant)
            said = [pair for pair in one.pairs if pair.role == "assistant" and not pair.beside_call]
            if verdict.serve and await self._hold_together(asked, links, said):
                score = min([1.0, *(link.candidate.score for link in links)])
                return _served(card, verdict.p_correct, Chain.TURNS, score, terms, verdict.audit)
            if left is None and links:
                weakest = min(links, key=lambda link: link.p).candidate
                values = features_of(Chain.TURNS) if verdict.why is Why.CLOSED else weakest.features
                nearest = Candidate(card, weakest.score, features=values)
                left = Forward(Why.UNCERTAIN, nearest=nearest, p_correct=chains.joint(links))
        return left

    async def matching(self, asked: AskedRequest, related: Sequence[RelatedConversation]) -> list[Candidate]:
        """Those whose every turn the strategy would serve; the score of each becomes that of its weakest turn."""
        found = []
        for one in related:
            links = await self._links(asked, one, one.pairs) if one.pairs else []
            if links is not None and all(link.served for link in links):
                scores = [one.candidate.score, *(link.candidate.score for link in links)]
                found.append(replace(one.candidate, score=min(scores)))
        return found

    def note(self, category: str, served: Serve) -> None:
        """Take notice of what was served."""
        self._tier.note(category, served.edit, audited=served.audit)

    # Inside

    def _exact_alone(self, request: Request, policy: Category) -> bool:
        return exact_alone(request, policy, self._pack, self._placement.embedding.longest_word)

    def _pairs(
        self, asked: TurnChain, kept: TurnChain, last: tuple[str, str], policy: Category
    ) -> tuple[TurnPair, ...] | None:
        word = self._placement.embedding.longest_word
        return turn_pairs.pairs(asked, kept, last=last, longest=policy.max_chars, longest_word=word)

    async def _equal(self, query: Query, card: Card, chain: TurnChain) -> Serve | None:
        request, policy = query.request, self._pack.of(card.category)
        if eligibility.ineligible(request, policy) is not None or self._exact_alone(request, policy):
            return None
        kept = await self._search.chain_of(card)
        last = request.text, card.text
        pairs = None if kept is None else self._pairs(chain, kept, last, policy)
        if pairs is None:
            return None
        kinds, names = self._tier.kinds(card.category), guards_of(policy, request)
        edit = Edit.CHARACTERS
        for role, one, two in [*[pair[:3] for pair in pairs], ("user", *last)]:
            found = strictest(one, two, kinds) if role == "user" else None
            if found is None or accounted.conflicts(one, two, names):
                return None
            edit = max(edit, found)
        terms = decide.RequestTerms.of(
            request,
            card.category,
            now=self._clock(),
            rejected=self._search.live.registry.rejected(query.key.exact),
            draw=self._draw(),
            revalidate=policy.revalidate,
        )
        verdict = self._tier.judge(card.category, edit, request.controls, request.scope.tenant)
        if not verdict.serve or decide.unusable(card, terms, terms.revalidate) is not None:
            return None
        return _served(card, verdict.p_correct, edit, 1.0, terms, verdict.audit)

    async def _links(
        self, asked: AskedRequest, one: RelatedConversation, pairs: Sequence[TurnPair]
    ) -> list[ChainLink] | None:
        """The user's turns in other words, as links of a chain; None where a pair of turns is not one turn."""
        card = one.candidate.card
        rows = await self._placement.embedding.of([words for pair in pairs for words in pair[1:3]])
        kinds = self._tier.kinds(asked.policy.name)
        links = []
        for place, pair in enumerate(pairs):
            score = _cosine(rows[2 * place], rows[2 * place + 1])
            if pair.role == "assistant":
                if score < pair.least or _vetoed(asked, pair):
                    return None
                continue
            if strictest(pair.asked, pair.kept, kinds) is not None:
                if accounted.conflicts(pair.asked, pair.kept, asked.guards):
                    return None
                continue
            conflicts = guards.conflicts(pair.asked, pair.kept, asked.guards)
            if any(conflict.veto for conflict in conflicts):
                return None
            candidate = Candidate(replace(card, text=pair.kept), score, conflicts)
            values = features.with_conflicts(features.of(pair.asked, candidate), conflicts)
            links.append(self._judged(asked, pair.asked, replace(candidate, features=values)))
        return links

    def _judged(self, asked: AskedRequest, text: str, candidate: Candidate) -> ChainLink:
        terms = asked.terms
        verdict = self._strategy.judge(
            candidate, asked.policy.name, controls=terms.controls, draw=terms.draw, tenant=terms.tenant
        )
        return ChainLink(text, candidate, verdict.p_correct, served=verdict.serve)

    async def _hold_together(self, asked: AskedRequest, links: Sequence[ChainLink], said: Sequence[TurnPair]) -> bool:
        """Return True if the chain leaves little enough doubt, after the local verifier's verdict if there is one.

        The verifier also reads what the assistant `said` in other words.
        """
        alone = chains.sure_alone(links)
        if asked.policy.verify != "verifier" or not (alone or chains.hopeful(links)):
            return alone
        for pair in said:
            word = await self._verifiers.of_pair("verifier", pair.asked, pair.kept)
            if word is not None and word < chains.LEAST_SAID:
                return False
        weighed = []
        for link in links:
            one = link.candidate
            word = await self._verifiers.of_pair("verifier", link.asked, one.card.text)
            if word is None:
                return alone
            if word < chains.LEAST_WORD:
                return False
            told = replace(one, features=features.with_verdict(one.features, word))
            weighed.append(self._judged(asked, link.asked, told))
        return chains.holds(weighed)


def _served(card: Card, p_correct: float, kind: Kind, score: float, terms: decide.RequestTerms, chance: float) -> Serve:
    return Serve(
        card,
        Outcome.SEMANTIC,
        score,
        p_correct,
        terms.draw < chance,
        chance,
        features=features_of(kind),
        stale=decide.is_stale(card, terms.now),
        edit=kind.name.lower(),
    )


def _vetoed(asked: AskedRequest, pair: TurnPair) -> bool:
    return any(conflict.veto for conflict in guards.conflicts(pair.asked, pair.kept, asked.guards))


def _cosine(one: Vector, two: Vector) -> float:
    return max(-1.0, min(1.0, float(one @ two)))
