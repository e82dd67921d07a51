"""The server behind a relay: how it is reached, whose credentials it is given, and what it acts on.

Knows commands, URLs, headers and environments; the package `mcp` opens the connection. Invariant: everything that may
decide what a server lets its user see is part of that user's identity: all headers, and all of the environment but what
is known to say nothing of anybody; no credential is logged.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from semcache.agents.run import digest
from semcache.errors import ConfigError

EXTRA = "pip install 'semcache-llm[mcp]'"
_HARMLESS = re.compile(
    r"_|PATH|MANPATH|PWD|OLDPWD|SHLVL|SHELL|TERM(_.*)?|COLORTERM|LS_COLORS|LINES|COLUMNS|LANG(UAGE)?|LC_.*|EDITOR|PAGER|"
    r"VISUAL|PS[0-4]|DISPLAY|WINDOWID|TMPDIR|TEMP|TMP|VIRTUAL_ENV(_PROMPT)?|PYTHON.*|COVERAGE_.*|PYTEST_.*|HOSTNAME|"
    r"SSH_(TTY|CLIENT|CONNECTION)|XDG_SESSION_.*|DBUS_.*|INVOCATION_ID|JOURNAL_STREAM|SEMCACHE_.*"
)
_VARIABLE = re.compile(r"\$\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class McpServer:
    """A server by its `command`, environment and the `folder` that it is started in, or by its `url` and headers."""

    command: tuple[str, ...] = ()
    env: Mapping[str, str] | None = None
    url: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    folder: str = ""

    @property
    def scope(self) -> str:
        """The name of that which its tools act on: a change by one user counts for all of the same server."""
        return digest("mcp", list(self.command), "", self.url).hex()

    def user(self, *more: tuple[str, str]) -> str:
        """The identity of whoever the server acts for, and where; `more` are headers of this session alone.

        In another folder a command reads other files, though what it changes may be the same.
        """
        env = sorted((name, value) for name, value in (self.env or {}).items() if not _HARMLESS.fullmatch(name))
        headers = sorted((name.lower(), value) for name, value in (*self.headers, *more))
        where = [self.folder] if self.command else []
        return digest("mcp user", [list(one) for one in env], [list(one) for one in headers], *where).hex()

    @asynccontextmanager
    async def opened(self, *more: tuple[str, str]) -> AsyncIterator[tuple[Any, Any]]:
        """A connection of its own: streams to read messages from and to write them to. Raises ConfigError."""
        if self.command:
            from mcp.client.stdio import StdioServerParameters, stdio_client

            first, *rest = self.command
            asked = StdioServerParameters(command=first, args=rest, env=dict(self.env or {}), cwd=self.folder or None)
            try:
                async with stdio_client(asked) as streams:
                    yield streams
            except (FileNotFoundError, PermissionError) as error:
                raise ConfigError(f"the MCP server {first!r} cannot be started: {error.strerror}") from error
            return
        from mcp.client.streamable_http import streamable_http_client
        from mcp.shared._httpx_utils import create_mcp_http_client

        headers = dict((*self.headers, *more))
        async with (
            create_mcp_http_client(headers=headers) as client,
            streamable_http_client(self.url, http_client=client) as streams,
        ):
            yield streams


def read_server(
    command: str | None,
    arguments: Sequence[str],
    url: str | None,
    headers: Sequence[str],
    env: Mapping[str, str],
    *,
    folder: str = "",
) -> McpServer:
    """The server that options name; `${NAME}` in a header is that variable of `env`. Raises ConfigError.

    `folder` is where a command is started.
    """
    if bool(command) == bool(url):
        raise ConfigError("name one MCP server: --command with what starts it, or --url of one that runs")
    if url:
        if not url.startswith(("http://", "https://")):
            raise ConfigError(f"--url {url!r} is no http:// or https:// address of an MCP server")
        return McpServer(url=url, headers=read_headers(headers, env))
    if headers:
        raise ConfigError("--header is for a server by --url; a command has its credentials in its environment")
    try:
        words = (*shlex.split(command or ""), *arguments)
    except ValueError as error:
        raise ConfigError(f"--command {command!r} cannot be split into words: {error}") from error
    if not words:
        raise ConfigError("--command is empty: give what starts the MCP server, such as 'npx server-github'")
    return McpServer(command=words, env=dict(env), folder=folder)


def read_headers(headers: Sequence[str], env: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The headers that options name; `${NAME}` in one is that variable of `env`. Raises ConfigError."""
    return tuple([_header(one, env) for one in headers])


def _header(given: str, env: Mapping[str, str]) -> tuple[str, str]:
    name, colon, value = given.partition(":")
    if not colon or not name.strip():
        raise ConfigError(f"--header {name!r} is no header: write 'Name: value'")
    if lacking := [one for one in _VARIABLE.findall(value) if one not in env]:
        raise ConfigError(f"--header {name.strip()}: the environment has no {lacking[0]}")
    return name.strip(), _VARIABLE.sub(lambda found: env[found[1]], value.strip())
