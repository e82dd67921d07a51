"""Of a tenant that is erased for good no plan and no result of a tool is left, in memory or in the store."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from semcache import AsyncSemanticCache
from semcache.agents.tools.history import History
from semcache.agents.tools.rules import ToolRules
from semcache.agents.tools.shared_results import SharedToolResults
from semcache.agents.tools.tool_call import ToolCall
from semcache.cache.operating import delete_from
from semcache.storage.stores import open_store
from semcache.storage.stores.plan_rows import plans_of
from semcache.storage.stores.tool_rows import MemoryToolResults, ToolResultRow, tool_results_of
from semcache.types import Selector
from tests.agents.worlds import TOOLS, asked, cancelling

TASK = asked("Cancel the first reservation of user cy_fox_3, please")
READS = {"get": {"effect": "reads", "ttl": "1h"}}
NOW = 1000.0


def row(tenant: str, key: bytes, expires: float = 9e9) -> ToolResultRow:
    return ToolResultRow(key, tenant, "get", b'"open"', NOW, expires)


async def test_plans_and_tool_results_of_an_erased_tenant_are_gone_from_the_store(tmp_path: Path) -> None:
    async with (
        await AsyncSemanticCache.open(str(tmp_path), embedder="hashing") as one,
        await AsyncSemanticCache.open(str(tmp_path), embedder="hashing") as two,
    ):
        for tenant in ("acme", "beta"):
            await one.plans.record(cancelling("ann_lee_1", "AB12CD"), tools=TOOLS, tenant=tenant)
            await tool_results_of(one.components.store).put(row(tenant, tenant.encode() * 4))
        assert (await two.plans.lookup(TASK, tools=TOOLS, tenant="acme")).outcome == "plan"
        await delete_from(one.components.store, Selector(tenant="acme"), now=NOW, undo=0.0, who="test")
        await two.catch_up()
        await one.catch_up()
        for cache in (one, two):
            assert (await cache.plans.lookup(TASK, tools=TOOLS, tenant="acme")).outcome == "miss"
            assert (await cache.plans.lookup(TASK, tools=TOOLS, tenant="beta")).outcome == "plan"
        kept = await plans_of(one.components.store).plans(0)
        assert [(each.tenant, bool(each.body)) for each in kept] == [("beta", True), ("", False)]
        results = tool_results_of(one.components.store)
        assert await results.get(b"acme" * 4, NOW) is None
        assert await results.get(b"beta" * 4, NOW) is not None


@pytest.mark.parametrize("store", ["file", "memory"])
async def test_what_a_process_holds_of_an_erased_tenant_is_forgotten(tmp_path: Path, store: str) -> None:
    place = str(tmp_path) if store == "file" else "memory://"
    async with await AsyncSemanticCache.open(place, embedder="hashing") as cache:
        await cache.plans.record(cancelling("ann_lee_1", "AB12CD"), tools=TOOLS, tenant="acme")
        tool = {"name": "get", "x-semcache": {"effect": "reads"}}
        cache.tools.run(tools=[tool], tenant="acme").call("get", {}, lambda _: "open")
        assert len(cache.tools) == 1
        await cache.operating.delete(Selector(tenant="acme"), who="test", forever=True)
        assert len(cache.tools) == 0
        assert (await cache.plans.lookup(TASK, tools=TOOLS, tenant="acme")).outcome == "miss"


@pytest.mark.parametrize("forever", [False, True], ids=["for-a-day", "for-good"])
async def test_what_a_process_holds_of_a_user_alone_goes_with_the_user(tmp_path: Path, forever: bool) -> None:
    async with await AsyncSemanticCache.open(str(tmp_path), embedder="hashing") as cache:
        for user in ("ann", "bob"):
            tool = {"name": "get", "x-semcache": {"effect": "reads", "share": "user"}}
            cache.tools.run(tools=[tool], tenant="acme", user=user).call("get", {}, lambda _: "open")
        assert len(cache.tools) == 2
        await cache.operating.delete(Selector(tenant="acme", user="ann", category="c"), who="test", forever=forever)
        assert len(cache.tools) == 2
        await cache.operating.delete(Selector(tenant="acme", user="ann"), who="test", forever=forever)
        assert len(cache.tools) == 1
        again = cache.tools.run(tools=[tool], tenant="acme", user="bob")
        assert again.call("get", {}, lambda _: "asked anew") == "open"


async def test_a_result_of_a_user_in_the_store_is_marked_as_such() -> None:
    store = MemoryToolResults()
    rules = ToolRules.read({"get": {"effect": "reads", "share": "user"}, "see": {"effect": "reads"}})
    results = SharedToolResults(store, rules, salt=b"s" * 32, scope="x", clock=lambda: NOW)
    for tool in ("get", "see"):
        await results.record(await results.lookup(ToolCall(tool, {}, History.begin(), user="ann")), "open")
    assert (await store.count(user="ann"), await store.count(shared=True)) == (1, 1)
    assert await store.purge(user="ann") == 1


async def test_expired_results_go_with_the_sweep_of_whoever_keeps_the_store(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "semcache.db"))
    await store.open()
    results = tool_results_of(store)
    await results.put(row("acme", b"k" * 16, expires=NOW - 1.0))
    await store.sweep_operating(NOW)  # type: ignore[attr-defined]
    assert await results.get(b"k" * 16, 0.0) is None
    await store.close()


async def test_expired_results_are_swept_after_a_while_and_at_the_end() -> None:
    store, now = MemoryToolResults(), [NOW]
    results = SharedToolResults(store, ToolRules.read(READS), salt=b"s" * 32, scope="x", clock=lambda: now[0])
    call = ToolCall("get", {"id": 1}, History.begin())
    await results.record(await results.lookup(call), "open")
    await store.put(row("acme", b"k" * 16, expires=NOW + 1.0))
    now[0] += 700.0
    await results.record(await results.lookup(replace(call, arguments={"id": 2})), "open")
    assert await store.get(b"k" * 16, 0.0) is None
    await store.put(row("acme", b"k" * 16, expires=now[0] + 1.0))
    now[0] += 2.0
    await results.close()
    assert await store.get(b"k" * 16, 0.0) is None
