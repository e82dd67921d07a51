"""An MCP server behind `semcache mcp`, in processes of their own, spoken to by the official client."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="needs the extra `mcp`")

import anyio
import httpx2
from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from tests.waiting import PATIENCE, eventually

pytestmark = pytest.mark.process
SHELF = Path(__file__).with_name("shelf.py")
STATUS = "semcache/cache-status"


@asynccontextmanager
async def session(folder: Path, *, token: str = "", listened: Any = None, **env: str) -> AsyncIterator[ClientSession]:
    """A client of a relay of its own, which starts a server of its own."""
    command = f"{sys.executable} {SHELF} {folder}"
    asked = StdioServerParameters(
        command=sys.executable,
        args=["-m", "semcache", "mcp", "--command", command, "--data", str(folder / "data")],
        env={**os.environ, **({"SHELF_TOKEN": token} if token else {}), **env},
    )
    with (folder / "log").open("a") as log:
        async with (
            stdio_client(asked, errlog=log) as (reader, writer),
            ClientSession(reader, writer, message_handler=listened) as made,
        ):
            await made.initialize()
            yield made


async def call(client: ClientSession, tool: str, number: int = 1) -> tuple[str, str]:
    """The text of a result, and how the relay says that it came about."""
    result = await client.call_tool(tool, {"id": number})
    status = (result.meta or {})[STATUS]
    assert status.startswith("semcache; ")
    return result.content[0].text, status.split("detail=")[1]  # type: ignore[union-attr]


def calls(folder: Path, tool: str) -> int:
    """How often the server was called."""
    return sum(json.loads(line)[0] == tool for line in (folder / "calls").read_text().splitlines())


async def test_a_result_is_shared_by_processes_and_sessions(tmp_path: Path) -> None:
    async with session(tmp_path) as one, session(tmp_path) as two:
        assert [tool.name for tool in (await one.list_tools()).tools][:2] == ["read", "write"]
        assert await call(one, "read") == ("0", "cold")
        assert await call(two, "read") == ("0", "read")
        assert await call(two, "read", 2) == ("0", "cold")
        # What a session has asked before it asks of the server: it may wait for a change.
        assert await call(one, "read") == ("0", "asked-again")
    async with session(tmp_path) as three:
        assert await call(three, "read", 2) == ("0", "read")
    assert calls(tmp_path, "read") == 3


@pytest.mark.parametrize("tool", ["write", "unsaid"])
async def test_what_one_process_changes_no_other_reads_as_it_was(tmp_path: Path, tool: str) -> None:
    """`unsaid` has no annotations: it may change everything."""
    async with session(tmp_path) as one, session(tmp_path) as two, session(tmp_path) as three:
        assert await call(one, "read") == ("0", "cold")
        assert (await call(two, tool))[1] in ("writes", "unknown-tool")
        assert await call(three, "read") == ("1", "cold")
    async with session(tmp_path) as four:
        assert await call(four, "read") == ("1", "read")


async def test_whose_credentials_differ_shares_nothing(tmp_path: Path) -> None:
    async with session(tmp_path, token="ann") as ann, session(tmp_path, token="bo") as bo:
        assert await call(ann, "whoami") == ("ann", "cold")
        assert await call(bo, "whoami") == ("bo", "cold")
    async with session(tmp_path, token="ann", TERM="vt100") as again:
        assert await call(again, "whoami") == ("ann", "read")
    assert b"ann" not in (tmp_path / "log").read_bytes()


async def test_errors_are_never_kept(tmp_path: Path) -> None:
    for _ in range(2):
        async with session(tmp_path) as client:
            result = await client.call_tool("fail", {"id": 1})
            assert result.is_error
            assert (result.meta or {})[STATUS] == "semcache; fwd=miss; detail=failed"
    assert calls(tmp_path, "fail") == 2


async def test_a_list_that_changed_makes_tools_new_and_reaches_the_client(tmp_path: Path) -> None:
    told: list[str] = []

    async def listened(message: Any) -> None:
        told.append(type(getattr(message, "root", message)).__name__)

    async with session(tmp_path) as one:
        await call(one, "read")
    async with session(tmp_path, listened=listened) as two:
        assert (await call(two, "grow"))[1] == "writes"
        assert await call(two, "read", 7) == ("0", "after-write")
        assert any("ToolListChanged" in name for name in told)
    async with session(tmp_path) as three:
        # A fresh server has the tool as it was, after a change that may have touched everything.
        assert await call(three, "read") == ("0", "cold")


async def test_a_call_that_is_cancelled_is_not_kept_and_harms_no_other(tmp_path: Path) -> None:
    async with session(tmp_path) as one:
        with anyio.move_on_after(0.5):
            await one.call_tool("slow", {"id": 30})
        assert await call(one, "read") == ("0", "cold")
        assert (await one.send_ping()) is not None
    async with session(tmp_path) as two:
        assert await call(two, "slow", 0) == ("done", "cold")


async def test_nothing_is_left_of_a_session_whose_client_is_gone(tmp_path: Path) -> None:
    async with session(tmp_path) as client:
        await call(client, "read")
        [server] = {json.loads(line)[2] for line in (tmp_path / "calls").read_text().splitlines()}
    eventually(lambda: not Path(f"/proc/{server}").exists() or "Z" in Path(f"/proc/{server}/stat").read_text())
    assert "Traceback" not in (tmp_path / "log").read_text()


@contextmanager
def serving(log: Path, *command: str) -> Iterator[str]:
    """A process that says where it is ready."""
    with log.open("wb") as out:
        process = subprocess.Popen([sys.executable, *command], stdout=out, stderr=out)
    try:
        ready = re.compile(r"ready on (http://\S+)")
        eventually(lambda: ready.search(log.read_text()) or process.poll() is not None)
        found = ready.search(log.read_text())
        assert found, log.read_text()
        yield found[1]
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)
        assert "Traceback" not in log.read_text()
    finally:
        process.kill()
        process.wait()


def listening(port: int) -> bool:
    with socket.socket() as asked:
        return asked.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[str]:
    """The server itself over HTTP."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with (tmp_path / "shelf.log").open("wb") as out:
        process = subprocess.Popen([sys.executable, str(SHELF), str(tmp_path), str(port)], stdout=out, stderr=out)
    try:
        eventually(lambda: listening(port) or process.poll() is not None)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait()


