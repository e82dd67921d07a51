"""An open store of each kind, for the suites of the parts of `EntryStore`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from semcache.protocols import EntryStore
from semcache.storage.stores import open_store
from tests.fixtures_pg import postgres_url  # noqa: F401


@pytest.fixture
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgres":
        return request.getfixturevalue("postgres_url")
    built_in = {"memory": "memory://", "sqlite": f"sqlite:///{tmp_path}/semcache.db"}
    return built_in.get(request.param, f"{request.param}://{tmp_path}/semcache.db")


@pytest.fixture
async def store(url: str) -> AsyncIterator[EntryStore]:
    store = open_store(url)
    await store.open()
    yield store
    await store.close()
