"""A fresh answer, the decision to keep it, and the row that records the outcome of a request.

Invariant: every value is frozen, and a recorded outcome holds no prompt.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from semcache.types.enumerations import Outcome, Why
from semcache.types.incoming_request import Scope
from semcache.types.lookup_decision import Timings
from semcache.types.stored_entry import Usage


@dataclass(frozen=True, slots=True)
class Assembled:
    """An answer as its dialect's dispatcher read it: the JSON body, what it says and how it ended.

    `complete` is True only when the dialect's terminal state was reached (a finish reason on every choice, a terminal
    event on a stream). `refusal` covers content filters and refusals; `tool_calls` that the answer asks for tools;
    `wordless` that it holds what is neither text nor such a call: sound, a picture, what a tool of the provider found.
    `until` is when the provider forgets what the answer names, in seconds since the epoch.
    """

    body: bytes
    text: str
    complete: bool
    refusal: bool = False
    tool_calls: bool = False
    usage: Usage = Usage()
    wordless: bool = False
    until: float | None = None


@dataclass(frozen=True, slots=True)
class Store:
    """Keep the answer for `ttl` seconds; `semantic` False keeps it for the exact tier alone."""

    ttl: float
    semantic: bool = True

    @property
    def label(self) -> str:
        """Its name in the event log."""
        return "stored"


@dataclass(frozen=True, slots=True)
class Discard:
    """Do not keep the answer."""

    why: Why

    @property
    def label(self) -> str:
        """Its name in the event log: the reason."""
        return self.why.value


Admission: TypeAlias = Store | Discard


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
    overhead: float = 0.0  # US dollars that the cache itself cost: verifiers, judges
    seconds: float = 0.0
    timings: Timings = Timings()
    collapsed: bool = False
    upstream_id: str = ""  # as the upstream calls the request
    count: int = 1  # requests that this row stands for, 0 for later news of one; `seconds` and sums are of all of them
