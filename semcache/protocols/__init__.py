"""The extension points: everything a plug-in author has to read.

Knows only the values of `types`. Each Protocol has a conformance suite under `tests/conformance/` that a new
implementation joins with one line.
Invariant: implementations raise only errors of `semcache.errors` (an I/O plug-in wraps what it catches), and no method
here reads a clock or draws a random number: both are arguments.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from semcache.types import (
    ApiKey,
    Assembled,
    Candidate,
    Card,
    Change,
    Conflict,
    Controls,
    Endpoint,
    Entry,
    Neighbour,
    Recorded,
    Rejection,
    Request,
    Selector,
    Verdict,
)
from semcache.types.evidence import Comparison, Judgement, Label, Standing

if TYPE_CHECKING:
    from semcache.retention.freshness.hazard import Volatility
    from semcache.types import Matrix, Vector


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into unit vectors. `id` names weights, pooling and quantisation, and is stored with every vector."""

    @property
    def id(self) -> str: ...
    @property
    def dim(self) -> int: ...
    @property
    def max_tokens(self) -> int:
        """Tokens it reads of a text; the rest is cut off."""
        ...

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """Return float32 (len(texts), dim), rows L2-normalised. Raises EmbedError."""
        ...

    async def close(self) -> None: ...


class VectorIndex(Protocol):
    """The vectors of one partition. Not thread-safe: one thread owns it."""

    def add(self, id: int, vector: Vector) -> None:
        """Insert, or replace the vector of `id`. Raises IndexFault for a vector of another dimension or not finite."""
        ...

    def remove(self, id: int) -> None:
        """Forget `id`; unknown ids are ignored."""
        ...

    def search(self, vector: Vector, k: int) -> list[Neighbour]:
        """At most k neighbours, best first; fewer or none is normal."""
        ...

    def __len__(self) -> int: ...


@dataclass(frozen=True, slots=True)
class VectorBatch:
    """A slice of a store's vectors: `cards[i]` belongs to row i of `matrix` (shape (n, dim))."""

    cards: Sequence[Card]
    matrix: Matrix


class EntryStore(Protocol):
    """Entries, their vectors, and what must survive a restart. Every write is atomic and durable when it returns.

    Raises StoreError; IntegrityError for an entry that cannot be decrypted.
    """

    @property
    def salt(self) -> bytes:
        """32 random bytes made when the store was created: the key of all digests. Known after `open`."""
        ...

    async def open(self) -> None: ...
    async def close(self) -> None: ...
    async def ping(self) -> None:
        """Raise StoreError unless the store can be read and written."""
        ...

    async def put(self, entry: Entry, vector: Vector | None) -> None:
        """Store an entry; entries with the same exact digest are deleted in the same transaction."""
        ...

    async def put_all(self, entries: Sequence[tuple[Entry, Vector | None]]) -> None:
        """Store several entries in one transaction."""
        ...

    async def get(self, ids: Sequence[int]) -> list[Entry | None]:
        """Entries in the order of `ids`, None for those that are gone. One indexed read."""
        ...

    async def select(self, where: Selector, *, limit: int = 100, after: int = 0) -> list[Entry]:
        """Entries that match, by ascending id greater than `after`. An empty selector matches nothing."""
        ...

    async def delete(self, where: Selector, *, now: float, dry_run: bool = False) -> list[int]:
        """Delete what matches and return the ids; with `dry_run` only return them."""
        ...

    def cards(self, embedder_id: str, *, now: float, batch: int = 4096) -> AsyncIterator[Sequence[Card]]:
        """All unexpired entries without a vector of this embedder: the exact tier alone can find them."""
        ...

    def vectors(self, embedder_id: str, *, now: float, batch: int = 4096) -> AsyncIterator[VectorBatch]:
        """All unexpired entries that carry a vector of this embedder."""
        ...

    async def embedders(self) -> dict[str, int]:
        """Entries with a vector, by embedder."""
        ...

    async def vectors_of(self, ids: Sequence[int], embedder_id: str) -> VectorBatch:
        """Those of these entries that carry a vector of this embedder, in any order."""
        ...

    async def sweep(self, now: float, grace: float = 0.0) -> list[int]:
        """Delete entries that expired more than `grace` seconds ago and return their ids."""
        ...

    async def head(self) -> int:
        """The sequence number of the newest change."""
        ...

    async def changes(self, since: int, *, limit: int = 1000) -> list[Change]:
        """Changes after `since`, oldest first, from any worker."""
        ...

    async def trim_changes(self, *, keep_rows: int) -> int:
        """Forget all but about the newest `keep_rows` changes, at least one; a follower that lags more must reload."""
        ...

    async def wait(self, timeout: float) -> None:
        """Return when another worker may have written, or after `timeout` seconds."""
        ...

    async def reject(self, rejections: Sequence[Rejection], *, now: float) -> None:
        """Remember that these entries are wrong for these keys; they are announced in the change feed."""
        ...

    async def rejections(self) -> list[Rejection]: ...

    async def alias(self, entry_id: int, answer: int, *, now: float) -> None:
        """Put an entry into the answer class `answer`; announced in the change feed. Unknown ids are ignored."""
        ...

    async def said(self, entry_id: int, *, correct: bool, now: float) -> None:
        """Announce in the change feed what people said of a served answer. Unknown ids are ignored."""
        ...

    async def label(self, labels: Sequence[Label]) -> None:
        """Append to the label log, in this order; their `seq` is given here."""
        ...

    async def labels(self, since: int, *, limit: int = 1000) -> list[Label]:
        """Labels after `since`, by ascending `seq`, from any worker. None is ever seen after a later one was."""
        ...

    async def trim_labels(self, *, keep_rows: int) -> int:
        """Forget all but about the newest `keep_rows` labels; returns how many went."""
        ...

    async def learned(self, name: str) -> tuple[int, bytes] | None:
        """The newest saved state of that name, and the `seq` of the last label in it; None when there is none."""
        ...

    async def learn(self, name: str, seq: int, state: bytes) -> None:
        """Save a state, unless a newer one is saved already."""
        ...

    async def enqueue(self, judgements: Sequence[Judgement]) -> None:
        """Put comparisons into the durable queue."""
        ...

    async def claim(self, limit: int, *, now: float, lease: float) -> list[Judgement]:
        """Take the oldest comparisons that nobody holds; unless finished they are claimable again after `lease` s."""
        ...

    async def finish(self, ids: Sequence[int]) -> None:
        """Take comparisons out of the queue."""
        ...

    async def record(self, events: Sequence[Recorded]) -> None:
        """Append outcomes to the event log."""
        ...

    async def served_keys(self, entry_id: int) -> list[bytes]:
        """Exact digests of the requests that this entry was served to, newest first, at most 1,000."""
        ...

    async def tally(self) -> list[Mapping[str, object]]:
        """Event counts and sums grouped by category and outcome.

        Keys: category, outcome, requests, saved_prompt_tokens, saved_completion_tokens, saved_cost, spent_cost,
        seconds.
        """
        ...

    async def trim_events(self, *, keep_rows: int | None = None, before: float | None = None) -> int:
        """Drop all but the newest `keep_rows` events, and those before a Unix time; their sums stay in `tally`."""
        ...

    async def counts(self) -> dict[str, int]:
        """Live entries per category."""
        ...

    async def reseal(self, batch: int = 500) -> int:
        """Encrypt every entry that the newest key does not encrypt yet, `batch` a transaction; return how many."""
        ...

    async def add_key(self, key: ApiKey) -> None: ...
    async def keys(self) -> list[ApiKey]: ...
    async def revoke_key(self, id: str, *, now: float) -> bool: ...


