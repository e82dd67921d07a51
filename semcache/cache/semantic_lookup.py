"""The semantic tier: embed a prompt, choose where to search, and decide on what is found.

Knows nothing of the exact tier's answers, nor of what happens after a decision. Invariant: only shelves of the
request's own scope and signature are searched, and a neighbour kept under another category's terms is served only if it
meets the terms of both. Where earlier turns may be put in other words, the signature leaves them out and each of them
must be a match of its own.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from semcache.config.packs import Category
from semcache.errors import EmbedError, IntegrityError
from semcache.matching import decide, guards
from semcache.request import conversation, eligibility, keys
from semcache.request.conversation import Chain, Pair
from semcache.runtime.guarded_calls import Faults
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
    from semcache.cache.opening import Parts
    from semcache.types import Matrix, Vector

NEIGHBOURS = 8
CONVERSATIONS = 4  # neighbours whose earlier turns are read and compared


class _Asked(NamedTuple):
    """A request under the terms that it is decided by."""

    request: Request
    key: CacheKey
    policy: Category
    guards: tuple[str, ...]
    draw: float


class _Places(NamedTuple):
    """The shelves of a request: those of its conversation to the letter, and those where others like it may lie too.

    `vector` is that of the last message, `said` that of the conversation, by which the `loose` shelves are ordered.
    The request itself is kept on `home`, under the vector of that shelf.
    """

    home: bytes
    strict: Sequence[bytes]
    vector: Vector
    loose: Sequence[bytes] = ()
    said: Vector | None = None
    chain: Chain | None = None

    @property
    def kept(self) -> Vector:
        """The vector under which the request is kept."""
        return self.vector if self.said is None or self.home not in self.loose else self.said


class SemanticTier:
    """Looks for paraphrases. One instance a cache."""

    def __init__(self, parts: Parts, faults: Faults) -> None:
        self._parts = parts
        self._faults = faults

    async def look(
        self,
        request_id: str,
        request: Request,
        key: CacheKey,
        rule: str | None,
        exact: Forward,
        seconds: float,
        *,
        serving: bool = True,
    ) -> Lookup:
        """Look a request up that the exact tier could not serve, for the reason `exact`. Raises CacheUnavailable.

        `rule` is the category that the caller or a rule named; `seconds` is what the key has cost. Where this is not
        `serving` paraphrases, what would be served is named, and forwarded.
        """
        pack = self._parts.pack
        policy = pack.of(rule or "default")
        if self._exact_alone(request, policy):
            return Lookup(request_id, request, key, policy.name, _alone(exact), timings=Timings(key=seconds))
        started = time.perf_counter()
        vector = await self._embed(request.text)
        embedded = time.perf_counter()
        near = self._categories(request, rule, vector)
        policy = near[0]
        timings = Timings(key=seconds, embed=embedded - started)
        why = eligibility.ineligible(request, policy)
        if why is not None:
            return Lookup(request_id, request, None, policy.name, Forward(why, Outcome.BYPASS), timings=timings)
        if self._exact_alone(request, policy):
            return Lookup(request_id, request, key, policy.name, _alone(exact), timings=timings)
        places = await self._places(request, key, near, vector)
        decision: Decision = exact
        if not request.controls.no_cache and not self._parts.economics.open(policy.name, self._parts.rng.random):
            # It is kept all the same, so that the probes of a closed category can find it.
            decision = Forward(Why.UNPROFITABLE)
            timings = replace(timings, embed=time.perf_counter() - started)
        elif not request.controls.no_cache:
            placed = time.perf_counter()
            asked = self._asked(request, key, policy)
            candidates = await self._search(asked, places)
            searched = time.perf_counter()
            decision = self._choose(asked, candidates)
            if not serving and isinstance(decision, Serve | Verify):
                nearest = Candidate(decision.card, decision.score, features=decision.features)
                decision = Forward(Why.EXACT_ONLY, nearest=nearest, p_correct=decision.p_correct)
            if not isinstance(decision, Verify):  # its fate is known once a verifier was asked
                decide.note(self._parts.threshold, policy.name, decision)
            if decision == Forward(Why.COLD):
                decision = exact
            done = time.perf_counter()
            timings = Timings(key=seconds, embed=placed - started, search=searched - placed, guard=done - searched)
        return Lookup(request_id, request, key, policy.name, decision, places.home, places.kept, timings)

    def acceptable(self, lookup: Lookup, card: Card, score: float) -> bool:
        """Whether an answer still in the air would be served to this request.

        Never to one whose earlier turns would have to be compared first: that takes longer than a yes or no may.
        """
        assert lookup.key is not None
        policy = self._parts.pack.of(lookup.category)
        if _chain(lookup.request, [policy]) is not None:
            return False
        asked = self._asked(lookup.request, lookup.key, policy)
        return isinstance(self._choose(asked, [Candidate(card, score)]), Serve)

    def _asked(self, request: Request, key: CacheKey, policy: Category) -> _Asked:
        names: tuple[str, ...] = policy.guards
        if "ellipsis" in names and conversation.follows(request.identity):
            # What the message leans on is there, and is compared by signature or turn by turn.
            names = tuple([name for name in names if name != "ellipsis"])
        return _Asked(request, key, policy, names, self._parts.rng.random())

    async def _embed(self, text: str) -> Vector:
        vector: Vector = (await self._embed_all([text]))[0]
        return vector

    async def _embed_all(self, texts: Sequence[str]) -> Matrix:
        async def all_of_them() -> Matrix:
            embedder = self._parts.embedder
            matrix = await embedder.embed(texts)
            # False for NaN and infinity too.
            if matrix.shape != (len(texts), embedder.dim) or not all(
                abs(float(row @ row) - 1) < 1e-2 for row in matrix
            ):
                raise EmbedError(
                    f"embedder {embedder.id!r} did not return one unit vector of {embedder.dim} numbers a text"
                )
            return matrix

        return await self._faults.guard("embedder", all_of_them())

    def _categories(self, request: Request, rule: str | None, vector: Vector) -> list[Category]:
        """Where to keep this request, and then where else its paraphrases may have been kept."""
        pack = self._parts.pack
        if request.controls.category is not None:
            return [pack.of(request.controls.category)]
        near = [pack.of(name) for name in self._parts.categories.near(vector, request.text)]
        if rule is not None:
            return [pack.of(rule), *[category for category in near if category.name != rule]]
        return near

    async def _places(self, request: Request, key: CacheKey, near: Sequence[Category], vector: Vector) -> _Places:
        """Where to search for a request of these categories, and where to keep it."""
        near = [category for category in near if category.cache and category.semantic]
        names = [category.name for category in near]
        salt, embedder = self._parts.store.salt, self._parts.embedder.id
        shelves = keys.shelves_of(key.signature, names, embedder, salt)
        chain = _chain(request, near)
        if chain is None:
            return _Places(shelves[0], shelves, vector)
        said = conversation.blended(vector, await self._embed_all(chain.questions))
        signature = keys.loose_signature(request, chain.rest, salt)
        others = keys.shelves_of(signature, names, embedder, salt)
        lenient = [category.context == "semantic" for category in near]
        return _Places(
            others[0] if lenient[0] else shelves[0],
            [shelf for shelf, free in zip(shelves, lenient, strict=True) if not free],
            vector,
            [shelf for shelf, free in zip(others, lenient, strict=True) if free],
            said,
            chain,
        )

    async def _search(self, asked: _Asked, places: _Places) -> list[Candidate]:
        """The nearest entries, best first; those of another conversation only if it matches turn by turn."""
        if places.chain is None or places.said is None:
            return await self._nearest(places.strict, places.vector)
        found = await self._nearest(places.strict, places.vector) if places.strict else []
        relatives = (await self._nearest(places.loose, places.said))[:CONVERSATIONS]
        found += await self._matching(asked, places.chain, relatives, places.vector)
        return sorted(found, key=lambda candidate: -candidate.score)

    async def _nearest(self, shelves: Sequence[bytes], vector: Vector) -> list[Candidate]:
        index = self._parts.index
        neighbours = index.search_now(shelves, vector, NEIGHBOURS)
        if neighbours is None:
            neighbours = await self._faults.guard("index", index.search_all(shelves, vector, NEIGHBOURS))
        card_of = self._parts.catalogue.get
        return [
            Candidate(card, neighbour.score)
            for neighbour in neighbours
            if (card := card_of(neighbour.entry_id)) is not None
        ]

    async def _matching(
        self, asked: _Asked, chain: Chain, relatives: Sequence[Candidate], vector: Vector
    ) -> list[Candidate]:
        """Those whose every turn matches; the score of each becomes that of its weakest turn."""
        alike: list[tuple[Candidate, tuple[Pair, ...]]] = []
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
        lasts = await self._embed_all([candidate.card.text for candidate, _ in alike])
        rescored = [
            (replace(candidate, score=_cosine(vector, row)), differing)
            for (candidate, differing), row in zip(alike, lasts, strict=True)
        ]
        for role in ("user", "assistant"):
            rescored = await self._weakest(asked, rescored, role)
        return [candidate for candidate, _ in rescored]

    async def _weakest(
        self, asked: _Asked, found: Sequence[tuple[Candidate, tuple[Pair, ...]]], role: str
    ) -> list[tuple[Candidate, tuple[Pair, ...]]]:
        """Those of whose pairs of this role every one matches, with their scores lowered to the weakest."""
        texts = {text: 0 for _, pairs in found for pair in pairs if pair.role == role for text in pair[1:]}
        if not texts:
            return list(found)
        rows = dict(zip(texts, await self._embed_all(list(texts)), strict=True))
        left = []
        for candidate, pairs in found:
            scores = [(pair, _cosine(rows[pair.asked], rows[pair.kept])) for pair in pairs if pair.role == role]
            if all(self._same_turn(asked, candidate.card, pair, score) for pair, score in scores):
                weakest = min([candidate.score, *(score for _, score in scores)])
                left.append((replace(candidate, score=weakest), pairs))
        return left

    def _same_turn(self, asked: _Asked, card: Card, pair: Pair, score: float) -> bool:
        """Whether two wordings are one turn: the user's if an answer could be served across them."""
        if any(conflict.veto for conflict in guards.conflicts(pair.asked, pair.kept, asked.guards)):
            return False
        if pair.role == "assistant":
            return score >= conversation.ALIKE
        turn = asked._replace(request=replace(asked.request, text=pair.asked))
        return isinstance(self._choose(turn, [Candidate(replace(card, text=pair.kept), score)]), Serve)

    async def _kept(self, card: Card) -> Chain | None:
        """The conversation of an entry, which only the entry itself holds; None when it cannot be read."""
        entry = self._parts.answers.get(card.id)
        if entry is None:
            try:
                [entry] = await self._faults.guard("store", self._parts.store.get([card.id]))
            except IntegrityError:
                return None
            if entry is None:
                return None
            self._parts.answers.put(entry)
        return conversation.stored(entry.key.canonical)

    def _choose(self, asked: _Asked, candidates: Sequence[Candidate]) -> Decision:
        request = asked.request
        return decide.semantic(
            candidates,
            text=request.text,
            category=asked.policy.name,
            threshold=self._parts.threshold,
            conflicts=lambda query, cached: guards.conflicts(query, cached, asked.guards),
            controls=request.controls,
            now=self._parts.clock(),
            rejected=self._parts.catalogue.rejected(asked.key.exact),
            draw=asked.draw,
            tenant=request.scope.tenant,
            revalidate=asked.policy.revalidate,
        )

    def _exact_alone(self, request: Request, policy: Category) -> bool:
        """Whether a paraphrase must not be sought.

        That is also when the caller wants fewer errors than the pack allows, or speaks of what is not in the request.
        """
        asked = request.controls.max_error
        if asked is not None and asked < self._parts.pack.target:
            return True
        return eligibility.semantic_eligible(request, policy) is not None or conversation.alone(
            request.identity, request.text
        )


def _alone(exact: Forward) -> Forward:
    return Forward(Why.EXACT_ONLY) if exact == Forward(Why.COLD) else exact


def _chain(request: Request, near: Sequence[Category]) -> Chain | None:
    """The conversation, if it has earlier turns that any of these categories lets match by meaning."""
    if request.traits.turns < 2 or all(category.context == "exact" for category in near):
        return None
    chain = conversation.read(request.identity)
    return chain if chain.turns else None


def _cosine(one: Vector, two: Vector) -> float:
    return max(-1.0, min(1.0, float(one @ two)))
