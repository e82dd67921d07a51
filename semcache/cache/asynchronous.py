"""The cache: look a request up, keep an answer, learn from feedback. The one place where core and I/O meet.

Knows nothing of HTTP. Invariant: `consult` never raises and never waits for a broken part; a fault of store, index or
embedder becomes `Forward(Why.FAULT)` and is counted. What `admit` reports as stored is durable.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Unpack

from prometheus_client import Counter

from semcache.cache.found import Found, chat_completion, chat_request
from semcache.cache.maintenance import GRACE
from semcache.cache.semantic_lookup import SemanticTier
from semcache.cache.writing import Keeper
from semcache.dialects import dialects
from semcache.errors import CacheUnavailable, ConfigError, InvalidArgument, RequestRejected
from semcache.learning import feedback
from semcache.matching import decide
from semcache.request import conversation, eligibility
from semcache.runtime.guarded_calls import SURVIVED, Faults
from semcache.storage.accounting import Facts, recorded, statistics
from semcache.types import (
    Admission,
    Assembled,
    CacheKey,
    Card,
    Discard,
    Entry,
    Forward,
    Lookup,
    Outcome,
    Recorded,
    Request,
    Scope,
    Selector,
    Serve,
    Store,
    Timings,
    Verify,
    Why,
    parse_id,
    public_id,
)

if TYPE_CHECKING:
    from semcache.agents.plan_opening import PlansOnUse
    from semcache.agents.plans import Plans, Terms
    from semcache.agents.tools import ToolResults
    from semcache.cache.maintenance import Parts
    from semcache.protocols import Backend, Judge, Verifier
    from semcache.types import Vector

_LONG = 1 << 16  # characters of a prompt that take milliseconds to read
# Discards of what is no answer to compare with.
_NO_ANSWER = frozenset([Why.STATUS, Why.INCOMPLETE, Why.REFUSAL, Why.TOOL_STEP, Why.EMPTY])


class AsyncSemanticCache:
    """A semantic cache in an event loop. Open it with `await AsyncSemanticCache.open(...)`, close it with `close`."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.pack = parts.pack
        self.catalogue = parts.catalogue
        self.journal = parts.journal
        self.meter = parts.meter
        self._store = parts.store
        self._clock = parts.clock
        self._faults = Faults(parts.meter)
        self._keeper = _keeper(parts, self._faults)
        self._semantic = SemanticTier(parts, self._faults)
        self._learner = parts.learner
        self._plans: Plans | None = None
        self._opening = asyncio.Lock()
        self.standings: dict[str, Callable[[], dict[str, Any]]] = {}  # what else `stats` tells of, by its name there

    @classmethod
    async def open(
        cls,
        data: str,
        *,
        policies: str = "default",
        target: float | None = None,
        judge: str | Judge = "exact",
        seed: int | None = None,
        embedder: str = "default",
        verifier: Verifier | Literal["model", "off"] = "model",
        judge_backend: Backend | None = None,
        judge_model: str | None = None,
        clock: Callable[[], float] = time.time,
    ) -> AsyncSemanticCache:
        """Open the cache in folder `data`, or in the store of that URL.

        `target` is the error per hit to keep (default: the pack's). `judge` compares cached answers with fresh ones:
        "exact", "normalised", "verifier" (by embedding, and by a `verifier` of your own where that leaves doubt), "llm"
        (asks `judge_model` behind `judge_backend`), or a judge of your own. `verifier` is also asked while a caller
        waits, about what is uncertain in categories whose pack says so: by default the local model. `seed` makes every
        random choice reproducible. Raises ConfigError, or StoreError for a database that cannot be opened.
        """
        from semcache.cache.opening import open_parts

        if target is not None and not 0.0 < target < 1.0:
            raise ConfigError(f"target={target}: the error per hit is a rate between 0 and 1, such as 0.01")
        parts = await open_parts(
            data,
            policies=policies,
            judge=judge,
            embedder=embedder,
            clock=clock,
            seed=seed,
            target=target,
            verifier=verifier,
            judge_backend=judge_backend,
            judge_model=judge_model,
        )
        return cls(parts)

    async def open_plans(self, terms: Terms | None = None) -> Plans:
        """Open the plan templates of agents, those in the store included, and keep up with other workers.

        Those that are open already are given back. Raises StoreError.
        """
        async with self._opening:
            return self._plans or await self._open_plans(terms)

    async def _open_plans(self, terms: Terms | None) -> Plans:
        from semcache.agents.plan_opening import open_plans

        parts = self.parts
        reasons = Counter(
            "semcache_plan_lookups_total",
            "Plans looked up or learned, by reason.",
            ["why"],
            registry=parts.meter.registry,
        )
        self._plans = await open_plans(
            parts, terms=terms, note=lambda why: reasons.labels(why).inc(), teach=parts.learner.log.add
        )
        parts.following.append(self._plans.library.refresh)
        parts.sweeping.append(self._sweep_plans)
        return self._plans

    @property
    def plans(self) -> Plans | PlansOnUse:
        """The plan templates of agents: `lookup`, `record`, `outcome`; opened when one of these is first awaited."""
        if self._plans is not None:
            return self._plans
        from semcache.agents.plan_opening import PlansOnUse

        return PlansOnUse(self.open_plans)

    @cached_property
    def tools(self) -> ToolResults:
        """The results of tools that the pack's `tools`, or their own schemas, declare: `run`, `lookup`, `record`.

        They lie in the memory of this process alone. Raises ConfigError.
        """
        from semcache.agents.tools.tool_opening import open_tools

        return open_tools(self.parts)

    async def close(self) -> None:
        """Write what is pending and release everything. Comparisons that a slow judge still owes wait in the store."""
        await self._keeper.settle()
        await self.parts.close()

    async def __aenter__(self) -> AsyncSemanticCache:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    # The library

    async def lookup(
        self,
        prompt: str | Sequence[Mapping[str, Any]],
        *,
        tenant: str = "default",
        user: str | None = None,
        namespace: str = "",
        category: str | None = None,
        model: str = "default",
        **params: Any,
    ) -> Found:
        """Look up a prompt, or a chat as a list of messages; `params` are further fields of a chat request.

        Ask the model yourself when `answer` is None, and give its answer to `record`. Raises InvalidArgument.
        """
        scope = Scope(tenant, user if self.pack.share == "user" else None, namespace)
        request = chat_request(prompt, model, params, scope, category)
        try:
            return await self.find(request)
        except RequestRejected as error:
            raise InvalidArgument(error.message) from error

    async def find(self, request: Request) -> Found:
        """Look up a request of any dialect. Raises RequestRejected for a category that the pack does not have."""
        started = time.perf_counter()
        lookup = await self.consult(request, public_id(self.parts.new_id()))
        lookup = await self.verified(lookup)
        entry = None
        if isinstance(lookup.decision, Serve):
            self.catalogue.touch(lookup.decision.card)
            entry = await self.entry(lookup.decision, lookup.key)
            if entry is None:
                lookup = replace(lookup, decision=Forward(Why.FAULT))
        found = Found(lookup, entry)
        # Who asks the model all the same, as an audit wants, saves nothing.
        saved = None if found.audit else entry
        self.journal.note(self.outcome(lookup, 200, time.perf_counter() - started, entry=saved))
        return found

    async def record(self, found: Found, answer: str | Mapping[str, Any]) -> Admission:
        """Give the cache the model's answer: its text, or the whole chat completion.

        It is stored if the policy admits it, and compared: after a miss with its neighbours' answers, after a served
        hit with the answer that was served.
        """
        body = chat_completion(answer, found.lookup.request.model)
        lookup, decision = found.lookup, found.lookup.decision
        assembled = dialects()[lookup.request.endpoint].parse(body)
        if isinstance(decision, Serve) and found.entry is not None:
            admitted = await self._second(lookup, decision, assembled, 200, found.entry)
        else:
            admitted = await self.admit(lookup, assembled)
        stored = "stored" if isinstance(admitted, Store) else admitted.why.value
        # The request was counted when it was looked up; this row carries what it cost.
        self.journal.note(replace(self.outcome(lookup, 200, 0.0, answer=assembled, stored=stored), count=0))
        return admitted

    async def feedback(self, entry_id: str | None, *, correct: bool, tenant: str | None = None) -> bool:
        """Say that a served answer was right or wrong; False when there is no such entry (of that tenant).

        A wrong entry is never served again to the requests it was served to. One that was only ever replayed to its
        own request is deleted. Where several workers serve, that takes half a second. Raises StoreError.
        """
        return await feedback.heard(self.parts, parse_id(entry_id or ""), correct=correct, tenant=tenant)

    async def settle(self) -> None:
        """Wait until background work, judging and learning are done and every outcome is written."""
        await self._keeper.settle()
        await self._learner.settle()
        await self.journal.flush()

    # What the skins are made of

    async def consult(self, request: Request, request_id: str, *, paraphrases: bool = True) -> Lookup:
        """Decide on a request; a fault of the cache is a reason to forward. Where `paraphrases` will not do, only its
        own answer is served.

        Raises RequestRejected alone, for a category that the pack does not have.
        """
        started = time.perf_counter()
        category = self.parts.categories.by_rule(request)
        policy = self.pack.of(category or "default")
        if len(request.text) > _LONG:
            # Read beside the event loop, or others would wait for it.
            why = await asyncio.to_thread(eligibility.ineligible, request, policy)
        else:
            why = eligibility.ineligible(request, policy)
        if why is None and self.pack.share == "user" and request.scope.user is None:
            why = Why.PERSONAL
        if why is not None:
            return Lookup(request_id, request, None, policy.name, Forward(why, Outcome.BYPASS))
        key = conversation.cache_key(request, self._store.salt)
        exact = self._exact(request, key, category)
        seconds = time.perf_counter() - started
        if isinstance(exact, Serve):
            return Lookup(request_id, request, key, exact.card.category, exact, timings=Timings(key=seconds))
        try:
            return await self._semantic.look(request_id, request, key, category, exact, seconds, serving=paraphrases)
        except CacheUnavailable:
            return Lookup(request_id, request, key, policy.name, Forward(Why.FAULT), timings=Timings(key=seconds))

    async def verified(self, lookup: Lookup) -> Lookup:
        """The lookup with a `Verify` settled, by whom the pack names; any other as it is. Never raises."""
        if not isinstance(lookup.decision, Verify):
            return lookup
        parts = self.parts
        return await parts.verifiers.settle(
            lookup, self.entry, pack=self.pack, threshold=parts.threshold, draw=parts.rng.random()
        )

    async def relook(self, lookup: Lookup) -> Lookup:
        """The lookup as it would be decided now, if another worker has answered the very same request meanwhile."""
        if lookup.key is None:
            return lookup
        with suppress(*SURVIVED):
            await self.parts.hear()
        exact = self._exact(lookup.request, lookup.key, self.parts.categories.by_rule(lookup.request))
        return replace(lookup, category=exact.card.category, decision=exact) if isinstance(exact, Serve) else lookup

    def acceptable(self, lookup: Lookup, card: Card, score: float) -> bool:
        """Whether an answer still in the air would be served to this request."""
        return self._semantic.acceptable(lookup, card, score)

    async def entry(self, served: Serve, key: CacheKey | None) -> Entry | None:
        """The stored entry behind a decision; None when it is gone, not what it claims to be, or the store is down.

        An exact hit is checked byte by byte against the request's canonical form: digests only propose.
        """
        return await self._keeper.read(served, key)

    async def guess(self, lookup: Lookup) -> str:
        """What the same request was answered before, or else the nearest one, though it may not be served: a guess at
        the answer, "" for none. Never raises."""
        decision, key = lookup.decision, lookup.key
        card = self.catalogue.exact(key.exact) if key is not None else None
        if card is None and isinstance(decision, Forward) and decision.nearest is not None:
            card = decision.nearest.card
        if card is None:
            return ""
        try:
            entry = await self.entry(Serve(card, Outcome.SEMANTIC, 0.0, 0.0), key)
            return "" if entry is None else dialects()[entry.endpoint].parse(entry.body).text
        except SURVIVED:
            self.meter.faults.labels("cache").inc()
            return ""

    def admission(self, lookup: Lookup, answer: Assembled, status: int = 200) -> Admission:
        """Whether the policy would keep this answer, and for how long."""
        return self._keeper.admission(lookup, answer, status)

    async def admit(
        self, lookup: Lookup, answer: Assembled, *, status: int = 200, latency: float = 0.0, source: str = "traffic"
    ) -> Admission:
        """Keep an answer if the policy allows it; when this returns Store, the entry is durable. Never raises."""
        admitted = self.admission(lookup, answer, status)
        if isinstance(admitted, Store):
            fresh = await self._keeper.renew(lookup, answer, admitted, latency=latency, source=source)
            if fresh is None:
                return Discard(Why.FAULT)
            self.compare(lookup, fresh)
        return admitted

    async def audited(self, lookup: Lookup, answer: Assembled, status: int) -> None:
        """Take what the backend said to a request that had been served: keep it, and judge what was served by it.

        Never raises.
        """
        if not isinstance(lookup.decision, Serve):
            return
        try:
            await self._second(lookup, lookup.decision, answer, status, None)
        except SURVIVED:
            self.meter.faults.labels("cache").inc()

    def compare(self, lookup: Lookup, fresh: Entry) -> None:
        """After a miss that was stored: have its neighbours' answers compared with the fresh one, in the background."""
        self._learner.compare(lookup, fresh)

    async def admit_all(self, answers: Sequence[tuple[Lookup, Assembled]]) -> bool:
        """Keep several answers in one transaction; True when every one is durable. Never raises."""
        admitted = [(lookup, answer, self.admission(lookup, answer)) for lookup, answer in answers]
        kept = [self._keeper.entry(*one[:2], one[2]) for one in admitted if isinstance(one[2], Store)]
        try:
            await self.keep(kept)
        except CacheUnavailable:
            return False
        return len(kept) == len(answers)

    async def keep(self, entries: Sequence[tuple[Entry, Vector | None]]) -> None:
        """Store entries in one transaction and make them findable. Raises CacheUnavailable; then none is stored."""
        await self._keeper.keep(entries)

    async def invalidate(self, where: Selector, *, dry_run: bool = False) -> list[int]:
        """Delete what matches and return the ids; with `dry_run` only return them. Raises StoreError."""
        ids = await self._store.delete(where, now=self._clock(), dry_run=dry_run)
        if not dry_run:
            await self.parts.hide(*ids)
        return ids

    def outcome(self, lookup: Lookup, status: int, seconds: float, **facts: Unpack[Facts]) -> Recorded:
        """The row of the event log for a request that is done; `facts` are those of `ledger.recorded`."""
        if isinstance(lookup.decision, Serve):
            self._learner.remember(lookup, lookup.decision)
        row = recorded(lookup, self.parts.prices, at=self._clock(), status=status, seconds=seconds, **facts)
        return self.parts.economics.note(lookup, row)

    async def stats(self) -> dict[str, Any]:
        """Requests, hits, savings and entries, in all and by category. Raises StoreError."""
        await self.journal.flush()
        parts, tally = self.parts, await self._store.tally()
        found = statistics(self.pack, tally, self.catalogue.counts(), parts.threshold, parts.economics.balances())
        return found | {name: standing() for name, standing in self.standings.items()}

    def faults(self) -> dict[str, str]:
        """What is broken now, by part."""
        return self._faults.named()

    # Inside

    def _exact(self, request: Request, key: CacheKey, category: str | None) -> Serve | Forward:
        """What the exact tier says of a request that a rule puts into `category`, if any does."""
        if request.controls.no_cache:
            return Forward(Why.NO_CACHE, Outcome.BYPASS)
        card = self.catalogue.exact(key.exact)
        if card is not None and category is not None and card.category != category:
            # It was kept under another category's terms.
            card = None
        rejected = self.catalogue.rejected(key.exact)
        stale = 0.0 if card is None else self.pack.of(card.category).revalidate
        now, asked = self._clock(), request.controls
        return decide.exact(card, controls=asked, now=now, rejected=rejected, revalidate=stale)

    async def _sweep_plans(self, now: float) -> None:
        """Forget templates that expired a while ago. Raises StoreError."""
        from semcache.storage.stores.plan_rows import plans_of

        assert self._plans is not None
        library, before = self._plans.library, now - GRACE
        expired = [public_id(one.id) for one in library.templates() if one.expires < before]
        await library.purge(expired, tenant=None, agent=None, now=now, dry_run=False)
        await plans_of(self._store).sweep_plans(before)

    async def _second(
        self, lookup: Lookup, served: Serve, answer: Assembled, status: int, cached: Entry | None
    ) -> Admission:
        """The backend's answer to a request that was served: kept under its own key, and what was served judged."""
        if served.how is Outcome.EXACT:
            # The answer is replaced by a newer one, and an exact hit carries no vector to find that by.
            request = lookup.request
            blind = replace(request, controls=replace(request.controls, no_cache=True))
            lookup = replace(await self.consult(blind, lookup.request_id), request=request)
        admitted = self.admission(lookup, answer, status)
        if isinstance(admitted, Discard) and admitted.why in _NO_ANSWER:
            return admitted
        fresh: Entry | None = None
        if isinstance(admitted, Store):
            fresh = await self._keeper.renew(lookup, answer, admitted, source="audit")
            admitted = Discard(Why.FAULT) if fresh is None else admitted
        # Who was served what had outlived its time learns nothing of likeness from a newer answer, unless it was drawn.
        if served.how is Outcome.SEMANTIC and (served.audit or not served.stale):
            await self._learner.audit(lookup, served, answer, cached=cached, fresh=fresh)
        return admitted


def _keeper(parts: Parts, faults: Faults) -> Keeper:
    """What keeps answers: where the pack names models, an answer is worth what the cheapest acceptable one takes."""
    pack = parts.pack
    if not pack.models:
        return Keeper(parts, faults)
    from semcache.agents.multiplex.values import worth_by

    return Keeper(parts, faults, worth_by(pack.models, pack.near.target if pack.near is not None else pack.target))
