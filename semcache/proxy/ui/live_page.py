"""Live: requests as they are answered, by any worker, sent as server-sent events.

An event's id is its place in the event log, so that a browser that was cut off goes on where it was. Invariant: a
stream ends with its session, and is no longer than `_LONGEST`, which a server that stops waits for.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import msgspec
from starlette.responses import Response, StreamingResponse

from semcache.cache.reasons import explained
from semcache.errors import CacheUnavailable, RequestRejected
from semcache.proxy.ui.visit import PageRoute, Visit
from semcache.proxy.ui.visitors import SESSION
from semcache.types import Outcome, Why, public_id

_EVERY = 1.0
_LONGEST = 5.0
_FIRST = 50  # events that a new page begins with
_SOUGHT = 5_000  # the newest, among which those of a page's filters are sought
_STREAMS, _OWN_STREAMS = 40, 10  # pages that follow, of all visitors and of one key
_open: dict[object, str] = {}  # by stream, whose it is


async def live(visit: Visit) -> Response:
    """Show the page that follows."""
    return visit.page(
        "live.html",
        outcomes=[one.value for one in Outcome],
        whys=sorted(one.value for one in Why),
        categories=sorted(visit.cache.pack.categories),
    )


async def events(visit: Visit) -> Response:
    """Send what is answered from now on, or from the last event that the browser saw."""
    own = sum(who == visit.who for who in _open.values())
    if len(_open) >= _STREAMS or own >= _OWN_STREAMS:
        raise RequestRejected(503, "Too many live pages are open on this worker.", code="busy")
    last = visit.request.headers.get("last-event-id", "") or visit.asked("after")
    after = int(last) if last.isdecimal() and len(last) < 19 else None
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(_stream(visit, after), media_type="text/event-stream", headers=headers)


async def _stream(visit: Visit, after: int | None) -> AsyncIterator[bytes]:
    own = object()
    _open[own] = visit.who
    try:
        yield b"retry: 300\n\n"
        asked = {name: visit.asked(name) for name in ("outcome", "why", "category", "model")}
        wanted = {name: value for name, value in asked.items() if value}
        first = _SOUGHT if wanted else _FIRST
        ends = asyncio.get_running_loop().time() + _LONGEST
        while asyncio.get_running_loop().time() < ends and _signed_in(visit):
            try:
                found = await visit.inspection.outcomes(
                    after, tenant=visit.tenant, limit=first if after is None else 200
                )
            except CacheUnavailable:
                shown = []
            else:
                shown = [row for row in found if all(row[name] == value for name, value in wanted.items())]
                shown = shown[-_FIRST:] if after is None else shown
                after = found[-1]["id"] if found else (after or 0)
            lines = [b"id: %d\ndata: %s\n\n" % (row["id"], msgspec.json.encode(_row(row))) for row in shown]
            # A comment keeps what stands between from closing a quiet stream; the id is kept up all the same.
            seen = b"" if after is None else b"id: %d\n" % after
            yield b"".join(lines) + seen + b"event: seen\ndata:\n\n"
            await asyncio.sleep(_EVERY)
    finally:
        _open.pop(own, None)


def _row(row: dict[str, object]) -> dict[str, object]:
    entry, requests = row["entry_id"], int(str(row["requests"]))
    return {
        "id": row["request_id"],
        "at": row["at"],
        "tenant": row["tenant"],
        "model": row["model"],
        "category": row["category"],
        "outcome": row["outcome"],
        "why": row["why"],
        "meaning": explained(Why(str(row["why"])))[0],
        "status": row["status"],
        "requests": requests,
        "ms": round(1e3 * float(str(row["seconds"])) / max(1, requests), 1),
        "saved": row["saved_cost"],
        "spent": row["spent_cost"],
        "p": row["p_correct"],
        "entry": public_id(entry) if isinstance(entry, int) else None,
    }


def _signed_in(visit: Visit) -> bool:
    visitors = visit.parts.visitors
    return visitors.find(visit.request.cookies.get(SESSION)) is not None


ROUTES = (PageRoute("/live", live), PageRoute("/live/events", events))
