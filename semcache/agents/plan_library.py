"""The templates that one process knows: by partition, with their success rates, and as a store keeps them.

Knows nothing of tasks or of filling in. Invariant: what is found under a partition was put there by a run of that very
tenant, agent, system prompt and set of tool schemas; whatever is changed here is in the store before it is found here.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from semcache.agents.common_patterns import without_loose
from semcache.agents.outcome import PooledOutcomes, predicted
from semcache.agents.passing_values import passing_in
from semcache.agents.run import DeclaredTool, digest
from semcache.agents.template import IN_WORDS, Template, decode, encode, unknown, view
from semcache.agents.template_search import TemplateIndex
from semcache.errors import CacheUnavailable, InvalidArgument
from semcache.storage.stores.plan_rows import PlanStore, StoredPlan
from semcache.storage.stores.plan_sequence import MARK_LIFE
from semcache.types import parse_id, public_id

if TYPE_CHECKING:
    from semcache.protocols import Embedder, VectorIndex
    from semcache.types import Vector

_MOST = 5_000  # templates of a tenant: those that fewest runs have confirmed of late make room
_ROOM = 0.05  # share of them that goes at once
_PAGE = 1000
_OUTCOME_LIFE = 600.0  # seconds for which others can hear how a run ended
_OUTCOME_PREFIX = b"outcome "  # no template begins with this


class PlanLibrary:
    """Templates by partition. `embedder` and `index` (which makes one of a dimension) serve the near tier alone.

    `on_outcome` is called with the outcome of a run that another worker was told of: run, success and tenant.
    """

    def __init__(
        self,
        store: PlanStore,
        *,
        salt: bytes,
        embedder: Embedder | None = None,
        index: Callable[[int], VectorIndex] | None = None,
    ) -> None:
        self._store, self._salt = store, salt
        near = embedder is not None and index is not None
        self._embedder, self._index = (embedder, index) if near else (None, None)
        self._indexes: dict[bytes, TemplateIndex] = {}
        self._where: dict[int, bytes] = {}
        self._count: Counter[str] = Counter()  # templates by tenant
        self._trust: dict[tuple[str, str], PooledOutcomes] = {}
        self._seq = 0
        self._lock = asyncio.Lock()
        self.on_outcome: Callable[[str, bool, str], object] = lambda _run, _success, _tenant: None

    def partition(self, tenant: str, agent: str, tools: Mapping[str, DeclaredTool], system: str) -> bytes:
        """The hard boundary: 16 bytes."""
        schemas = sorted((name, tool.digest.hex()) for name, tool in tools.items())
        return digest(self._salt.hex(), tenant, agent, schemas, system)

    def index_of(self, partition: bytes) -> TemplateIndex | None:
        """The templates of a partition, None where there are none."""
        return self._indexes.get(partition)

    def templates(self, tenant: str | None = None) -> list[Template]:
        """Every template, or those of one tenant, oldest first."""
        found = [one for index in self._indexes.values() for one in index.templates.values()]
        return sorted((one for one in found if tenant in (None, one.tenant)), key=lambda one: (one.created, one.id))

    def get(self, plan_id: str | None, tenant: str | None = None) -> Template | None:
        """The template of that id, None when there is none (of that tenant)."""
        number = parse_id(plan_id or "")
        partition = None if number is None else self._where.get(number)
        if partition is None or number is None:
            return None
        found = self._indexes[partition].templates.get(number)
        return found if found is not None and tenant in (None, found.tenant) else None

    def predicted(self, template: Template, now: float) -> float:
        """The probability that a template succeeds now."""
        return predicted(template, self._trust.get((template.tenant, template.agent), PooledOutcomes()), now)

    def summaries(self, tenant: str | None, now: float) -> list[dict[str, Any]]:
        """Every template, or those of one tenant, oldest first, in the few facts that a list shows."""
        return [
            {
                "id": public_id(one.id),
                "tenant": one.tenant,
                "agent": one.agent,
                "task": one.patterns[0].text(),
                "steps": len(one.steps),
                "writes": one.writes(),
                "runs": one.runs,
                "success": self.predicted(one, now),
                "expires": one.expires,
                "version": one.version,
                "retired": one.retired,
            }
            for one in self.templates(tenant)
        ]

    def believe(self, template: Template, *, success: bool) -> None:
        """Count an outcome of this template for the templates of the same agent."""
        who = template.tenant, template.agent
        self._trust[who] = self._trust.get(who, PooledOutcomes()).learn(success=success)

    async def keep(self, template: Template) -> None:
        """Store a template in place of the one of its id. Raises StoreError."""
        vectors = await self._vectors(template)
        data = np.asarray(vectors, "<f4").tobytes() if vectors else b""
        name = self._embedder.id if self._embedder is not None and vectors else ""
        row = StoredPlan(template.id, template.tenant, encode(template), template.expires, name, data)
        await self._store.put_plans([row])
        self._place(template, vectors)

    async def edit(self, plan_id: str, data: Mapping[str, Any], tenant: str | None = None) -> Template:
        """Put an edited view in the place of a template; whose it is does not change. Raises InvalidArgument."""
        async with self.changing():
            old = self.get(plan_id, tenant)
            if old is None:
                raise InvalidArgument(f"there is no plan {plan_id!r}: `semcache plans list` shows those there are")
            try:
                new = decode({**view(old), **data})
            except ValueError as error:
                raise InvalidArgument(f"plan {plan_id}: {error}") from error
            if lacking := unknown(new):
                raise InvalidArgument(
                    f"plan {plan_id} names {lacking[0]}, which it does not have: see its slots and tools"
                )
            whose = {name: getattr(old, name) for name in ("id", "tenant", "agent", "partition", "created")}
            new = replace(new, **whose, version=old.version + 1)
            # Whoever edits lines of text says that they are a plan.
            new = replace(new, expects=IN_WORDS) if _is_answer(new) and not new.retired else _put_aside(new)
            await self.keep(new)
            return new

    async def purge(
        self, ids: Sequence[str] | None = None, *, tenant: str | None, agent: str | None, now: float, dry_run: bool
    ) -> list[str]:
        """Delete templates and return their ids: those named, or all of a tenant and agent. Raises StoreError."""
        wanted = None if ids is None else set(ids)
        async with self.changing():
            gone = [
                one
                for one in self.templates(tenant)
                if (wanted is None or public_id(one.id) in wanted) and agent in (None, one.agent)
            ]
            if not dry_run:
                await self._drop(gone, now)
        return [public_id(one.id) for one in gone]

    async def erase(self, tenant: str, now: float) -> None:
        """Forget all templates of a tenant. Raises StoreError."""
        await self.purge(tenant=tenant, agent=None, now=now, dry_run=False)

    async def make_room(self, tenant: str, now: float) -> None:
        """Delete the least useful templates of a tenant that has as many as it may: retired ones, and then the stalest.

        For use inside `changing`. Raises StoreError.
        """
        beyond = self._count[tenant] + 1 - _MOST
        if beyond > 0:
            known = sorted(self.templates(tenant), key=lambda one: (not one.retired, one.expires))
            await self._drop(known[: max(beyond, int(_ROOM * _MOST))], now)

    async def _drop(self, gone: Sequence[Template], now: float) -> None:
        await self._store.put_plans([StoredPlan(one.id, one.tenant, b"", now + MARK_LIFE) for one in gone])
        for one in gone:
            self._forget(one.id)

    async def sweep(self, now: float, *, grace: float) -> None:
        """Forget templates that expired so long ago, and the marks of those that are gone. Raises StoreError."""
        before = now - grace
        expired = [public_id(one.id) for one in self.templates() if one.expires < before]
        await self.purge(expired, tenant=None, agent=None, now=now, dry_run=False)
        await self._store.sweep_plans(before)

    async def tell(self, run: str, *, success: bool, tenant: str, now: float) -> None:
        """Tell other workers how a run ended that one of them may have seen. Raises StoreError."""
        said = _OUTCOME_PREFIX + msgspec.json.encode((run, success))
        number = int.from_bytes(digest(self._salt.hex(), tenant, run)[:8]) >> 1
        await self._store.put_plans([StoredPlan(number, tenant, said, now + _OUTCOME_LIFE)])

    @asynccontextmanager
    async def changing(self) -> AsyncIterator[None]:
        """Read templates and change them in this block: it begins with the newest, and nobody here comes between.

        Raises StoreError.
        """
        async with self._lock:
            await self._catch_up()
            yield

    async def refresh(self) -> int:
        """Take over what any worker has changed in the store; returns how many rows. Raises StoreError."""
        async with self._lock:
            return await self._catch_up()

    async def _catch_up(self) -> int:
        count = 0
        while True:
            rows = await self._store.plans(self._seq, limit=_PAGE)
            for row in rows:
                self._seq = max(self._seq, row.seq)
                self._take(row)
            count += len(rows)
            if len(rows) < _PAGE:
                return count

    async def vector(self, text: str) -> Vector | None:
        """The embedding of a task, None where there is no near tier or it is down."""
        if self._embedder is None:
            return None
        try:
            found: Vector = (await self._embedder.embed([text]))[0]
        except CacheUnavailable:
            return None
        return found

    async def _vectors(self, template: Template) -> list[Vector]:
        if self._embedder is None:
            return []
        try:
            return list(await self._embedder.embed([pattern.text() for pattern in template.patterns]))
        except CacheUnavailable:
            return []

    def _take(self, row: StoredPlan) -> None:
        if not row.body:
            self._forget(row.id)
            return
        try:
            if row.body.startswith(_OUTCOME_PREFIX):
                run, success = msgspec.json.decode(row.body.removeprefix(_OUTCOME_PREFIX), type=tuple[str, bool])
                self.on_outcome(run, success, row.tenant)
                return
            template = decode(row.body)
        except ValueError:  # no template
            return
        template = _put_aside(template)
        who = template.tenant, template.agent
        old, trust = self.get(public_id(template.id)), self._trust.get(who, PooledOutcomes())
        good, bad = (old.good, old.bad) if old is not None else (0.0, 0.0)
        self._trust[who] = PooledOutcomes(
            trust.good + max(0.0, template.good - good), trust.bad + max(0.0, template.bad - bad)
        )
        vectors: list[Vector] = []
        if self._embedder is not None and row.vectors and row.embedder_id == self._embedder.id:
            vectors = list(np.frombuffer(row.vectors, "<f4").reshape(-1, self._embedder.dim))
        kept = without_loose(template.patterns)
        if len(kept) < len(template.patterns):
            # Earlier versions took any word where two tasks had different ones, opposites too.
            template = replace(template, patterns=tuple([template.patterns[place] for place in kept]))
            vectors = [vectors[place] for place in kept] if vectors else []
        self._place(template, vectors)

    def _place(self, template: Template, vectors: Sequence[Vector]) -> None:
        if template.id not in self._where:
            self._count[template.tenant] += 1
        self._where[template.id] = template.partition
        index = self._indexes.get(template.partition)
        if index is None:
            near = self._index(self._embedder.dim) if self._index and self._embedder else None
            index = self._indexes[template.partition] = TemplateIndex(near, salt=self._salt)
        index.put(template, vectors)

    def _forget(self, id: int) -> None:
        partition = self._where.pop(id, None)
        if partition is not None:
            self._count[self._indexes[partition].templates[id].tenant] -= 1
            self._indexes[partition].remove(id)
            if not len(self._indexes[partition]):
                del self._indexes[partition]


def _put_aside(template: Template) -> Template:
    """A template of an earlier version that learned too much from its runs is retired; any other is left as it is."""
    if template.retired:
        return template
    if _is_answer(template):
        # Earlier versions took every answer without calls for a plan.
        return replace(template, retired="an answer that nobody called a plan")
    if any(passing_in(one.arguments) for step in template.steps for one in step.actions):
        # Earlier versions took the date of two runs of one day for a part of the plan.
        return replace(template, retired="a date or a time that no task said")
    return template


def _is_answer(template: Template) -> bool:
    """Return True if there is text in a template of which nobody said that it is a plan."""
    return template.expects != IN_WORDS and any(step.text is not None for step in template.steps)
