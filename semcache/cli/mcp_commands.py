"""`semcache mcp`: a server of the Model Context Protocol with the results of its tools kept.

Invariant: standard output belongs to the protocol; everything else goes to standard error.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from semcache.cli import options, output
from semcache.cli.open_store import run_async, settings_from, store_of

if TYPE_CHECKING:
    from semcache.agents.mcp.mcp_server import McpServer
    from semcache.config.settings import Settings
    from semcache.proxy.local_only import LocalOnly


def mcp(
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="[-- ARGUMENT...]", help="Further arguments of the command.")
    ] = None,
    *,
    command: Annotated[
        str | None, typer.Option("--command", metavar="COMMAND", help="What starts the MCP server, as in a shell.")
    ] = None,
    about: Annotated[
        str | None,
        typer.Option("--about", metavar="URL", help="Serve read-only tools about the semcache proxy at this address."),
    ] = None,
    url: Annotated[str | None, typer.Option("--url", metavar="URL", help="An MCP server that runs, over HTTP.")] = None,
    header: Annotated[
        list[str] | None,
        typer.Option("--header", metavar="HEADER", help="'Name: value' for --url or --about; ${NAME} is a variable."),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option("--port", metavar="PORT", help="Serve HTTP on this port of 127.0.0.1; 0 takes a free one."),
    ] = None,
    apart: Annotated[
        bool,
        typer.Option("--apart", help="The server begins anew with each session: what one changes no other sees."),
    ] = False,
    tenant: Annotated[str, typer.Option("--tenant", metavar="NAME", help="Whose results these are.")] = "default",
    config: options.Config = None,
    data: options.Data = None,
    policies: options.Policies = None,
) -> None:
    """Cache the results of an MCP server's tools, as a pack or their annotations allow.

    With --about, be an MCP server: search, explain, why and stats of a running proxy, over standard input and output.
    """
    import importlib.util

    from semcache.agents.mcp.mcp_server import EXTRA, read_headers, read_server
    from semcache.errors import ConfigError

    if importlib.util.find_spec("mcp") is None:
        raise ConfigError(f"`semcache mcp` needs the package mcp: {EXTRA}")
    if about is not None:
        if command or url or port is not None:
            raise ConfigError("--about stands alone: leave --command, --url and --port out")
        from semcache.agents.mcp.read_only_server import serve_about

        run_async(serve_about(about, dict(read_headers(header or [], dict(os.environ)))))
        return
    settings = settings_from(config, data=data, policies=policies)
    server = read_server(command, arguments or [], url, header or [], dict(os.environ), folder=str(Path.cwd()))
    run_async(_serve(settings, server, tenant, apart=apart, port=port))


async def _serve(settings: Settings, server: McpServer, tenant: str, *, apart: bool, port: int | None) -> None:
    from semcache.agents.mcp.mcp_http import McpHttp
    from semcache.agents.mcp.mcp_sessions import serve_stdio
    from semcache.agents.tools.rules import ToolRules
    from semcache.agents.tools.shared_results import SharedToolResults
    from semcache.config.packs import load
    from semcache.proxy.local_only import LocalOnly
    from semcache.storage.stores.tool_rows import tool_results_of

    rules = ToolRules.read(load(settings.policies).tools)
    async with store_of(settings, create=True) as store:
        results = SharedToolResults(
            tool_results_of(store),
            rules,
            salt=store.salt,
            scope=f"{tenant} {server.scope}",
            clock=time.time,
            apart=apart,
        )
        behind = server.command[0] if server.command else server.url
        try:
            if port is None:
                output.note(f"semcache mcp stands before {behind}")
                await serve_stdio(server, results, tenant)
            else:
                allowed = settings.server.allowed_hosts
                relay = LocalOnly(McpHttp(server, results, tenant), allowed, setting="server.allowed_hosts")
                await _serve_http(relay, port=port, behind=behind)
        finally:
            await results.close()
        told = ", ".join(f"{why} {count}" for why, count in sorted(results.counts.items()))
        output.note(f"semcache mcp: {told or 'no calls'}")


async def _serve_http(relay: LocalOnly, *, port: int, behind: str) -> None:
    """Serve HTTP until a signal ends it."""
    from uvicorn import Config, Server

    from semcache.agents.mcp.mcp_http import PATH
    from semcache.cli.listener import address, listen

    host = "127.0.0.1"  # it has no keys of its own
    listener = listen(host, port)
    where = address(host, listener.getsockname()[1])

    class Announcing(Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            if self.started:
                output.note(f"semcache mcp is ready on {where}{PATH} and stands before {behind}")

    chosen = Config(
        relay, http="httptools", ws="none", lifespan="on", log_level="warning",
        access_log=False, server_header=False, timeout_graceful_shutdown=5,
    )  # fmt: skip
    try:
        await Announcing(chosen).serve(sockets=[listener])
    finally:
        listener.close()
