"""How long an answer lives.

Pure; the clock is the caller's. Invariant: a TTL counts from creation, and nothing here ever extends one.
"""

from __future__ import annotations

from semcache.policy import Pack
from semcache.types import Request


class FixedFreshness:
    """`protocols.Freshness` with the TTL of each category as the pack states it."""

    def __init__(self, pack: Pack) -> None:
        self._pack = pack

    def ttl(self, request: Request, category: str) -> float:
        """Seconds: the category's TTL, shortened by the caller's where that is lower."""
        ttl, asked = self._pack.of(category).ttl, request.controls.ttl
        return ttl if asked is None or asked > ttl else asked
