"""An answer that is deleted while it is being stored is not served: neither here, nor because another worker purged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from semcache import AsyncSemanticCache
from semcache.types import Selector
from tests.packs import static

PROMPT = "How tall is the green tower?"


@pytest.mark.parametrize("by_another_worker", [False, True])
async def test_what_is_purged_between_the_store_and_the_index_is_not_served(
    tmp_path: Path, by_another_worker: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings: dict[str, Any] = {"policies": static(tmp_path), "seed": 1}
    async with (
        await AsyncSemanticCache.open(str(tmp_path / "data"), **settings) as cache,
        await AsyncSemanticCache.open(str(tmp_path / "data"), **settings) as other,
    ):
        store = cache.components.store
        put_all = store.put_all

        async def purged_meanwhile(entries: Any) -> None:
            await put_all(entries)
            assert len(await (other if by_another_worker else cache).invalidate(Selector(everything=True))) == 1
            await cache.components.maintenance.apply_changes()

        monkeypatch.setattr(store, "put_all", purged_meanwhile)
        await cache.record(await cache.lookup(PROMPT), "Ninety metres.")
        assert (await cache.lookup(PROMPT)).answer is None
        monkeypatch.setattr(store, "put_all", put_all)
        await cache.record(await cache.lookup(PROMPT), "Ninety metres.")
        assert (await cache.lookup(PROMPT)).answer == "Ninety metres."
