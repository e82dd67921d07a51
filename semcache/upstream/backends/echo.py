"""A scripted upstream: an ASGI application that speaks the OpenAI and Anthropic APIs, for demo, tests and benchmarks.

Knows the paths, the pace of an answer and how to misbehave on request; what it says and in which shape is in
`echo_answers`, `echo_shapes` and `echo_responses`.
Invariant: equal requests have equal answers, with a fresh id and creation time per call.

A fault is asked for by the model name or the header `x-echo`: `fail-429` (any status from 400; `retry-after` comes with
429 and 503), `hang` (no reply at all), `hang-midstream`, `die-midstream` (the connection breaks off), `malformed` (a
body that is no JSON, or a broken event), `no-end` (the stream ends without its terminal event), `slow` (one second).
`GET /echo/stats` counts requests per path and shows the newest; `POST /echo/reset` forgets them.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import time
import uuid
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterator, MutableMapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec

from semcache.upstream.backends.echo_answers import Answers, EchoReply, EchoRequest, read_request, reply_to
from semcache.upstream.backends.echo_responses import EchoResponses
from semcache.upstream.backends.echo_shapes import EchoChat, EchoCompletion, EchoMessages, Json, embeddings, error

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

MODELS = ("echo", "echo-large", "echo-small", "text-embedding-echo")


class _Shape(Protocol):
    def body(self) -> Json: ...
    def events(self) -> Iterator[bytes]: ...


_SHAPES: dict[str, Callable[[EchoRequest, Sequence[EchoReply], str, int], _Shape]] = {
    "/v1/chat/completions": EchoChat,
    "/v1/completions": EchoCompletion,
    "/v1/responses": EchoResponses,
    "/v1/messages": EchoMessages,
}
_KEPT = 100  # requests that `/echo/stats` shows
_FAULT = re.compile(r"fail-[45]\d\d|hang|hang-midstream|die-midstream|malformed|no-end|slow")
_UNREADABLE = (AttributeError, LookupError, RecursionError, TypeError, ValueError)


class _EchoClientGone(Exception):
    """The client has left."""


def _wall() -> float:
    return time.time()


def echo_app(
    answers: Answers | None = None,
    *,
    latency: float = 0.0,
    token_seconds: float = 0.0,
    clock: Callable[[], float] = _wall,
    ids: Callable[[], str] = lambda: uuid.uuid4().hex,
) -> App:
    """Make the application. `latency` and `token_seconds` are seconds before the reply and between two events.

    `answers` gives the answer to the text of the last user turn; where it has none the prompt is echoed.
    """
    return _Echo(answers, latency=latency, token_seconds=token_seconds, clock=clock, ids=ids)


class _Echo:
    def __init__(
        self,
        answers: Answers | None,
        *,
        latency: float,
        token_seconds: float,
        clock: Callable[[], float],
        ids: Callable[[], str],
    ) -> None:
        self._answers, self._latency, self._token_seconds = answers, latency, token_seconds
        self._clock, self._ids = clock, ids
        self._newest: deque[tuple[str, str, list[tuple[str, str]], bytes]] = deque(maxlen=_KEPT)
        self._paths: Counter[str] = Counter()
        self._disconnects = 0

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
            return
        if scope["type"] != "http":
            return
        body, path, method = await _read(receive), scope["path"], scope["method"]
        if path.startswith("/echo/"):
            await self._desk(path, send)
            return
        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
        self._paths[path] += 1
        self._newest.append((method, path, headers, body))
        try:
            await self._answer(scope, dict(headers), body, receive, send)
        except _EchoClientGone:
            self._disconnects += 1

    async def _desk(self, path: str, send: Send) -> None:
        if path == "/echo/reset":
            self._paths.clear()
            self._newest.clear()
            self._disconnects = 0
        newest = [
            {"method": method, "path": where, "headers": headers, "body": body.decode(errors="replace")}
            for method, where, headers, body in self._newest
        ]
        stats = {"requests": self._paths.total(), "paths": dict(self._paths), "disconnects": self._disconnects}
        await _reply(send, 200, msgspec.json.encode({**stats, "newest": newest}), self._ids())

    async def _answer(self, scope: Message, headers: dict[str, str], raw: bytes, receive: Receive, send: Send) -> None:
        path, method = scope["path"], scope["method"]
        speaks = method == "POST" and (path in _SHAPES or path == "/v1/embeddings")
        body: Any = {}
        if speaks:
            try:
                body = msgspec.json.decode(raw)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
                await _reply(send, 400, error(path, 400, f"invalid JSON: {problem}"), self._ids())
                return
            if not isinstance(body, dict):
                await _reply(send, 400, error(path, 400, "the body must be an object"), self._ids())
                return
        named = headers.get("x-echo") or str(body.get("model", ""))
        fault = named if _FAULT.fullmatch(named) else ""
        await self._pause(receive, 1.0 if fault == "slow" else self._latency)
        if fault == "hang":
            await self._pause(receive, None)
        if fault.startswith("fail-"):
            status = int(fault[5:])
            extra = {"retry-after": "7", "retry-after-ms": "7000"} if status in {429, 503} else {}
            await _reply(send, status, error(path, status, f"asked to fail with {status}"), self._ids(), extra)
        elif not speaks:
            await self._other(scope, raw, send)
        else:
            try:
                answer = self._said(path, body)
            except _UNREADABLE as problem:
                await _reply(send, 400, error(path, 400, f"invalid request: {problem}"), self._ids())
                return
            if isinstance(answer, list):
                await self._stream(answer, fault, receive, send)
            else:
                await self._whole(answer, fault, receive, send)

    def _said(self, path: str, body: Json) -> Json | list[bytes]:
        """The whole answer, or the events of a stream. Raises one of `_UNREADABLE` for what is no request."""
        if path == "/v1/embeddings":
            return embeddings(body)
        heard = read_request(path, body)
        said = [reply_to(heard, self._answers, choice) for choice in range(heard.n)]
        speaker = _SHAPES[path](heard, said, self._ids(), int(self._clock()))
        return list(speaker.events()) if body.get("stream") else speaker.body()

    async def _other(self, scope: Message, raw: bytes, send: Send) -> None:
        path, query = scope["path"], scope.get("query_string", b"").decode()
        made = 1_700_000_000
        cards = [{"id": name, "object": "model", "created": made, "owned_by": "semcache-echo"} for name in MODELS]
        if path == "/v1/models":
            answer: Json = {"object": "list", "data": cards}
        elif path.startswith("/v1/models/"):
            found = [card for card in cards if card["id"] == path.removeprefix("/v1/models/")]
            if not found:
                await _reply(send, 404, error(path, 404, "no such model"), self._ids())
                return
            answer = found[0]
        else:
            digest = hashlib.sha256(raw).hexdigest()
            answer = {"object": "echo", "method": scope["method"], "path": path, "query": query, "sha256": digest}
        await _reply(send, 200, msgspec.json.encode(answer), self._ids())

    async def _whole(self, answer: Json, fault: str, receive: Receive, send: Send) -> None:
        raw = msgspec.json.encode(answer)
        if fault == "malformed":
            raw = raw[: len(raw) // 2]
        if fault not in {"die-midstream", "hang-midstream"}:
            await _reply(send, 200, raw, self._ids())
            return
        await _start(send, 200, b"application/json", self._ids(), {"content-length": str(len(raw))})
        await send({"type": "http.response.body", "body": raw[: len(raw) // 2], "more_body": True})
        await self._break_off(fault, receive)

    async def _stream(self, whole: list[bytes], fault: str, receive: Receive, send: Send) -> None:
        await _start(send, 200, b"text/event-stream; charset=utf-8", self._ids())
        half = len(whole) // 2
        for at, piece in enumerate(_spoil(whole, fault)):
            if at == half and fault in {"die-midstream", "hang-midstream"}:
                await self._break_off(fault, receive)
                return
            if at:
                await self._pause(receive, self._token_seconds)
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _break_off(self, fault: str, receive: Receive) -> None:
        """Hang, or return without ending the body, on which the server cuts the connection."""
        if fault == "hang-midstream":
            await self._pause(receive, None)
        else:
            await asyncio.sleep(0.02)

    async def _pause(self, receive: Receive, seconds: float | None) -> None:
        """Wait, for ever with None, unless the client leaves first."""
        if seconds == 0.0:
            return
        try:
            async with asyncio.timeout(seconds):
                while (await receive())["type"] != "http.disconnect":
                    pass
        except TimeoutError:
            return
        raise _EchoClientGone


def _spoil(events: list[bytes], fault: str) -> Iterator[bytes]:
    if fault == "no-end":
        yield from events[:-1]
        return
    for at, piece in enumerate(events):
        yield piece[: len(piece) // 2] + b"\n\n" if fault == "malformed" and at == len(events) // 2 else piece


async def _read(receive: Receive) -> bytes:
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return body


async def _start(send: Send, status: int, kind: bytes, id: str, extra: dict[str, str] | None = None) -> None:
    headers = [(b"content-type", kind), (b"x-request-id", f"req_{id}".encode()), (b"openai-processing-ms", b"1")]
    headers += [(name.encode(), value.encode()) for name, value in (extra or {}).items()]
    await send({"type": "http.response.start", "status": status, "headers": headers})


async def _reply(send: Send, status: int, raw: bytes, id: str, extra: dict[str, str] | None = None) -> None:
    await _start(send, status, b"application/json", id, {"content-length": str(len(raw)), **(extra or {})})
    await send({"type": "http.response.body", "body": raw, "more_body": False})


async def _lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return


def read_answers(file: Path) -> dict[str, str]:
    """Read a JSON object of prompt to answer."""
    return msgspec.json.decode(file.read_bytes(), type=dict[str, str])


def main() -> None:
    """Serve the scripted upstream until interrupted; one line on standard error says when it is ready."""
    import argparse
    import sys

    import uvicorn

    class Server(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            if self.started:
                port = self.servers[0].sockets[0].getsockname()[1]
                sys.stderr.write(f"echo upstream ready on http://{options.host}:{port}\n")
                sys.stderr.flush()

    parser = argparse.ArgumentParser(prog="python -m semcache.upstream.backends.echo", description=main.__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000, help="0 picks a free one")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each reply")
    parser.add_argument("--token-seconds", type=float, default=0.0, help="seconds between two events of a stream")
    parser.add_argument("--answers", type=Path, help="JSON object of prompt to answer")
    options = parser.parse_args()
    answers = read_answers(options.answers) if options.answers else None
    app = echo_app(answers, latency=options.latency, token_seconds=options.token_seconds)
    config = uvicorn.Config(app, options.host, options.port, log_level="critical", access_log=False)
    Server(config).run()


if __name__ == "__main__":
    main()
