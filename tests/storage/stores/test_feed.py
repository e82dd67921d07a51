"""PostgreSQL's change feed: told by NOTIFY, polled while nobody can be told."""

from __future__ import annotations

import asyncio

import psycopg
import pytest

from semcache.storage.stores import feed as feed_module
from semcache.storage.stores import open_store
from tests.fixtures_pg import postgres_url, server  # noqa: F401
from tests.storage.stores.values import entry
from tests.waiting import soon, until

pytestmark = pytest.mark.postgres


async def test_a_notification_wakes_the_waiter_without_polling(postgres_url, monkeypatch):  # noqa: F811
    monkeypatch.setattr(feed_module, "_TRUST", 3600)
    ours, theirs = open_store(postgres_url), open_store(postgres_url)
    await ours.open()
    await theirs.open()
    await ours.changes(0)
    waiting = asyncio.create_task(ours.wait(3600))
    await until(lambda: ours._feed.connected)
    await asyncio.sleep(0.3)
    await theirs.put(entry(1), None)
    await soon(waiting)
    await ours.close()
    await theirs.close()


async def test_a_broken_connection_is_made_again_and_polled_over_meanwhile(postgres_url, monkeypatch):  # noqa: F811
    store = open_store(postgres_url)
    await store.open()
    await store.changes(0)
    waiting = asyncio.create_task(store.wait(3600))
    await until(lambda: store._feed.connected)
    kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN semcache%'"
    with psycopg.connect(server(), autocommit=True) as connection:
        connection.execute(kill)
    await until(lambda: not store._feed.connected)
    await store.put(entry(1), None)
    await soon(waiting)
    await until(lambda: store._feed.connected)
    await store.close()


async def test_a_server_that_drops_every_connection_is_survived(postgres_url):  # noqa: F811
    store = open_store(postgres_url)
    await store.open()
    await store.put(entry(1), None)
    with psycopg.connect(server(), autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )
    assert await store.get([1]) == [entry(1)]
    await store.put(entry(2), None)
    await store.close()
