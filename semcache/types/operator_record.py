"""Records that operators look back on: why a request was served or not, and what an administrator did.

Invariant: every value is frozen; a decision record names other entries by their ids and holds none of their texts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from semcache.types.incoming_request import Scope
from semcache.types.store_row import ApiKey


@dataclass(frozen=True, slots=True)
class DecisionRecord:
    """Why one request was served or not. `mentions` are the entries that `body`, as JSON has it, is about.

    `upstream_id` is the id that the upstream gave the request, which is the one that its reply shows.
    """

    request_id: str
    at: float
    expires: float
    scope: Scope
    category: str
    model: str
    outcome: str
    why: str
    entry_id: int | None
    body: dict[str, Any]
    mentions: tuple[int, ...] = ()
    upstream_id: str = ""


@dataclass(frozen=True, slots=True)
class AdminAction:
    """An act of an administrator: `who` is a key's id and name, or the command line; `tenant` None is all."""

    at: float
    who: str
    action: str
    tenant: str | None = None
    detail: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Deletion:
    """Entries that were deleted together and can be brought back until a time."""

    batch: str
    at: float
    until: float
    count: int
    tenants: tuple[str, ...] = ()


def expiry_action(key: ApiKey) -> AdminAction:
    """Return the entry of the administrators' log about a key that has expired."""
    return AdminAction(key.expires or 0.0, "semcache", "key expired", key.tenant, {"key": key.id})
