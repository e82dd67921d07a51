"""A request as it was read, who may share its answer, and the key that it is looked up under.

Invariant: every value is frozen, and a request keeps the bytes that it was read from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from semcache.types.enumerations import Endpoint


@dataclass(frozen=True, slots=True)
class Scope:
    """Those who may see an entry. Two requests of different scopes never share an answer."""

    tenant: str = "default"
    user: str | None = None
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class Controls:
    """The wishes of a caller for one request; every field but `verdicts` can only make caching stricter.

    `verdicts` says when a language model is asked about what is in doubt, where the server asks one at all; a request
    that `spends` nothing has no verdict asked for it, and is served on one that is remembered.
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
    verdicts: Literal["off", "after", "first", "hedged"] | None = None
    spends: bool = True


@dataclass(frozen=True, slots=True)
class Traits:
    """Facts of a request that eligibility needs, without reading its dialect."""

    temperature: float | None = None
    tools: bool = False  # the request declares tools
    last_role: Literal["user", "tool", "assistant", "system", ""] = "user"
    stateful: bool = False  # the answer depends on state that only the upstream holds
    multimodal: bool = False  # the last turn has parts that are not text
    system: str = ""  # system prompt as text
    turns: int = 1  # messages, the last one included
    repeats_prompt: bool = False  # the answer is to repeat the prompt, or to tell of its tokens


@dataclass(frozen=True, slots=True)
class Frame:
    """The text before and after the question in the last turn; `last`: nothing is asked behind it."""

    before: str
    after: str
    last: bool = False


@dataclass(frozen=True, slots=True)
class Request:
    """One request, read from its dialect.

    `identity` is everything that must be equal for an answer to be reused, with the text of the last user turn taken
    out; that text is `text` ("" when the last turn has none). `raw` is what is forwarded: the client's bytes, untouched
    unless they held our `cache` object. `replay` holds the dialect's own wishes for a stream (`include_usage`)
    and, where the upstream keeps the answer under its id, `store` or `deletable`.
    `frame` is what stands around the question in the last turn, which is in the identity, too; then `text` is the
    question alone. `asker` is who asks, as far as a quorum tells callers of a tenant apart; None: nobody in particular.
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
    asker: str | None = None
    frame: Frame | None = None

    @property
    def told(self) -> str:
        """The last turn without the material in it: its question, or all where that is not certain."""
        frame = self.frame
        return self.text if frame is None or frame.last else f"{frame.before}{self.text}{frame.after}"


@dataclass(frozen=True, slots=True)
class CacheKey:
    """The place of an answer.

    `signature` and `exact` are 32-byte keyed digests and both cover the scope. Equal `exact` is followed by comparing
    `canonical`, the bytes that were digested.
    """

    scope: Scope
    signature: bytes
    exact: bytes
    text: str
    canonical: bytes
