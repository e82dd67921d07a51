"""The entrance of the operators' page: whether there is one, and the body of a request before its sender is known.

Nothing of the page is imported before its first request. Invariant: the page is there only where an administrator can
prove to be one (there is an admin key), or where this machine alone can connect; elsewhere it is 404.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from semcache.config.settings import Settings, is_local
from semcache.dialects.answer import openai_error
from semcache.errors import RequestRejected
from semcache.proxy.asgi import ClientGone, Receive, Scope, Send, replay_body, respond
from semcache.proxy.auth import Authenticator
from semcache.proxy.intake import Intake
from semcache.proxy.relay import refusal_headers
from semcache.proxy.ui import PATH
from semcache.proxy.ui.visitors import Visitors

if TYPE_CHECKING:
    from semcache.cache.response_cache import ResponseCache
    from semcache.proxy.plan_service import PlanService
    from semcache.proxy.ui.page_application import PageApplication

_MOST = 64 << 10  # bytes of a form
_OFF = (
    "the operators' page is off: it needs an admin key (`semcache keys create --admin --tenant NAME`), or "
    "server.host 127.0.0.1; server.ui off turns it off for good"
)


class PageEntrance:
    """The page of one process, which is put together at the first request for it. `visitors` outlive a reload."""

    def __init__(
        self,
        cache: ResponseCache,
        auth: Authenticator,
        intake: Intake,
        visitors: Visitors,
        plans: PlanService | None,
        settings: Settings,
    ) -> None:
        self._cache, self._auth, self._intake, self._plans, self._settings = cache, auth, intake, plans, settings
        self._visitors = visitors
        self._loopback = is_local(settings.server.host)
        self._app: PageApplication | None = None
        self._opening = asyncio.Lock()

    def leads_to(self, path: str) -> bool:
        """Return True for the paths of the page."""
        return path == PATH or path.startswith(PATH + "/")

    @property
    def open(self) -> bool:
        """True if the page is there."""
        return self._settings.server.ui != "off" and (self._loopback or self._auth.has_administrator)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        hold = self._intake.hold("")
        try:
            if not self.open:
                raise RequestRejected(404, _OFF, code="not_found")
            self._intake.check_host(scope, keyless=self._auth.trusts_anybody)
            body = await self._intake.body(scope, receive, hold, most=min(_MOST, self._intake.max_body))
            app = self._app or await self._open()
            await app(scope, replay_body(body, receive), send)
        except ClientGone:
            return
        except RequestRejected as error:
            text = openai_error(error.status, error.message, code=error.code, param=error.param)
            await respond(send, error.status, refusal_headers(error), text)
        finally:
            hold.release()

    async def _open(self) -> PageApplication:
        """Put the pages together, which takes tenths of a second, beside the event loop."""
        async with self._opening:
            if self._app is None:
                self._app = await asyncio.to_thread(self._made)
            return self._app

    def _made(self) -> PageApplication:
        from semcache.proxy.ui.page_application import PageApplication

        return PageApplication(self._cache, self._visitors, self._plans, self._settings, auth=self._auth)
