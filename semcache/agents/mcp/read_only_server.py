"""An MCP server about a running proxy: an assistant may search it, ask why, and see what it saves, and change nothing.

Asks the proxy's administrative API, with whatever rights the given headers have. Invariant: no tool changes, serves or
teaches the proxy anything; a refusal of the proxy is the tool's error, in its words.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from semcache import __version__
from semcache.errors import ConfigError
from semcache.runtime.unix_address import http_root

if TYPE_CHECKING:
    import httpx2
    from mcp.server.mcpserver import MCPServer

_PAGE, _PAGES = 1000, 20
_SHOWN = ("id", "tenant", "model", "category", "prompt", "created", "expires", "tags")
_INSTRUCTIONS = (
    "Read-only tools about a semcache proxy, a response cache for language models. To find out why a request was not "
    "served, use `why` with its id, or `explain` with its prompt."
)


async def serve_about(url: str, headers: Mapping[str, str]) -> None:
    """Serve one client over standard input and output until it ends. Raises ConfigError."""
    import httpx2

    root, uds = http_root(url)
    if not root.startswith(("http://", "https://")):
        raise ConfigError(f"--about {url!r} is no http://, https:// or unix: address of a proxy")
    transport = httpx2.AsyncHTTPTransport(uds=uds) if uds is not None else None
    async with httpx2.AsyncClient(base_url=root, transport=transport, headers=dict(headers), timeout=60.0) as client:
        await server_about(client).run_stdio_async()


def server_about(client: httpx2.AsyncClient) -> MCPServer:
    """Return the server; `client` knows the proxy's address and has its key."""
    from mcp.server.mcpserver import MCPServer
    from mcp.types import ToolAnnotations

    server: MCPServer = MCPServer("semcache", instructions=_INSTRUCTIONS, version=__version__, log_level="WARNING")
    looking = ToolAnnotations(read_only_hint=True, open_world_hint=False)

    @server.tool(annotations=looking)
    async def search(
        text: str, limit: int = 10, tenant: str | None = None, category: str | None = None, model: str | None = None
    ) -> dict[str, Any]:
        """Find cached entries whose prompt has every word of a text; `searched` says how many were looked at."""
        words = text.lower().split()
        asked = {"limit": _PAGE, "tenant": tenant, "category": category, "model": model}
        found: list[dict[str, Any]] = []
        searched, after = 0, None
        for _ in range(_PAGES):
            page = await _get(client, "/semcache/entries", asked | {"after": after})
            searched += len(page["entries"])
            found += [
                {name: one[name] for name in _SHOWN}
                for one in page["entries"]
                if all(word in one["prompt"].lower() for word in words)
            ]
            after = page["next"]
            if after is None or len(found) >= limit:
                break
        return {"entries": found[: max(0, limit)], "searched": searched, "whole": after is None}

    @server.tool(annotations=looking)
    async def explain(
        prompt: str, model: str = "default", tenant: str | None = None, category: str | None = None
    ) -> dict[str, Any]:
        """Say what would become of a prompt now, and why: neighbours, scores, guards, P(correct) and its limit."""
        asked = {"prompt": prompt, "model": model, "tenant": tenant, "category": category}
        return await _checked(await client.post("/semcache/explain", json=asked))

    @server.tool(annotations=looking)
    async def why(request_id: str) -> dict[str, Any]:
        """Say why one request was served or not, by the id that its reply had (x-request-id)."""
        return await _get(client, f"/semcache/requests/{quote(request_id, safe='')}", {})

    @server.tool(annotations=looking)
    async def stats(
        by: Literal["tenant", "model", "category", "day", "hour"] = "category",
        since: str = "7d",
        tenant: str | None = None,
    ) -> dict[str, Any]:
        """Requests, hits and what they saved, net of audits, judges and verifiers, since an age such as 12h or 7d."""
        return await _get(client, "/semcache/usage", {"by": by, "since": since, "tenant": tenant})

    return server


async def _get(client: httpx2.AsyncClient, path: str, query: Mapping[str, Any]) -> dict[str, Any]:
    return await _checked(
        await client.get(path, params={name: value for name, value in query.items() if value is not None})
    )


async def _checked(reply: httpx2.Response) -> dict[str, Any]:
    from mcp.server.mcpserver.exceptions import ToolError

    try:
        said = reply.json()
    except ValueError:
        said = {}
    if reply.status_code != 200:
        error = said.get("error") if isinstance(said, dict) else None
        message = error.get("message") if isinstance(error, dict) else reply.text[:500]
        raise ToolError(f"the proxy says {reply.status_code}: {message}")
    found: dict[str, Any] = said
    return found
