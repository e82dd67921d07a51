"""An application on loopback that asks nobody for a key, closed to web pages of elsewhere.

Knows ASGI, and of a request its headers alone. Invariant: what names another host, or comes from a page of one, is
refused before the application sees it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any, TypeAlias

import msgspec

from semcache.errors import RequestRejected
from semcache.proxy.origin import TrustedHosts

_Message: TypeAlias = MutableMapping[str, Any]
_Receive: TypeAlias = Callable[[], Awaitable[_Message]]
_Send: TypeAlias = Callable[[_Message], Awaitable[None]]
_Application: TypeAlias = Callable[[_Message, _Receive, _Send], Awaitable[None]]


class LocalOnly:
    """An ASGI application around `application`; `allowed` are further names by which it may be called."""

    def __init__(self, application: _Application, allowed: Iterable[str] = ()) -> None:
        self._application, self._hosts = application, TrustedHosts(allowed)

    async def __call__(self, scope: _Message, receive: _Receive, send: _Send) -> None:
        """ASGI."""
        if scope["type"] == "http":
            try:
                self._hosts.check(scope["headers"], open_door=True)
            except RequestRejected:
                await _refuse(send, "web pages may not use this server, nor names that are not this machine's")
                return
        await self._application(scope, receive, send)


async def _refuse(send: _Send, reason: str) -> None:
    message = f"{reason}: call it as localhost, or name the host in server.allowed_hosts"
    error = {"message": message, "type": "permission_error", "param": None, "code": "forbidden"}
    body = msgspec.json.encode({"error": error})
    head = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 403, "headers": head})
    await send({"type": "http.response.body", "body": body})
