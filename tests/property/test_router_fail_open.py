"""Behind a router whose replicas fail at any moment, a client has its own question's answer, or is told of the fault.

Replicas die, hang, refuse, and break off in the midst of a body or a stream. Whatever is kept was sent whole.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpcore2
import pytest

from semcache.dialects import dialects
from semcache.errors import UpstreamError, UpstreamTimeout
from semcache.protocols import Outbound
from semcache.types import Endpoint
from semcache.upstream.routing.kinds import KINDS
from semcache.upstream.routing.replica import Replica
from semcache.upstream.routing.router import Router, RoutingTerms
from tests.property.faulty import failing, said, stored
from tests.proxy.driver import STREAM, Answer, Call, Received, events, running, spoken

Way = Callable[["Server", Answer], Answer | Exception]


def text_of(question: str) -> str:
    return f"The answer to {question.replace(' ', '-')}."


def cut(_: Server, whole: Answer) -> Answer:
    at = max(1, len(whole.pieces) - 2)
    pieces = whole.pieces[:at] if len(whole.pieces) > 1 else [bytes(whole.pieces[0])[:30]]  # type: ignore[arg-type]
    return Answer([*pieces, UpstreamError("cut")], headers=whole.headers)


def short(_: Server, whole: Answer) -> Answer:
    """Ends too early and says nothing of it."""
    pieces = whole.pieces[:-2] if len(whole.pieces) > 1 else [bytes(whole.pieces[0])[:30]]  # type: ignore[arg-type]
    return Answer(pieces, headers=whole.headers)


def dead(_: Server, __: Answer) -> Exception:
    error = UpstreamError("cannot connect")
    error.__cause__ = httpcore2.ConnectError("refused")
    return error


WAYS: dict[str, Way] = {
    "well": lambda _, whole: whole,
    "dead": dead,
    "reset": lambda _, __: UpstreamError("connection reset"),
    "late": lambda _, __: UpstreamTimeout("no answer in time"),
    "busy": lambda _, __: Answer([b'{"error": {"message": "busy"}}'], status=503),
    "failed": lambda _, __: Answer([b"<html>no"], status=500, headers=(("content-type", "text/html"),)),
    "bug": lambda _, __: RuntimeError("a backend's own defect"),
    "cut": cut,
    "short": short,
    "odd": lambda _, __: Answer([b"\xff\xfe not json"]),
    "empty": lambda _, __: Answer([]),
}


@dataclass
class Server:
    """A model server that answers in the way it is told to."""

    way: str = "well"
    asked: list[str] = field(default_factory=list)

    async def send(self, outbound: Outbound) -> Answer:
        body = json.loads(outbound.body)
        question = body["messages"][-1]["content"]
        self.asked.append(question)
        await asyncio.sleep(0)
        whole = Answer([json.dumps(said("m", text_of(question))).encode()])
        if body.get("stream"):
            whole = Answer(events(*text_of(question).split(" ")), headers=STREAM)
        made = WAYS[self.way](self, whole)
        if isinstance(made, Exception):
            raise made
        return made

    async def close(self) -> None:
        return None


def routed(servers: list[Server]) -> Router:
    replicas = [Replica(f"r{number}", server, kind=KINDS["other"]) for number, server in enumerate(servers)]
    return Router(replicas, routing=RoutingTerms(hold=0.05), secret=lambda: b"s" * 32)


async def ask(proxy: Any, question: str, *, stream: bool) -> tuple[Received, bool]:
    """The reply, and whether the connection was cut in its midst."""
    body = {"model": "m", "messages": [{"role": "user", "content": question}], "stream": stream}
    call = Call(proxy, body)
    status, headers, received, whole = 0, [], b"", False
    while (message := await call.message()) is not None:
        if message["type"] == "http.response.start":
            status = message["status"]
            headers = [(name.decode(), value.decode()) for name, value in message["headers"]]
        else:
            received += message.get("body", b"")
            whole = not message.get("more_body", False)
    await asyncio.gather(call.task, return_exceptions=True)
    return Received(status, headers, received, whole), not whole


def heard(reply: Received) -> str | None:
    """What a client makes of a reply; None where it is told that this is no answer."""
    if reply.status != 200 or not reply.whole:
        return None
    try:
        if (reply.header("content-type") or "").startswith("text/event-stream"):
            assembler = dialects()[Endpoint.CHAT].assembler()
            assembler.feed(reply.body)
            return spoken(reply.body) if assembler.finish().complete else None
        return str(reply.json["choices"][0]["message"]["content"])
    except Exception:
        return None


async def check_stored(proxy: Any) -> None:
    for prompt, body in (await stored(proxy)).items():
        assert body["choices"][0]["message"]["content"].replace(" ", "") == text_of(prompt).replace(" ", "")


def same(one: str, other: str) -> bool:
    return one.replace(" ", "") == other.replace(" ", "")


@pytest.mark.parametrize("store", ["sqlite", "postgresql"])
@pytest.mark.parametrize("seed", range(4))
async def test_no_answer_is_another_questions_and_none_is_half(
    tmp_path: Path, seed: int, store: str, request: pytest.FixtureRequest
) -> None:
    rng, servers = random.Random(seed), [Server(), Server(), Server()]
    url = f"sqlite:///{tmp_path / 'r.db'}" if store == "sqlite" else request.getfixturevalue("postgres_url")
    async with running(routed(servers), tmp_path, store__url=url) as proxy:
        questions = [f"What is thing number {rng.randrange(10**6)}" for _ in range(12)]
        with failing(rng, 0.1):
            for _ in range(40):
                for server in servers:
                    server.way = rng.choice(["well", "well", *WAYS])
                asked = rng.choices(questions, k=rng.randint(1, 5))
                replies = await asyncio.gather(*[ask(proxy, one, stream=rng.random() < 0.5) for one in asked])
                for question, (reply, was_cut) in zip(asked, replies, strict=True):
                    told = heard(reply)
                    assert told is None or same(told, text_of(question)), (question, reply.body)
                    assert told is not None or "; hit" not in (reply.header("cache-status") or "")
                    assert reply.status in (200, 500, 502, 503, 504)
                    assert reply.status == 200 or not was_cut
        await check_stored(proxy)


# A request that may have broken a replica is tried on one more, not on all.
@pytest.mark.parametrize(("way", "others"), [("dead", 3), ("busy", 3), ("reset", 1)])
@pytest.mark.parametrize("stream", [False, True])
async def test_with_one_replica_left_everybody_is_answered(tmp_path: Path, way: str, others: int, stream: bool) -> None:
    servers = [Server(), *[Server(way) for _ in range(others)]]
    async with running(routed(servers), tmp_path) as proxy:
        for number in range(12):
            question = f"What is thing number {number}"
            reply, _ = await ask(proxy, question, stream=stream)
            assert reply.status == 200, (number, reply.body)
            assert same(heard(reply) or "", text_of(question))
        await check_stored(proxy)


@pytest.mark.parametrize("way", [one for one in WAYS if one != "well"])
@pytest.mark.parametrize("stream", [False, True])
async def test_with_every_replica_failing_the_client_is_told_and_nothing_is_kept(
    tmp_path: Path, way: str, stream: bool
) -> None:
    servers = [Server(way), Server(way)]
    async with running(routed(servers), tmp_path) as proxy:
        for number in range(4):
            reply, _ = await ask(proxy, f"What is thing number {number}", stream=stream)
            assert heard(reply) is None
            assert b"Traceback" not in reply.body
        assert await stored(proxy) == {}
        for server in servers:
            server.way = "well"
        reply, _ = await ask(proxy, "What is thing number 0", stream=stream)
        assert same(heard(reply) or "", text_of("What is thing number 0"))
