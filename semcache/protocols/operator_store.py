"""The part of a store that is kept for operators: sums by the hour, decisions, deleted entries, actions.

Knows only the values of `types`. A store may lack it: operators are told then that there is nothing to show. Invariant:
nothing here is needed to answer a request, and what belongs to an erased entry or tenant goes with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from semcache.types import AdminAction, DecisionRecord, Deletion, Selector
from semcache.types.evidence import Label


class UsageLog(Protocol):
    """Sums of outcomes over time. Raises StoreError."""

    async def usage(
        self, *, since: float, until: float, by: Sequence[str], tenant: str | None = None
    ) -> list[Mapping[str, Any]]:
        """Counts and sums as in `tally`, of whole hours, by some of hour, tenant, model, category, and by outcome."""
        ...

    async def unpriced(self, *, since: float) -> list[str]:
        """Models that were called since then and cost nothing, as far as is known."""
        ...

    async def outcomes_after(
        self, after: int | None, *, tenant: str | None = None, limit: int = 200
    ) -> list[dict[str, Any]]:
        """Rows of the event log after the one with this `id`, oldest first; with None the newest `limit`."""
        ...


class DecisionRecords(Protocol):
    """Why requests were served or not. Raises StoreError."""

    async def keep_decisions(self, decisions: Sequence[DecisionRecord], *, most: int) -> None:
        """Keep decisions, sealed as entries are, and no more than the newest `most` of all."""
        ...

    async def decisions(
        self,
        *,
        tenant: str | None = None,
        outcome: str | None = None,
        why: str | None = None,
        category: str | None = None,
        before: float | None = None,
        limit: int = 50,
    ) -> list[DecisionRecord]:
        """Decisions, newest first; those that cannot be opened are left out."""
        ...

    async def decision(self, request_id: str) -> DecisionRecord | None:
        """The decision on one request, by its own id or the upstream's.

        Raises IntegrityError when it cannot be opened.
        """
        ...

    async def outcome_of(self, request_id: str) -> Mapping[str, Any] | None:
        """The row of the event log of one request, which has no prompt and no neighbours."""
        ...

    async def labels_about(self, ids: Sequence[int], *, tenant: str | None = None, limit: int = 200) -> list[Label]:
        """The newest labels about these entries (of that tenant's requests), newest first."""
        ...


class Undoing(Protocol):
    """Deleting so that it can be undone, and erasing so that nothing is left. Raises StoreError."""

    async def set_aside(self, where: Selector, *, batch: str, now: float, until: float) -> list[int]:
        """Delete what matches as `Entries.delete` does, and keep it aside until then; return the ids."""
        ...

    async def bring_back(self, batch: str, *, now: float, tenant: str | None = None) -> list[int]:
        """Put back what was set aside (of that tenant) and lives still; return the ids."""
        ...

    async def unshelve(self, entry_id: int, *, batch: str, now: float, until: float) -> bool:
        """Take an entry's vector and partition from it, so that only its own request finds it; False without one.

        A rejection with `ALL_OTHERS` says so from then on: what replaces the entry gets it, and no vector either.
        `bring_back` gives them back until then, to what replaced the entry too, and takes it away.
        """
        ...

    async def set_aside_since(self, now: float, *, tenant: str | None = None) -> list[Deletion]:
        """The deletions that can be undone at this time, newest first."""
        ...

    async def erase(self, where: Selector, *, now: float) -> None:
        """Forget decisions and deleted entries of what a selector names.

        Where it names a tenant and nothing else, events, sums and labels of that tenant go too; where it names a user,
        no event says any longer whose it was.
        """
        ...

    async def unreject(self, entry_id: int, exacts: Sequence[bytes], *, now: float) -> None:
        """Take back rejections of an entry and announce it."""
        ...


class ActionLog(Protocol):
    """The log of what administrators did. Raises StoreError."""

    async def act(self, action: AdminAction) -> None:
        """Append to the administrators' log."""
        ...

    async def actions(self, *, tenant: str | None = None, limit: int = 100) -> list[AdminAction]:
        """The newest actions first (of that tenant)."""
        ...

    async def take_marked(self, mark: str, *, since: float) -> list[AdminAction]:
        """The actions since then whose detail has this key, oldest first, as they were; the key is taken out.

        Of several callers, one gets an action.
        """
        ...

    async def sweep_operating(self, now: float) -> None:
        """Drop decisions and deleted entries whose time is over, and actions of more than a year ago."""
        ...


@runtime_checkable
class OperatorStore(UsageLog, DecisionRecords, Undoing, ActionLog, Protocol):
    """A store that keeps what operators ask for."""
