"""Driving the proxy in this process: requests whose every ASGI message can be seen, and an upstream that waits for us.

Nothing here sleeps: a test decides when the upstream sends its next piece and when a client leaves.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import http_sf
import msgspec

from semcache.config.settings import Settings
from semcache.protocols import Backend, Outbound
from semcache.proxy.application import Proxy
from tests.waiting import soon

CHAT = "/v1/chat/completions"
PACK = """
name: test
defaults:
  strategy: static
  wording: off
  threshold: 0.8
categories:
  careful:
    threshold: 0.999
  disabled:
    cache: false
"""


@dataclass
class Clock:
    now: float = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Answer:
    """An upstream's reply: pieces are bytes to send, events to wait for, or errors to break off with."""

    pieces: Sequence[bytes | asyncio.Event | Exception]
    status: int = 200
    headers: Sequence[tuple[str, str]] = (("content-type", "application/json"), ("x-request-id", "req_upstream"))
    closed: bool = False
    finished: bool = False

    async def chunks(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            if isinstance(piece, Exception):
                raise piece
            if isinstance(piece, asyncio.Event):
                await piece.wait()
            else:
                yield piece
        self.finished = True

    async def close(self) -> None:
        self.closed = True


@dataclass
class Upstream:
    """A backend whose answer to each request is what `answer` makes of it; an error is raised, an event waited for."""

    answer: Callable[[Outbound], Answer | Exception]
    gate: asyncio.Event | None = None
    calls: list[Outbound] = field(default_factory=list)
    replies: list[Answer] = field(default_factory=list)

    async def send(self, outbound: Outbound) -> Answer:
        self.calls.append(outbound)
        if self.gate is not None:
            await self.gate.wait()
        made = self.answer(outbound)
        if isinstance(made, Exception):
            raise made
        self.replies.append(made)
        return made

    async def close(self) -> None:
        return None


@dataclass
class Received:
    status: int
    headers: list[tuple[str, str]]
    body: bytes
    whole: bool

    def header(self, name: str) -> str | None:
        found = [value for key, value in self.headers if key == name]
        assert len(found) < 2, f"{name} is sent {len(found)} times"
        return found[0] if found else None

    @property
    def json(self) -> Any:
        return msgspec.json.decode(self.body)

    @property
    def cache(self) -> dict[str, Any]:
        """The parameters of `Cache-Status`, read by a structured-field parser."""
        return cache_status(self.header("cache-status"))


class Call:
    """One request in the air."""

    def __init__(
        self,
        proxy: Proxy,
        body: Any = b"",
        path: str = CHAT,
        *,
        method: str = "POST",
        query: str = "",
        **headers: str,
    ) -> None:
        raw = body if isinstance(body, bytes) else msgspec.json.encode(body)
        scope = {
            "type": "http",
            "method": method,
            "path": unquote(path),
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "headers": [
                (name.replace("_", "-").encode(), value.encode())
                for name, value in {
                    "host": "localhost",
                    "content-type": "application/json",
                    "content-length": str(len(raw)),
                    **{name.replace("_", "-"): value for name, value in headers.items()},
                }.items()
            ],
        }
        self._request = [{"type": "http.request", "body": raw, "more_body": False}]
        self._gone = asyncio.Event()
        self._sent: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self.task = asyncio.create_task(self._run(proxy, scope))

    async def _run(self, proxy: Proxy, scope: dict[str, Any]) -> None:
        try:
            await proxy(scope, self._receive, self._send)
        finally:
            self._sent.put_nowait(None)

    async def _receive(self) -> dict[str, Any]:
        if self._request:
            return self._request.pop()
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: dict[str, Any]) -> None:
        if not self._gone.is_set():
            self._sent.put_nowait(message)

    async def message(self) -> dict[str, Any] | None:
        """The next message of the reply; None when there is no more."""
        return await soon(self._sent.get())

    async def leave(self) -> None:
        """Disconnect, and wait until the proxy has noticed."""
        self._gone.set()
        await soon(asyncio.gather(self.task, return_exceptions=True))

    async def reply(self) -> Received:
        """The whole reply."""
        status, headers, body, whole = 0, [], b"", False
        while (message := await self.message()) is not None:
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = [(name.decode(), value.decode()) for name, value in message["headers"]]
            else:
                body += message.get("body", b"")
                whole = not message.get("more_body", False)
        await self.task
        return Received(status, headers, body, whole)


def cache_status(value: str | None) -> dict[str, Any]:
    assert value is not None, "there is no Cache-Status"
    members = http_sf.parse(value.encode(), tltype="list")
    name, parameters = members[-1]
    assert str(name) == "semcache"
    known = {"hit", "fwd", "fwd-status", "ttl", "stored", "collapsed", "detail"}
    assert parameters.keys() <= known
    assert not (parameters.get("hit") and "fwd" in parameters)
    return {name: str(value) if isinstance(value, http_sf.Token) else value for name, value in parameters.items()}


def ask(prompt: str, *, stream: bool = False, **fields: Any) -> dict[str, Any]:
    """A chat request."""
    return {"model": "m", "messages": [{"role": "user", "content": prompt}], "stream": stream, **fields}


def completion(text: str = "An answer.", **fields: Any) -> bytes:
    """A chat completion."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12}
    return msgspec.json.encode(
        {"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
        | fields
    )


def numbered_upstream() -> Upstream:
    """An upstream whose answers are all the same."""
    return Upstream(lambda _: Answer([completion()]))


def events(*texts: str, end: bool = True, newline: str = "\n") -> list[bytes]:
    """The chunks of a streamed chat completion, one event each."""
    head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    deltas = [{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}]
    deltas += [{"index": 0, "delta": {"content": text}, "finish_reason": None} for text in texts]
    deltas.append({"index": 0, "delta": {}, "finish_reason": "stop"})
    lines = [b"data: " + msgspec.json.encode({**head, "choices": [delta]}) for delta in deltas]
    if end:
        lines.append(b"data: [DONE]")
    return [line + 2 * newline.encode() for line in lines]


STREAM = (("content-type", "text/event-stream"),)


def spoken(stream: bytes) -> str:
    """The text of a streamed chat completion."""
    payloads = [line[6:] for line in stream.replace(b"\r\n", b"\n").split(b"\n") if line.startswith(b"data: {")]
    choices = [choice for payload in payloads for choice in msgspec.json.decode(payload).get("choices", ())]
    return "".join(choice["delta"].get("content") or "" for choice in choices)


@asynccontextmanager
async def running(
    backend: Backend, folder: Path, *, clock: Callable[[], float] | None = None, pack: str = PACK, **settings: Any
) -> AsyncIterator[Proxy]:
    """A proxy on a store in memory; `settings` are dotted names with `__` for the dot."""
    policies = folder / "pack.yaml"
    policies.write_text(pack)
    cli = {
        "data": folder / "data",
        "store.url": "memory://",
        "policies": str(policies),
        "embedder": "hashing",
        **{name.replace("__", "."): value for name, value in settings.items()},
    }
    proxy = Proxy(Settings.load(cli, {}, None), backend=backend, **({"clock": clock} if clock else {}))
    await proxy.start()
    try:
        yield proxy
    finally:
        await proxy.stop()
