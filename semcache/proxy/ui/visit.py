"""A visit: one request for a page, with its visitor, the fields of its form, and the ways to answer it.

Knows requests and responses, nothing of what pages show. Invariant: a page is never stored by a browser or a proxy,
and after a change the browser is sent back to a page, so that reloading repeats nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import urlencode

from starlette.responses import HTMLResponse, RedirectResponse, Response

from semcache.errors import RequestRejected
from semcache.proxy.ui import PATH
from semcache.proxy.ui.visitors import NOTICE, Visitor

if TYPE_CHECKING:
    from starlette.requests import Request

    from semcache.cache.inspection import Inspection
    from semcache.cache.response_cache import ResponseCache
    from semcache.config.settings import Settings
    from semcache.proxy.auth import Authenticator
    from semcache.proxy.plan_service import PlanService
    from semcache.proxy.ui.rendering import Renderer
    from semcache.proxy.ui.visitors import Visitors

_LONGEST = 4000  # characters of a field


class Right(IntEnum):
    """The right that a page asks of its visitor."""

    KNOWN = 0
    READS = 1  # prompts of its tenant
    CHANGES = 2
    ADMIN = 3
    ADMIN_CHANGES = 4


@dataclass(frozen=True, slots=True)
class PageParts:
    """Everything that pages are made from."""

    cache: ResponseCache
    inspection: Inspection
    auth: Authenticator
    plans: PlanService | None
    settings: Settings
    visitors: Visitors
    renderer: Renderer


class Visit:
    """One request. `form` holds the fields of a change, the first value of each in `text`."""

    def __init__(self, parts: PageParts, request: Request, visitor: Visitor, form: Mapping[str, list[str]]) -> None:
        self.parts, self.request, self.visitor, self.form = parts, request, visitor, form
        self.cache, self.inspection = parts.cache, parts.inspection
        self.now = parts.cache.clock()

    @property
    def who(self) -> str:
        """The visitor, as the administrators' log has it."""
        caller = self.visitor.caller
        return f"key {caller.key_id} (page)" if caller.key_id else "page"

    def asked(self, name: str, default: str = "") -> str:
        """A field of the address, or else of the form, without spaces around it."""
        value = self.request.query_params.get(name)
        if value is None:
            value = next(iter(self.form.get(name, ())), default)
        return value.strip()[:_LONGEST]

    def text(self, name: str) -> str:
        """A text of several lines in the address, as it was typed; browsers send CRLF for each end of a line."""
        return self.request.query_params.get(name, "").replace("\r\n", "\n")

    def choice(self, name: str, known: Mapping[str, Any] | tuple[str, ...], default: str) -> str:
        """A field whose value is one of those known."""
        value = self.asked(name, default)
        return value if value in known else default

    def number(self, name: str, default: float, low: float, high: float) -> float:
        """A number within limits."""
        try:
            value = float(self.asked(name) or default)
        except ValueError:
            return default
        return min(high, max(low, value)) if value == value else default  # noqa: PLR0124

    @property
    def tenant(self) -> str | None:
        """The tenant that is looked at: the visitor's own, or the one that an administrator chose. None is all."""
        own = self.visitor.tenant
        return own if own is not None else (self.asked("tenant") or None)

    @property
    def part(self) -> bool:
        """True where htmx asks for a part of the page."""
        return "hx-request" in self.request.headers

    def page(self, template: str, *, status: int = 200, **facts: Any) -> Response:
        """The page of a template."""
        frame = {"here": self.request.url.path, "notice": self.notice(), "asked": self.asked, "part": self.part}
        response = HTMLResponse(self.parts.renderer.page(template, self.visitor, frame | facts), status)
        if NOTICE in self.request.cookies and not self.part:
            response.delete_cookie(NOTICE, path=PATH, httponly=True, samesite="strict")
        return response

    def back(
        self, to: str, message: str, *, undo: str = "", withdraw: str = "", bad: bool = False, **query: str
    ) -> Response:
        """Send the browser to a page that says what was done.

        `undo` names a deletion that can be taken back, `withdraw` an entry whose report can.
        """
        given = {name: value for name, value in query.items() if value}
        address = PATH + to + ("?" + urlencode(given) if given else "")
        response = RedirectResponse(address, 303)
        notice = {"text": message, "undo": undo, "withdraw": withdraw, "bad": bad}
        sealed = self.parts.visitors.sealer.seal(notice, NOTICE)
        response.set_cookie(NOTICE, sealed, max_age=60, path=PATH, httponly=True, samesite="strict")
        return response

    def notice(self) -> Mapping[str, Any] | None:
        """The words of the last change, once."""
        kept = self.request.cookies.get(NOTICE)
        found = self.parts.visitors.sealer.open(kept, NOTICE) if kept and not self.part else None
        return found if isinstance(found, dict) else None


Handler: TypeAlias = Callable[[Visit], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class PageRoute:
    """A page, or with `post` a change; `path` comes after that of the page itself."""

    path: str
    handler: Handler
    right: Right = Right.KNOWN
    post: bool = False


def not_found(what: str) -> RequestRejected:
    """The refusal of something that is not there, or not this visitor's."""
    return RequestRejected(404, f"there is no {what}", code="not_found")
