"""The semantic tier: embed a prompt, choose where to search, and decide on what is found.

Knows nothing of the exact tier's answers, nor of what happens after a decision. Invariant: only shelves of the
request's own scope and signature are searched, and a neighbour kept under another category's terms is served only if it
meets the terms of both.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from semcache import decide, eligibility, guards, keys
from semcache.errors import EmbedError
from semcache.faults import Faults
from semcache.policy import Category
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
    Why,
)

if TYPE_CHECKING:
    from semcache.opening import Parts
    from semcache.types import Vector

NEIGHBOURS = 8


class SemanticTier:
    """Looks for paraphrases. One instance a cache."""

    def __init__(self, parts: Parts, faults: Faults) -> None:
        self._parts = parts
        self._faults = faults

    async def look(
        self, request_id: str, request: Request, key: CacheKey, rule: str | None, exact: Forward, seconds: float
    ) -> Lookup:
        """Look a request up that the exact tier could not serve, for the reason `exact`. Raises CacheUnavailable.

        `rule` is the category that the caller or a rule named; `seconds` is what the key has cost.
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
        shelves = [self._shelf(key, category) for category in near if category.cache and category.semantic]
        decision: Decision = exact
        if not request.controls.no_cache:
            candidates = await self._search(shelves, vector)
            searched = time.perf_counter()
            decision = self._choose(request, key, policy, candidates)
            if decision == Forward(Why.COLD):
                decision = exact
            done = time.perf_counter()
            timings = Timings(key=seconds, embed=embedded - started, search=searched - embedded, guard=done - searched)
        return Lookup(request_id, request, key, policy.name, decision, shelves[0], vector, timings)

    def acceptable(self, lookup: Lookup, card: Card, score: float) -> bool:
        """Whether an answer still in the air would be served to this request."""
        assert lookup.key is not None
        policy = self._parts.pack.of(lookup.category)
        decision = self._choose(lookup.request, lookup.key, policy, [Candidate(card, score)])
        return isinstance(decision, Serve)

    async def _embed(self, text: str) -> Vector:
        async def one() -> Vector:
            matrix = await self._parts.embedder.embed([text])
            if len(matrix) != 1 or not math.isfinite(float(matrix[0] @ matrix[0])):
                raise EmbedError(f"embedder {self._parts.embedder.id!r} did not return one finite vector")
            vector: Vector = matrix[0]
            return vector

        return await self._faults.guard("embedder", one())

    def _categories(self, request: Request, rule: str | None, vector: Vector) -> list[Category]:
        """Where to keep this request, and then where else its paraphrases may have been kept."""
        pack = self._parts.pack
        if request.controls.category is not None:
            return [pack.of(request.controls.category)]
        near = [pack.of(name) for name in self._parts.categories.near(vector)]
        if rule is not None:
            return [pack.of(rule), *[category for category in near if category.name != rule]]
        return near

    async def _search(self, shelves: Sequence[bytes], vector: Vector) -> list[Candidate]:
        """The nearest entries on these shelves, best first."""
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

    def _choose(self, request: Request, key: CacheKey, policy: Category, candidates: Sequence[Candidate]) -> Decision:
        return decide.semantic(
            candidates,
            text=request.text,
            category=policy.name,
            threshold=self._parts.threshold,
            conflicts=lambda query, cached: guards.conflicts(query, cached, policy.guards),
            controls=request.controls,
            now=self._parts.clock(),
            rejected=self._parts.catalogue.rejected(key.exact),
            draw=self._parts.rng.random(),
        )

    def _shelf(self, key: CacheKey, category: Category) -> bytes:
        return keys.shelf_of(key, category.name, self._parts.embedder.id, self._parts.store.salt)

    def _exact_alone(self, request: Request, policy: Category) -> bool:
        """Whether a paraphrase must not be sought, also because the caller wants fewer errors than the pack allows."""
        asked = request.controls.max_error
        if asked is not None and asked < self._parts.pack.target:
            return True
        return eligibility.semantic_eligible(request, policy) is not None


def _alone(exact: Forward) -> Forward:
    return Forward(Why.EXACT_ONLY) if exact == Forward(Why.COLD) else exact
