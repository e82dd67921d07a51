"""The vocabulary of requests and of what becomes of them: endpoints, outcomes, and the reasons for them.

Invariant: every value is a short lower-case word, the same in a log field, a metric label and a header.
"""

from __future__ import annotations

from enum import StrEnum


class Endpoint(StrEnum):
    """A family of requests; answers never cross from one to another."""

    CHAT = "chat"
    COMPLETIONS = "completions"
    RESPONSES = "responses"
    EMBEDDINGS = "embeddings"
    MESSAGES = "messages"


class Outcome(StrEnum):
    """The outcomes of a request."""

    EXACT = "exact"
    SEMANTIC = "semantic"
    PLAN = "plan"
    NEAR = "near"
    MISS = "miss"
    BYPASS = "bypass"


class Why(StrEnum):
    """The reasons for which a request is served or forwarded, or its answer discarded.

    One vocabulary for log field, metric label and `Cache-Status` detail.
    """

    EXACT = "exact"
    SEMANTIC = "semantic"
    WORDING = "wording"
    JUDGED = "judged"
    PLAN = "plan"
    # looked up and not served
    COLD = "cold"
    BELOW_THRESHOLD = "below-threshold"
    UNCERTAIN = "uncertain"
    CLOSED = "closed"
    UNPROFITABLE = "unprofitable"
    GUARD = "guard"
    REJECTED = "rejected-before"
    QUORUM = "quorum"
    EXPIRED = "expired"
    MAX_AGE = "max-age"
    EXACT_ONLY = "exact-only"
    VERIFY_FAILED = "verify-failed"
    NO_VERDICT = "no-verdict"
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
    LIMITED = "limited"
    FAULT = "cache-fault"
    # looked up or not, and the answer is not kept, or not yet
    KEPT_LATER = "kept-later"
    NO_STORE = "no-store"
    STATUS = "status"
    INCOMPLETE = "incomplete"
    REFUSAL = "refusal"
    TOOL_STEP = "tool-step"
    EMPTY = "empty"
    TOO_LARGE = "too-large"
