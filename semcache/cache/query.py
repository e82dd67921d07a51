"""A query: a request that the exact tier could not serve, and the terms on which its paraphrases are searched.

Decides nothing. Invariant: every tier is asked the same query.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from semcache.config.packs import Category
from semcache.matching import decide
from semcache.types import CacheKey, Forward, Lookup, Request, Timings, Why


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

    def exact_only(self, policy: Category) -> Lookup:
        """Return the lookup of a request whose paraphrases must not be sought."""
        decision = self.refused or Forward(Why.EXACT_ONLY)
        return Lookup(self.request_id, self.request, self.key, policy.name, decision, timings=Timings(key=self.seconds))


class AskedRequest(NamedTuple):
    """A request under the terms that it is decided by."""

    request: Request
    policy: Category
    guards: tuple[str, ...]
    terms: decide.RequestTerms
