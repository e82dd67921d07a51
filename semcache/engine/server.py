"""The engine behind OpenAI's HTTP interface, as an ASGI application.

Knows paths, status codes and server-sent events; `openai_requests` reads bodies and `openai_replies` writes them.
Invariant: every error is a reply in OpenAI's form; a client that leaves has its jobs cancelled; no request can end the
server, nor can many fill its memory with their bodies; an answer that may not be the model's own says so in a header.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, MutableMapping
from contextlib import AsyncExitStack, contextmanager, suppress
from typing import Any, TypeAlias

import msgspec

from semcache.engine.job import Delta
from semcache.engine.openai_replies import (
    DONE,
    ChatReply,
    ChoiceText,
    CompletionReply,
    error_body,
    event,
    rejection,
    usage,
)
from semcache.engine.openai_requests import ParsedRequest, ServedModel, read_chat, read_completion, read_tokens
from semcache.engine.overload import Overloaded, OverloadRefusal
from semcache.engine.worker import Ticket, Worker
from semcache.errors import RequestRejected, UpstreamError

_log = logging.getLogger(__name__)
APPROXIMATE = b"x-semcache-approximate"
_LARGEST = 32 << 20
_HELD = 256 << 20  # bytes of bodies that are held at once
_SMALL = 64 << 10  # bytes of a body that is read in any case
_SECONDS = 60.0  # in which a body has to come
_STOPPING = "the engine is stopping and could wait no longer for the rest of this answer: ask again"
_JSON = (b"content-type", b"application/json")
_GET = {"/v1/models", "/metrics", "/livez", "/readyz", "/health"}
_UNSERVED = {
    "/v1/embeddings": "embeddings",
    "/v1/responses": "responses",
    "/v1/load_lora_adapter": "LoRA adapters",
    "/v1/unload_lora_adapter": "LoRA adapters",
}
_POST = {"/v1/chat/completions", "/v1/completions", "/tokenize"}
_Message: TypeAlias = MutableMapping[str, Any]
_Receive: TypeAlias = Callable[[], Awaitable[_Message]]
_Send: TypeAlias = Callable[[_Message], Awaitable[None]]


class _ClientGone(Exception):
    """The client has left."""


class EngineServer:
    """Serves `worker` under the model name `name`; `any_model` answers whatever model a request names.

    `clock` gives Unix seconds, `ids` unique names of requests.
    """

    def __init__(
        self, worker: Worker, *, name: str, clock: Callable[[], float], ids: Callable[[], str], any_model: bool = False
    ) -> None:
        engine = worker.engine
        self._worker, self._tokenizer, self._metrics = worker, engine.tokenizer, engine.metrics
        self._served = ServedModel.of(engine, name, any_model=any_model)
        self._clock, self._ids = clock, ids
        self._created = int(clock())
        self._held = 0  # bytes of bodies

    async def __call__(self, scope: _Message, receive: _Receive, send: _Send) -> None:
        """ASGI."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif scope["type"] == "http":
            try:
                await self._http(scope, receive, send)
            except _ClientGone:
                return

    async def _lifespan(self, receive: _Receive, send: _Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.shutdown":
                await asyncio.to_thread(self._worker.close)
            await send({"type": f"{message['type']}.complete"})
            if message["type"] == "lifespan.shutdown":
                return

    async def _http(self, scope: _Message, receive: _Receive, send: _Send) -> None:
        path, method = scope["path"], scope["method"]
        try:
            if path in _POST and method == "POST":
                with self._holding() as take:
                    raw = await _body(receive, take)
                    await _until_gone(self._answer(path, raw, send), receive)
                return
            if path in _GET or path.startswith("/v1/models/"):
                if method not in {"GET", "HEAD"}:
                    raise RequestRejected(405, f"{path} answers GET, not {method}", code="method_not_allowed")
                await self._look(path, send)
                return
            if path in _POST:
                raise RequestRejected(405, f"{path} answers POST, not {method}", code="method_not_allowed")
            if path in _UNSERVED:
                message = f"{path}: this engine serves no {_UNSERVED[path]}; use a server that does"
                raise RequestRejected(404, message, code="unsupported_endpoint")
            raise RequestRejected(404, f"there is no {path} here", code="not_found")
        except RequestRejected as error:
            wait = [(b"retry-after", str(error.retry_after).encode())] if isinstance(error, Overloaded) else []
            await _reply(send, error.status, rejection(error), [_JSON, *wait])
        except UpstreamError as error:
            await _reply(send, 500, error_body(500, str(error), code="engine_failed"), [_JSON])
        except _ClientGone:
            raise
        except Exception:
            _log.exception("a request failed")
            await _reply(
                send, 500, error_body(500, "the engine failed; its log says why", code="engine_failed"), [_JSON]
            )

    @contextmanager
    def _holding(self) -> Iterator[Callable[[int], None]]:
        """Give a function that counts bytes of one body, and raises RequestRejected where too many are held."""
        own = 0

        def take(size: int) -> None:
            nonlocal own
            if own + size > _LARGEST:
                raise RequestRejected(413, f"the body is larger than {_LARGEST:,} bytes", code="too_large")
            if own + size > _SMALL and self._held + size > _HELD:
                raise Overloaded(OverloadRefusal(f"bodies of other requests fill {_HELD >> 20} MiB", 1))
            own += size
            self._held += size

        try:
            yield take
        finally:
            self._held -= own

    async def _look(self, path: str, send: _Send) -> None:
        if path == "/metrics":
            kind = (b"content-type", b"text/plain; version=0.0.4; charset=utf-8")
            await _reply(send, 200, self._metrics.text(), [kind])
            return
        if path in {"/livez", "/readyz", "/health"}:
            alive = self._worker.alive
            body = {"status": "ok" if alive else "closed", "model": self._served.name, "tokens": self._served.most}
            await _reply(send, 200 if alive else 503, msgspec.json.encode(body), [_JSON])
            return
        card = {
            "id": self._served.name,
            "object": "model",
            "created": self._created,
            "owned_by": "semcache",
            "max_model_len": self._served.most,
        }
        named = path.removeprefix("/v1/models").strip("/")
        if named and named != self._served.name:
            message = f"the model {named!r} does not exist here; this engine serves {self._served.name!r}"
            raise RequestRejected(404, message, code="model_not_found", param="model")
        shown: dict[str, Any] = card if named else {"object": "list", "data": [card]}
        await _reply(send, 200, msgspec.json.encode(shown), [_JSON])

    async def _answer(self, path: str, raw: bytes, send: _Send) -> None:
        if path == "/tokenize":
            ids = await asyncio.to_thread(read_tokens, raw, self._tokenizer, self._served)
            body = {"count": len(ids), "max_model_len": self._served.most, "tokens": ids}
            await _reply(send, 200, msgspec.json.encode(body), [_JSON])
            return
        chat = path == "/v1/chat/completions"
        name, read = self._ids(), read_chat if chat else read_completion
        # Tokenising a long prompt takes milliseconds, which others need not wait for.
        ask = await asyncio.to_thread(read, raw, self._tokenizer, self._served, id=name)
        kind = ChatReply if chat else CompletionReply
        scored = ask.jobs[0].sampling.logprobs is not None
        shape: ChatReply | CompletionReply = kind(
            self._tokenizer,
            id=f"{kind.prefix}{name}",
            created=int(self._clock()),
            model=self._served.name,
            scored=scored,
            shape=ask.shape,
        )
        async with AsyncExitStack() as stack:
            tickets = [await stack.enter_async_context(await self._worker.run(job)) for job in ask.jobs]
            if ask.stream:
                await self._stream(ask, shape, tickets, send)
            else:
                await self._whole(ask, shape, tickets, send)

    async def _whole(
        self, ask: ParsedRequest, shape: ChatReply | CompletionReply, tickets: list[Ticket], send: _Send
    ) -> None:
        told = [ChoiceText() for job in ask.jobs for _ in range(job.sampling.n)]
        spent = []
        async for index, delta in _deltas(tickets):
            told[index].add(delta)
            if delta.spent is not None:
                spent.append(delta.spent)
        body = shape.whole(told, usage(spent, predicted=ask.predicted, approximate=ask.approximate))
        await _reply(send, 200, msgspec.json.encode(body), [_JSON, *_marks(ask)])

    async def _stream(
        self, ask: ParsedRequest, shape: ChatReply | CompletionReply, tickets: list[Ticket], send: _Send
    ) -> None:
        kind = (b"content-type", b"text/event-stream; charset=utf-8")
        head = [kind, (b"cache-control", b"no-store"), (b"x-accel-buffering", b"no"), *_marks(ask)]
        await send({"type": "http.response.start", "status": 200, "headers": head})
        spent, opened = [], set()

        async def tell(*pieces: bytes) -> None:
            await send({"type": "http.response.body", "body": b"".join(pieces), "more_body": True})

        try:
            async for index, delta in _deltas(tickets):
                chunks = [] if index in opened else [event(one) for one in shape.opening(index)]
                opened.add(index)
                await tell(*chunks, *(event(one) for one in shape.chunk(index, delta)))
                if delta.spent is not None:
                    spent.append(delta.spent)
            if ask.include_usage:
                await tell(event(shape.closing(usage(spent, predicted=ask.predicted, approximate=ask.approximate))))
            await tell(DONE)
        except UpstreamError as error:
            await tell(b"data: " + error_body(500, str(error), code="engine_failed") + b"\n\n")
        except RequestRejected as error:
            await tell(b"data: " + rejection(error) + b"\n\n")
        except asyncio.CancelledError:
            # By a server that stops, or for a client that has gone and gets nothing of this.
            await tell(b"data: " + error_body(503, _STOPPING, code="engine_stopping") + b"\n\n")
            raise
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def _marks(ask: ParsedRequest) -> list[tuple[bytes, bytes]]:
    """The header that marks an answer that may not be the model's own, so that no cache keeps it as such."""
    return [(APPROXIMATE, ask.approximate.encode())] if ask.approximate else []


async def _deltas(tickets: list[Ticket]) -> AsyncIterator[tuple[int, Delta]]:
    """The deltas of all jobs of a request, as they come, with the index of the choice among those of all jobs."""
    if len(tickets) == 1:
        async for delta in tickets[0].deltas():
            yield delta.choice, delta
        return
    told: asyncio.Queue[tuple[int, Delta] | Exception | None] = asyncio.Queue()

    async def read(at: int, ticket: Ticket) -> None:
        try:
            async for delta in ticket.deltas():
                told.put_nowait((at * ticket.job.sampling.n + delta.choice, delta))
            told.put_nowait(None)
        except (UpstreamError, RequestRejected) as error:
            told.put_nowait(error)

    readers = [asyncio.create_task(read(at, ticket)) for at, ticket in enumerate(tickets)]
    try:
        left = len(readers)
        while left:
            item = await told.get()
            if isinstance(item, Exception):
                raise item
            if item is None:
                left -= 1
            else:
                yield item
    finally:
        for reader in readers:
            reader.cancel()


async def _body(receive: _Receive, take: Callable[[int], None]) -> bytes:
    pieces, more = [], True
    try:
        async with asyncio.timeout(_SECONDS):
            while more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise _ClientGone
                piece = message.get("body", b"")
                take(len(piece))
                pieces.append(piece)
                more = message.get("more_body", False)
    except TimeoutError as error:
        raise RequestRejected(408, f"the body did not come within {_SECONDS:g} s", code="timeout") from error
    return b"".join(pieces)


async def _until_gone(answer: Awaitable[None], receive: _Receive) -> None:
    """Run to the end, unless the client leaves first. Raises _ClientGone, or what the answer raises."""

    async def watch() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    answering, watching = asyncio.ensure_future(answer), asyncio.create_task(watch())
    try:
        await asyncio.wait([answering, watching], return_when=asyncio.FIRST_COMPLETED)
        if not answering.done():
            raise _ClientGone
        await answering
    finally:
        for task in (answering, watching):
            task.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await task


async def _reply(send: _Send, status: int, body: bytes, headers: list[tuple[bytes, bytes]]) -> None:
    head = [*headers, (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": head})
    await send({"type": "http.response.body", "body": body, "more_body": False})
