"""Semantic lookup: embed a prompt, search where its paraphrases may lie, and decide on what is found.

Knows nothing of the exact tier's answers, nor of what happens after a decision. Invariant: only partitions of the
request's own scope and signature are searched, and a neighbour kept under another category's terms is served only if it
meets the terms of both. Where earlier turns may be put in other words, the signature leaves them out and each of them
must be a match of its own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from semcache.cache.placement import Placement, Places, chain_of, exact_alone, guards_of
from semcache.config.packs import Category
from semcache.errors import IntegrityError
from semcache.matching import decide, guards
from semcache.matching.profitability import ProfitabilityMonitor
from semcache.protocols import Threshold
from semcache.request import conversation, eligibility
from semcache.request.conversation import TurnChain, TurnPair
from semcache.runtime.guarded_calls import GuardedCalls
from semcache.storage.live_entries import LiveEntries
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

NEIGHBOURS = 8
CONVERSATIONS = 4  # neighbours whose earlier turns are read and compared
_COLD = Forward(Why.COLD)


@dataclass(frozen=True, slots=True)
class Query:
    """A request that the exact tier could not serve.

    `rule` is the category that the caller or a rule named, `refused` the reason where there was an entry of the very
    same request, and `seconds` the time that the key has taken. A `quiet` one is asked about and not sent: nothing is
    counted of it.
    """

    request_id: str
    request: Request
    key: CacheKey
    rule: str | None = None
    refused: Forward | None = None
    seconds: float = 0.0
    quiet: bool = False

    def exact_only(self, policy: Category) -> Lookup:
        """Return the lookup of a request whose paraphrases must not be sought."""
        decision = self.refused or Forward(Why.EXACT_ONLY)
        return Lookup(self.request_id, self.request, self.key, policy.name, decision, timings=Timings(key=self.seconds))


class _Asked(NamedTuple):
    """A request under the terms that it is decided by."""

    request: Request
    policy: Category
    guards: tuple[str, ...]
    terms: decide.RequestTerms


class SemanticLookup:
    """Looks for paraphrases. One instance a cache. `draw` gives uniform random numbers in [0, 1)."""

    def __init__(
        self,
        placement: Placement,
        live: LiveEntries,
        strategy: Threshold,
        profitability: ProfitabilityMonitor,
        faults: GuardedCalls,
        *,
        clock: Callable[[], float],
        draw: Callable[[], float],
    ) -> None:
        self._placement = placement
        self._embedding = placement.embedding
        self._pack = placement.pack
        self._live = live
        self._strategy = strategy
        self._profitability = profitability
        self._faults = faults
        self._clock = clock
        self._draw = draw

    async def look(self, query: Query, *, serving: bool = True) -> Lookup:
        """Look a request up. Raises CacheUnavailable.

        Where this is not `serving` paraphrases, what would be served is named, and forwarded.
        """
        request, key = query.request, query.key
        policy = self._pack.of(query.rule or "default")
        if exact_alone(request, policy, self._pack):
            return query.exact_only(policy)
        started = time.perf_counter()
        vector: Vector = (await self._embedding.of([request.text]))[0]
        embedded = time.perf_counter()
        near = self._placement.categories(request, query.rule, vector)
        policy = near[0]
        timings = Timings(key=query.seconds, embed=embedded - started)
        why = eligibility.ineligible(request, policy)
        if why is not None:
            bypass = Forward(why, Outcome.BYPASS)
            return Lookup(query.request_id, request, None, policy.name, bypass, timings=timings)
        if exact_alone(request, policy, self._pack):
            return replace(query.exact_only(policy), timings=timings)
        places = await self._placement.places(request, key, near, vector)
        decision: Decision = query.refused or _COLD
        if not request.controls.no_cache and not self._profitability.open(policy.name, self._draw):
            # It is kept all the same, so that the probes of a closed category can find it.
            decision = Forward(Why.UNPROFITABLE)
            timings = replace(timings, embed=time.perf_counter() - started)
        elif not request.controls.no_cache:
            placed = time.perf_counter()
            asked = self._asked(request, key, policy, query.refused or _COLD)
            candidates = await self._search(asked, places)
            searched = time.perf_counter()
            decision = self._choose(asked, candidates)
            if not serving and isinstance(decision, Serve | Verify):
                nearest = Candidate(decision.card, decision.score, features=decision.features)
                decision = Forward(Why.EXACT_ONLY, nearest=nearest, p_correct=decision.p_correct)
            if not (query.quiet or isinstance(decision, Verify)):  # its fate is known once a verifier was asked
                decide.note(self._strategy, policy.name, decision)
            done = time.perf_counter()
            timings = Timings(
                key=query.seconds, embed=placed - started, search=searched - placed, guard=done - searched
            )
        return Lookup(query.request_id, request, key, policy.name, decision, places.home, places.kept, timings)

    async def nearest(self, lookup: Lookup) -> list[Candidate]:
        """Return the neighbours of a request that was looked up, best first. Raises CacheUnavailable."""
        if lookup.key is None or lookup.vector is None:
            return []
        request, rule = lookup.request, lookup.category
        vector: Vector = (await self._embedding.of([request.text]))[0]
        near = self._placement.categories(request, rule, vector)
        places = await self._placement.places(request, lookup.key, near, vector)
        asked = self._asked(request, lookup.key, self._pack.of(rule), _COLD)
        return await self._search(asked, places)

    def acceptable(self, lookup: Lookup, card: Card, score: float) -> bool:
        """Return True if an answer still in the air would be served to this request.

        Never to one whose earlier turns would have to be compared first: that takes longer than a yes or no may.
        """
        assert lookup.key is not None
        policy = self._pack.of(lookup.category)
        if chain_of(lookup.request, [policy]) is not None:
            return False
        asked = self._asked(lookup.request, lookup.key, policy, _COLD)
        return isinstance(self._choose(asked, [Candidate(card, score)]), Serve)

    def _asked(self, request: Request, key: CacheKey, policy: Category, otherwise: Forward) -> _Asked:
        names: tuple[str, ...] = policy.guards
        if "ellipsis" in names and conversation.has_earlier_question(request.identity):
            # What the message leans on is there, and is compared by signature or turn by turn.
            names = tuple([name for name in names if name != "ellipsis"])
        terms = decide.RequestTerms(
            policy.name,
            request.controls,
            now=self._clock(),
            rejected=self._live.registry.rejected(key.exact),
            draw=self._draw(),
            tenant=request.scope.tenant,
            revalidate=policy.revalidate,
            otherwise=otherwise,
        )
        return _Asked(request, policy, guards_of(policy, request), terms)

    async def _search(self, asked: _Asked, places: Places) -> list[Candidate]:
        """The nearest entries, best first; those of another conversation only if it matches turn by turn."""
        if places.chain is None or places.said is None:
            return await self._nearest(places.strict, places.vector)
        found = await self._nearest(places.strict, places.vector) if places.strict else []
        relatives = (await self._nearest(places.loose, places.said))[:CONVERSATIONS]
        found += await self._matching(asked, places.chain, relatives, places.vector)
        return sorted(found, key=lambda candidate: -candidate.score)

    async def _nearest(self, partitions: Sequence[bytes], vector: Vector) -> list[Candidate]:
        index = self._live.index
        neighbours = index.search_now(partitions, vector, NEIGHBOURS)
        if neighbours is None:
            neighbours = await self._faults.guard("index", index.search_all(partitions, vector, NEIGHBOURS))
        card_of = self._live.registry.get
        return [
            Candidate(card, neighbour.score)
            for neighbour in neighbours
            if (card := card_of(neighbour.entry_id)) is not None
        ]

    async def _matching(
        self, asked: _Asked, chain: TurnChain, relatives: Sequence[Candidate], vector: Vector
    ) -> list[Candidate]:
        """Those whose every turn matches; the score of each becomes that of its weakest turn."""
        alike: list[tuple[Candidate, tuple[TurnPair, ...]]] = []
        for candidate in relatives:
            kept = await self._kept(candidate.card)
            last = asked.request.text, candidate.card.text
            if kept is None:
                continue
            differing = conversation.pairs(chain, kept, last=last, longest=asked.policy.max_chars)
            if differing is not None and (not differing or asked.policy.context == "semantic"):
                alike.append((candidate, differing))
        if not alike:
            return []
        lasts = await self._embedding.of([candidate.card.text for candidate, _ in alike])
        rescored = [
            (replace(candidate, score=_cosine(vector, row)), differing)
            for (candidate, differing), row in zip(alike, lasts, strict=True)
        ]
        for role in ("user", "assistant"):
            rescored = await self._weakest(asked, rescored, role)
        return [candidate for candidate, _ in rescored]

    async def _weakest(
        self, asked: _Asked, found: Sequence[tuple[Candidate, tuple[TurnPair, ...]]], role: str
    ) -> list[tuple[Candidate, tuple[TurnPair, ...]]]:
        """Those of whose pairs of this role every one matches, with their scores lowered to the weakest."""
        texts = {text: 0 for _, pairs in found for pair in pairs if pair.role == role for text in pair[1:]}
        if not texts:
            return list(found)
        rows = dict(zip(texts, await self._embedding.of(list(texts)), strict=True))
        left = []
        for candidate, pairs in found:
            scores = [(pair, _cosine(rows[pair.asked], rows[pair.kept])) for pair in pairs if pair.role == role]
            if all(self._same_turn(asked, candidate.card, pair, score) for pair, score in scores):
                weakest = min([candidate.score, *(score for _, score in scores)])
                left.append((replace(candidate, score=weakest), pairs))
        return left

    def _same_turn(self, asked: _Asked, card: Card, pair: TurnPair, score: float) -> bool:
        """Return True if two wordings are one turn: the user's if an answer could be served across them."""
        if any(conflict.veto for conflict in guards.conflicts(pair.asked, pair.kept, asked.guards)):
            return False
        if pair.role == "assistant":
            return score >= conversation.ALIKE
        turn = asked._replace(request=replace(asked.request, text=pair.asked))
        return isinstance(self._choose(turn, [Candidate(replace(card, text=pair.kept), score)]), Serve)

    async def _kept(self, card: Card) -> TurnChain | None:
        """The conversation of an entry, which only the entry itself holds; None when it cannot be read."""
        entry = self._live.hot.get(card.id)
        if entry is None:
            try:
                entry = await self._faults.guard("store", self._live.read(card.id))
            except IntegrityError:
                return None
            if entry is None:
                return None
            self._live.hot.put(entry)
        return conversation.stored_chain(entry.key.canonical)

    def _choose(self, asked: _Asked, candidates: Sequence[Candidate]) -> Decision:
        return decide.semantic(
            candidates,
            asked.request.text,
            asked.terms,
            self._strategy,
            lambda query, cached: guards.conflicts(query, cached, asked.guards),
        )


def _cosine(one: Vector, two: Vector) -> float:
    return max(-1.0, min(1.0, float(one @ two)))