@asynccontextmanager
async def over_http(url: str, token: str) -> AsyncIterator[ClientSession]:
    async with (
        create_mcp_http_client(headers={"authorization": token}) as http,
        streamable_http_client(url, http_client=http) as (reader, writer),
        ClientSession(reader, writer) as made,
    ):
        await made.initialize()
        yield made


async def test_a_server_by_url_is_served_over_http_to_whoever_has_the_same_credentials(
    tmp_path: Path, shelf: str
) -> None:
    relay = ["-m", "semcache", "mcp", "--url", shelf, "--port", "0", "--data", str(tmp_path / "data")]
    with serving(tmp_path / "one", *relay) as one, serving(tmp_path / "two", *relay) as two:
        async with over_http(one, "ann") as ann, over_http(two, "bo") as bo:
            assert await call(ann, "whoami") == ("ann", "cold")
            assert await call(bo, "whoami") == ("bo", "cold")
            assert await call(ann, "read") == ("0", "cold")
        async with over_http(two, "ann") as again:
            assert await call(again, "whoami") == ("ann", "read")
            assert (await call(again, "write"))[1] == "writes"
        async with over_http(one, "ann") as last:
            assert await call(last, "read") == ("1", "cold")
        wrong = httpx2.post(one, headers={"mcp-session-id": "0" * 32}, json={})
        assert (wrong.status_code, httpx2.get(one.replace("/mcp", "/other")).status_code) == (404, 404)


PAGES = {
    "a name of its own": {"host": "evil.example:8082"},
    "its own origin": {"origin": "https://evil.example"},
    "no origin": {"origin": "null"},
}


def test_a_web_page_of_elsewhere_reaches_no_server(tmp_path: Path) -> None:
    first = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "page", "version": "1"}}
    said = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": first}
    plain = {"accept": "application/json, text/event-stream"}
    # Started, the server would write this file.
    command = f"{sys.executable} -c \"open('{tmp_path}/started', 'w')\""
    relay = ["-m", "semcache", "mcp", "--command", command, "--port", "0", "--data", str(tmp_path / "data")]
    with serving(tmp_path / "log", *relay) as url:
        for name, page in PAGES.items():
            reply = httpx2.post(url, headers={**plain, **page}, json=said)
            assert (reply.status_code, "server.allowed_hosts" in reply.text) == (403, True), name
        assert not (tmp_path / "started").exists()


def test_a_relay_may_be_called_by_a_name_that_was_allowed(tmp_path: Path) -> None:
    (tmp_path / "semcache.yaml").write_text("server: {allowed_hosts: [relay.example]}\n")
    command = f"{sys.executable} {SHELF} {tmp_path}"
    relay = ["--command", command, "--port", "0", "--data", str(tmp_path / "data")]
    relay = ["-m", "semcache", "mcp", *relay, "--config", str(tmp_path / "semcache.yaml")]
    with serving(tmp_path / "log", *relay) as url:
        known = {"host": "relay.example", "mcp-session-id": "0" * 32}
        assert httpx2.post(url, headers=known, json={}).status_code == 404
        assert httpx2.post(url, headers={**known, "host": "other.example"}, json={}).status_code == 403


INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}},
}
TAKES = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


def test_only_who_begins_a_session_has_a_server_started(tmp_path: Path) -> None:
    """A web page may show http://127.0.0.1:8082/mcp as an image: such a request says nothing of where it comes from."""
    command = f"{sys.executable} -c \"open('{tmp_path}/started', 'w')\""
    relay = ["-m", "semcache", "mcp", "--command", command, "--port", "0", "--data", str(tmp_path / "data")]
    with serving(tmp_path / "relay", *relay) as url:
        for method in ("GET", "DELETE", "PUT", "OPTIONS"):
            assert httpx2.request(method, url, headers={"accept": "text/event-stream"}).status_code == 400
        assert not (tmp_path / "started").exists()


def test_a_change_is_none_less_for_being_sent_in_a_batch_or_oddly_spelt(tmp_path: Path) -> None:
    command = f"{sys.executable} {SHELF} {tmp_path}"
    relay = ["-m", "semcache", "mcp", "--command", command, "--port", "0", "--data", str(tmp_path / "data")]

    def called(tool: str, number: int, method: str = "tools/call") -> dict[str, Any]:
        params = {"name": tool, "arguments": {"id": 1}}
        return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}

    with serving(tmp_path / "relay", *relay) as url:

        def opened() -> dict[str, str]:
            begun = httpx2.post(url, json=INITIALIZE, headers=TAKES)
            return {**TAKES, "mcp-session-id": begun.headers["mcp-session-id"]}

        first = opened()

        def said(message: Any, headers: dict[str, str]) -> str:
            return httpx2.post(url, json=message, headers=headers, timeout=PATIENCE).text

        assert "cold" in said(called("read", 1), first)
        batch = httpx2.post(url, json=[called("write", 2), called("read", 3)], headers=first)
        assert batch.status_code == 400, "the protocol has no batches any more"
        assert "Method not found" in said(called("write", 4, "Tools/Call"), first)
        assert "detail=read" in said(called("read", 5), opened()), "nothing has changed"
        # A tool that the server has not listed may change everything, whatever its name is like.
        for number, odd in enumerate(("Write", " write", "write\u200b", "read\x00")):
            assert "unknown-tool" in said(called(odd, 10 + number), first), odd
            assert "detail=cold" in said(called("read", 20 + number), opened()), odd
        for guessed in ("0" * 32, first["mcp-session-id"].upper(), "../" + first["mcp-session-id"], ""):
            reply = httpx2.post(url, json=called("read", 30), headers={**TAKES, "mcp-session-id": guessed})
            assert reply.status_code == 404, guessed
        other = httpx2.delete(url, headers={**first, "authorization": "Bearer other"})
        assert other.status_code == 404, "a session is that of its credentials"


def test_a_server_by_url_is_told_that_its_session_is_over(shelf: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "semcache", "mcp", "--data", str(tmp_path / "data"), "--url", shelf]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(INITIALIZE) + "\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == INITIALIZE["id"]
        process.stdin.close()
        assert process.wait(PATIENCE) == 0
    assert '"DELETE /mcp' in (tmp_path / "shelf.log").read_text()


async def test_a_server_by_url_is_given_the_header_that_was_named(tmp_path: Path, shelf: str) -> None:
    args = ["-m", "semcache", "mcp", "--url", shelf, "--data", str(tmp_path / "data")]
    asked = StdioServerParameters(
        command=sys.executable, args=[*args, "--header", "Authorization: Bearer ${TOKEN}"],
        env={**os.environ, "TOKEN": "t-1"},
    )  # fmt: skip
    async with stdio_client(asked) as (reader, writer), ClientSession(reader, writer) as client:
        await client.initialize()
        assert await call(client, "whoami") == ("Bearer t-1", "cold")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "name one MCP server"),
        (["--command", "x", "--url", "http://x"], "name one MCP server"),
        (["--command", "no-such-program-anywhere"], "cannot be started"),
        (["--command", "'"], "cannot be split"),
        (["--url", "ftp://x"], "no http"),
        (["--url", "http://x", "--header", "nonsense"], "is no header"),
        (["--url", "http://x", "--header", "authorization: Bearer ${NO_SUCH}"], "has no NO_SUCH"),
        (["--command", "x", "--header", "a: b"], "--header is for a server by --url"),
    ],
)
def test_what_cannot_be_served_is_said_on_standard_error(tmp_path: Path, given: list[str], said: str) -> None:
    command = [sys.executable, "-m", "semcache", "mcp", *given, "--data", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL)
    assert done.returncode == 2
    assert said in done.stderr.replace("\n", " ")
    assert (done.stdout, "Traceback" in done.stderr) == ("", False)
