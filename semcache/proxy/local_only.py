"""An application on loopback that asks nobody for a key, closed to web pages of elsewhere.

Knows ASGI, and of a request its headers alone. Invariant: what names another host, or comes from a page of one, is
refused before the application sees it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import TypeAlias

from semcache.dialects.answer import openai_error
from semcache.errors import RequestRejected
from semcache.proxy.asgi import Message, Receive, Send, respond
from semcache.proxy.origin import TrustedHosts

_Application: TypeAlias = Callable[[Message, Receive, Send], Awaitable[None]]
_REFUSED = "web pages of elsewhere may not use this server: call it as localhost"


class LocalOnly:
    """An ASGI application around `application`.

    `allowed` are further names by which it may be called, and `setting` says where they are named.
    """

    def __init__(self, application: _Application, allowed: Iterable[str] = (), *, setting: str = "") -> None:
        self._application, self._hosts = application, TrustedHosts(allowed)
        self._refused = f"{_REFUSED}, or name the host in {setting}" if setting else _REFUSED

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] == "http":
            try:
                self._hosts.check(scope["headers"], keyless=True)
            except RequestRejected as error:
                body = openai_error(error.status, self._refused, code="forbidden")
                await respond(send, error.status, [(b"content-type", b"application/json")], body)
                return
        await self._application(scope, receive, send)
