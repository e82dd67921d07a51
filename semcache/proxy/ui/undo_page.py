"""Undo: the deletions that can be taken back, and the administrators' log.

Invariant: a visitor who is no administrator sees and undoes what is of its own tenant alone.
"""

from __future__ import annotations

import asyncio

from starlette.responses import Response

from semcache.proxy.ui import PATH
from semcache.proxy.ui.visit import PageRoute, Right, Visit


async def undo_list(visit: Visit) -> Response:
    """Show what can be undone, and what was done."""
    tenant = visit.visitor.tenant
    deleted, actions = await asyncio.gather(
        visit.cache.operating.deleted(tenant=tenant), visit.cache.operating.actions(tenant=tenant, limit=200)
    )
    return visit.page("undo.html", deleted=deleted, actions=actions, window=visit.cache.components.undo)


async def undo(visit: Visit) -> Response:
    """Bring back what was deleted under a name."""
    ids = await visit.cache.operating.undo(visit.asked("undo"), who=visit.who, tenant=visit.visitor.tenant)
    came = visit.asked("back")
    to = came.removeprefix(PATH) if came.startswith(PATH + "/") and came.isprintable() else "/undo"
    if not ids:
        return visit.back(to, "Nothing was restored: it was undone already, or its time is over.", bad=True)
    return visit.back(to, f"Undone: {len(ids)} {'entry is' if len(ids) == 1 else 'entries are'} restored.")


ROUTES = (PageRoute("/undo", undo_list, Right.READS), PageRoute("/undo", undo, Right.CHANGES, post=True))
