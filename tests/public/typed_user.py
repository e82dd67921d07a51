"""A user's program and a user's plug-ins, for `test_typing`: only public names, which a type checker must accept.

Each `type: ignore` marks a mistake that the checker must find: it complains of one that is not needed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import numpy as np

import semcache
from semcache import AsyncSemanticCache, SemanticCache
from semcache.errors import EmbedError, SemcacheError, StoreError, UpstreamError
from semcache.protocols import (
    Backend,
    Embedder,
    EntryStore,
    Eviction,
    Guard,
    Judge,
    Outbound,
    Reply,
    Threshold,
    VectorBatch,
    Verifier,
)
from semcache.types import (
    Admission,
    ApiKey,
    Candidate,
    Card,
    Change,
    Comparison,
    Conflict,
    Controls,
    Discard,
    Entry,
    Judgement,
    Label,
    Matrix,
    Outcome,
    Recorded,
    Rejection,
    Selector,
    Standing,
    State,
    Store,
    Vector,
    Verdict,
    Why,
)


class ByLength:
    """A judge."""

    name = "by-length"
    instant = True

    async def agree(self, comparison: Comparison) -> bool | None:
        if not comparison.cached or not comparison.fresh:
            return None
        return len(comparison.cached) == len(comparison.fresh)


class Shouting:
    """A guard."""

    name = "shouting"

    def conflict(self, query: str, cached: str) -> Conflict | None:
        return None if query.isupper() == cached.isupper() else Conflict(self.name, query)


class Doubtful:
    """A verifier."""

    async def same(self, query: str, cached_query: str, cached_answer: str) -> float:
        return float(query == cached_query and bool(cached_answer))


class Hashed:
    """An embedder."""

    id, dim, max_tokens = "hashed", 8, 512

    async def embed(self, texts: Sequence[str]) -> Matrix:
        if not all(texts):
            raise EmbedError("a text is empty")
        return np.ones((len(texts), self.dim), np.float32)

    async def close(self) -> None:
        pass


class Newest:
    """An eviction policy."""

    def __init__(self) -> None:
        self._ids: dict[int, float] = {}

    def insert(self, id: int, weight: float, worth: object = None) -> None:
        self._ids[id] = weight

    def touch(self, id: int) -> None:
        pass

    def forget(self, id: int) -> None:
        self._ids.pop(id, None)

    def victim(self) -> int | None:
        return next(reversed(self._ids), None)

    def __contains__(self, id: object) -> bool:
        return id in self._ids

    def __len__(self) -> int:
        return len(self._ids)


class Cautious:
    """A strategy."""

    def floor(self, category: str, controls: Controls) -> float:
        return max(0.95, controls.min_score or 0.0)

    def promising(self, candidates: Sequence[Candidate], text: str, category: str) -> Sequence[bool]:
        return [one.score > 0.95 for one in candidates]

    def judge(
        self, candidate: Candidate, category: str, *, controls: Controls, draw: float, tenant: str = ""
    ) -> Verdict:
        return Verdict(not candidate.conflicts, candidate.score, why=Why.SEMANTIC)

    def note(
        self,
        category: str,
        p_correct: float | None,
        *,
        served: bool,
        audited: bool,
        candidate: Candidate | None = None,
    ) -> None:
        pass

    def observe(self, label: Label) -> None:
        pass

    def standing(self, category: str) -> Standing:
        return Standing("cautious", State.FIXED, target=0.01, score=0.95)

    def state(self) -> dict[str, Any]:
        return {}

    def restore(self, state: Mapping[str, Any]) -> None:
        pass


class Answer:
    """A backend's reply."""

    status = 200
    headers: Sequence[tuple[str, str]] = ()

    async def chunks(self) -> AsyncIterator[bytes]:
        yield b"{}"

    async def close(self) -> None:
        pass


class Local:
    """A backend."""

    async def send(self, outbound: Outbound) -> Reply:
        if outbound.method != "POST":
            raise UpstreamError("only POST is answered")
        return Answer()

    async def close(self) -> None:
        pass


