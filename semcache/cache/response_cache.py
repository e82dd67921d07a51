"""The response cache: looks up requests, stores answers, learns from feedback. The one place where core and I/O meet.

Knows nothing of HTTP or agents. Invariant: no fault of the cache leaves `consult`, nor does it wait for a broken part:
a fault of store, index or embedder becomes `Forward(Why.FAULT)` and is counted. It raises `RequestRejected` alone, for
what the pack forbids. An answer that `admit` reports as stored is durable.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, Unpack

from semcache.cache.found import check_report
from semcache.cache.operating import Operating
from semcache.cache.query import Query
from semcache.dialects import dialects
from semcache.errors import CacheUnavailable
from semcache.learning.key_reports import Reporter
from semcache.request import conversation, eligibility, ignored
from semcache.runtime.guarded_calls import surviving
from semcache.runtime.slow_reading import unblocking
from semcache.storage.accounting import Facts, recorded, statistics
from semcache.types import (
    Admission,
    Assembled,
    CacheKey,
    Card,
    Discard,
    Endpoint,
    Entry,
    Forward,
    Lookup,
    Outcome,
    Recorded,
    Request,
    Selector,
    Serve,
    Store,
    Timings,
    Verify,
    Why,
    parse_id,
)

if TYPE_CHECKING:
    from semcache.cache.components import Components
    from semcache.cache.judged_lookup import Hedge
    from semcache.config.packs import Category
    from semcache.types import ApiKey, Vector

_BETWEEN = 8  # answers that are taken in before others are served
# Discards of what is no answer to compare with.
_NO_ANSWER = frozenset([Why.INCOMPLETE, Why.REFUSAL, Why.TOOL_STEP, Why.EMPTY])


class ResponseCache:
    """A cache of opened `components`, which close with it. The proxy and the caches of the library are made of it."""

    def __init__(self, components: Components) -> None:
        self.components = components
        self.pack = components.pack
        self.registry = components.live.registry
        self.event_log = components.event_log
        self.meter = components.meter
        self.prices = components.prices
        self.clock = components.clock
        self._store = components.store
        self._strategy = components.strategy
        self._faults = components.faults
        self._writer = components.writer
        self._lookup = components.lookup
        self._learner = components.learner
        self._maintenance = components.maintenance
        self.operating = Operating(components)
        self._standings: dict[str, Callable[[], dict[str, Any]]] = {}

    async def close(self) -> None:
        """Write what is pending and release everything. Comparisons that wait for a slow judge stay in the store."""
        async with self.components.closing:
            await self._writer.settle()
            await self.components.background.settle()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    async def feedback(
        self,
        entry_id: str | None,
        *,
        correct: bool,
        tenant: str | None = None,
        who: str = "library",
        reporter: Reporter | None = None,
    ) -> bool:
        """Report that a served answer was right or wrong; False if there is no such entry (of that tenant).

        A wrong entry is never served again to the requests it was served to. An entry that was only ever replayed to
        its own request is deleted. If several workers serve, requests served by the others are looked up half a second
        later. `reporter` is a key that may not alone change what others of its tenant are served. Raises RateLimited
        for too many of its reports, InvalidArgument for what is no verdict or no tenant, and StoreError.
        """
        check_report(entry_id, tenant, correct=correct)
        number = parse_id(entry_id or "")
        report = self.components.feedback.report
        return await report(number, correct=correct, tenant=tenant, who=who, reporter=reporter)

    async def settle(self) -> None:
        """Wait until background work, judging and learning are done and every outcome is written."""
        await self._writer.settle()
        await self.components.background.settle()
        await self._learner.settle()
        await self.event_log.flush()

    # Requests and answers

    async def consult(
        self, request: Request, request_id: str, *, paraphrases: bool = True, quiet: bool = False
    ) -> Lookup:
        """Decide on a request; a fault of the cache is a reason to forward.

        Where `paraphrases` will not do, only its own answer is served; of a `quiet` one nothing is counted. Raises
        RequestRejected alone, for a category that the pack does not have.
        """
        started = time.perf_counter()
        request = ignored.without(request, self.pack.ignore_in_system)
        self._learner.log.corroboration.saw(request.scope.tenant)
        self.components.memos.enter(request.scope)
        category = self.components.categorizer.by_rule(request)
        policy = self.pack.of(category or "default")
        size = 0 if request.endpoint is Endpoint.EMBEDDINGS else len(request.raw)
        key = await unblocking(size, self._read, request, policy)
        if isinstance(key, Why):
            return Lookup(request_id, request, None, policy.name, Forward(key, Outcome.BYPASS))
        exact = self.components.exact.look(request, key, category)
        seconds = time.perf_counter() - started
        if isinstance(exact, Serve):
            return Lookup(request_id, request, key, exact.card.category, exact, timings=Timings(key=seconds))
        query = Query(request_id, request, key, category, exact, seconds, quiet)
        try:
            return await self._by_wording_or_meaning(query, paraphrases=paraphrases)
        except CacheUnavailable:
            return Lookup(request_id, request, key, policy.name, Forward(Why.FAULT), timings=Timings(key=seconds))

    async def _by_wording_or_meaning(self, query: Query, *, paraphrases: bool) -> Lookup:
        """Look up what the exact tier could not serve. Raises CacheUnavailable."""
        equal = self.components.wordings.look(query) if paraphrases else None
        if equal is not None and isinstance(equal.decision, Serve):
            return equal
        if equal is not None and isinstance(equal.decision, Forward):
            # An equal wording that is held back is the reason, unless the exact tier had one.
            query = replace(query, refused=query.refused or equal.decision)
        found = await self._lookup.look(query, serving=paraphrases)
        return self.components.quorum.settled(found, query.refused, quiet=query.quiet)

    def _read(self, request: Request, policy: Category) -> CacheKey | Why:
        """Return the key of a request, or the reason against looking it up and keeping it."""
        why = eligibility.ineligible(request, policy) or eligibility.unkept(request)
        if why is None and self.pack.share == "user" and request.scope.user is None:
            why = Why.PERSONAL
        return conversation.cache_key(request, self._store.salt) if why is None else why

    async def verified(self, lookup: Lookup, *, waits: bool = True) -> Lookup:
        """Call whom the pack names, a verifier or a language model, to settle a doubt; leave other lookups as they are.

        A request that `waits` for no language model's verdict has at most one that is remembered. Never raises.
        """
        if isinstance(lookup.decision, Verify) and self.pack.of(lookup.category).verify != "llm":
            draw = self.components.rng.random()
            verifiers = self.components.verifiers
            lookup = await verifiers.settle(lookup, pack=self.pack, threshold=self._strategy, draw=draw)
        if isinstance(lookup.decision, Serve):
            return lookup
        return await self.components.judged.settle(lookup, waits=waits)

    async def relook(self, lookup: Lookup) -> Lookup:
        """Follow other workers; decide anew if one of them has answered the very same request meanwhile."""
        if lookup.key is None:
            return lookup
        with surviving("following other workers"):
            await self._maintenance.apply_changes()
        rule = self.components.categorizer.by_rule(lookup.request)
        exact = self.components.exact.look(lookup.request, lookup.key, rule)
        return replace(lookup, category=exact.card.category, decision=exact) if isinstance(exact, Serve) else lookup

    async def acceptable(self, lookup: Lookup, card: Card, score: float) -> bool:
        """Return True if an answer that is still being made would be served to this request.

        The local verifier is asked if it has to be, a language model is not.
        """
        decision = self._lookup.of_coming(lookup, card, score)
        if not isinstance(decision, Verify):
            return isinstance(decision, Serve)
        return await self.components.verifiers.passes(lookup, decision, pack=self.pack, threshold=self._strategy)

    def may_share(self, lookup: Lookup) -> bool:
        """Return True unless a quorum keeps a request from others: its call in flight, or an example of it."""
        return not self.components.quorum.applies(lookup)

    def hedge(self, lookup: Lookup) -> Hedge | None:
        """Return the hedge of a request that is being forwarded; None if no verdict is asked for."""
        return self.components.judged.hedge(lookup)

    async def entry(self, served: Serve, key: CacheKey | None) -> Entry | None:
        """The stored entry behind a decision; None if it is gone, is not what it claims to be, or the store is down."""
        return await self.components.entries.read(served, key)

    async def guess(self, lookup: Lookup) -> str:
        """Guess the answer: that of the same request or of the nearest, servable or not; "" for none. Never raises."""
        decision, key = lookup.decision, lookup.key
        card = self.registry.exact(key.exact) if key is not None else None
        if card is None and isinstance(decision, Forward) and decision.nearest is not None:
            card = decision.nearest.card
        if card is None:
            return ""
        with surviving("guessing an answer", self.meter.faults.labels("cache")):
            entry = await self.entry(Serve(card, Outcome.SEMANTIC, 0.0, 0.0), key)
            return "" if entry is None else dialects()[entry.endpoint].parse(entry.body).text
        return ""

    def admission(self, lookup: Lookup, answer: Assembled, status: int = 200) -> Admission:
        """Return whether the policy would keep this answer, and for how long."""
        return self._writer.maker.admission(lookup, answer, status)

    async def admit(
        self, lookup: Lookup, answer: Assembled, *, status: int = 200, latency: float = 0.0, source: str = "traffic"
    ) -> Admission:
        """Keep an answer if the policy allows it; when this returns Store, the entry is durable. Never raises."""
        admitted = await unblocking(len(answer.body), self.admission, lookup, answer, status)
        if isinstance(admitted, Store):
            fresh = await self._writer.store_answer(lookup, answer, admitted, latency=latency, source=source)
            if isinstance(fresh, Discard):
                return fresh
            self._learner.compare(lookup, fresh)
        return admitted

    async def audited(self, lookup: Lookup, answer: Assembled) -> None:
        """Do as `judge_served` does, if the request was served from the cache. Never raises."""
        with surviving("an audit", self.meter.faults.labels("cache")):
            if isinstance(lookup.decision, Serve):
                await self.judge_served(lookup, lookup.decision, answer)

    async def judge_served(
        self, lookup: Lookup, served: Serve, answer: Assembled, cached: Entry | None = None
    ) -> Admission:
        """Store the backend's answer to a request that was served from the cache, and judge the served answer by it.

        `cached` is the entry that was served, None if it has to be read.
        """
        findable = await self.with_vector(lookup) if served.how is Outcome.EXACT or served.edit else lookup
        admitted, fresh = await self._store_audited(findable, answer)
        said = None if isinstance(admitted, Discard) and admitted.why in _NO_ANSWER else answer
        # Who was served what had outlived its time learns nothing of likeness from a newer answer, unless it was drawn.
        if served.how is Outcome.SEMANTIC and (served.audit or not (served.stale or said is None)):
            await self._learner.audit(lookup, served, said, cached=cached, fresh=fresh)
        return admitted

    async def with_vector(self, lookup: Lookup) -> Lookup:
        """Look a request up again, by meaning, if it was served without a vector: a fresh answer is found by that."""
        request = lookup.request
        blind = replace(request, controls=replace(request.controls, no_cache=True))
        return replace(await self.consult(blind, lookup.request_id), request=request)

    async def _store_audited(self, lookup: Lookup, answer: Assembled) -> tuple[Admission, Entry | None]:
        """Keep the fresh answer if the policy allows it; with it the entry that it became, None if it is not kept."""
        admitted = await unblocking(len(answer.body), self.admission, lookup, answer)
        if not isinstance(admitted, Store):
            return admitted, None
        fresh = await self._writer.store_answer(lookup, answer, admitted, source="audit")
        return (fresh, None) if isinstance(fresh, Discard) else (admitted, fresh)

    async def admit_all(self, answers: Sequence[tuple[Lookup, Assembled]]) -> bool:
        """Keep several answers in one transaction; True when every one is durable. Never raises."""
        kept = []
        for count, (lookup, answer) in enumerate(answers, 1):
            admitted = self.admission(lookup, answer)
            if isinstance(admitted, Store):
                kept.append(self._writer.maker.entry(lookup, answer, admitted))
            if count % _BETWEEN == 0:
                await asyncio.sleep(0)
        try:
            await self.keep(kept)
        except CacheUnavailable:
            return False
        return len(kept) == len(answers)

    async def keep(self, entries: Sequence[tuple[Entry, Vector | None]]) -> None:
        """Store entries in one transaction and make them findable. Raises CacheUnavailable; then none is stored."""
        await self._writer.keep(entries)

    async def invalidate(self, where: Selector, *, dry_run: bool = False) -> list[int]:
        """Delete what matches and return the ids; with `dry_run` only return them. Raises StoreError."""
        ids = await self._store.delete(where, now=self.clock(), dry_run=dry_run)
        if not dry_run:
            await self.components.live.hide(*ids)
        return ids

    def outcome(self, lookup: Lookup, status: int, seconds: float, **facts: Unpack[Facts]) -> Recorded:
        """Return the row of the event log for a request that is done; `facts` are those of `accounting.recorded`."""
        return recorded(lookup, self.prices, at=self.clock(), status=status, seconds=seconds, **facts)

    def note(self, lookup: Lookup, row: Recorded, *, logged: Recorded | None = None) -> None:
        """Take notice of an outcome: a hit that feedback may speak of, a call that costs, a row of the event log.

        `logged` is written to the event log in place of `row`.
        """
        if isinstance(lookup.decision, Serve):
            self._learner.served.remember(lookup, lookup.decision)
        self.components.judged.note(lookup, row)
        self.components.profitability.note(lookup, row)
        self.components.decisions.note(lookup, row if logged is None else logged)
        self.event_log.note(row if logged is None else logged)

    async def stats(self) -> dict[str, Any]:
        """Return requests, hits, savings and entries, in all and by category. Raises StoreError."""
        await self.event_log.flush()
        tally, balances = await self._store.tally(), self.components.profitability.balances()
        found = statistics(self.pack, tally, self.registry.counts(), self._strategy, balances)
        found["wording"] = self.components.wordings.tier.standing()
        found["held_back"] = self.components.quorum.standing()
        found["unpriced_models"] = await self.operating.unpriced()
        found["varying_prompts"] = await self.operating.varying_prompts()
        found |= self.components.judged.standings() | await self.components.disk.standing()
        return found | {name: standing() for name, standing in self._standings.items()}

    def faults(self) -> dict[str, str]:
        """Return the error of every component that is broken now, by name."""
        return self._faults.named()

    # For the rooms above

    @property
    def salt(self) -> bytes:
        """The key of all digests of this store: 32 bytes."""
        return self._store.salt

    @property
    def shared(self) -> bool:
        """True if other workers serve from the same store."""
        return self.components.shared

    @property
    def relax(self) -> Callable[[float], None] | None:
        """Sets how far the error may rise within what is certified, in [0, 1]; None for a strategy that cannot."""
        return getattr(self._strategy, "relax", None)

    @property
    def embedder_id(self) -> str:
        """The embedder whose vectors are searched."""
        return self.components.embedder.id

    def lacking_verifiers(self) -> list[str]:
        """Return the categories whose pack wants a verifier that is not set up."""
        return self.components.verifiers.lacking(self.pack)

    async def ping(self) -> None:
        """Raise StoreError unless the store can be read and written; one that can is asked by requests again."""
        await self._store.ping()
        self._faults.answered("store")
        # A store that is full may take the little that a ping writes.
        if self.event_log.fault is None and self._faults.rested("store"):
            self._faults.written("store")

    async def api_keys(self) -> list[ApiKey]:
        """Return the API keys of the store, revoked ones included. Raises StoreError."""
        return await self._store.keys()

    async def get(self, entry_id: int) -> Entry | None:
        """Return a stored entry; None when there is none. Raises StoreError."""
        [entry] = await self._store.get([entry_id])
        return entry

    async def select(self, where: Selector, *, limit: int = 100, after: int = 0) -> list[Entry]:
        """Return stored entries that match, by ascending id greater than `after`. Raises StoreError."""
        return await self._store.select(where, limit=limit, after=after)

    async def catch_up(self) -> None:
        """Apply what other workers wrote, and learn what they learned. Raises StoreError."""
        await self._maintenance.catch_up()

    async def gauge(self) -> None:
        """Refresh the gauges of the metrics."""
        await self._maintenance.gauge()

    def attach(
        self,
        *,
        follow: Callable[[], Awaitable[object]] | None = None,
        sweep: Callable[[float], Awaitable[object]] | None = None,
        standing: tuple[str, Callable[[], dict[str, Any]]] | None = None,
    ) -> None:
        """Register a callback: to follow the store, drop what has expired, or report in `stats` under a name."""
        self._maintenance.attach(follow=follow, sweep=sweep)
        if standing is not None:
            self._standings[standing[0]] = standing[1]
