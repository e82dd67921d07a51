"""The engine's publisher over real sockets, with the router's follower at the other end."""

from __future__ import annotations

import itertools
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager

import pytest

from semcache.engine.block_changes import BlockAdded, BlockChange, BlockLeft
from semcache.engine.kv_publisher import KvPublisher
from semcache.errors import ConfigError
from semcache.upstream.routing.block_ledger import BlockLedger
from semcache.upstream.routing.event_stream import KvEvents
from semcache.upstream.routing.prompts import root, token_keys
from semcache.upstream.routing.tree import PromptTree
from tests.waiting import PATIENCE, soon, until

zmq = pytest.importorskip("zmq", reason="needs pyzmq, the extra `routing`")


def free() -> str:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return f"tcp://127.0.0.1:{one.getsockname()[1]}"


def block(number: int) -> BlockAdded:
    """The block `number` of a chain."""
    parent = (number - 1).to_bytes(16, "big") if number else None
    return BlockAdded(number.to_bytes(16, "big"), parent, (number,) * 4, "")


def depth(tree: PromptTree) -> int:
    ids = [number for number in range(3000) for _ in range(4)]
    return tree.match(list(token_keys(root("", ""), ids, 4)), 0.0)[0]


def say(publisher: KvPublisher, *changes: BlockChange) -> None:
    for change in changes:
        publisher.note(change)
    publisher.flush()


Open = Callable[..., KvPublisher]


@pytest.fixture
def ticks() -> Callable[[], float]:
    return itertools.count(1.0).__next__


@pytest.fixture
def publish(ticks: Callable[[], float]) -> Iterator[Open]:
    made: list[KvPublisher] = []

    def start(events: str, replay: str | None = None, **options: int) -> KvPublisher:
        made.append(KvPublisher(events, replay, clock=ticks, **options))
        return made[-1]

    yield start
    for one in made:
        one.close()


@asynccontextmanager
async def following(events: str, replay: str | None = None) -> AsyncIterator[tuple[PromptTree, list[str]]]:
    tree, notes = PromptTree(), []
    follower = KvEvents(events, BlockLedger(tree), replay=replay, note=notes.append, patience=PATIENCE)
    follower.start()
    try:
        yield tree, notes
    finally:
        await follower.close()


async def test_a_router_follows_from_the_beginning(publish: Open) -> None:
    events, replay = free(), free()
    publisher = publish(events, replay)
    async with following(events, replay) as (tree, notes):
        say(publisher, block(0), block(1))
        say(publisher, block(2))
        await until(lambda: depth(tree) == 3)
        say(publisher, BlockLeft(block(2).key))
        await until(lambda: depth(tree) == 2)
        assert not set(notes) - {"gap"}


async def test_a_router_that_comes_late_learns_everything_without_a_further_event(publish: Open) -> None:
    events, replay = free(), free()
    publisher = publish(events, replay)
    for number in range(2500):
        say(publisher, block(number))
    async with following(events, replay) as (tree, _):
        await until(lambda: depth(tree) == 2500)


async def test_a_second_router_disturbs_the_first_one_in_nothing(publish: Open) -> None:
    events, replay = free(), free()
    publisher = publish(events, replay)
    async with following(events, replay) as (tree, notes):
        say(publisher, block(0))
        await until(lambda: depth(tree) == 1)
        noted = list(notes)
        async with following(events, replay) as (other, _):
            await until(lambda: depth(other) == 1)
            say(publisher, block(1))
            await until(lambda: depth(tree) == depth(other) == 2)
        assert notes == noted


async def test_a_router_notices_another_process_before_it_computes_anything(publish: Open) -> None:
    events, replay = free(), free()
    first = publish(events, replay)
    async with following(events, replay) as (tree, _):
        say(first, block(0))
        say(first, block(1))
        await until(lambda: depth(tree) == 2)
        first.close()
        second = publish(events, replay)
        await until(lambda: len(tree) == 0)
        say(second, block(0))
        await until(lambda: depth(tree) == 1)


