"""The learned state of near hits, kept in the store over a restart and shared by workers, and the examples of entries.

An example is made of an entry of the cache: it is purged, sealed, and expires with it, and its text lies nowhere else.
Invariant: state that was learned for other models or another promise is not restored.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

import msgspec

from semcache.dialects import dialects
from semcache.types import ChangeKind

if TYPE_CHECKING:
    from semcache.agents.nearhits.near import Lesson
    from semcache.cache.components import Components
    from semcache.protocols import VectorBatch
    from semcache.proxy.near_hit_replays import ExampleReplays
    from semcache.proxy.near_hit_service import NearHitService

NAME = "near"
_FULL = 0.9
_LINE = 64  # writings that a state remembers to go back to
_BATCH = 64  # entries that are read without letting requests through
_log = logging.getLogger(__name__)


class NearHitState:
    """The persistent state of one process's near hits.

    Workers learn from each other: each applies its own new comparisons to the state that was written last and writes
    the result, so that there is one line of states, in which every comparison counts once.
    """

    def __init__(self, service: NearHitService, replays: ExampleReplays, components: Components) -> None:
        self._service, self._near, self._replays = service, service.near, replays
        self._components, self._store = components, components.store
        self._line: list[int] = []  # the last writings that the present state goes back to
        self._last = 0
        self._sent: tuple[Lesson, ...] = ()
        self._written: dict[str, Any] | None = None
        self._at = self._seen = 0
        self._saving = asyncio.Lock()

    async def restore(self) -> None:
        """Restore the state that the store holds. Raises StoreError."""
        self._seen = await self._store.head()
        await self._merge_saved()

    async def save(self) -> None:
        """Apply the new comparisons to the state that others have written, and save it. Raises StoreError."""
        async with self._saving:
            await self._merge_saved()
            state, lessons = self._near.state(), tuple(self._near.lessons)
            if state == self._written:
                return
            number = self._components.new_id()
            line = [*self._line, number][-_LINE:]
            content = msgspec.json.encode({"promises": self._promises(), "line": line, "state": state})
            # A store keeps the highest, and clocks of several machines differ.
            self._at = max(self._at + 1, int(1000 * self._components.clock()))
            await self._store.learn(NAME, self._at, content)
            self._line, self._last, self._sent, self._written = line, number, lessons, state
            for _ in lessons:
                self._near.lessons.popleft()

    async def sweep(self, now: float) -> None:  # noqa: ARG002
        """Forget examples whose entries are gone, and save. Raises StoreError."""
        self._near.pool.prune()
        self._replays.prune()
        await self.save()

    async def follow(self) -> None:
        """Make examples of the large model's answers to requests of other workers. Raises StoreError."""
        changes = await self._store.changes(self._seen)
        if not changes:
            return
        self._seen = changes[-1].seq
        put = [one.entry_id for one in changes if one.kind is ChangeKind.PUT]
        fresh = [number for number in dict.fromkeys(put) if self._near.pool.get(number) is None]
        for at in range(0, len(fresh), _BATCH):
            await self._add_examples(
                await self._store.vectors_of(fresh[at : at + _BATCH], self._components.embedder.id)
            )

    async def fill(self) -> None:
        """Make examples of the large model's answers in the store, as many as there is room for. Raises StoreError."""
        async for batch in self._store.vectors(
            self._components.embedder.id, now=self._components.clock(), batch=_BATCH
        ):
            await self._add_examples(batch)
            if self._near.pool.bytes > _FULL * self._near.settings.bytes:
                return

    async def _add_examples(self, batch: VectorBatch) -> None:
        large, known = self._near.settings.large.name, dialects()
        rows = {card.id: row for row, card in enumerate(batch.cards)}
        for entry in await self._store.get(list(rows)):
            if entry is not None and entry.model == large and self._near.pool.get(entry.id) is None:
                answer = known[entry.endpoint].parse(entry.body)
                vector = batch.matrix[rows[entry.id]].copy()
                self._service.add_example(entry.id, entry.key, answer, vector, entry.cost, entry.created)

    async def _merge_saved(self) -> None:
        """Apply the new comparisons to the state that was written last, if another worker wrote it."""
        saved = await self._store.learned(NAME)
        if saved is None:
            return
        self._at = saved[0]
        try:
            kept = msgspec.json.decode(saved[1])
            if kept["promises"] != self._promises():
                return
            line = [int(number) for number in kept["line"]]
            if line[-1:] == [self._last]:
                return
            # What was written at the same moment as another's is not in the line of what came to be.
            lost = () if self._last in line else self._sent
            self._near.restore(kept["state"], [*lost, *self._near.lessons])
        except (msgspec.MsgspecError, ValueError, TypeError, LookupError, AttributeError):
            _log.warning("what was learned of near hits cannot be read: learning anew")
            return
        self._line, self._sent, self._last, self._written = line, (), line[-1], kept["state"]
        self._near.lessons.extendleft(reversed(lost))

    def _promises(self) -> dict[str, Any]:
        """Return the settings that the state holds for: under other ones it is not restored."""
        given = self._near.settings
        judge = getattr(self._components.judge, "name", "")
        return {
            "small": given.small.name,
            "large": given.large.name,
            "target": given.target,
            "confidence": given.confidence,
            "judge": judge,
            "embedder": self._components.embedder.id,
            "strategy": given.strategy,
        }