class Categorizer(Protocol):
    """Puts a request into a category of the pack."""

    def by_rule(self, request: Request) -> str | None:
        """The category that the caller or a rule names, without an embedding; None when only the vector can tell."""
        ...

    def near(self, vector: Vector, text: str) -> Sequence[str]:
        """The categories of a prompt, nearest first, at least one: it is kept in the first, and sought in all."""
        ...


class Guard(Protocol):
    """A cheap check that two prompts cannot share an answer. Pure, symmetric, microseconds."""

    name: str

    def conflict(self, query: str, cached: str) -> Conflict | None: ...


class Threshold(Protocol):
    """Decides whether a candidate is good enough, and learns from labels.

    Pure: `draw` is a uniform random number in [0, 1), and labels carry their time. Two instances that observed the same
    labels in the same order give the same P(correct): that is how workers share what is learned.
    """

    def floor(self, category: str, controls: Controls) -> float:
        """A score below which nothing is served, so that guards and features need not be asked."""
        ...

    def promising(self, candidates: Sequence[Candidate], text: str, category: str) -> Sequence[bool]:
        """Which of them it might have served or verified, whatever guards and a comparison of the texts would tell.

        The candidates tell of their surroundings alone; those that it names False are spared both.
        """
        ...

    def judge(
        self, candidate: Candidate, category: str, *, controls: Controls, draw: float, tenant: str = ""
    ) -> Verdict:
        """Its opinion of one candidate, for a request of `tenant`. Changes nothing.

        Asked before the guards are, and again if they find something: a finding must not make it more willing.
        """
        ...

    def note(self, category: str, p_correct: float | None, *, served: bool, audited: bool) -> None:
        """Take notice of one looked-up request: P(correct) of its best candidate (None without one), and its fate.

        `audited`: it was served and drawn for an audit.
        """
        ...

    def observe(self, label: Label) -> None:
        """Learn from a label."""
        ...

    def standing(self, category: str) -> Standing:
        """Where it stands, for operators."""
        ...

    def state(self) -> dict[str, Any]:
        """What it has learned, as JSON has it; {} when nothing."""
        ...

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` gave. Raises ValueError for a state that is not its own."""
        ...


class Freshness(Protocol):
    """Decides how long an answer lives, and learns from answers that were asked for again.

    TTL counts from creation and is never extended by reads. Pure: two instances that observed the same, in the same
    order, give the same TTLs.
    """

    def kind(self, text: str, vector: Vector | None = None) -> Volatility:
        """How fast the answer to a prompt changes; `vector` is its embedding, where that is known."""
        ...

    def ttl(self, request: Request, category: str, vector: Vector | None = None) -> float:
        """Seconds; 0 means do not store."""
        ...

    def observe(self, category: str, exposure: float, changed: bool, kind: Volatility = ...) -> None:
        """Learn from an answer that was asked for again when it was `exposure` seconds old."""
        ...

    def state(self) -> dict[str, Any]:
        """What it has learned, as JSON has it; {} when nothing."""
        ...

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` gave. Raises ValueError for a state that is not its own."""
        ...


class Eviction(Protocol):
    """Picks victims; the owner does the accounting."""

    def insert(self, id: int, weight: float) -> None: ...
    def touch(self, id: int) -> None: ...
    def forget(self, id: int) -> None: ...
    def __contains__(self, id: object) -> bool: ...
    def __len__(self) -> int: ...
    def victim(self) -> int | None:
        """The id to evict next, which stays tracked until `forget`; None when empty."""
        ...


@dataclass(frozen=True, slots=True)
class Outbound:
    """What goes to a backend: what the client sent, less what was addressed to the cache.

    `path` starts with a slash and is percent-encoded as it stood on the wire ("/v1/chat/completions"). `tenant` says
    whose request it is, for backends that keep tenants apart; it is not sent. `draft` gives a guess at the answer, ""
    for none, to backends that verify guesses: what they answer is the same, only sooner.
    """

    method: str
    path: str
    headers: Sequence[tuple[str, str]]
    body: bytes
    query: str = ""
    tenant: str = ""
    draft: Callable[[], Awaitable[str]] | None = field(default=None, compare=False)


class Reply(Protocol):
    """A backend's answer whose body has not been read yet. `close` must always be called."""

    @property
    def status(self) -> int: ...
    @property
    def headers(self) -> Sequence[tuple[str, str]]:
        """End-to-end headers, names in lower case; hop-by-hop, encoding and length headers are removed."""
        ...

    def chunks(self) -> AsyncIterator[bytes]:
        """The decoded body as it arrives. Raises UpstreamError when the backend breaks off."""
        ...

    async def close(self) -> None: ...


