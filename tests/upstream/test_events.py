"""KV events over real sockets: a publisher as vLLM's, with a router's ledger at the other end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import msgspec
import pytest

from semcache.errors import ConfigError
from semcache.protocols import Outbound
from semcache.upstream.backends import open_backend
from semcache.upstream.routing.attempt import Routed
from semcache.upstream.routing.block_ledger import BlockLedger
from semcache.upstream.routing.event_stream import KvEvents
from semcache.upstream.routing.kinds import salt_of
from semcache.upstream.routing.prompts import root, token_keys
from semcache.upstream.routing.replica import Address
from semcache.upstream.routing.router import Router
from semcache.upstream.routing.tree import PromptTree
from tests.waiting import PATIENCE, soon, until

zmq = pytest.importorskip("zmq", reason="needs pyzmq, the extra `routing`")
zmq_asyncio = pytest.importorskip("zmq.asyncio")


class Publisher:
    """What vLLM's ZmqEventPublisher does: numbers batches, keeps the newest, answers replays up to number -1."""

    def __init__(self, keep: int = 1000) -> None:
        self.topic = [b""]
        self.context = zmq_asyncio.Context()
        self.pub = self.context.socket(zmq.XPUB)
        self.router = self.context.socket(zmq.ROUTER)
        self.events, self.replay = (
            f"tcp://127.0.0.1:{socket.bind_to_random_port('tcp://127.0.0.1')}" for socket in (self.pub, self.router)
        )
        self.keep = keep
        self.kept: list[tuple[int, bytes]] = []
        self.number = 0
        self.replays = 0
        self.task = asyncio.create_task(self._answer())

    async def subscribed(self) -> None:
        await soon(self.pub.recv())

    async def say(self, *events: Any, lost: bool = False, payload: bytes | None = None) -> None:
        payload = payload or msgspec.msgpack.encode([float(self.number), list(events), 0])
        self.kept = [*self.kept, (self.number, payload)][-self.keep :]
        if not lost:
            await self.pub.send_multipart([b"", self.number.to_bytes(8, "big"), payload])
        self.number += 1

    async def _answer(self) -> None:
        while True:
            client, empty, start = await self.router.recv_multipart()
            self.replays += 1
            for number, payload in self.kept:
                if number >= int.from_bytes(start, "big"):
                    await self.router.send_multipart([client, empty, *self.topic, number.to_bytes(8, "big"), payload])
            await self.router.send_multipart([client, empty, *self.topic, (-1).to_bytes(8, "big", signed=True), b""])

    async def close(self) -> None:
        self.task.cancel()
        await asyncio.wait([self.task])
        self.context.destroy(linger=0)


def stored(number: int, ids: list[int] | None = None) -> dict[str, Any]:
    """The block `number` of a chain."""
    return {
        "type": "BlockStored",
        "block_hashes": [number],
        "parent_block_hash": number - 1 if number else None,
        "token_ids": ids or [number] * 4,
        "block_size": 4,
    }


def depth(tree: PromptTree) -> int:
    ids = [number for number in range(20) for _ in range(4)]
    return tree.match(list(token_keys(root("", ""), ids, 4)), 0.0).blocks


@pytest.fixture
async def publisher() -> AsyncIterator[Publisher]:
    made = Publisher()
    yield made
    await made.close()


@pytest.fixture
async def followed(publisher: Publisher) -> AsyncIterator[tuple[PromptTree, list[str]]]:
    """The tree that follows `publisher`, and what was noted."""
    tree, notes = PromptTree(), []
    events = KvEvents(
        publisher.events, BlockLedger(tree), replay=publisher.replay, note=notes.append, patience=PATIENCE
    )
    events.start()
    await publisher.subscribed()
    yield tree, notes
    await events.close()


Followed = tuple[PromptTree, list[str]]


async def test_the_tree_follows(publisher: Publisher, followed: Followed) -> None:
    tree, notes = followed
    await publisher.say(stored(0), stored(1))
    await publisher.say(["BlockStored", [2], 1, [2] * 4, 4, None, "GPU"])
    await until(lambda: depth(tree) == 3)
    await publisher.say(["AllBlocksCleared"])
    await until(lambda: len(tree) == 0)
    assert notes == []


@pytest.mark.parametrize("topic", [True, False], ids=["vllm-0.32", "older"])
async def test_what_was_lost_or_said_before_is_replayed(publisher: Publisher, followed: Followed, topic: bool) -> None:
    tree, notes = followed
    publisher.topic = [b""] if topic else []
    await publisher.say(stored(0), lost=True)
    await publisher.say(stored(1))
    await until(lambda: depth(tree) == 2)
    await publisher.say(stored(2), lost=True)
    await publisher.say(stored(3), lost=True)
    await publisher.say(stored(4))
    await until(lambda: depth(tree) == 5)
    assert (notes, publisher.replays) == (["gap", "gap"], 2)


async def test_what_is_no_longer_kept_costs_belief_and_nothing_else(publisher: Publisher, followed: Followed) -> None:
    tree, _ = followed
    await publisher.say(stored(0))
    await until(lambda: depth(tree) == 1)
    publisher.keep = 1
    await publisher.say(stored(1), lost=True)
    await publisher.say(stored(2), lost=True)
    await publisher.say({"type": "BlockRemoved", "block_hashes": [0]})
    await until(lambda: len(tree) == 0)
    await publisher.say(stored(0))
    await until(lambda: depth(tree) == 1)


