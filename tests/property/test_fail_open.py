"""With any part of the cache failing at any moment, clients receive exactly what the upstream sends."""

from __future__ import annotations

import asyncio
import inspect
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from itertools import cycle
from pathlib import Path
from typing import Any
from unittest import mock

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from semcache.cache import common_parts, opening
from semcache.dialects import dialects
from semcache.errors import EmbedError, IndexFault, IntegrityError, StoreError
from semcache.protocols import Outbound
from semcache.proxy.application import Proxy
from semcache.runtime.breaker import Breaker
from semcache.upstream.backends.echo import echo_app
from semcache.upstream.backends.inprocess import InProcessBackend
from tests.proxy.driver import Call, Received, running

FAULTS = {
    "store": [StoreError("locked"), IntegrityError("sealed"), TimeoutError(), RuntimeError("closed"), OSError("full")],
    "index": [IndexFault("gone"), TimeoutError(), RuntimeError("closed"), ValueError("shape")],
    "embedder": [EmbedError("model"), TimeoutError(), RuntimeError("session"), "nan", "empty"],
}
PARTS = tuple(FAULTS)
USER = [{"role": "user", "content": "Name the parts of a plant cell."}]
REQUESTS: list[tuple[str, dict[str, Any]]] = [
    ("/v1/chat/completions", {"model": "m", "messages": USER}),
    ("/v1/chat/completions", {"model": "m", "messages": USER, "stream": True}),
    ("/v1/chat/completions", {"model": "m", "messages": USER, "logprobs": True, "n": 2}),
    ("/v1/chat/completions", {"model": "fail-429", "messages": USER}),
    ("/v1/completions", {"model": "m", "prompt": "Volcanoes erupt because"}),
    ("/v1/responses", {"model": "m", "input": "Translate cheese into Basque", "stream": True}),
    ("/v1/messages", {"model": "m", "max_tokens": 50, "messages": USER, "stream": True}),
    ("/v1/messages", {"model": "m", "max_tokens": 50, "messages": USER}),
    ("/v1/embeddings", {"model": "m", "input": ["one", "two"]}),
    ("/v1/embeddings", {"model": "m", "input": ["two", "three"]}),
]


class Flaky:
    """A part of the cache whose every asynchronous call may fail as `plan` says."""

    def __init__(self, inner: Any, plan: Iterator[Any]) -> None:
        self._inner = inner
        self.plan = plan

    def __len__(self) -> int:
        return len(self._inner)

    def __getattr__(self, name: str) -> Any:
        inner = getattr(self._inner, name)
        if not inspect.iscoroutinefunction(inner) or name in ("close", "wait"):
            return inner

        async def call(*args: Any, **kwargs: Any) -> Any:
            fault = next(self.plan)
            if isinstance(fault, Exception):
                raise fault
            found = await inner(*args, **kwargs)
            if fault == "nan":
                return np.full_like(found, np.nan)
            return found[:0] if fault == "empty" else found

        return call


@asynccontextmanager
async def flaky(plans: dict[str, Iterator[Any]], folder: Path) -> AsyncIterator[tuple[Proxy, dict[str, Flaky]]]:
    """A proxy that opened well and whose parts fail from then on."""
    parts: dict[str, Flaky] = {}

    def failing(part: str, made: Any) -> Flaky:
        parts[part] = Flaky(made, plans[part])
        return parts[part]

    open_store, embedder_of, index_of = common_parts.open_store, common_parts.open_embedder, opening.IndexOwner
    with (
        mock.patch.object(common_parts, "open_store", lambda *args, **kw: failing("store", open_store(*args, **kw))),
        mock.patch.object(opening, "IndexOwner", lambda partitions: failing("index", index_of(partitions))),
        mock.patch.object(common_parts, "open_embedder", lambda spec: failing("embedder", embedder_of(spec))),
    ):
        async with running(upstream(), folder) as proxy:
            yield proxy, parts


def upstream() -> InProcessBackend:
    return InProcessBackend(echo_app(ids=lambda: "1", clock=lambda: 1.0))