class Backend(Protocol):
    """Something that answers requests."""

    async def send(self, outbound: Outbound) -> Reply:
        """Return as soon as status and headers are there. Raises UpstreamError or UpstreamTimeout."""
        ...

    async def close(self) -> None: ...


class Assembler(Protocol):
    """Reads a stream while it is relayed."""

    def feed(self, chunk: bytes) -> None:
        """Take bytes as they came, cut anywhere. Never raises: what cannot be read makes the answer incomplete."""
        ...

    @property
    def terminal(self) -> int | None:
        """Offset in the bytes fed so far at which the terminal event starts (`data: [DONE]`, `response.completed`,
        `message_stop`), None until it was seen. What lies before it may be relayed at once."""
        ...

    def finish(self) -> Assembled:
        """The answer as its dialect would have returned it without streaming."""
        ...


class Dialect(Protocol):
    """One wire format. Each module of `semcache.dialects` that speaks one exports an instance named `DIALECT`."""

    @property
    def endpoint(self) -> Endpoint: ...
    @property
    def path(self) -> str:
        """Path of the endpoint, such as "/v1/chat/completions"."""
        ...

    def read(self, raw: bytes) -> Request:
        """Parse a request body. Raises RequestRejected(400) for malformed JSON or wrong types of the fields it reads;
        unknown fields are part of the identity and survive in `raw`."""
        ...

    def assembler(self) -> Assembler: ...

    def parse(self, body: bytes) -> Assembled:
        """Read a whole answer that was not streamed. Never raises: an unreadable one is not complete."""
        ...

    def stream(self, body: bytes, replay: Mapping[str, object]) -> Sequence[bytes]:
        """The stored answer as the events of a stream, terminal event included. Assembling them gives `body` again,
        its usage where `replay` asks for it. Raises IntegrityError for a body that is no answer of this dialect."""
        ...

    def error(self, status: int, message: str, *, code: str, param: str | None = None) -> bytes:
        """An error body in this dialect."""
        ...


class Judge(Protocol):
    """Says whether two answers to the same question agree. `instant` ones need no waiting and no queue."""

    name: str
    instant: bool

    async def agree(self, comparison: Comparison) -> bool | None:
        """None when it cannot tell. Raises nothing but SemcacheError."""
        ...


class Verifier(Protocol):
    """Says whether a cached answer fits a request, while the client waits."""

    async def same(self, query: str, cached_query: str, cached_answer: str) -> float:
        """P(same answer). An error means: do not serve."""
        ...
