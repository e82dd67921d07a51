"""Results that processes share: a change is known before anything that it may have touched is answered from here."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from semcache.agents.tools.history import History
from semcache.agents.tools.rules import ToolRules
from semcache.agents.tools.shared_results import SharedToolResults
from semcache.agents.tools.tool_call import ToolCall
from semcache.errors import StoreError
from semcache.storage.stores.tool_rows import MemoryToolResults, ResourceVersion

RULES = ToolRules.read(
    {
        "get": {"effect": "reads", "ttl": "1h", "resources": ["thing:{id}"]},
        "put": {"effect": "writes", "resources": ["thing:{id}"]},
    }
)


class Store(MemoryToolResults):
    """`settle` fails while it is down; `change` has taken effect before it returns, when `returning` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.down = False
        self.changed, self.returning = asyncio.Event(), asyncio.Event()
        self.returning.set()

    async def change(self, scope: str, names: Iterable[str], made: ResourceVersion, now: float) -> None:
        await super().change(scope, names, made, now)
        self.changed.set()
        await self.returning.wait()

    async def settle(self, scope: str, names: Iterable[str], made: ResourceVersion, begun: bytes, now: float) -> None:
        if self.down:
            raise StoreError("down")
        await super().settle(scope, names, made, begun, now)


async def test_a_change_that_fails_to_be_told_while_another_is_told_late_is_told_too() -> None:
    store, now = Store(), [1000.0]

    def process() -> SharedToolResults:
        return SharedToolResults(store, RULES, salt=b"s" * 32, scope="x", clock=lambda: now[0])

    def call(tool: str) -> ToolCall:
        return ToolCall(tool, {"id": 1}, History.begin())

    here, elsewhere = process(), process()
    first, second = await here.lookup(call("put")), await here.lookup(call("put"))
    store.down = True
    await here.record(first, "done")
    now[0] += 100.0  # what was announced counts as over
    store.changed.clear()
    store.returning.clear()
    late = asyncio.create_task(here.lookup(call("get")))
    await store.changed.wait()
    await elsewhere.record(await elsewhere.lookup(call("get")), "before the second change")
    await here.record(second, "done")
    store.returning.set()
    await late
    assert (await here.lookup(call("get"))).found.outcome == "miss"
    store.down = False
    await here.record(await here.lookup(call("get")), "after it")
    assert (await here.lookup(call("get"))).found.result == "after it"