async def test_what_is_no_longer_kept_is_not_sent_again(publish: Open) -> None:
    events, replay = free(), free()
    publisher = publish(events, replay, kept=2)
    for number in range(5):
        say(publisher, block(number))
    await until(lambda: publisher._number == 6)  # or whoever follows early sees what is still to be sent
    async with following(events, replay) as (tree, _):
        say(publisher, BlockAdded(b"\7" * 16, None, (7,) * 4, ""))
        await until(lambda: len(tree) == 1)
        assert depth(tree) == 0, "a chain whose beginning was never told is believed in"


async def test_without_replay_a_router_goes_by_what_comes(publish: Open) -> None:
    events = free()
    publisher = publish(events)
    say(publisher, block(0))
    async with following(events) as (tree, _):
        await until(lambda: depth(tree) == 1)  # the latest batch, sent to whoever subscribes
        say(publisher, block(1))
        await until(lambda: depth(tree) == 2)


async def test_the_frames_are_those_of_vllm(publish: Open) -> None:
    """Topic, number and batch; the latest batch once to whoever subscribes; of a replay those from a number on."""
    from zmq.asyncio import Context

    events, replay = free(), free()
    publisher = publish(events, replay)
    say(publisher, block(0))
    context = Context()
    asker, subscriber = context.socket(zmq.DEALER), context.socket(zmq.SUB)
    asker.connect(replay)
    await asker.send_multipart([b"", (0).to_bytes(8, "big")])
    told = [await soon(asker.recv_multipart()) for _ in range(3)]
    assert [frames[:2] for frames in told] == [[b"", b""]] * 3
    assert [int.from_bytes(frames[2], "big", signed=True) for frames in told] == [0, 1, -1]
    assert told[2][3] == b""
    subscriber.setsockopt(zmq.SUBSCRIBE, b"")
    subscriber.connect(events)
    latest = await soon(subscriber.recv_multipart())
    assert latest == [b"", (1).to_bytes(8, "big"), told[1][3]]
    say(publisher, block(1))
    assert (await soon(subscriber.recv_multipart()))[1] == (2).to_bytes(8, "big")
    await asker.send_multipart([b"", (2).to_bytes(8, "big")])
    numbers = [int.from_bytes((await soon(asker.recv_multipart()))[2], "big", signed=True) for _ in range(2)]
    assert numbers == [2, -1]
    context.destroy(linger=0)


async def test_nonsense_at_its_sockets_is_survived(publish: Open) -> None:
    from zmq.asyncio import Context

    events, replay = free(), free()
    publisher = publish(events, replay)
    context = Context()
    asker, subscriber = context.socket(zmq.DEALER), context.socket(zmq.XSUB)
    asker.connect(replay)
    subscriber.connect(events)
    for frames in ([b"x"], [b""], [b"", b"short"], [b"full", b"\0" * 8], [b"", b"", b""], [b"", b"\xff" * 8]):
        await asker.send_multipart(frames)
    await subscriber.send(b"no subscription")
    assert (await asker.recv_multipart())[-2:] == [(-1).to_bytes(8, "big", signed=True), b""]  # of the last, in order
    async with following(events, replay) as (tree, _):
        say(publisher, block(0))
        await until(lambda: depth(tree) == 1)
    context.destroy(linger=0)


async def test_what_was_published_before_closing_arrives(publish: Open) -> None:
    from zmq.asyncio import Context

    events = free()
    publisher = publish(events)
    context = Context()
    subscriber = context.socket(zmq.SUB)
    subscriber.setsockopt(zmq.SUBSCRIBE, b"")
    subscriber.connect(events)
    await soon(subscriber.recv_multipart())  # the latest batch, sent to whoever subscribes
    for number in range(200):
        say(publisher, block(number))
    publisher.close()
    publisher.close()
    say(publisher, block(200))  # too late, and no error
    numbers = [int.from_bytes((await soon(subscriber.recv_multipart()))[1], "big") for _ in range(200)]
    assert numbers == list(range(1, 201))
    context.destroy(linger=0)


def test_endpoints_are_checked_at_start(publish: Open) -> None:
    with pytest.raises(ConfigError, match="'localhost:5557' must start with one of"):
        publish("localhost:5557")
    taken = free()
    publish(taken)
    with pytest.raises(ConfigError, match=f"cannot be published on '{taken}'"):
        publish(taken)
    with pytest.raises(ConfigError, match="cannot be published on"):
        publish(free(), taken)
