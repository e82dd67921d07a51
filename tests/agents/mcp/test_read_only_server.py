"""An assistant asks a running proxy through the real program, and can change nothing."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.cli.conftest import environment, nursery, run, start  # noqa: F401
from tests.cli.test_serve import ECHO, ask, ready, url_of
from tests.docs.fences import ROOT

pytestmark = pytest.mark.process


async def _asked(url: str, *calls: tuple[str, dict[str, Any]], header: str | None = None) -> tuple[Any, list[Any]]:
    arguments = ["-m", "semcache", "mcp", "--about", url, *(["--header", header] if header else [])]
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "NO_PROXY": "127.0.0.1"}
    parameters = StdioServerParameters(command=sys.executable, args=arguments, env=env)
    async with stdio_client(parameters) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        tools = (await session.list_tools()).tools
        return tools, [await session.call_tool(name, given) for name, given in calls]


def _text(result: Any) -> Any:
    return json.loads(result.content[0].text)


async def test_it_searches_explains_and_counts(start: Callable[..., Any]) -> None:  # noqa: F811
    url = url_of(ready(start("serve", *ECHO)))
    for prompt in ("What is a monad?", "What is a functor?", "What is a monad?"):
        await asyncio.to_thread(ask, url, prompt)
    tools, results = await _asked(
        url,
        ("search", {"text": "MONAD"}),
        ("explain", {"prompt": "What is a monad?", "model": "m"}),
        ("stats", {"by": "model"}),
        ("why", {"request_id": "req_none"}),
    )
    assert {tool.name for tool in tools} == {"search", "explain", "why", "stats"}
    assert all(tool.annotations.read_only_hint for tool in tools)
    found, explained, stats, unknown = results
    assert [one["prompt"] for one in _text(found)["entries"]] == ["What is a monad?"]
    assert _text(found)["searched"] == 2
    assert _text(explained)["outcome"] == "exact"
    assert _text(stats)["rows"][-1]["requests"] == 3, "asking counted nothing"
    assert unknown.is_error
    assert "404" in unknown.content[0].text


async def test_it_has_no_more_rights_than_its_key(
    start: Callable[..., Any],  # noqa: F811
    run: Callable[..., Any],  # noqa: F811
    tmp_path: Path,
) -> None:
    key = run("keys", "create", "--tenant", "acme").stdout.strip()
    url = url_of(ready(start("serve", *ECHO)))
    _, [refused] = await _asked(url, ("search", {"text": "a"}))
    assert "401" in refused.content[0].text
    _, [refused, allowed] = await _asked(url, ("search", {"text": "a"}), ("stats", {}), header=f"x-semcache-key: {key}")
    assert "403" in refused.content[0].text
    assert not allowed.is_error
