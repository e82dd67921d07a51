"""The cache: look a request up, keep an answer, learn from feedback. The one place where core and I/O meet.

Knows nothing of HTTP. Invariant: `consult` never raises and never waits for a broken part; a fault of store, index or
embedder becomes `Forward(Why.FAULT)` and is counted. What `admit` reports as stored is durable.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from semcache import decide, eligibility, feedback, keys
from semcache.errors import (
    CacheUnavailable,
    ConfigError,
    IntegrityError,
    InvalidArgument,
    RequestRejected,
)
from semcache.evidence import Comparison, Label, LabelSource
from semcache.faults import Faults
from semcache.found import Found, chat_completion, chat_request
from semcache.keeping import Keeper
from semcache.ledger import Facts, recorded, statistics
from semcache.semantic import SemanticTier
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
    Rejection,
    Request,
    Scope,
    Selector,
    Serve,
    Store,
    Timings,
    Why,
    parse_id,
    public_id,
)
from semcache.wire import dialects

if TYPE_CHECKING:
    from semcache.opening import Parts
    from semcache.types import Vector


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
        self._keeper = Keeper(parts, self._faults)
        self._semantic = SemanticTier(parts, self._faults)

    @classmethod
    async def open(
        cls,
        data: str,
        *,
        policies: str = "default",
        target: float | None = None,
        judge: str = "exact",
        seed: int | None = None,
        embedder: str = "default",
        clock: Callable[[], float] = time.time,
    ) -> AsyncSemanticCache:
        """Open the cache in folder `data`, or in the store of that URL.

        `target` is the error per hit to keep (default: the pack's), `judge` compares a served answer with a fresh one
        ("exact", "normalised"), `seed` makes every random choice reproducible. Raises ConfigError, or StoreError for a
        database that cannot be opened.
        """
        from semcache.opening import open_parts

        if target is not None and not 0.0 < target < 1.0:
            raise ConfigError(f"target={target}: the error per hit is a rate between 0 and 1, such as 0.01")
        parts = await open_parts(
            data, policies=policies, judge=judge, embedder=embedder, clock=clock, seed=seed, target=target
        )
        return cls(parts)

    async def close(self) -> None:
        """Finish background work, write what is pending and release everything."""
        await self.settle()
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
        entry = None
        if isinstance(lookup.decision, Serve):
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

        After a miss it is stored if the policy admits it. After a served hit it is judged, and the cache learns.
        """
        body = chat_completion(answer, found.lookup.request.model)
        assembled = dialects()[found.lookup.request.endpoint].parse(body)
        if isinstance(found.lookup.decision, Serve) and found.answer is not None:
            if not assembled.complete or assembled.refusal:
                return Discard(Why.INCOMPLETE)
            question, cached = found.lookup.request.text, found.lookup.decision.card.text
            verdict = await self.parts.judge.agree(Comparison(question, cached, found.answer, assembled.text))
            if verdict is not None:
                await self._learn(found.lookup, found.lookup.decision, correct=verdict)
            return Discard(Why.NO_STORE)
        admitted = await self.admit(found.lookup, assembled)
        stored = "stored" if isinstance(admitted, Store) else admitted.why.value
        # The request was counted when it was looked up; this row carries what it cost.
        self.journal.note(replace(self.outcome(found.lookup, 200, 0.0, answer=assembled, stored=stored), count=0))
        return admitted

    async def feedback(self, entry_id: str | None, *, correct: bool, tenant: str | None = None) -> bool:
        """Say that a served answer was right or wrong; False when there is no such entry (of that tenant).

        A wrong entry is never served again to the requests it was served to. One that was only ever replayed to its
        own request is deleted.
        """
        number = parse_id(entry_id or "")
        card = self.catalogue.get(number) if number is not None else None
        if card is None:
            return False
        [entry] = await self._store.get([card.id])
        if entry is None or (tenant is not None and entry.key.scope.tenant != tenant):
            return False
        if correct:
            return True
        await self.journal.flush()
        self.meter.false_hits.labels(card.category, "feedback").inc()
        rejections = await feedback.wrong(self._store, entry, now=self._clock())
        self.catalogue.reject(rejections)
        if not rejections:
            await self.parts.hide(card.id)
        return True

    async def settle(self) -> None:
        """Wait until background work is done and every outcome is written."""
        await self._keeper.settle()
        await self.journal.flush()

    # What the skins are made of

    async def consult(self, request: Request, request_id: str) -> Lookup:
        """Decide on a request; a fault of the cache is a reason to forward.

        Raises RequestRejected alone, for a category that the pack does not have.
        """
        started = time.perf_counter()
        category = self.parts.categories.by_rule(request)
        policy = self.pack.of(category or "default")
        why = eligibility.ineligible(request, policy)
        if why is None and self.pack.share == "user" and request.scope.user is None:
            why = Why.PERSONAL
        if why is not None:
            return Lookup(request_id, request, None, policy.name, Forward(why, Outcome.BYPASS))
        key = keys.cache_key(request, self._store.salt)
        exact: Serve | Forward = Forward(Why.NO_CACHE, Outcome.BYPASS)
        if not request.controls.no_cache:
            card = self.catalogue.exact(key.exact)
            if card is not None and category is not None and card.category != category:
                # It was kept under another category's terms.
                card = None
            rejected = self.catalogue.rejected(key.exact)
            exact = decide.exact(card, controls=request.controls, now=self._clock(), rejected=rejected)
        seconds = time.perf_counter() - started
        if isinstance(exact, Serve):
            return Lookup(request_id, request, key, exact.card.category, exact, timings=Timings(key=seconds))
        try:
            return await self._semantic.look(request_id, request, key, category, exact, seconds)
        except CacheUnavailable:
            return Lookup(request_id, request, key, policy.name, Forward(Why.FAULT), timings=Timings(key=seconds))

    def acceptable(self, lookup: Lookup, card: Card, score: float) -> bool:
        """Whether an answer still in the air would be served to this request."""
        return self._semantic.acceptable(lookup, card, score)

    async def entry(self, served: Serve, key: CacheKey | None) -> Entry | None:
        """The stored entry behind a decision; None when it is gone, not what it claims to be, or the store is down.

        An exact hit is checked byte by byte against the request's canonical form: digests only propose.
        """
        card = served.card
        entry = self.parts.answers.get(card.id)
        if entry is None:
            try:
                [entry] = await self._faults.guard("store", self._store.get([card.id]))
            except IntegrityError:
                await self._unreadable(card)
                return None
            except CacheUnavailable:
                return None
            if entry is None or entry.key.exact != card.exact:
                await self._unreadable(card)
                return None
            self.parts.answers.put(entry)
        if served.how is Outcome.EXACT and (key is None or entry.key.canonical != key.canonical):
            return None
        return entry

    def admission(self, lookup: Lookup, answer: Assembled, status: int = 200) -> Admission:
        """Whether the policy would keep this answer, and for how long."""
        return self._keeper.admission(lookup, answer, status)

    async def admit(
        self, lookup: Lookup, answer: Assembled, *, status: int = 200, latency: float = 0.0, source: str = "traffic"
    ) -> Admission:
        """Keep an answer if the policy allows it; when this returns Store, the entry is durable. Never raises."""
        admitted = self.admission(lookup, answer, status)
        if isinstance(admitted, Store):
            entry = self._keeper.entry(lookup, answer, admitted, latency=latency, source=source)
            try:
                await self.keep([entry])
            except CacheUnavailable:
                return Discard(Why.FAULT)
        return admitted

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
        return recorded(lookup, self.parts.prices, at=self._clock(), status=status, seconds=seconds, **facts)

    async def stats(self) -> dict[str, Any]:
        """Requests, hits, savings and entries, in all and by category. Raises StoreError."""
        await self.journal.flush()
        return statistics(self.pack, await self._store.tally(), self.catalogue.counts(), self.parts.threshold)

    def faults(self) -> dict[str, str]:
        """What is broken now, by part."""
        return self._faults.named()

    # Inside

    async def _unreadable(self, card: Card) -> None:
        # Hidden and not deleted: with the right key, or a repaired store, it may be readable again.
        self.meter.evictions.labels("unreadable").inc()
        await self.parts.hide(card.id)

    async def _learn(self, lookup: Lookup, served: Serve, *, correct: bool) -> None:
        assert lookup.key is not None
        label = Label(
            at=self._clock(),
            category=lookup.category,
            tenant=lookup.request.scope.tenant,
            entry_id=served.card.id,
            answer=served.card.answer_class,
            exact=lookup.key.exact,
            score=served.score,
            features=served.features,
            p_correct=served.p_correct,
            correct=correct,
            source=LabelSource.AUDIT,
            served=True,
            chance=served.chance,
        )
        self.parts.threshold.observe(label)
        if not correct:
            self.meter.false_hits.labels(lookup.category, "audit").inc()
            rejection = Rejection(served.card.id, lookup.key.exact)
            self.catalogue.reject([rejection])
            await self._store.reject([rejection], now=self._clock())
