"""Settings: every setting with its value and where it came from, and leaving the page.

Invariant: secrets are masked.
"""

from __future__ import annotations

from contextlib import suppress

from starlette.responses import RedirectResponse, Response

from semcache.errors import StoreError
from semcache.proxy.ui import PATH
from semcache.proxy.ui.visit import PageRoute, Right, Visit
from semcache.proxy.ui.visitors import NOTICE, SESSION


async def settings(visit: Visit) -> Response:
    """Show every setting."""
    rows = visit.parts.settings.explain()
    sections: dict[str, list[tuple[str, str, str]]] = {}
    for name, value, source in rows:
        section = name.partition(".")[0] if "." in name else "general"
        sections.setdefault(section, []).append((name, value, source))
    ordered = {"general": sections.pop("general", []), **sections}
    pack = visit.cache.pack
    return visit.page(
        "settings.html", sections=ordered, pack=pack, embedder=visit.cache.embedder_id,
        changed=sum(source != "default" for _, _, source in rows),
    )  # fmt: skip


async def log_out(visit: Visit) -> Response:
    """End the session."""
    # A store that is down is told as soon as it is back.
    with suppress(StoreError):
        await visit.parts.visitors.log_out(visit.visitor)
    response = RedirectResponse(PATH + "/login", 303)
    for name in (SESSION, NOTICE):
        response.delete_cookie(name, path=PATH, httponly=True, samesite="strict")
    return response


ROUTES = (
    PageRoute("/settings", settings, Right.ADMIN),
    PageRoute("/logout", log_out, post=True),
)