class Remote:
    """A store."""

    salt = b"0" * 32

    async def open(self) -> None:
        raise StoreError("there is no database")

    async def close(self) -> None: ...
    async def ping(self) -> None: ...
    async def reseal(self, batch: int = 500) -> int:
        return batch

    async def put(self, entry: Entry, vector: Vector | None) -> None: ...
    async def put_all(self, entries: Sequence[tuple[Entry, Vector | None]]) -> None: ...
    async def get(self, ids: Sequence[int]) -> list[Entry | None]:
        return [None for _ in ids]

    async def select(self, where: Selector, *, limit: int = 100, after: int = 0) -> list[Entry]:
        return []

    async def delete(self, where: Selector, *, now: float, dry_run: bool = False) -> list[int]:
        return []

    async def sweep(self, now: float, grace: float = 0.0) -> list[int]:
        return []

    async def counts(self) -> dict[str, int]:
        return {}

    async def alias(self, entry_id: int, answer: int, *, now: float) -> None: ...
    async def alike(self, entry_id: int) -> dict[int, bytes]:
        return {}

    async def vectors(self, embedder_id: str, *, now: float, batch: int = 4096) -> AsyncIterator[VectorBatch]:
        yield VectorBatch([], np.zeros((0, 8), np.float32))

    async def cards(self, embedder_id: str, *, now: float, batch: int = 4096) -> AsyncIterator[Sequence[Card]]:
        yield []

    async def vectors_of(self, ids: Sequence[int], embedder_id: str) -> VectorBatch:
        return VectorBatch([], np.zeros((0, 8), np.float32))

    async def embedders(self) -> dict[str, int]:
        return {}

    async def reject(self, rejections: Sequence[Rejection], *, now: float) -> None: ...
    async def rejections(self, entry_id: int | None = None) -> list[Rejection]:
        return []

    async def head(self) -> int:
        return 0

    async def changes(self, since: int, *, limit: int = 1000) -> list[Change]:
        return []

    async def wait(self, timeout: float) -> None: ...
    async def said(self, entry_id: int, *, correct: bool, now: float) -> None: ...
    async def trim_changes(self, *, keep_rows: int) -> int:
        return 0

    async def label(self, labels: Sequence[Label]) -> None: ...
    async def labels(self, since: int, *, limit: int = 1000) -> list[Label]:
        return []

    async def trim_labels(self, *, keep_rows: int) -> int:
        return 0

    async def learned(self, name: str) -> tuple[int, bytes] | None:
        return None

    async def learn(self, name: str, seq: int, state: bytes) -> None: ...
    async def enqueue(self, judgements: Sequence[Judgement]) -> None: ...
    async def claim(self, limit: int, *, now: float, lease: float) -> list[Judgement]:
        return []

    async def finish(self, ids: Sequence[int]) -> None: ...
    async def record(self, events: Sequence[Recorded]) -> None: ...
    async def served_keys(self, entry_id: int) -> list[bytes]:
        return []

    async def tally(self) -> list[Mapping[str, object]]:
        return []

    async def trim_events(self, *, keep_rows: int | None = None, before: float | None = None) -> int:
        return 0

    async def add_key(self, key: ApiKey) -> None: ...
    async def keys(self) -> list[ApiKey]:
        return []

    async def revoke_key(self, id: str, *, now: float) -> bool:
        return False


PARTS: tuple[Judge, Guard, Verifier, Embedder, Eviction, Threshold, Backend, EntryStore] = (
    ByLength(),
    Shouting(),
    Doubtful(),
    Hashed(),
    Newest(),
    Cautious(),
    Local(),
    Remote(),
)
NO_JUDGE: Judge = Shouting()  # type: ignore[assignment]


def blocking(folder: str) -> str | None:
    """A program without an event loop."""
    with SemanticCache.open(folder, policies="default", target=0.01, judge=ByLength(), verifier=Doubtful()) as cache:
        found = cache.lookup([{"role": "user", "content": "Hello"}], tenant="acme", model="gpt-x", temperature=0.0)
        cache.lookup(3)  # type: ignore[arg-type]
        if found.answer is None or found.audit:
            kept: Admission = cache.record(found, "Hi")
            if isinstance(kept, Store):
                print(kept.ttl)
            elif isinstance(kept, Discard):
                print(kept.why.value)
        wrong: bool = cache.feedback(found.entry_id, correct=False)
        gone: list[int] = cache.invalidate(Selector(tag="greeting"), dry_run=wrong)
        cache.settle()
        plan = cache.plans.lookup("Book a flight", tools=[])
        result = cache.tools.run().call("get_ticket", {"id": 7}, lambda arguments: arguments)
        print(gone, plan.outcome, plan.calls, result, found.score, found.p_correct, found.category)
        outcome: Outcome = found.outcome
        why: Why = found.why
        print(outcome.value, why.value, semcache.__version__, found.nothing)  # type: ignore[attr-defined]
        return found.answer


async def awaiting(folder: str) -> int:
    """A program in an event loop."""
    try:
        async with await AsyncSemanticCache.open(folder, embedder=Hashed(), seed=7, clock=lambda: 0.0) as cache:
            found = await cache.lookup("Hello", category="chat", user="ann")
            await cache.record(found, {"choices": []})
            vectors = await semcache.default_embedder().embed(["Hello"])
            await AsyncSemanticCache.open(folder, polices="default")  # type: ignore[call-arg]
            return len(vectors)
    except SemcacheError:
        return 0
