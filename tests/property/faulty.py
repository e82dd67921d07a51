"""Parts that fail at any moment, for the suites that check what clients receive then."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

from semcache.errors import StoreError, UpstreamError
from semcache.proxy.application import Proxy
from semcache.storage.stores.database import Database
from semcache.types import Selector
from tests.proxy.driver import Answer

FAULTS = (
    StoreError("locked"),
    TimeoutError(),
    OSError("disk full"),
    StoreError("connection lost"),
    RuntimeError("bug"),
)


@contextmanager
def failing(rng: random.Random, share: float, *places: tuple[Any, str]) -> Iterator[None]:
    """Any call of these methods may fail, before it has done anything or after; without places, any statement."""
    with ExitStack() as stack:
        for owner, name in places or ((Database, "fetch"), (Database, "write")):
            stack.enter_context(mock.patch.object(owner, name, _broken(getattr(owner, name), rng, share)))
        yield


def _broken(inner: Callable[..., Any], rng: random.Random, share: float) -> Callable[..., Any]:
    def before(when: float) -> None:
        if when < share / 2:
            raise rng.choice(FAULTS)

    def after(when: float, done: Any) -> Any:
        if share / 2 <= when < share:
            raise rng.choice(FAULTS)
        return done

    async def call(*args: Any, **kwargs: Any) -> Any:
        when = rng.random()
        before(when)
        return after(when, await inner(*args, **kwargs))

    def plain(*args: Any, **kwargs: Any) -> Any:
        when = rng.random()
        before(when)
        return after(when, inner(*args, **kwargs))

    return call if asyncio.iscoroutinefunction(inner) else plain


def said(model: str, text: str, **fields: Any) -> dict[str, Any]:
    """A chat completion of a model."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop", **fields}
    usage = {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": model, "choices": [choice], "usage": usage}


def broken_answers(model: str) -> list[Callable[[], Answer | Exception]]:
    """Every way in which a model does not answer."""
    whole = json.dumps(said(model, "A wrong answer.")).encode()
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{"}}
    odd = [
        b"",
        b"null",
        b"[]",
        b"{}",
        b"{not json",
        b'{"choices": [{}]}',
        b'{"choices": [null]}',
        b'{"choices": "x"}',
        b'{"choices": [{"message": {"content": [{"type": "text", "text": 7}]}, "finish_reason": "stop"}]}',
        b'{"choices": [{"message": {"role": "assistant", "content": "\\ud800"}, "finish_reason": "stop"}]}',
        b"[" * 100_000,
        json.dumps(said(model, "")).encode(),
        json.dumps(said(model, "Cut", finish_reason="length")).encode(),
        json.dumps(said(model, "Filtered", finish_reason="content_filter")).encode(),
        json.dumps(said(model, "", message={"role": "assistant", "content": None, "tool_calls": [call]})).encode(),
        json.dumps(said(model, "", message={"role": "assistant", "content": None, "refusal": "No."})).encode(),
    ]
    ways: list[Callable[[], Answer | Exception]] = [lambda body=body: Answer([body]) for body in odd]  # type: ignore[misc]
    ways += [
        lambda: UpstreamError("refused"),
        lambda: Answer([whole[:40], UpstreamError("cut")]),
        lambda: Answer([whole], status=500),
        lambda: Answer([whole], status=429, headers=(("content-type", "application/json"), ("retry-after", "1"))),
        lambda: Answer([whole], headers=(("content-type", "text/event-stream"),)),
        lambda: Answer([asyncio.Event()]),
    ]
    return ways


async def stored(proxy: Proxy) -> dict[str, Any]:
    """The answers in the store, by prompt."""
    entries = await proxy.cache.components.store.select(Selector(everything=True), limit=10_000)
    return {entry.key.text: json.loads(entry.body) for entry in entries}
