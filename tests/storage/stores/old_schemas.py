"""Databases as the schemas before the first release had them, step by step."""

from __future__ import annotations

import re
from pathlib import Path

import sqlalchemy as sa

from semcache.storage.stores.database import parse_url
from tests.storage.stores.values import digest, entry, vector

STEPS = ("0001", "0002", "0003", "0004", "0005")


def engine_of(url: str) -> sa.Engine:
    parsed = parse_url(url)
    return sa.create_engine(parsed.set(drivername="sqlite") if parsed.get_backend_name() == "sqlite" else parsed)


def made_at(url: str, revision: str) -> None:
    """Make a store at an old schema, with an entry, its vector, its tag and a rejection."""
    engine = engine_of(url)
    script = Path(__file__).with_name(f"schema_before_0_1_0.{engine.dialect.name}.sql").read_text(encoding="utf-8")
    first, *steps = re.split(r"^-- (\d{4})$", script, flags=re.MULTILINE)
    assert tuple(steps[::2]) == STEPS
    with engine.begin() as connection:
        for step in (first, *steps[1 : 2 * STEPS.index(revision) + 2 : 2]):
            for statement in step.strip().removesuffix(";").split(";"):
                connection.exec_driver_sql(statement)
        _fill(connection)
    engine.dispose()


def _fill(connection: sa.Connection) -> None:
    made = entry(1, tags=("t",))
    values = {
        "id": made.id, "exact": made.key.exact, "shelf": made.partition, "category": made.category,
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
