"""The administrative application: everything outside `/v1`, behind the intake of all requests.

FastAPI answers; this room says who gets that far. Invariant: liveness and readiness need neither key nor name; a body
is read only for a caller who is known; metrics and the description of the API are for administrators once there are
keys, unless a setting says otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from semcache import __version__
from semcache.agents.library import AsyncSemanticCache
from semcache.dialects.answer import openai_error
from semcache.errors import CacheUnavailable, RateLimited, RequestRejected
from semcache.proxy.asgi import ClientGone, Message, Receive, Scope, Send, replay_body, respond
from semcache.proxy.auth import Authenticator
from semcache.proxy.client_edges import not_found
from semcache.proxy.intake import Intake
from semcache.proxy.origin import check_json
from semcache.proxy.relay import refusal_headers

if TYPE_CHECKING:
    from fastapi import FastAPI

    from semcache.proxy.plan_service import PlanService
    from semcache.proxy.ui.page_entrance import PageEntrance

_HEALTH = frozenset({"/livez", "/readyz", "/healthz"})
_INSIDE = frozenset({"/metrics", "/openapi.json", "/docs"})
_PRIVATE = ((b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff"))
_NOT_FOUND = 404
_MOST = 256 << 10  # bytes of a body: none here says more


class Administration:
    """The application of `/semcache`, health and metrics. `public` None: metrics are public while there is no key."""

    def __init__(
        self,
        cache: AsyncSemanticCache,
        auth: Authenticator,
        intake: Intake,
        plans: PlanService | None,
        *,
        public: bool | None = None,
        reload: Callable[[str, float], Awaitable[dict[str, Any]]],
        page: PageEntrance | None = None,
    ) -> None:
        self._auth, self._intake, self._public, self._page = auth, intake, public, page
        self._app = _fastapi(cache, auth, plans, reload, tells=self._tells)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        path: str = scope["path"]
        if path in _HEALTH:
            await self._app(scope, replay_body(b"", receive), send)
            return
        if self._page is not None and self._page.leads_to(path):
            await self._page(scope, receive, send)
            return
        try:
            tenant = self._admit(scope, path)
        except RequestRejected as error:
            await _refuse(send, error)
            return
        hold = self._intake.hold(tenant)
        try:
            body = await self._intake.body(scope, receive, hold, most=min(_MOST, self._intake.max_body))
            if body:
                check_json(scope["headers"])
                _check_text(body)
            headers = [pair for pair in scope["headers"] if pair[0] != b"content-encoding"]
            await self._app({**scope, "headers": headers}, replay_body(body, receive), _private(send))
        except ClientGone:
            return
        except RequestRejected as error:
            await _refuse(send, error)
        finally:
            hold.release()

    def _tells(self) -> bool:
        """Return True if what tenants do may be told without a key, as metrics are."""
        return bool(self._public) or (self._public is None and not self._auth.required)

    def _admit(self, scope: Scope, path: str) -> str:
        """Return the tenant of a caller who may get this far. Raises RequestRejected."""
        if path in _INSIDE and self._public:
            self._intake.check_host(scope, keyless=self._auth.keyless)
            return ""
        caller = self._intake.caller(scope)
        if path in _INSIDE and not caller.admin and not self._tells():
            message = f"{path} needs an admin API key: semcache keys create --admin, or auth.public_metrics"
            raise RequestRejected(403, message, code="forbidden")
        return caller.tenant


def _check_text(body: bytes) -> None:
    """Raise RequestRejected(400) for half a surrogate pair, which is no text, and for a number that is none in JSON."""
    import json

    try:
        json.dumps(json.loads(body), ensure_ascii=False, allow_nan=False).encode()
    except UnicodeError:
        raise RequestRejected(400, "the body holds half a surrogate pair", code="invalid_request_error") from None
    except (ValueError, RecursionError) as error:
        if "JSON compliant" in str(error):
            message = "the body holds NaN, an infinity, or a number too large for JSON"
            raise RequestRejected(400, message, code="invalid_request_error") from None
        # The route says what is wrong.


def _private(send: Send) -> Send:
    """Return a `send` that lets no browser and no gateway keep a reply, or take it for another type."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = {name for name, _ in message["headers"]}
            more = [pair for pair in _PRIVATE if pair[0] not in own]
            message = {**message, "headers": [*message["headers"], *more]}
        await send(message)

    return sending


async def _refuse(send: Send, error: RequestRejected) -> None:
    body = openai_error(error.status, error.message, code=error.code, param=error.param)
    await respond(send, error.status, refusal_headers(error), body)


def _fastapi(
    cache: AsyncSemanticCache,
    auth: Authenticator,
    plans: PlanService | None,
    reload: Callable[[str, float], Awaitable[dict[str, Any]]],
    *,
    tells: Callable[[], bool],
) -> FastAPI:
    from fastapi import FastAPI, Request, Response
    from starlette.exceptions import HTTPException

    from semcache.proxy import api_page
    from semcache.proxy.admin_routes import admin_routes
    from semcache.proxy.health_routes import health_routes
    from semcache.proxy.openapi import describe
    from semcache.proxy.operator_routes import operator_routes
    from semcache.proxy.reload_route import reload_routes

    # A redirect would name http:// behind a gateway that ends TLS.
    app = FastAPI(
        title="semcache",
        version=__version__,
        telemetry={"logs": False},
        redirect_slashes=False,
        docs_url=None,
        redoc_url=None,
    )
    app.include_router(admin_routes(cache, auth))
    app.include_router(operator_routes(cache, auth))
    app.include_router(reload_routes(auth, reload))
    app.include_router(health_routes(cache, tells=tells))
    if plans is not None:
        from semcache.proxy.plan_routes import plan_routes

        app.include_router(plan_routes(plans, auth))

    @app.get("/docs", include_in_schema=False)
    async def described() -> Response:
        return Response(api_page.api_page(app.openapi()), media_type="text/html", headers=api_page.HEADERS)

    async def rejected(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestRejected)
        body = openai_error(error.status, error.message, code=error.code, param=error.param)
        again = {"retry-after": str(math.ceil(error.after))} if isinstance(error, RateLimited) else None
        return Response(body, error.status, media_type="application/json", headers=again)

    async def unavailable(_: Request, error: Exception) -> Response:
        body = openai_error(503, f"the store cannot be reached: {error}", code="store_unavailable")
        return Response(body, 503, media_type="application/json")

    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        path = request.url.path
        said = f"{request.method} {path[:200]}: {error.detail}"
        body = openai_error(error.status_code, said, code="invalid_request_error")
        body = not_found(path) if error.status_code == _NOT_FOUND else body
        return Response(body, error.status_code, media_type="application/json", headers=error.headers)

    app.add_exception_handler(RequestRejected, rejected)
    app.add_exception_handler(HTTPException, refused)
    app.add_exception_handler(CacheUnavailable, unavailable)
    describe(app)
    return app
