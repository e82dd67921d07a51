"""Replay of a stored answer: its bytes, its headers, and a memo of replies to identical requests.

Knows nothing of forwarding. Invariant: the memo is asked with the caller's own bytes (path, body, every header that can
matter), and an entry that was deleted, replaced, rejected or has expired is never replayed from it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import count
from typing import Any

from semcache.cache.response_cache import ResponseCache
from semcache.dialects import body_of, unbound
from semcache.dialects.headers import control_families
from semcache.dialects.vary_headers import HARMLESS, HARMLESS_KINDS
from semcache.protocols import Dialect
from semcache.proxy.asgi import HeaderList, Send
from semcache.proxy.relay import id_header
from semcache.retention.eviction import Quota
from semcache.retention.eviction.lru import Lru
from semcache.types import Card, Entry, Forward, Lookup, Outcome, Recorded, Serve, public_id

# Headers that change neither who is asking, nor what is wished of the cache, nor what is answered; any other header is
# part of the memo's key. What comes anew with each request (traces, ids of whoever passes it on) must be among them.
_HARMLESS = (
    HARMLESS
    | frozenset(b"cf-ray cf-connecting-ip cf-connecting-ipv6 cf-ipcountry cf-visitor cf-worker cf-ew-via".split())
) - frozenset(
    b"authorization x-api-key api-key proxy-authorization cache-control pragma content-encoding origin".split()
)
_HARMLESS_KINDS = tuple(
    kind
    for kind in HARMLESS_KINDS
    if not any(kind.startswith(family) or family.startswith(kind) for family in control_families())
)
_PER_HEADER = 200  # bytes that a pair takes in memory beside its text
_MEMO_BYTES = 64 << 20
_MEMO_BODY_LIMIT = 64 << 10
_USES_A_SECOND = 32  # that are told to the eviction policy: what is asked for more often is in no danger
EVENT_STREAM = b"text/event-stream; charset=utf-8"

MemoKey = tuple[str, bytes, bytes, tuple[tuple[bytes, bytes], ...]]


@dataclass(slots=True)
class RenderedHit:
    """A reply ready to be sent; `headers` and `uses` are those of the second `at`, the request id excepted."""

    card: Card
    payload: bytes
    fixed: HeaderList
    detail: str
    template: Recorded
    id_header: bytes
    stale: bool = False
    uses: int = 0
    at: int = -1
    headers: HeaderList | None = None


class HitReplayer:
    """Renders the replies to hits and remembers them by the bytes of the request.

    `epoch` changes with the rights of callers; a reply made for a caller of an earlier epoch is not remembered.
    """

    def __init__(self, cache: ResponseCache, *, worker: str) -> None:
        self._cache = cache
        self._clock = cache.clock
        self._worker = worker
        self._ids = count(1)
        self._memo: dict[MemoKey, RenderedHit] = {}
        self._slots: dict[int, MemoKey] = {}
        self._quota = Quota(_MEMO_BYTES, Lru())
        self.epoch = 0

    def request_id(self) -> str:
        """Return a fresh id for a request."""
        return f"req_{self._worker}{next(self._ids):010x}"

    def find(self, scope: dict[str, Any], body: bytes) -> RenderedHit | None:
        """Return the reply to an identical earlier request, if its entry still lives."""
        if len(body) > _MEMO_BODY_LIMIT:
            return None
        replay = self._memo.get(memo_key(scope, body))
        if replay is None:
            return None
        card, catalogue = replay.card, self._cache.registry
        if catalogue.get(card.id) is not card or card.staleness(self._clock(), 0.0) != "fresh":
            return None
        return None if card.id in catalogue.rejected(card.exact) else replay

    def remember(self, scope: dict[str, Any], body: bytes, replay: RenderedHit, epoch: int) -> None:
        """Let identical requests skip parsing. `epoch` is the one in which the caller was identified."""
        if len(body) > _MEMO_BODY_LIMIT or epoch != self.epoch:
            return
        key = memo_key(scope, body)
        slot = hash(key)
        self._memo[key] = replay
        self._slots[slot] = key
        weight = len(body) + len(replay.payload) + 1000
        weight += len(key[1]) + sum(len(name) + len(value) + _PER_HEADER for name, value in key[3])
        for victim in self._quota.admit(slot, weight):
            self._memo.pop(self._slots.pop(victim), None)

    def clear(self) -> None:
        """Forget every reply, because the rights of callers have changed."""
        self.epoch += 1
        self._memo.clear()
        self._slots.clear()
        self._quota = Quota(_MEMO_BYTES, Lru())

    def render(self, dialect: Dialect, lookup: Lookup, served: Serve, entry: Entry, template: Recorded) -> RenderedHit:
        """Prepare the reply to a hit: a stream if the client asked for one, else the body."""
        request = lookup.request
        body = entry.body if served.how is Outcome.EXACT else unbound(dialect, entry.body)
        if request.stream:
            payload, kind = b"".join(dialect.stream(body, request.replay)), EVENT_STREAM
        else:
            payload, kind = body_of(dialect, body, request), b"application/json"
        fixed = [
            (b"content-type", kind),
            (b"content-length", str(len(payload)).encode()),
            (b"cache-control", b"private, no-store"),
        ]
        return RenderedHit(
            served.card, payload, fixed, served.why.value, template, id_header(request.endpoint), served.stale
        )

    async def send(self, replay: RenderedHit, send: Send, request_id: str) -> None:
        """Send a reply, and count it as a use of its entry."""
        now = self._clock()
        second = int(now)
        if replay.at != second or replay.headers is None:
            left = math.floor(replay.card.expires - now)
            # RFC 9211, section 2.5: below zero it says that the answer is stale.
            ttl = left if replay.stale else max(0, left)
            age = max(0, int(now - replay.card.created))
            status = f"semcache; hit; ttl={ttl}; detail={replay.detail}"
            replay.headers = [*replay.fixed, (b"cache-status", status.encode()), (b"age", str(age).encode())]
            replay.at, replay.uses = second, 0
        headers = [*replay.headers, (replay.id_header, request_id.encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": replay.payload})
        if replay.uses < _USES_A_SECOND:
            replay.uses += 1
            self._cache.registry.touch(replay.card)


def memo_key(scope: dict[str, Any], body: bytes) -> MemoKey:
    """Return the key under which the reply to a request is remembered."""
    headers = tuple(
        [pair for pair in scope["headers"] if pair[0] not in _HARMLESS and not pair[0].startswith(_HARMLESS_KINDS)]
    )
    return scope["path"], scope["query_string"], body, headers


def debug_headers(lookup: Lookup) -> list[tuple[bytes, bytes]]:
    """Return the headers that tell trusted callers of a decision."""
    decision = lookup.decision
    headers = [(b"x-semcache-category", lookup.category.encode())]
    if isinstance(decision, Serve):
        headers.append((b"x-semcache-id", public_id(decision.card.id).encode()))
        headers.append((b"x-semcache-score", f"{decision.score:.4f}".encode()))
        headers.append((b"x-semcache-p-correct", f"{decision.p_correct:.4f}".encode()))
    elif isinstance(decision, Forward) and decision.nearest is not None:
        headers.append((b"x-semcache-score", f"{decision.nearest.score:.4f}".encode()))
        if decision.p_correct is not None:
            headers.append((b"x-semcache-p-correct", f"{decision.p_correct:.4f}".encode()))
    return headers


def is_memorable(lookup: Lookup) -> bool:
    """Return True if an identical request will be decided alike: a fresh exact hit under no control of time."""
    decision = lookup.decision
    if not isinstance(decision, Serve) or decision.stale:
        return False
    return decision.how is Outcome.EXACT and lookup.request.controls.max_age is None
