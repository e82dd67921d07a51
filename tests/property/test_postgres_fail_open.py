"""With PostgreSQL cutting connections, holding locks or refusing writes, clients receive what the upstream sends."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from semcache.runtime.guarded_calls import GuardedCalls
from tests.fixtures_pg import postgres_url, server  # noqa: F401
from tests.property.faulty import stored
from tests.property.test_fail_open import REQUESTS, answer_of, direct, told, upstream
from tests.proxy.driver import Call, ask, running
from tests.waiting import PATIENCE

pytestmark = pytest.mark.postgres
CUT = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
)
FULL = sql.SQL("ALTER TABLE {} ADD CONSTRAINT full_disk CHECK (false) NOT VALID")
EMPTIED = sql.SQL("ALTER TABLE {} DROP CONSTRAINT full_disk")
LOCKED = sql.SQL("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE")


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit of the product, made short: what waits for a lock is given up."""
    monkeypatch.setitem(GuardedCalls.__init__.__kwdefaults__, "patience", 0.2)


async def check(proxy: Any, path: str, body: dict[str, Any]) -> None:
    reply, sent = await Call(proxy, body, path).reply(), await direct(path, body)
    assert (reply.status, reply.whole) == (sent.status, True)
    assert told(answer_of(path, reply)) == told(answer_of(path, sent))


def schema_of(url: str) -> str:
    return url.partition("search_path%3D")[2]


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("seed", range(3))
async def test_whatever_the_server_does_clients_are_answered(tmp_path: Path, postgres_url: str, seed: int) -> None:  # noqa: F811
    rng, schema = random.Random(seed), schema_of(postgres_url)
    async with running(upstream(), tmp_path, store__url=postgres_url) as proxy:
        with psycopg.connect(server()) as other:
            tables = [
                row[0] for row in other.execute("SELECT tablename FROM pg_tables WHERE schemaname = %s", (schema,))
            ]
            assert "entries" in tables
            other.rollback()
            for _ in range(12):
                fault = rng.choice(["cut", "lock", "lock", "full", "none"])
                if fault == "cut":
                    await asyncio.to_thread(other.execute, CUT)
                elif fault == "lock":
                    named = sql.Identifier(schema, rng.choice(["entries", rng.choice(tables)]))
                    await asyncio.to_thread(other.execute, LOCKED.format(named))
                elif fault == "full":
                    await asyncio.to_thread(other.execute, FULL.format(sql.Identifier(schema, "entries")))
                    other.commit()
                picked = rng.sample(REQUESTS, 3)
                await asyncio.gather(*[check(proxy, *one) for one in picked])
                other.rollback()
                if fault == "full":
                    await asyncio.to_thread(other.execute, EMPTIED.format(sql.Identifier(schema, "entries")))
                    other.commit()
        await check(proxy, *REQUESTS[0])
        for body in (await stored(proxy)).values():
            assert body


@pytest.mark.usefixtures("impatient")
async def test_after_the_fault_it_keeps_again(tmp_path: Path, postgres_url: str) -> None:  # noqa: F811
    async with running(upstream(), tmp_path, store__url=postgres_url) as proxy:
        with psycopg.connect(server()) as other:
            await asyncio.to_thread(other.execute, LOCKED.format(sql.Identifier(schema_of(postgres_url), "entries")))
            reply = await Call(proxy, ask("What is a fjord made of?")).reply()
            assert (reply.status, "stored" in reply.cache) == (200, False)
            other.rollback()
        again = 0

        async def kept() -> bool:
            nonlocal again
            again += 1
            reply = await Call(proxy, ask(f"What is thing number {again} of the list?")).reply()
            assert reply.status == 200
            return "stored" in reply.cache

        async with asyncio.timeout(PATIENCE):
            while not await kept():
                await asyncio.sleep(0.05)
