"""Concurrent requests share one upstream call, and nobody's leaving harms another."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from semcache.errors import UpstreamError
from semcache.types import Card
from semcache.upstream.coalescing import AHEAD, Flight, Flights
from tests.waiting import settled, soon


def card(exact: bytes = b"e", partition: bytes = b"s") -> Card:
    return Card(0, exact, partition, "default", "text", 0.0, float("inf"))


async def read(flight: Flight) -> bytes:
    with flight:
        await flight.opened()
        return b"".join([chunk async for chunk in flight.chunks()])


async def test_late_followers_read_from_the_first_byte() -> None:
    flight = Flight(card(), None, "mode")
    gate = asyncio.Event()

    async def work() -> None:
        flight.open(200, [], stored=True)
        flight.publish(b"one ")
        await gate.wait()
        flight.publish(b"two")
        flight.land()

    flight.begin(work())
    early = asyncio.create_task(read(flight))
    await settled()
    late = asyncio.create_task(read(flight))
    await settled()
    gate.set()
    assert await early == await late == b"one two"


async def test_the_call_goes_on_while_anyone_waits_and_ends_with_the_last() -> None:
    flight = Flight(card(), None, "mode")
    cancelled = asyncio.Event()

    async def work() -> None:
        flight.open(200, [], stored=False)
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    flight.begin(work())
    first, second = asyncio.create_task(read(flight)), asyncio.create_task(read(flight))
    await settled()
    first.cancel()
    await settled()
    assert not cancelled.is_set()
    second.cancel()
    await soon(cancelled.wait())


async def test_a_break_reaches_everyone_after_the_bytes_before_it() -> None:
    flight = Flight(card(), None, "mode")

    async def work() -> None:
        flight.open(200, [], stored=False)
        flight.publish(b"half")
        flight.land(error=UpstreamError("gone"))

    flight.begin(work())
    seen = []
    with flight, pytest.raises(UpstreamError, match="gone"):
        async for chunk in flight.chunks():
            seen.append(chunk)
    assert seen == [b"half"]


async def test_a_break_before_the_status_is_raised_to_whoever_waits_for_it() -> None:
    flight = Flight(card(), None, "mode")

    async def work() -> None:
        flight.land(error=UpstreamError("refused"))

    flight.begin(work())
    with flight, pytest.raises(UpstreamError, match="refused"):
        await flight.opened()


async def test_paraphrases_join_the_nearest_acceptable_flight_of_their_partition() -> None:
    flights = Flights()
    near, far, foreign = (np.zeros(4, np.float32) for _ in range(3))
    near[0], far[1], foreign[0] = 1, 1, 1
    query = np.array([0.9, 0.1, 0, 0], np.float32)
    one = Flight(card(b"1"), near, "m")
    two = Flight(card(b"2"), far, "m")
    other = Flight(card(b"3", b"other partition"), foreign, "m")
    for flight in (one, two, other):
        flights.take_off(flight)

    async def near_enough(_: Card, score: float) -> bool:
        return score > 0.5

    async def the_second(found: Card, _: float) -> bool:
        return found.exact == b"2"

    async def none(*_: object) -> bool:
        return False

    async def too_late(*_: object) -> bool:
        one.abandoned = two.abandoned = True
        return True

    assert await flights.like(b"s", query, near_enough) is one
    assert await flights.like(b"s", query, the_second) is two
    assert await flights.like(b"s", query, none) is None
    flights.remove(one)
    assert flights.same(b"1") is None
    assert await flights.like(b"s", query, near_enough) is None
    flights.take_off(one)
    assert await flights.like(b"s", query, too_late) is None, "it was given up while it was looked at"


async def test_of_many_flights_that_are_alike_only_the_nearest_are_asked_about() -> None:
    """A hundred prompts of one template at once would each be compared with all others, and hold up everybody."""
    flights, asked = Flights(), []
    for number in range(100):
        vector = np.array([1.0 - number / 1000, 0, 0, 0], np.float32)
        flights.take_off(Flight(card(str(number).encode()), vector, "m"))

    async def none(found: Card, _: float) -> bool:
        asked.append(found.exact)
        return False

    assert await flights.like(b"s", np.array([1, 0, 0, 0], np.float32), none) is None
    assert asked == [b"0", b"1", b"2", b"3"]


def test_an_older_flight_does_not_remove_its_successor() -> None:
    flights = Flights()
    old, new = Flight(card(), None, "m"), Flight(card(), None, "m")
    flights.take_off(old)
    flights.take_off(new)
    flights.remove(old)
    assert flights.same(b"e") is new


async def test_what_nobody_takes_is_not_asked_for() -> None:
    """A client that does not read holds its upstream up, instead of having the whole answer kept for it."""
    flight = Flight(card(), None, "m")
    asked = 0

    async def work() -> None:
        nonlocal asked
        flight.open(200, (), stored=False)
        for _ in range(100):
            flight.publish(b"x" * (AHEAD // 10))
            asked += 1
            await flight.room()
        flight.land()

    flight.begin(work())
    with flight:
        for _ in range(200):
            await asyncio.sleep(0)
        assert asked <= 12
        got = 0
        async for chunk in flight.chunks():
            got += len(chunk)
        assert asked == 100
        assert got == 100 * (AHEAD // 10)


async def test_who_waits_for_the_whole_answer_is_not_held_up_by_who_reads_none() -> None:
    flight = Flight(card(), None, "m")

    async def work() -> None:
        flight.open(200, (), stored=False)
        for _ in range(30):
            flight.publish(b"x" * (AHEAD // 10))
            await flight.room()
        flight.land()

    flight.begin(work())
    with flight:
        await flight.finished()
        assert flight.landed
