"""Rows of a store beside its entries: changes, rejections and API keys, and the selector of entries.

Invariant: every value is frozen; a key is known by its digest alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

ALL_OTHERS = b""


@dataclass(frozen=True, slots=True)
class Selector:
    """The entries that an administrative call means: the conjunction of the fields that are set. Empty means none.

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
        """Return True if no field is set, so that nothing is selected."""
        return self == Selector()

    def is_part(self) -> bool:
        """Return True if it names some of what a tenant, a user and a namespace have, and not all of that."""
        beside = (self.ids, self.category, self.model, self.tag, self.source, self.older_than)
        return any(one is not None for one in beside)

    def is_owner(self) -> bool:
        """Return True if it names all that a tenant or a user has, or everything."""
        return not (self.is_part() or self.is_empty() or self.namespace is not None)

    def of_decisions(self) -> bool:
        """Return True if what it names can be told of a decision, which knows neither tags nor sources."""
        return self.ids is None and self.tag is None and self.source is None


class ChangeKind(StrEnum):
    """The kinds of change of an entry in a shared store."""

    PUT = "put"
    DELETE = "delete"
    REJECT = "reject"
    ALLOW = "allow"  # a rejection was taken back
    ALIAS = "alias"
    RIGHT = "right"  # so people said, of what a worker may have served that did not hear it
    WRONG = "wrong"
    UNKNOWN = "unknown"  # never written: of a newer program, or damaged


@dataclass(frozen=True, slots=True)
class Change:
    """A row of the change feed. `exact` is the key that a REJECT or an ALLOW is about.

    An UNKNOWN change may be anything about its entry; with the entry 0, anything about any.
    """

    seq: int
    kind: ChangeKind
    entry_id: int
    exact: bytes = b""


@dataclass(frozen=True, slots=True)
class Rejection:
    """Entry `entry_id` is known to be wrong for the request with digest `exact`.

    `ALL_OTHERS` in place of a digest stands for every request but its own: such an entry has no vector, nor has what
    replaces it.
    """

    entry_id: int
    exact: bytes


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key that maps a caller to a tenant. Only its digest is stored.

    `trusted` callers may name users and see scores; `admin` callers may read and purge entries of every tenant. A key
    of a `user` is that user's alone. Limits are None where it has those of the settings. One that is `read_only` looks
    at what it may see and changes nothing: it sends no requests to the upstream either. From the Unix time `expires`
    on it is refused.
    """

    id: str
    digest: bytes
    tenant: str
    name: str
    created: float
    trusted: bool = False
    admin: bool = False
    revoked: float | None = None
    user: str | None = None
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    dollars_per_day: float | None = None
    read_only: bool = False
    expires: float | None = None

    def has_expired(self, now: float) -> bool:
        """Return True from the end of the key on."""
        return self.expires is not None and self.expires <= now

    def in_force(self, now: float) -> bool:
        """Return True for a key that is neither revoked nor expired."""
        return self.revoked is None and not self.has_expired(now)
