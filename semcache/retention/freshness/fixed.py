"""Fixed freshness, the baseline: the TTL that the pack states.

Pure. Invariant: nothing here exceeds the category's `ttl`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from semcache.config.packs import Pack
from semcache.types import Request, Volatility

if TYPE_CHECKING:
    from semcache.types import Vector


class FixedFreshness:
    """`protocols.Freshness` with the TTL of each category as the pack states it."""

    def __init__(self, pack: Pack) -> None:
        self._pack = pack

    def kind(self, text: str, vector: Vector | None = None) -> Volatility:  # noqa: ARG002
        """SLOW, whatever the prompt: nothing here depends on it."""
        return Volatility.SLOW

    def ttl(self, request: Request, category: str, vector: Vector | None = None) -> float:  # noqa: ARG002
        """Seconds: the category's TTL, shortened by the caller's where that is lower."""
        return shortened(self._pack.of(category).ttl, request)

    def observe(self, category: str, exposure: float, changed: bool, kind: Volatility = Volatility.SLOW) -> None:
        """Learn nothing."""

    def state(self) -> dict[str, Any]:
        """Nothing."""
        return {}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up nothing."""


def shortened(ttl: float, request: Request) -> float:
    """`ttl`, or what the caller asks for where that is less; never below 0."""
    asked = request.controls.ttl
    return max(0.0, ttl if asked is None or asked > ttl else asked)
