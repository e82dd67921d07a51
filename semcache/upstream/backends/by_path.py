"""Routing by path: one backend in front of several.

Knows nothing of what is behind them. Invariant: a path goes to the longest prefix that names it, else to the default.
"""

from __future__ import annotations

from collections.abc import Mapping

from semcache.protocols import Backend, Outbound, Reply, WebSocket, WebSocketTerms
from semcache.upstream.web_socket import connect


class ByPath:
    """Send a request to `routes[prefix]` for its longest matching path prefix, else to `default`. Owns them all."""

    def __init__(self, default: Backend, routes: Mapping[str, Backend]) -> None:
        self._default = default
        self._routes = sorted(routes.items(), key=lambda route: -len(route[0]))

    async def send(self, outbound: Outbound) -> Reply:
        """Return as soon as status and headers are there. Raises UpstreamError or UpstreamTimeout."""
        return await self._of(outbound).send(outbound)

    async def connect(self, outbound: Outbound, terms: WebSocketTerms) -> WebSocket:
        """Return as soon as it is open. Raises UpstreamError, of which UpgradeRefused holds a status."""
        return await connect(self._of(outbound), outbound, terms)

    async def close(self) -> None:
        """Close every backend."""
        for _, backend in self._routes:
            await backend.close()
        await self._default.close()

    def _of(self, outbound: Outbound) -> Backend:
        for prefix, backend in self._routes:
            if outbound.path == prefix or outbound.path.startswith(prefix + "/"):
                return backend
        return self._default
