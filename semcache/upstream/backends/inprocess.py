"""A backend that is an ASGI application in this process: the scripted upstream or the local engine, without a socket.

Knows ASGI, and nothing of what the application says.
Invariant: the application runs in a task of its own that ends, at the latest, when its reply is closed.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping, Sequence
from typing import Any

from semcache.dialects.hop_headers import end_to_end
from semcache.errors import UpstreamError, UpstreamTimeout
from semcache.protocols import Outbound, Reply

App = Callable[[MutableMapping[str, Any], Any, Any], Awaitable[None]]
_END = None


class InProcessBackend:
    """Send requests to `app`. `timeout` is seconds to a reply."""

    def __init__(self, app: App, *, timeout: float = 600.0) -> None:
        self._app = app
        self._timeout = timeout
        self._open: set[_AppReply] = set()

    async def send(self, outbound: Outbound) -> Reply:
        """Return as soon as status and headers are there. Raises UpstreamError or UpstreamTimeout."""
        reply = _AppReply(self._app, outbound, self._timeout)
        self._open.add(reply)
        reply.task.add_done_callback(lambda _: self._open.discard(reply))
        try:
            await reply.started()
        except BaseException:
            await reply.close()
            raise
        return reply

    async def close(self) -> None:
        """End what is still running."""
        for reply in list(self._open):
            await reply.close()


class _AppReply:
    def __init__(self, app: App, outbound: Outbound, timeout: float) -> None:
        self.status = 0
        self.headers: Sequence[tuple[str, str]] = ()
        self._timeout = timeout
        self._ready = asyncio.Event()
        self._body: asyncio.Queue[bytes | Exception | None] = asyncio.Queue(maxsize=64)
        self._ended = False
        self._failure = "broke off"
        self._gone = asyncio.Event()
        self._request: list[bytes] = [outbound.body]
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.4"},
            "http_version": "1.1",
            "method": outbound.method,
            "scheme": "http",
            "path": outbound.path,
            "raw_path": outbound.path.encode(),
            "query_string": outbound.query.encode(),
            "root_path": "",
            "headers": [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in outbound.headers],
            "client": ("127.0.0.1", 0),
            "server": ("echo", 80),
        }
        self.task = asyncio.create_task(self._run(app, scope))

    async def started(self) -> None:
        try:
            async with asyncio.timeout(self._timeout):
                await self._ready.wait()
        except TimeoutError as error:
            raise UpstreamTimeout(f"the in-process upstream did not answer within {self._timeout:g} s") from error
        if not self.status:
            raise UpstreamError(f"the in-process upstream {self._failure} before it replied")

    async def chunks(self) -> AsyncIterator[bytes]:
        while True:
            try:
                async with asyncio.timeout(self._timeout):
                    piece = await self._body.get()
            except TimeoutError as error:
                raise UpstreamTimeout(f"the in-process upstream sent nothing for {self._timeout:g} s") from error
            if piece is _END:
                return
            if isinstance(piece, Exception):
                raise piece
            yield piece

    async def close(self) -> None:
        self._gone.set()
        self.task.cancel()
        await asyncio.wait([self.task])
        self._ready.set()  # a task that was cancelled before it began has not run its `finally`

    async def _run(self, app: App, scope: MutableMapping[str, Any]) -> None:
        try:
            await app(scope, self._receive, self._send)
        except Exception as error:
            self._failure = f"failed with {error!r}"
        finally:
            self._ready.set()
        if not self._ended:
            await self._body.put(UpstreamError(f"the in-process upstream {self._failure}"))

    async def _receive(self) -> MutableMapping[str, Any]:
        if self._request:
            return {"type": "http.request", "body": self._request.pop(), "more_body": False}
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            pairs = [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in message["headers"]]
            self.headers = end_to_end(pairs)
            self._ready.set()
            return
        if message.get("body"):
            await self._body.put(message["body"])
        if not message.get("more_body", False):
            self._ended = True
            await self._body.put(_END)
