"""The pages as an ASGI application: routes, sessions, rights, CSRF tokens, and the headers of every reply.

Knows every page by its routes. Invariant: what needs a right is answered only to a visitor who has it; a change needs
the CSRF token of its session; no reply lets a browser run or load what does not come from this server.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlencode, urlsplit

from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route, Router
from starlette.staticfiles import StaticFiles

from semcache.cache.inspection import Inspection
from semcache.errors import CacheUnavailable, InvalidArgument, RequestRejected
from semcache.proxy.asgi import Message, Receive, Scope, Send
from semcache.proxy.page_headers import page_headers
from semcache.proxy.ui import PATH, pages
from semcache.proxy.ui.rendering import STATIC, Renderer
from semcache.proxy.ui.visit import PageParts, PageRoute, Right, Visit
from semcache.proxy.ui.visitors import LIFE, SESSION, Visitor, Visitors

if TYPE_CHECKING:
    from semcache.cache.response_cache import ResponseCache
    from semcache.config.settings import Settings
    from semcache.proxy.auth import Authenticator
    from semcache.proxy.plan_service import PlanService

_POLICY = "default-src 'self'; object-src 'none'; form-action 'self'"
_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    *((name.encode(), value.encode()) for name, value in page_headers(_POLICY).items()),
]
_REFUSED = {
    Right.READS: "This page shows prompts: log in with a trusted key (semcache keys create --trusted).",
    Right.CHANGES: "This needs a trusted key that is not read-only.",
    Right.ADMIN: "This page is for administrators: log in with an admin key (semcache keys create --admin).",
    Right.ADMIN_CHANGES: "This needs an admin key that is not read-only.",
}


class PageApplication:
    """The pages of one process."""

    def __init__(
        self,
        cache: ResponseCache,
        visitors: Visitors,
        plans: PlanService | None,
        settings: Settings,
        *,
        auth: Authenticator,
    ) -> None:
        self._parts = PageParts(
            cache, Inspection(cache.components), auth, plans, settings, visitors, Renderer(cache.clock)
        )
        self._visitors = visitors
        found = tuple(pages.routes())
        routes = [Route(PATH + one.path, self._endpoint(one), methods=_methods(one)) for one in found]
        shown = {one.path for one in found if not one.post}
        forms = [one.path for one in found if one.post and one.path not in shown]
        routes += [Route(PATH + path, _to_page_above(path, shown), methods=["GET"]) for path in forms]
        routed = Router(
            [
                Route(PATH + "/login", self._login_page, methods=["GET"]),
                Route(PATH + "/login", self._log_in, methods=["POST"]),
                Mount(PATH + "/static", _Lasting(directory=STATIC)),
                *routes,
            ],
            default=self._nowhere,
        )
        self._router = ExceptionMiddleware(routed)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, with the headers that every reply has."""

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name.lower() for name, _ in message["headers"]}
                extra = [] if b"cache-control" in given else [(b"cache-control", b"no-store")]
                message = {**message, "headers": [*message["headers"], *_HEADERS, *extra]}
            await send(message)

        if scope["path"] == PATH + "/":
            scope = {**scope, "path": PATH, "raw_path": PATH.encode()}
        await self._router(scope, receive, guarded)

    def _endpoint(self, route: PageRoute) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            visitor, cookie = self._visitor(request)
            if visitor is None:
                return self._to_login(request)
            form = parse_qs((await request.body()).decode("utf-8", "replace"), keep_blank_values=True)
            visit = Visit(self._parts, request, visitor, form if route.post else {})
            response = await self._answer(route, visit)
            if cookie is not None and not _sets_session(response):
                _set_session(request, response, cookie)
            return response

        return endpoint

    async def _answer(self, route: PageRoute, visit: Visit) -> Response:
        try:
            if route.post:
                self._check_form(visit)
            if not _allowed(visit.visitor, route.right):
                raise RequestRejected(403, _REFUSED[route.right], code="forbidden")
            return await route.handler(visit)
        except RequestRejected as error:
            return _refused(visit, error.message, error.status)
        except InvalidArgument as error:
            return _refused(visit, str(error), 400)
        except CacheUnavailable as error:
            return _refused(visit, f"The store cannot be reached: {error}", 503)

    def _check_form(self, visit: Visit) -> None:
        """Raise RequestRejected(403) for a change that this visitor's own page did not send."""
        _check_site(visit.request)
        token = visit.request.headers.get("x-semcache-sign") or next(iter(visit.form.get("sign", ())), "")
        if not self._visitors.is_from_form(visit.visitor, token):
            message = "This form does not belong to your session: reload the page and try again."
            raise RequestRejected(403, message, code="forbidden")

    def _visitor(self, request: Request) -> tuple[Visitor | None, str | None]:
        """The visitor, and the cookie of a session that began just now or was not asked anything for a while."""
        found = self._visitors.find(request.cookies.get(SESSION))
        if found is not None:
            return found, found.cookie
        guest = self._visitors.guest()
        return (None, None) if guest is None else (guest[1], guest[0])

    async def _login_page(self, request: Request) -> Response:
        return self._login(request.query_params.get("next", ""))

    async def _log_in(self, request: Request) -> Response:
        form = parse_qs((await request.body()).decode("utf-8", "replace"))
        try:
            _check_site(request)
            key = next(iter(form.get("key", ())), "").strip()
            address = request.client.host if request.client else ""
            cookie, visitor = self._visitors.log_in(key, address)
        except RequestRejected as error:
            response = self._login(next(iter(form.get("next", ())), ""), error.message, error.status)
            if error.status == 429:
                response.headers["retry-after"] = "60"
            return response
        caller = visitor.caller
        if caller.admin or caller.trusted:
            tenant = None if caller.admin else caller.tenant
            await self._parts.cache.operating.act("log in", who=f"key {caller.key_id} (page)", tenant=tenant)
        response = RedirectResponse(_within(next(iter(form.get("next", ())), "")), 303)
        _set_session(request, response, cookie)
        return response

    def _to_login(self, request: Request) -> Response:
        if "hx-request" in request.headers:
            return Response(status_code=401, headers={"hx-refresh": "true"})
        if request.headers.get("accept") == "text/event-stream":
            return PlainTextResponse("log in first", 401)
        if request.method != "GET":
            ended = "Your session has ended, and nothing was changed. Log in and send the form again."
            return self._login(urlsplit(request.headers.get("referer", "")).path, ended, 401)
        wanted = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        return RedirectResponse(f"{PATH}/login?" + urlencode({"next": wanted}), 303)

    async def _nowhere(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        visitor, _ = self._visitor(request)
        if visitor is None:
            response = self._to_login(request)
        else:
            response = _refused(Visit(self._parts, request, visitor, {}), "There is no such page.", 404)
        await response(scope, receive, send)

    def _login(self, wanted: str, refusal: str = "", status: int = 200) -> Response:
        text = self._parts.renderer.plain("login.html", refusal=refusal, next=_within(wanted))
        return Response(text, status, media_type="text/html")


class _Lasting(StaticFiles):
    """Files that browsers keep for a day; their names change with their versions, or they are asked for by one."""

    async def get_response(self, path: str, scope: MutableMapping[str, Any]) -> Response:
        response = await super().get_response(path, scope)
        response.headers["cache-control"] = "private, max-age=86400"
        return response


def _methods(route: PageRoute) -> list[str]:
    return ["POST"] if route.post else ["GET"]


def _allowed(visitor: Visitor, right: Right) -> bool:
    match right:
        case Right.KNOWN:
            return True
        case Right.READS:
            return visitor.reads
        case Right.CHANGES:
            return visitor.changes
        case Right.ADMIN:
            return visitor.caller.admin
    return visitor.caller.admin and visitor.changes


def _check_site(request: Request) -> None:
    """Raise RequestRejected(403) for what a browser says another site has sent.

    It says so by Sec-Fetch-Site over TLS and on this machine, and by Origin everywhere.
    """
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site is None and origin is not None:
        names = [request.headers.get(name, "").partition(",")[0] for name in ("host", "x-forwarded-host")]
        site = "same-origin" if origin.rpartition("//")[2] in names else "cross-site"
    if site not in (None, "same-origin", "none"):
        raise RequestRejected(403, "This request was sent by a page of another site.", code="forbidden")


def _refused(visit: Visit, refusal: str, status: int) -> Response:
    return visit.page("refused.html", status=status, refusal=refusal, acted=visit.request.method == "POST")


def _to_page_above(path: str, shown: set[str]) -> Callable[[Request], Awaitable[Response]]:
    """The answer to a form's address that is opened as a page: the page that the form is on, or else the overview."""
    above = path.rpartition("/")[0]

    async def endpoint(_: Request) -> Response:
        return RedirectResponse(PATH + (above if above in shown else ""), 303)

    return endpoint


def _within(address: str) -> str:
    """An address of the page, for any that is none the page itself."""
    inside = address == PATH or address.startswith((PATH + "/", PATH + "?"))
    return address if inside and "\\" not in address and address.isprintable() else PATH


def _set_session(request: Request, response: Response, cookie: str) -> None:
    secure = request.url.scheme == "https" or request.headers.get("x-forwarded-proto") == "https"
    response.set_cookie(SESSION, cookie, max_age=int(LIFE), path=PATH, httponly=True, samesite="strict", secure=secure)


def _sets_session(response: Response) -> bool:
    """Return True for a reply that ends the session, or begins another."""
    return any(value.startswith(f"{SESSION}=") for value in response.headers.getlist("set-cookie"))
