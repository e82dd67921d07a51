"""A server that never ends to list its tools holds no call up, and nothing is left of a session that one side ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from semcache.agents.mcp import call_relay
from semcache.agents.mcp.call_relay import STATUS
from semcache.agents.mcp.mcp_sessions import _lines
from tests.agents.mcp.test_call_relay import READ, Session, World
from tests.waiting import PATIENCE

SHELF = Path(__file__).with_name("shelf.py")


def listing(session: Session) -> int:
    return sum(one["method"] == "tools/list" for one in session.sent)


async def test_a_server_whose_tools_change_whenever_they_are_listed_has_its_calls_passed_on() -> None:
    world = World()
    session = world.relay()

    def page(_: Any) -> Any:
        session.relay._declared, session.relay._changes = None, session.relay._changes + 1
        return {"tools": [READ]}

    world.tools_page = page  # type: ignore[attr-defined]
    for _ in range(3):
        assert "unknown-tool" in await session.call()
    assert (listing(session), len(world.called)) == (3, 3)


async def test_a_cursor_that_comes_again_ends_the_list() -> None:
    world = World()
    session = world.relay()
    world.tools_page = lambda _: {"tools": [READ], "nextCursor": "again"}  # type: ignore[attr-defined]
    assert "stored" in await session.call()
    assert listing(session) == 2


async def test_a_server_that_lists_nothing_is_not_waited_for_at_every_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_relay, "_PATIENCE", 0.01)
    session = World().relay()

    async def silent(message: Any) -> None:
        session.sent.append(message)

    session.relay._to_server = silent
    for _ in range(3):
        assert await session.call() == "waits"
    assert listing(session) == 1
    await session.relay.from_server({"id": 3, "result": {"content": []}})
    assert "unknown-tool" in session.got[-1]["result"]["_meta"][STATUS]
    monkeypatch.setattr(call_relay, "_PATIENCE", PATIENCE)
    session.relay._ask_after = 0.0
    session.relay._to_server = session._server
    assert "after-write" in await session.call()


async def test_the_last_line_of_a_client_needs_no_line_feed_and_one_that_cannot_be_read_ends_it(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"one\n" + "zw\u00f6lf".encode())
    os.close(writing)
    assert [line async for line in _lines(reading)] == ["one", "zw\u00f6lf"]
    os.close(reading)
    folder = os.open(tmp_path, os.O_RDONLY)
    assert [line async for line in _lines(folder)] == []
    os.close(folder)


def close(process: subprocess.Popen[str], _: int) -> None:
    assert process.stdin is not None
    process.stdin.close()


def kill(_: subprocess.Popen[str], server: int) -> None:
    os.kill(server, signal.SIGKILL)


@pytest.mark.process
@pytest.mark.parametrize("end", [close, kill])
def test_a_session_ends_with_its_client_and_with_its_server(
    tmp_path: Path, end: Callable[[subprocess.Popen[str], int], None]
) -> None:
    command = [sys.executable, "-m", "semcache", "mcp", "--data", str(tmp_path / "data")]
    command += ["--command", f"{sys.executable} {SHELF} {tmp_path}"]
    begin = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
    read = {"name": "read", "arguments": {"id": 1}}
    said: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": begin},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": read},
    ]
    with (
        (tmp_path / "log").open("w") as log,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            for one in said:
                process.stdin.write(json.dumps({"jsonrpc": "2.0", **one}) + "\n")
                process.stdin.flush()
                if "id" in one:
                    assert json.loads(process.stdout.readline())["id"] == one["id"]
            server = json.loads((tmp_path / "calls").read_text().splitlines()[0])[2]
            end(process, server)
            process.wait(PATIENCE)
            assert process.stdout.read() == ""
        finally:
            process.kill()
    assert "Traceback" not in (tmp_path / "log").read_text()
