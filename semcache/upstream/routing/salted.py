"""A single server whose prefix cache is divided by tenant, as the router does for several.

A server that shares a prefix cache between all who ask would tell one tenant, by the time of a first token, what
another has asked; servers that know `cache_salt` are given one that stands for the tenant.
Knows kinds of servers and bodies as fields. Invariant: no prompt reaches a server that has said that it takes salts
without its salt; any other server gets what the client sent, byte for byte.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import msgspec

from semcache.errors import UpstreamError, UpstreamTimeout
from semcache.protocols import Backend, Outbound, Reply, WebSocket, WebSocketTerms
from semcache.upstream.routing.kinds import KINDS, PROMPT_PATHS, ServerKind, fields_for, salt_of
from semcache.upstream.routing.prompts import read
from semcache.upstream.routing.replica import Replica, drafted
from semcache.upstream.web_socket import connect


class SaltedBackend:
    """Sends requests to `backend`, which it owns and names `name`. `kind` None is asked for, before the first prompt.

    `secret` gives the bytes that tenants' salts are made with.
    """

    def __init__(self, backend: Backend, name: str, *, kind: ServerKind | None, secret: Callable[[], bytes]) -> None:
        self._replica = Replica(name, backend, kind=kind)
        self._secret = secret

    async def send(self, outbound: Outbound) -> Reply:
        """Return as soon as status and headers are there. Raises UpstreamError or UpstreamTimeout."""
        if outbound.path in PROMPT_PATHS and (kind := await self._kind(outbound)).salted:
            prompt = read(outbound.path, outbound.headers, outbound.body, tenant=outbound.tenant)
            prompt.salt = salt_of(self._secret(), outbound.tenant, prompt.text("cache_salt"))
            fields = fields_for(_SALTED, prompt, await drafted(kind, prompt, outbound))
            if fields is not prompt.fields:
                outbound = replace(outbound, body=msgspec.json.encode(fields))
        return await self._replica.backend.send(outbound)

    async def connect(self, outbound: Outbound, terms: WebSocketTerms) -> WebSocket:
        """Return as soon as it is open. Raises UpstreamError, of which UpgradeRefused holds a status."""
        return await connect(self._replica.backend, outbound, terms)

    async def close(self) -> None:
        """Close the backend."""
        await self._replica.close()

    async def _kind(self, outbound: Outbound) -> ServerKind:
        """The kind of the server; one that cannot tell may serve all the same, and is asked again."""
        try:
            return await self._replica.inquiry.kind(outbound.headers)
        except UpstreamTimeout:
            raise
        except UpstreamError:
            return KINDS["other"]


_SALTED = ServerKind(salted=True)
