"""The values that flow through the cache, from the bytes of a request to the row that records its outcome.

Knows nothing of HTTP, storage, clocks or models, and imports nothing of this package.
Invariant: every value is frozen; a decision is a sum type, matched exhaustively with `assert_never`.

Units, once for the whole package: scores are cosine similarities in [-1, 1], higher is closer; probabilities are
in [0, 1]; times are Unix seconds; durations are seconds; money is US dollars.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector: TypeAlias = NDArray[np.float32]  # shape (dim,), L2-normalised
    Matrix: TypeAlias = NDArray[np.float32]  # shape (n, dim), rows L2-normalised


class Endpoint(StrEnum):
    """A family of requests; answers never cross from one to another."""

    CHAT = "chat"
    COMPLETIONS = "completions"
    RESPONSES = "responses"
    EMBEDDINGS = "embeddings"
    MESSAGES = "messages"


class Outcome(StrEnum):
    """What became of a request."""

    EXACT = "exact"
    SEMANTIC = "semantic"
    PLAN = "plan"
    NEAR = "near"
    MISS = "miss"
    BYPASS = "bypass"


class Why(StrEnum):
    """Why a request was served, forwarded or its answer discarded.

    One vocabulary for log field, metric label and `Cache-Status` detail.
    """

    EXACT = "exact"
    SEMANTIC = "semantic"
    PLAN = "plan"
    # looked up and not served
    COLD = "cold"
    BELOW_THRESHOLD = "below-threshold"
    UNCERTAIN = "uncertain"
    CLOSED = "closed"
    UNPROFITABLE = "unprofitable"
    GUARD = "guard"
    REJECTED = "rejected-before"
    EXPIRED = "expired"
    MAX_AGE = "max-age"
    EXACT_ONLY = "exact-only"
    VERIFY_FAILED = "verify-failed"
    # never looked up
    NO_CACHE = "no-cache"
    DISABLED = "category-disabled"
    PERSONAL = "personal"
    LIVE = "live"
    CREATIVE = "creative"
    TEMPERATURE = "temperature"
    STATEFUL = "stateful"
    SECRET = "secret"
    UNREADABLE = "unreadable"
    FAULT = "cache-fault"
    # looked up or not, and the answer is not kept
    NO_STORE = "no-store"
    STATUS = "status"
    INCOMPLETE = "incomplete"
    REFUSAL = "refusal"
    TOOL_STEP = "tool-step"
    EMPTY = "empty"
    TOO_LARGE = "too-large"


@dataclass(frozen=True, slots=True)
class Scope:
    """Who may see an entry. Two requests of different scopes never share an answer."""

    tenant: str = "default"
    user: str | None = None
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class Controls:
    """What the caller asks of the cache for one request; every field can only make caching stricter than the policy.

    `max_age` and `ttl` are seconds, `min_score` a cosine similarity, `max_error` an error rate in (0, 1).
    """

    no_cache: bool = False
    no_store: bool = False
    only_if_cached: bool = False
    max_age: float | None = None
    ttl: float | None = None
    min_score: float | None = None
    max_error: float | None = None
    category: str | None = None
    namespace: str | None = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Traits:
    """What eligibility needs to know of a request without reading its dialect."""

    temperature: float | None = None
    tools: bool = False  # the request declares tools
    last_role: Literal["user", "tool", "assistant", "system", ""] = "user"
    stateful: bool = False  # the answer depends on state that only the upstream holds
    multimodal: bool = False  # the last turn has parts that are not text
    system: str = ""  # system prompt as text
    turns: int = 1  # messages, the last one included


@dataclass(frozen=True, slots=True)
class Request:
    """One request, read from its dialect.

    `identity` is everything that must be equal for an answer to be reused, with the text of the last user turn taken
    out; that text is `text` ("" when the last turn has none). `raw` is what is forwarded: the client's bytes, untouched
    unless they held our `cache` object. `replay` holds the dialect's own wishes for a stream (`include_usage`).
    """

    endpoint: Endpoint
    model: str
    identity: Mapping[str, Any]
    text: str
    raw: bytes
    stream: bool = False
    replay: Mapping[str, Any] = field(default_factory=dict)
    traits: Traits = Traits()
    user: str | None = None
    controls: Controls = Controls()
    scope: Scope = Scope()


@dataclass(frozen=True, slots=True)
class CacheKey:
    """Where an answer lives.

    `signature` and `exact` are 32-byte keyed digests and both cover the scope. Equal `exact` is followed by comparing
    `canonical`, the bytes that were digested.
    """

    scope: Scope
    signature: bytes
    exact: bytes
    text: str
    canonical: bytes


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An entry near a query; `score` is the cosine similarity in [-1, 1]."""

    entry_id: int
    score: float


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that the upstream charged for an answer."""

    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Card:
    """What is kept in memory of an entry: enough to decide on it, without its answer.

    `shelf` names the index partition (16 bytes) or is b"" for an entry without a vector (exact tier only). Entries
    whose answers were judged to be the same share `answer`, the id of the first of them; 0 stands for its own id.
    """

    id: int
    exact: bytes
    shelf: bytes
    category: str
    text: str
    created: float
    expires: float
    answer: int = 0

    @property
    def answer_class(self) -> int:
        """What entries of the same answer have in common."""
        return self.answer or self.id


@dataclass(frozen=True, slots=True)
class Entry:
    """A stored answer. `body` is the assembled JSON of the dialect, never a stream and never a pickle."""

    id: int
    key: CacheKey
    endpoint: Endpoint
    model: str
    category: str
    shelf: bytes
    embedder_id: str
    body: bytes
    created: float
    expires: float
    usage: Usage = Usage()
    cost: float = 0.0
    latency: float = 0.0
    tags: tuple[str, ...] = ()
    source: str = "traffic"  # or "import", "audit", ...
    answer: int = 0  # as in `Card`

    def card(self) -> Card:
        """The part of this entry that stays in memory."""
        return Card(
            self.id, self.key.exact, self.shelf, self.category, self.key.text, self.created, self.expires, self.answer
        )

    def facts(self) -> dict[str, Any]:
        """What operators are shown of this entry, as JSON has it; the answer is left out."""
        scope = self.key.scope
        return {
            "id": public_id(self.id),
            "tenant": scope.tenant,
            "user": scope.user,
            "namespace": scope.namespace,
            "endpoint": self.endpoint.value,
            "model": self.model,
            "category": self.category,
            "prompt": self.key.text,
            "created": self.created,
            "expires": self.expires,
            "tags": list(self.tags),
            "source": self.source,
            "semantic": bool(self.shelf),
        }


def public_id(entry_id: int) -> str:
    """An entry id as users see it: 16 hexadecimal digits."""
    return f"{entry_id:016x}"


def parse_id(text: str) -> int | None:
    """The entry id behind a public id, or None when `text` is no id."""
    try:
        value = int(text, 16)
    except ValueError:
        return None
    return value if len(text) == 16 and 0 <= value < 2**63 else None


@dataclass(frozen=True, slots=True)
class Timings:
    """Seconds spent per stage of one request; a stage that did not run is 0."""

    key: float = 0.0
    embed: float = 0.0
    search: float = 0.0
    guard: float = 0.0
    store: float = 0.0
    upstream: float = 0.0


@dataclass(frozen=True, slots=True)
class Conflict:
    """A guard's finding against two texts that share an answer. `detail` names the two readings, for logs and tests.

    A `veto` is final; what is no veto is a doubt that lowers P(correct).
    """

    guard: str
    detail: str
    veto: bool = True


@dataclass(frozen=True, slots=True)
class Candidate:
    """A neighbour whose card is known, with what the guards found against it and the features of `features.NAMES`.

    `around` are the first of them, which tell of the neighbourhood and are known before any text is read.
    """

    card: Card
    score: float
    conflicts: tuple[Conflict, ...] = ()
    features: tuple[float, ...] = ()
    around: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """A threshold's opinion of one candidate.

    `audit` is the probability with which the backend should be asked all the same, to learn from it; `verify` asks
    for a verifier's word on a candidate that is too uncertain to be served without. `risk` is the 1 - P(correct) that
    such a word may leave, None: the target.
    """

    serve: bool
    p_correct: float
    audit: float = 0.0
    verify: bool = False
    why: Why = Why.BELOW_THRESHOLD
    risk: float | None = None


@dataclass(frozen=True, slots=True)
class Serve:
    """Replay entry `card.id`."""

    card: Card
    how: Literal[Outcome.EXACT, Outcome.SEMANTIC, Outcome.PLAN]
    score: float
    p_correct: float
    audit: bool = False
    chance: float = 0.0  # with which this answer was chosen, or passed over, for an audit
    features: tuple[float, ...] = ()
    stale: bool = False  # its time is over; it is served while the backend is asked anew


@dataclass(frozen=True, slots=True)
class Verify:
    """Ask a verifier whether entry `card.id` answers the request; serve it if so, forward if not or if it fails.

    `chance` is the probability with which it is audited if it is served, `risk` the 1 - P(correct) that may be left
    then, None: the target.
    """

    card: Card
    score: float
    p_correct: float
    features: tuple[float, ...] = ()
    chance: float = 0.0
    risk: float | None = None


@dataclass(frozen=True, slots=True)
class Forward:
    """Ask the backend. `outcome` is MISS when the cache was consulted and BYPASS when it was not.

    `p_correct` is what the strategy gave `nearest`, None when it was not asked. `others` are further candidates whose
    answers are worth comparing with the backend's, of other answer classes than `nearest`. `sampled` is False where a
    verifier refused `nearest`, and it was not drawn as those that a verifier lets pass are drawn for an audit: to learn
    from all that are refused and from a few that pass would make every neighbour look worse than it is.
    """

    why: Why
    outcome: Literal[Outcome.MISS, Outcome.BYPASS, Outcome.NEAR] = Outcome.MISS
    nearest: Candidate | None = None
    p_correct: float | None = None
    others: tuple[Candidate, ...] = ()
    sampled: bool = True


Decision: TypeAlias = Serve | Verify | Forward


@dataclass(frozen=True, slots=True)
class Lookup:
    """A request, the key it was looked up under, and what was decided.

    `key` and `shelf` are None / b"" when the request was bypassed or could not be keyed. The vector is kept so that a
    later store does not embed twice. `verified` is what a verifier's word cost, None where nobody was asked.
    """

    request_id: str
    request: Request
    key: CacheKey | None
    category: str
    decision: Decision
    shelf: bytes = b""
    vector: Vector | None = None
    timings: Timings = Timings()
    verified: float | None = None


@dataclass(frozen=True, slots=True)
class Store:
    """Keep the answer for `ttl` seconds; `semantic` False keeps it for the exact tier alone."""

    ttl: float
    semantic: bool = True


@dataclass(frozen=True, slots=True)
class Discard:
    """Do not keep the answer."""

    why: Why


Admission: TypeAlias = Store | Discard


@dataclass(frozen=True, slots=True)
class Assembled:
    """An answer as its dialect's dispatcher read it: the JSON body, what it says and how it ended.

    `complete` is True only when the dialect's terminal state was reached (a finish reason on every choice, a terminal
    event on a stream). `refusal` covers content filters and refusals; `tool_calls` that the answer asks for tools;
    `wordless` that it holds what is neither text nor such a call: sound, a picture, what a tool of the provider found.
    """

    body: bytes
    text: str
    complete: bool
    refusal: bool = False
    tool_calls: bool = False
    usage: Usage = Usage()
    wordless: bool = False


@dataclass(frozen=True, slots=True)
class Recorded:
    """One outcome: a row of the event log, a log line and a set of metric increments. Holds no prompt."""

    request_id: str
    at: float
    endpoint: str
    scope: Scope
    model: str
    category: str
    outcome: Outcome
    why: Why
    status: int
    entry_id: int | None = None
    exact: bytes = b""
    score: float | None = None
    p_correct: float | None = None
    stored: str | None = None  # "stored", or the Why of a discard; None: there was nothing to store
    stream: bool = False
    saved: Usage = Usage()
    saved_cost: float = 0.0
    spent: Usage = Usage()
    spent_cost: float = 0.0
    seconds: float = 0.0
    timings: Timings = Timings()
    collapsed: bool = False
    count: int = 1  # requests that this row stands for, 0 for later news of one; `seconds` and sums are of all of them


@dataclass(frozen=True, slots=True)
class Selector:
    """Which entries an administrative call means: the conjunction of the fields that are set. Empty means none.

    `older_than` is a Unix time: entries created before it. `everything` must be said aloud.
    """

    ids: tuple[int, ...] | None = None
    tenant: str | None = None
    user: str | None = None
    namespace: str | None = None
    category: str | None = None
    model: str | None = None
    tag: str | None = None
    source: str | None = None
    older_than: float | None = None
    everything: bool = False

    def is_empty(self) -> bool:
        """Whether no field is set, so that nothing is selected."""
        return self == Selector()


class ChangeKind(StrEnum):
    """What happened to an entry in a shared store."""

    PUT = "put"
    DELETE = "delete"
    REJECT = "reject"
    ALIAS = "alias"
    RIGHT = "right"  # so people said, of what a worker may have served that did not hear it
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Change:
    """A row of the change feed. `exact` is the key that a REJECT was recorded for."""

    seq: int
    kind: ChangeKind
    entry_id: int
    exact: bytes = b""


@dataclass(frozen=True, slots=True)
class Rejection:
    """Entry `entry_id` is known to be wrong for the request with digest `exact`."""

    entry_id: int
    exact: bytes


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key that maps a caller to a tenant. Only its digest is stored.

    `trusted` callers may name users and see scores; `admin` callers may read and purge entries of every tenant.
    """

    id: str
    digest: bytes
    tenant: str
    name: str
    created: float
    trusted: bool = False
    admin: bool = False
    revoked: float | None = None
