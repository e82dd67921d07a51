"""Stored answers: the entry, the card of it that stays in memory, and how fast its answer changes.

Invariant: every value is frozen; when an entry was created and when it expires never change.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from semcache.types.enumerations import Endpoint
from semcache.types.former_names import FormerName, made_by_former_names
from semcache.types.incoming_request import CacheKey

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector: TypeAlias = NDArray[np.float32]  # shape (dim,), L2-normalised
    Matrix: TypeAlias = NDArray[np.float32]  # shape (n, dim), rows L2-normalised

Staleness: TypeAlias = Literal["fresh", "stale", "expired"]


_AHEAD = 60.0  # seconds by which the clocks of two machines may differ
_OVERHEAD = 1000  # bytes of an entry beside its answer and its request


class Volatility(StrEnum):
    """How fast the answer to a prompt changes. The first three are the classes of FreshQA (Vu et al. 2023)."""

    NEVER = "never"
    SLOW = "slow"  # over several years
    FAST = "fast"  # within a year
    RELATIVE = "relative"  # it depends on the day, or the minute, of asking


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that the upstream charged for an answer.

    Of the prompt's, `cached_tokens` were read from the provider's own cache and `written_tokens` written to it; of the
    completion's, `reasoning_tokens` were thought.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    written_tokens: int = 0
    reasoning_tokens: int = 0


@made_by_former_names
@dataclass(frozen=True, slots=True)
class Card:
    """The part of an entry that is kept in memory: enough to decide on it, without its answer.

    `partition` is the name of its index partition (16 bytes), or b"" for an entry without a vector (exact tier only).
    Entries whose answers were judged to be the same share `answer`, the id of the first of them; 0 stands for its own
    id. `askers` are keyed digests of the users who have asked for this very request, as far as a quorum counts them.
    `wording` is the digest of the text's canonical wording, b"" where none was kept.
    """

    id: int
    exact: bytes
    partition: bytes
    category: str
    text: str
    created: float
    expires: float
    answer: int = 0
    askers: tuple[int, ...] = ()
    wording: bytes = b""
    shelf = FormerName("partition")

    @property
    def answer_class(self) -> int:
        """The id that entries of the same answer have in common."""
        return self.answer or self.id

    def staleness(self, now: float, revalidate: float) -> Staleness:
        """Say if the entry may be served at `now` (Unix time): freely, while it is asked anew, or no more.

        `revalidate` is how many seconds after its expiry it may still be served; as `stale-while-revalidate` of RFC
        5861. An entry is expired from the very second of its expiry on, and so is one that was created later than a
        minute from `now`: its clock was ahead, and when its life ends cannot be told.
        """
        if self.created > now + _AHEAD:
            return "expired"
        if now < self.expires:
            return "fresh"
        return "stale" if now < self.expires + revalidate else "expired"


@made_by_former_names
@dataclass(frozen=True, slots=True)
class Entry:
    """A stored answer. `body` is the assembled JSON of the dialect, never a stream and never a pickle."""

    id: int
    key: CacheKey
    endpoint: Endpoint
    model: str
    category: str
    partition: bytes
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
    askers: tuple[int, ...] = ()  # as in `Card`
    wording: bytes = b""  # as in `Card`
    shelf = FormerName("partition")

    @property
    def size(self) -> int:
        """About how many bytes it holds: its answer, its request, and the prompt in it once more."""
        return len(self.body) + 2 * len(self.key.canonical) + _OVERHEAD

    def card(self) -> Card:
        """The part of this entry that stays in memory."""
        key = self.key
        return Card(
            self.id,
            key.exact,
            self.partition,
            self.category,
            key.text,
            self.created,
            self.expires,
            self.answer,
            self.askers,
            self.wording,
        )

    def facts(self) -> dict[str, Any]:
        """The facts of this entry that operators are shown, as JSON has them; the answer is left out."""
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
            "semantic": bool(self.partition),
        }


def public_id(entry_id: int) -> str:
    """An entry id as users see it: 16 hexadecimal digits."""
    return f"{entry_id:016x}"


def parse_id(text: str) -> int | None:
    """The entry id behind a public id, or None when `text` is no id."""
    try:
        value = int(text, 16)
    except (ValueError, TypeError):  # a user of the library may hand over anything
        return None
    return value if len(text) == 16 and 0 <= value < 2**63 else None