async def direct(path: str, body: dict[str, Any]) -> Received:
    backend = upstream()
    reply = await backend.send(
        Outbound("POST", path, [("content-type", "application/json")], msgspec.json.encode(body))
    )
    whole = b"".join([chunk async for chunk in reply.chunks()])
    await backend.close()
    return Received(reply.status, list(reply.headers), whole, True)


def answer_of(path: str, reply: Received) -> Any:
    """The answer as a client's SDK assembles it."""
    if not (reply.header("content-type") or "").startswith("text/event-stream"):
        return reply.json
    assembler = next(dialect for dialect in dialects().values() if dialect.path == path).assembler()
    assembler.feed(reply.body)
    return msgspec.json.decode(assembler.finish().body)


def told(answer: Any) -> Any:
    """The answer without what only one of body and stream has: the usage, and lists that are empty."""
    if isinstance(answer, dict):
        return {key: told(value) for key, value in answer.items() if value not in (None, []) and key != "usage"}
    return [told(item) for item in answer] if isinstance(answer, list) else answer


def faults_of(part: str) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.sampled_from([None, None, *FAULTS[part]]), min_size=1, max_size=12)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    plans=st.fixed_dictionaries({part: faults_of(part) for part in PARTS}),
    asked=st.lists(st.sampled_from(REQUESTS), min_size=1, max_size=8),
    together=st.booleans(),
    patient=st.booleans(),
)
def test_clients_receive_what_the_upstream_sent(
    plans: dict[str, list[Any]], asked: list[tuple[str, dict[str, Any]]], together: bool, patient: bool
) -> None:
    async def scenario(folder: Path) -> None:
        async with flaky({part: cycle([None]) for part in PARTS}, folder) as (proxy, parts):
            for part, plan in plans.items():
                parts[part].plan = cycle(plan)
            calls = []
            for path, body in asked:
                if patient:
                    proxy.cache.components.faults._breakers.update({part: Breaker() for part in PARTS})
                calls.append(Call(proxy, body, path, **{"content-type": "application/json"}))
                if not together:
                    await asyncio.gather(calls[-1].task)
            replies = [await call.reply() for call in calls]
            for flake in parts.values():
                flake.plan = cycle([None])
            for (path, body), reply in zip(asked, replies, strict=True):
                sent = await direct(path, body)
                assert reply.status == sent.status
                assert reply.whole
                assert reply.header("retry-after") == sent.header("retry-after")
                if "hit" in reply.cache or reply.cache.get("fwd") == "partial" or "collapsed" in reply.cache:
                    assert told(answer_of(path, reply)) == told(answer_of(path, sent))
                else:
                    assert reply.body == sent.body
                    assert reply.header("content-type") == sent.header("content-type")

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(scenario(Path(folder)))


@pytest.mark.parametrize(("part", "fault"), [(part, fault) for part in PARTS for fault in FAULTS[part]], ids=repr)
async def test_what_is_broken_is_said_and_counted(tmp_path: Path, part: str, fault: Any) -> None:
    async with flaky({name: cycle([None]) for name in PARTS}, tmp_path) as (proxy, parts):
        await Call(proxy, REQUESTS[0][1]).reply()
        ready = await Call(proxy, path="/readyz", method="GET").reply()
        assert ready.json["status"] == "ok"
        parts[part].plan = cycle([fault])
        await Call(proxy, {"model": "m", "messages": [{"role": "user", "content": "Why is the sea salty?"}]}).reply()
        ready = await Call(proxy, path="/readyz", method="GET").reply()
        metrics = await Call(proxy, path="/metrics", method="GET").reply()
        parts[part].plan = cycle([None])
        vectors = [batch.matrix async for batch in proxy.cache.components.store.vectors("hashing/256", now=0.0)]
    assert all(np.isfinite(matrix).all() for matrix in vectors), (
        "what is stored must not keep the next start from opening"
    )
    assert ready.status == 200
    assert ready.json["status"] == "degraded"
    assert part in ready.json["faults"]
    assert metrics.status == 200
    assert f'semcache_faults_total{{component="{part}"}}' in metrics.body.decode()