@pytest.mark.parametrize(
    "frames",
    [
        [b"only one"],
        [b"", b"short", b"x"],
        [b"", b"\xff" * 8, b"\xc1"],
        [b"", (1).to_bytes(8, "big"), b"no msgpack"],
        [b"", (1).to_bytes(8, "big"), msgspec.msgpack.encode([0, [["BlockStored", [1], None, [1], 0]]])],
        [b"", (1).to_bytes(8, "big"), b"", b"four"],
    ],
)
async def test_nonsense_is_survived(publisher: Publisher, followed: Followed, frames: list[bytes]) -> None:
    tree, notes = followed
    await publisher.say(stored(0))
    await until(lambda: depth(tree) == 1)
    await publisher.pub.send_multipart(frames)
    await until(lambda: "malformed" in notes)
    publisher.number = 3
    await publisher.say({"type": "AllBlocksCleared"})
    await publisher.say(stored(0))
    await publisher.say(stored(1))
    await until(lambda: depth(tree) == 2)


async def test_a_publisher_that_speaks_otherwise_does_not_fill_the_log(
    publisher: Publisher, followed: Followed, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(12):
        await publisher.say(payload=b"\xc1")
    await until(lambda: followed[1].count("malformed") == 12)
    assert [record.args[2] for record in caplog.records if isinstance(record.args, tuple)] == [1, 10]


async def test_a_replay_that_never_answers_is_given_up(publisher: Publisher) -> None:
    tree, notes = PromptTree(), []
    silent = publisher.context.socket(zmq.ROUTER)
    port = silent.bind_to_random_port("tcp://127.0.0.1")
    events = KvEvents(
        publisher.events, BlockLedger(tree), replay=f"tcp://127.0.0.1:{port}", note=notes.append, patience=0.05
    )
    events.start()
    await publisher.subscribed()
    publisher.number = 7
    await publisher.say(stored(0))
    await until(lambda: depth(tree) == 1)
    assert notes == ["gap", "fault"]
    await events.close()
    silent.close(linger=0)


async def test_what_a_publisher_held_is_not_believed_once_its_connection_is_lost(
    publisher: Publisher, followed: Followed
) -> None:
    tree, notes = followed
    await publisher.say(stored(0), stored(1))
    await until(lambda: depth(tree) == 2)
    publisher.pub.close(linger=0)
    await until(lambda: len(tree) == 0)
    publisher.pub = publisher.context.socket(zmq.XPUB)
    publisher.pub.bind(publisher.events)
    await publisher.subscribed()
    # It has held them all the time, and says so when it is asked.
    await publisher.say(stored(2))
    await until(lambda: depth(tree) == 3)
    assert notes == ["gap"]


async def test_a_router_goes_by_the_blocks_that_servers_announce(
    publisher: Publisher, serve: Callable[[Any], str]
) -> None:
    """Two servers that tokenise and answer; only what is announced makes the second one warm."""
    asked: list[list[str]] = [[], []]

    def server(number: int) -> Any:
        async def app(scope: Any, receive: Any, send: Any) -> None:
            body = (await receive())["body"]
            asked[number].append(scope["path"])
            if scope["path"] == "/tokenize":
                words = json.loads(body)["messages"][0]["content"].split()
                reply: Any = {"tokens": [int(word) for word in words], "count": len(words)}
            else:
                reply = {"usage": {"prompt_tokens": 400, "prompt_tokens_details": {"cached_tokens": 399}}}
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": json.dumps(reply).encode()})

        return app

    other = Publisher()
    urls = [serve(server(number)) for number in range(2)]
    noted: list[Routed] = []
    backend = open_backend(
        "",
        replicas=[
            Address(url + "/v1", "other", made.events, made.replay)
            for url, made in zip(urls, (other, publisher), strict=True)
        ],
        note=noted.append,
        secret=lambda: b"secret",
    )
    assert isinstance(backend, Router)

    async def ask(ids: list[int]) -> str:
        body = {"model": "m", "messages": [{"role": "user", "content": " ".join(map(str, ids))}]}
        reply = await backend.send(Outbound("POST", "/v1/chat/completions", [], json.dumps(body).encode()))
        async for _ in reply.chunks():
            pass
        await reply.close()
        return noted[-1].replica

    await ask([5, 5])
    await asyncio.gather(publisher.subscribed(), other.subscribed())
    ids = list(range(1, 401))
    chain = [stored(at, ids[at * 4 : at * 4 + 4]) for at in range(100)]
    chain[0]["extra_keys"] = [[salt_of(b"secret", "")]]
    await other.say({"type": "AllBlocksCleared"})
    await publisher.say(*chain)
    await until(lambda: len(backend._replicas[1].tree) >= 100)
    assert [await ask(ids) for _ in range(3)] == [urls[1].partition("//")[2]] * 3
    assert noted[-1].predicted == 400
    assert "/tokenize" in asked[0] + asked[1]
    await backend.close()
    await other.close()


def test_endpoints_are_checked_at_start() -> None:
    with pytest.raises(ConfigError, match="'localhost:5557' must start with"):
        KvEvents("localhost:5557", BlockLedger(PromptTree()))
