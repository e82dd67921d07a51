"""What near hits keep over a restart: what was learned in the store's states, examples in the cache's own entries.

An example is an entry of the cache: it is purged, sealed, and outlived with it, and nothing of its text lies anywhere
else. Invariant: what was learned for other models or another promise is not taken up.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import msgspec

from semcache.wire import dialects

if TYPE_CHECKING:
    from semcache.parts import Parts
    from semcache.proxy.nearby import Nearby

NAME = "near"
_FULL = 0.9
_BATCH = 64  # entries that are read without letting requests through
_log = logging.getLogger(__name__)


class NearMemory:
    """The memory of one process's near hits; of several workers, the one that wrote last is read."""

    def __init__(self, nearby: Nearby, parts: Parts) -> None:
        self._nearby, self._near, self._parts = nearby, nearby.near, parts
        self._written = b""

    async def restore(self) -> None:
        """Take up what was learned. Raises StoreError."""
        saved = await self._parts.store.learned(NAME)
        if saved is None:
            return
        try:
            kept = msgspec.json.decode(saved[1])
            if kept["promises"] == self._promises():
                self._near.restore(kept["state"])
        except (msgspec.MsgspecError, ValueError, TypeError, LookupError, AttributeError):
            _log.warning("what was learned of near hits cannot be read: learning anew")

    async def save(self) -> None:
        """Write down what was learned, if it is anything new. Raises StoreError."""
        state = msgspec.json.encode({"promises": self._promises(), "state": self._near.state()})
        if state != self._written:
            await self._parts.store.learn(NAME, int(1000 * self._parts.clock()), state)
            self._written = state

    async def sweep(self, now: float) -> None:  # noqa: ARG002
        """Forget examples whose entries are gone, and save. Raises StoreError."""
        self._near.pool.prune()
        await self.save()

    async def fill(self) -> None:
        """Make examples of the large model's answers in the store, as many as there is room for. Raises StoreError."""
        parts, large, known = self._parts, self._near.settings.large.name, dialects()
        async for batch in parts.store.vectors(parts.embedder.id, now=parts.clock(), batch=_BATCH):
            rows = {card.id: row for row, card in enumerate(batch.cards)}
            for entry in await parts.store.get(list(rows)):
                if entry is not None and entry.model == large and self._near.pool.get(entry.id) is None:
                    answer = known[entry.endpoint].parse(entry.body)
                    vector = batch.matrix[rows[entry.id]].copy()
                    self._nearby.keep(entry.id, entry.key, answer, vector, entry.cost, entry.created)
            if self._near.pool.bytes > _FULL * self._near.settings.bytes:
                return

    def _promises(self) -> dict[str, Any]:
        """What was learned under: with other ones, nothing of it holds."""
        given = self._near.settings
        judge = getattr(self._parts.judge, "name", "")
        return {
            "small": given.small.name,
            "large": given.large.name,
            "target": given.target,
            "confidence": given.confidence,
            "judge": judge,
            "embedder": self._parts.embedder.id,
        }
