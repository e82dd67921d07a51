"""What several writers append to the label log is seen once, in order, by whoever follows it; old stores learn too."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.config import Config

from semcache.storage.stores import open_store, schema
from semcache.storage.stores.database import parse_url
from semcache.types.evidence import Label
from tests.fixtures_pg import postgres_url  # noqa: F401
from tests.storage.stores.values import NOW, digest, entry, label, owed, vector

PLACES = ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]
WRITERS, EACH = 4, 40


@pytest.fixture
def url(request, tmp_path: Path) -> str:
    return request.getfixturevalue("postgres_url") if request.param == "postgres" else str(tmp_path / "semcache.db")


@pytest.mark.parametrize("url", PLACES, indirect=True)
async def test_a_follower_never_sees_a_later_label_before_an_earlier_one(url: str):
    follower, *writers = [open_store(url) for _ in range(WRITERS + 1)]
    for store in (follower, *writers):
        await store.open()

    async def append(store, writer: int) -> None:
        for n in range(EACH):
            await store.label([label(writer, score=n / EACH), label(writer, score=(n + 0.5) / EACH)])

    appending = asyncio.gather(*(append(store, number) for number, store in enumerate(writers)))
    seen: list[Label] = []
    while not appending.done() or len(seen) < 2 * WRITERS * EACH:
        seen += await follower.labels(seen[-1].seq if seen else 0, limit=7)
    await appending
    assert seen == await follower.labels(0, limit=10**6)
    for writer in range(WRITERS):
        scores = [one.score for one in seen if one.entry_id == writer]
        assert scores == [n / (2 * EACH) for n in range(2 * EACH)]
    for store in (follower, *writers):
        await store.close()


def made_by_0001(connection: sa.Connection) -> None:
    """A store as the first schema had it, with an entry, its vector, its tag and a rejection."""
    config = Config()
    config.set_main_option("script_location", str(schema.MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "0001")
    made = entry(1, tags=("t",))
    values = {
        "id": made.id, "exact": made.key.exact, "shelf": made.shelf, "category": made.category,
        "created": made.created, "expires": made.expires, "tenant": "acme", "user_id": None, "namespace": "",
        "seal_key": None, "text": made.key.text.encode(), "signature": made.key.signature, "endpoint": "chat",
        "model": made.model, "embedder_id": made.embedder_id, "prompt_tokens": 10, "completion_tokens": 20,
        "cost": 0.25, "latency": 1.5, "tags": '["t"]', "source": "traffic", "canonical": made.key.canonical,
        "body": made.body,
    }  # fmt: skip
    names = ", ".join(values)
    connection.execute(sa.text(f"INSERT INTO entries ({names}) VALUES ({', '.join(f':{n}' for n in values)})"), values)
    row = {"data": vector(1).tobytes(), "exact": digest("x"), "salt": b"s" * 32}
    for statement in (
        "INSERT INTO vectors (entry_id, embedder_id, dim, data) VALUES (1, 'mini', 8, :data)",
        "INSERT INTO rejections (entry_id, exact, at) VALUES (1, :exact, 0)",
        "INSERT INTO entry_tags (tag, entry_id) VALUES ('t', 1)",
        "INSERT INTO meta (name, value) VALUES ('salt', :salt)",
    ):
        connection.execute(sa.text(statement), {name: row[name] for name in row if f":{name}" in statement})


@pytest.mark.parametrize("url", PLACES, indirect=True)
async def test_a_store_of_the_first_schema_keeps_everything_and_learns(url: str):
    engine = sa.create_engine(parse_url(url).set(drivername="sqlite") if "://" not in url else parse_url(url))
    with engine.begin() as connection:
        made_by_0001(connection)
    engine.dispose()
    store = open_store(url)
    await store.open()
    assert store.salt == b"s" * 32
    assert await store.get([1]) == [entry(1, tags=("t",))]
    assert [one.entry_id for one in await store.rejections()] == [1]
    await store.put(entry(2), vector(2))
    await store.alias(2, 1, now=NOW)
    await store.label([label(1)])
    await store.enqueue([owed(2, 1)])
    assert [card.answer_class for card in (await store.vectors_of([1, 2], "mini")).cards] == [1, 1]
    assert len(await store.claim(9, now=NOW, lease=1)) == 1
    await store.close()


async def test_no_table_of_learning_holds_a_text(tmp_path: Path):
    secret = "the launch is on Tuesday"
    store = open_store(str(tmp_path / "semcache.db"))
    await store.open()
    for n in (1, 2):
        await store.put(entry(n, f"{secret} {n}", body=f'{{"answer":"{secret}"}}'.encode()), None)
    await store.label([label(1)])
    await store.enqueue([owed(2, 1)])
    await store.close()
    with closing(sqlite3.connect(tmp_path / "semcache.db")) as raw:
        rows = [row for table in ("labels", "judgements", "learned") for row in raw.execute(f"SELECT * FROM {table}")]
    assert len(rows) == 2
    assert not [cell for row in rows for cell in row if b"Tuesday" in str(cell).encode()]
