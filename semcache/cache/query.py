"""A query: a request that the exact tier could not serve, and the terms on which it and its paraphrases are decided.

Decides nothing. Invariant: every tier is asked the same query, on terms that are made in one place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from semcache.config.packs import Category, Pack
from semcache.matching.decide import RequestTerms
from semcache.storage.entry_registry import EntryRegistry
from semcache.types import CacheKey, Forward, Lookup, Request, Timings, Why

COLD = Forward(Why.COLD)


@dataclass(frozen=True, slots=True)
class Query:
    """A request that the exact tier could not serve.

    `rule` is the category that the caller or a rule named, `refused` the reason if there was an entry of the identical
    request, and `seconds` the time that the key took. A `quiet` query explains a prompt: nothing is counted.
    """

    request_id: str
    request: Request
    key: CacheKey
    rule: str | None = None
    refused: Forward | None = None
    seconds: float = 0.0
    quiet: bool = False

    def lookup_without_paraphrases(self, policy: Category) -> Lookup:
        """Return the lookup of a request whose paraphrases must not be sought."""
        decision = self.refused or Forward(Why.EXACT_ONLY)
        return Lookup(self.request_id, self.request, self.key, policy.name, decision, timings=Timings(key=self.seconds))


class AskedRequest(NamedTuple):
    """A request under the terms that it is decided by."""

    request: Request
    policy: Category
    guards: tuple[str, ...]
    terms: RequestTerms


class TermsMaker:
    """Makes the terms on which requests are decided now. One instance a cache.

    `draw` gives uniform random numbers in [0, 1).
    """

    def __init__(
        self, pack: Pack, registry: EntryRegistry, *, clock: Callable[[], float], draw: Callable[[], float]
    ) -> None:
        self.draw = draw
        self._pack, self._registry, self._clock = pack, registry, clock

    def of(self, request: Request, key: CacheKey, category: str, otherwise: Forward = COLD) -> RequestTerms:
        """Return the terms of a request in this category, with a number that is drawn for its audit."""
        return self._made(request, key, category, draw=self.draw(), otherwise=otherwise)

    def undrawn(self, request: Request, key: CacheKey, category: str) -> RequestTerms:
        """Return the terms of a request whose hit is never audited, so that no number is drawn for it."""
        return self._made(request, key, category, draw=0.0, otherwise=COLD)

    def _made(self, request: Request, key: CacheKey, category: str, *, draw: float, otherwise: Forward) -> RequestTerms:
        return RequestTerms.of(
            request,
            category,
            now=self._clock(),
            rejected=self._registry.rejected(key.exact),
            draw=draw,
            revalidate=self._pack.of(category).revalidate,
            otherwise=otherwise,
        )
