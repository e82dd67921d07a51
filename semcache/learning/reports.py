"""Reports of wrong answers in the store: what one changes there, and how it is taken back.

Knows the store alone, so that the command line reports as a server does. Invariant: what a report changed is written
into the administrators' log, and withdrawing takes back that and nothing else.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, Protocol

from semcache.learning.withdrawn_labels import is_report, standing_labels, withdrawal
from semcache.protocols import ChangeFeed, Entries, LabelStore, OperatorStore, OutcomeLog, Rejections
from semcache.types import AdminAction, Entry, Rejection, Selector, parse_id, public_id
from semcache.types.evidence import Label, LabelSource

REPORT, WITHDRAW = "report", "withdraw"
UNCOUNTED = "uncounted"  # the detail of a report that is in no server's metrics yet: its category
_MOST = 10_000  # actions that are looked through
_ALL = 1 << 30
_ANSWERED = frozenset([LabelSource.AUDIT, LabelSource.MISS])  # by fresh answers


class ReportingStore(Entries, Rejections, ChangeFeed, OutcomeLog, LabelStore, Protocol):
    """The part of a store that reports change."""


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """The effects of a withdrawal: requests that the entry may be served to again, entries that are back, labels.

    `alike` are rejections of other entries of the same answer that were taken back.
    """

    allowed: tuple[bytes, ...] = ()
    restored: tuple[int, ...] = ()
    labels: tuple[Label, ...] = field(default=())
    alike: tuple[Rejection, ...] = ()


@dataclass(frozen=True, slots=True)
class ReportSoFar:
    """The effects of a report before other workers said whom they served: the digests of requests that it rejected.

    `written` says that the administrators' log has them.
    """

    rejected: Collection[bytes] = ()
    written: bool = False


NOT_BEGUN = ReportSoFar()


async def is_about_one_request(store: ReportingStore, entry: Entry) -> bool:
    """Return False if several other requests were served an entry and may get it again: a report is about any of them.

    Ask before the report is applied. Raises StoreError.
    """
    refused = [one.exact for one in await store.rejections(entry.id)]
    return len(set(await store.served_keys(entry.id)).difference(refused, [entry.key.exact])) <= 1


async def reject_wrong(
    store: ReportingStore,
    entry: Entry,
    *,
    now: float,
    undo: float = 86400.0,
    who: str = "",
    before: ReportSoFar = NOT_BEGUN,
    counted: bool = True,
) -> list[Rejection]:
    """Reject the entry for every request that it was served to, its own among them; return the rejections.

    One that was only ever replayed to its own request is deleted, and nothing of it is returned; for `undo` seconds it
    can be brought back. Other entries of the same answer are rejected for the same requests, but their own. What the
    same report did `before` is written into the administrators' log once. A report that is not `counted` in the
    caller's metrics is marked there, for a server to count it. Raises StoreError.
    """
    served = await store.served_keys(entry.id)
    unwritten = () if before.written else before.rejected
    known = {one.exact for one in await store.rejections(entry.id)}.difference(unwritten)
    changed: dict[str, Any] = {"id": public_id(entry.id)}
    if not counted:
        changed[UNCOUNTED] = entry.category
    alike, fresh = await _rejections_alike(store, entry, served or [entry.key.exact])
    if fresh:
        await store.reject(fresh, now=now)
        changed["alike"] = [[public_id(one.entry_id), one.exact.hex()] for one in fresh]
    rejections: list[Rejection] = []
    if set(served) - {entry.key.exact}:
        rejections = [Rejection(entry.id, digest) for digest in served]
        await store.reject(rejections, now=now)
        changed["rejected"] = [digest.hex() for digest in served if digest not in known]
        if before.written and not changed["rejected"] and not fresh:
            return rejections + alike
    elif isinstance(store, OperatorStore) and undo > 0.0:
        changed["batch"] = batch = f"report-{public_id(entry.id)}"
        await store.set_aside(Selector(ids=(entry.id,)), batch=batch, now=now, until=now + undo)
    else:
        await store.delete(Selector(ids=(entry.id,)), now=now)
    if isinstance(store, OperatorStore):
        await store.act(AdminAction(now, who or "somebody", REPORT, entry.key.scope.tenant, changed))
    return rejections + alike


async def _rejections_alike(
    store: ReportingStore, entry: Entry, wrong: Sequence[bytes]
) -> tuple[list[Rejection], list[Rejection]]:
    """The rejections of other entries of the same answer for these requests but their own; and those that are new."""
    others = await store.alike(entry.id)
    alike = [Rejection(other, exact) for other, own in others.items() for exact in wrong if exact != own]
    known = {one for other in others for one in await store.rejections(other)}
    return alike, [one for one in alike if one not in known]


async def withdraw(
    store: ReportingStore, entry_id: int, *, now: float, tenant: str | None = None, who: str = ""
) -> Withdrawn | None:
    """Withdraw every report of a wrong answer about an entry; None if there is none (of that tenant).

    Raises StoreError.
    """
    if not isinstance(store, OperatorStore):
        return None
    name = public_id(entry_id)
    reports = await _standing_reports(store, name, tenant)
    standing, wrong = await _told_in_log(store, entry_id)
    labels = [one for one in standing if tenant in (None, one.tenant)]
    if not reports and not labels:
        return None
    restored: list[int] = []
    for batch in {report.detail["batch"] for report in reports if "batch" in report.detail}:
        restored += await store.bring_back(batch, now=now, tenant=tenant)
    rejected = dict.fromkeys(bytes.fromhex(one) for report in reports for one in report.detail.get("rejected", ()))
    allowed = [digest for digest in rejected if digest not in wrong]
    if allowed:
        await store.unreject(entry_id, allowed, now=now)
    alike = [Rejection(number, exact) for number, exact in _told_alike(reports) if exact not in wrong]
    for one in alike:
        await store.unreject(one.entry_id, [one.exact], now=now)
    if labels:
        await store.label([withdrawal(label, at=now) for label in labels])
    of = reports[0].tenant if reports else labels[0].tenant
    detail = {"id": name, "allowed": len(allowed), "restored": len(restored), "labels": len(labels)}
    await store.act(AdminAction(now, who or "somebody", WITHDRAW, of, detail))
    return Withdrawn(tuple(allowed), tuple(restored), tuple(labels), tuple(alike))


async def _standing_reports(store: OperatorStore, name: str, tenant: str | None) -> list[AdminAction]:
    """The reports about the entry of that public id (of that tenant) that are not withdrawn."""
    about = [one for one in await store.actions(tenant=tenant, limit=_MOST) if one.detail.get("id") == name]
    # The newest come first: what was reported before an earlier withdrawal is withdrawn.
    return [one for one in takewhile(lambda one: one.action != WITHDRAW, about) if one.action == REPORT]


def _told_alike(reports: Sequence[AdminAction]) -> list[tuple[int, bytes]]:
    """The ids and requests that reports rejected beside their own entry."""
    told = [(parse_id(name), bytes.fromhex(exact)) for one in reports for name, exact in one.detail.get("alike", ())]
    return [(number, exact) for number, exact in told if number is not None]


async def _told_in_log(store: OperatorStore, entry_id: int) -> tuple[list[Label], set[bytes]]:
    """The labels of reports about an entry that are not withdrawn, and the requests it was found wrong for.

    The latter were found by fresh answers, so they stay wrong after a withdrawal.
    """
    found: list[Label] = []
    wrong: set[bytes] = set()
    for one in reversed(await store.labels_about([entry_id], limit=_ALL)):
        if _told(one):
            found.append(one)
        elif not one.correct and one.source in _ANSWERED:
            wrong.add(one.exact)
    return [one for one in standing_labels(found) if is_report(one)], wrong


def _told(label: Label) -> bool:
    return is_report(label) or label.source is LabelSource.WITHDRAWN
