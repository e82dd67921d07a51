"""Outcomes are written behind, and a store that is down costs rows, never requests."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from semcache.errors import StoreError
from semcache.runtime.telemetry import Meter
from semcache.storage.event_log import EventLog
from semcache.storage.stores.memory import MemoryStore
from semcache.types import Outcome, Recorded, Scope, Timings, Usage, Why
from tests.waiting import until

EVENT = Recorded(
    request_id="r",
    at=10.0,
    endpoint="chat",
    scope=Scope("acme"),
    model="m",
    category="support",
    outcome=Outcome.EXACT,
    why=Why.EXACT,
    status=200,
    entry_id=5,
    saved=Usage(1, 2),
    saved_cost=0.5,
)


class Broken(MemoryStore):
    async def record(self, events: object) -> None:
        raise StoreError("disk full")


async def event_log(store: MemoryStore, lines: list[bytes] | None = None, **options: float) -> tuple[EventLog, Meter]:
    await store.open()
    meter = Meter()
    return EventLog(store, meter, sink=lines.append if lines is not None else None, **options), meter


def sample(meter: Meter, name: str, **labels: str) -> float:
    return meter.registry.get_sample_value(name, labels) or 0.0


async def test_an_outage_of_the_store_is_said_once_and_its_end_once(caplog: pytest.LogCaptureFixture) -> None:
    store = Broken()
    book, meter = await event_log(store)
    for _ in range(3):
        book.note(EVENT)
        await book.flush()
    store.record = super(Broken, store).record  # type: ignore[method-assign]
    for _ in range(2):
        book.note(EVENT)
        await book.flush()
    said = [record.getMessage() for record in caplog.records]
    assert ["cannot be written" in one for one in said] == [True, False]
    assert said[1] == "outcomes are written again; 3 were dropped"
    assert sample(meter, "semcache_dropped_events_total") == 3


async def test_a_fault_is_told_until_the_store_takes_outcomes_also_where_nobody_asks_any_more() -> None:
    store = Broken()
    book, meter = await event_log(store)
    for _ in range(3):
        book.note(EVENT)
    await book.flush()
    await book.flush()
    assert "disk full" in (book.fault or "")
    store.record = super(Broken, store).record  # type: ignore[method-assign]
    await book.flush()
    assert book.fault is None
    assert sample(meter, "semcache_dropped_events_total") == 3


async def test_repeats_count_as_often_as_they_were_noted() -> None:
    store, lines = MemoryStore(), list[bytes]()
    book, meter = await event_log(store, lines)
    book.note(EVENT)
    for _ in range(3):
        book.repeat(EVENT, 11.0, 0.002)
    await book.close()
    [row] = await store.tally()
    assert (row["requests"], row["saved_prompt_tokens"], row["saved_cost"]) == (4, 4, 2.0)
    labels = {"endpoint": "chat", "category": "support", "outcome": "exact", "why": "exact"}
    assert sample(meter, "semcache_requests_total", **labels) == 4
    assert sample(meter, "semcache_saved_tokens_total", kind="completion") == 8
    logged = [json.loads(line) for line in b"".join(lines).splitlines()]
    assert len(logged) == 4
    assert {line["tenant"] for line in logged} == {"acme"}
    assert [line["ms"] for line in logged] == [0.0, 2.0, 2.0, 2.0]


async def test_a_repeat_took_none_of_the_time_that_the_stages_of_the_first_took() -> None:
    # The histograms of stages would otherwise show an old look-up again and again.
    lines = list[bytes]()
    book, meter = await event_log(MemoryStore(), lines)
    first = replace(EVENT, timings=Timings(key=0.5, store=0.25))
    book.note(first)
    await book.flush()
    for _ in range(3):
        book.repeat(first, 11.0, 0.002)
        await book.flush()
    assert sample(meter, "semcache_stage_seconds_count", stage="key") == 1
    assert sample(meter, "semcache_stage_seconds_sum", stage="store") == 0.25
    logged = [json.loads(line) for line in b"".join(lines).splitlines()]
    assert [line.get("stages_ms") for line in logged] == [{"key": 500.0, "store": 250.0}, None, None, None]


async def test_a_store_that_is_down_loses_rows_and_says_how_many() -> None:
    book, meter = await event_log(Broken())
    book.note(EVENT)
    await book.flush()
    assert sample(meter, "semcache_dropped_events_total") == 1
    assert sample(meter, "semcache_saved_cost_usd_total") == 0.5


async def test_the_book_has_a_last_page() -> None:
    store = MemoryStore()
    book, meter = await event_log(store, capacity=2)
    for _ in range(5):
        book.note(EVENT)
    await book.flush()
    assert sum(int(str(row["requests"])) for row in await store.tally()) == 2
    assert sample(meter, "semcache_dropped_events_total") == 3


async def test_what_was_noted_is_counted_across_flushes() -> None:
    book, _ = await event_log(MemoryStore())
    book.note(EVENT)
    book.repeat(EVENT, 11.0, 0.002)
    assert book.noted == 2
    await book.flush()
    assert book.noted == 2
    book.repeat(EVENT, 11.0, 0.002)
    assert book.noted == 3


class Choking(MemoryStore):
    async def record(self, events: object) -> None:
        raise AttributeError("'int' object has no attribute 'isascii'")


async def test_a_row_that_a_store_chokes_on_ends_neither_the_task_nor_the_close() -> None:
    book, meter = await event_log(Choking())
    book.note(EVENT)
    await book.close()
    assert sample(meter, "semcache_dropped_events_total") == 1


async def test_a_repeat_beyond_the_last_page_is_counted_like_any_other() -> None:
    book, meter = await event_log(MemoryStore(), capacity=2)
    for _ in range(5):
        book.repeat(EVENT, 11.0, 0.002)
    await book.flush()
    assert sample(meter, "semcache_dropped_events_total") == 3


async def test_a_log_with_nothing_to_write_wakes_nobody_up_and_then_writes_by_itself() -> None:
    store, looked = MemoryStore(), [0]
    book, _ = await event_log(store, interval=0.0)

    async def look() -> None:
        looked[0] += 1

    book.attach(look)
    book.start()
    for _ in range(20):
        await asyncio.sleep(0)
    assert looked == [0]
    for note in (lambda: book.note(EVENT), lambda: book.repeat(EVENT, 11.0, 0.002)):
        note()
        before = looked[0]
        await until(lambda: looked[0] > before)  # noqa: B023
    await book.close()
    [row] = await store.tally()
    assert row["requests"] == 2
