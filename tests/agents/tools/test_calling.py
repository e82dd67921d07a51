"""A run's calls: what is replayed, what is executed, and that no call is lost from its history."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Event
from typing import Any

import pytest

from semcache import SemanticCache
from semcache.agents.tools import ToolReason, ToolResults, ToolRules, ToolRun
from semcache.errors import ConfigError
from tests.waiting import PATIENCE

RULES = ToolRules.read(
    {
        "get_*": {"effect": "reads", "resources": ["ticket:{id}"]},
        "close": {"effect": "writes", "resources": ["ticket:{id}"]},
        "click": {"effect": "state"},
    }
)


RULES_OF_TICKETS = {"effect": "reads", "resources": ["ticket:{id}"]}


class Desk:
    """Tools that count how often they are executed."""

    def __init__(self) -> None:
        self.results, self.executed = ToolResults(RULES, salt=b"s" * 32), 0

    def run(self, **given: Any) -> ToolRun:
        return self.results.run(**given)

    def tool(self, arguments: Any) -> Any:
        self.executed += 1
        return {"state": "open", "of": arguments.get("id"), "number": self.executed}


def test_a_read_is_shared_between_runs_and_asked_again_within_one() -> None:
    desk = Desk()
    one = desk.run()
    first = one.call("get_ticket", {"id": 7}, desk.tool)
    assert desk.run().call("get_ticket", {"id": 7}, desk.tool) == first
    assert desk.executed == 1
    assert one.call("get_ticket", {"id": 7}, desk.tool)["number"] == 2
    assert one.found is not None
    assert one.found.why is ToolReason.AGAIN


def test_tenants_and_users_share_nothing() -> None:
    desk = Desk()
    for tenant in ("acme", "beta", "acme"):
        desk.run(tenant=tenant).call("get_ticket", {"id": 7}, desk.tool)
    assert desk.executed == 2


def test_a_write_is_executed_and_makes_what_it_touches_new() -> None:
    desk = Desk()
    desk.run().call("get_ticket", {"id": 7}, desk.tool)
    desk.run().call("get_ticket", {"id": 8}, desk.tool)
    for _ in range(2):
        desk.run().call("close", {"id": 7}, desk.tool)
    assert desk.executed == 4
    desk.run().call("get_ticket", {"id": 8}, desk.tool)
    assert desk.executed == 4
    desk.run().call("get_ticket", {"id": 7}, desk.tool)
    assert desk.executed == 5


def test_what_a_tool_raises_is_raised_and_the_call_stays_in_the_history() -> None:
    desk, states = Desk(), set()

    def fails(_: Any) -> Any:
        raise LookupError("gone")

    for _ in range(2):
        run = desk.run()
        with pytest.raises(LookupError):
            run.call("click", {"id": 1}, fails)
        states.add(run.history.state)
        run.call("click", {"id": 2}, desk.tool)
    # Nobody knows what a failed call has changed: the second run is in another state.
    assert (len(states), desk.executed) == (2, 2)


def test_a_result_that_is_no_json_is_given_and_not_kept() -> None:
    desk, odd = Desk(), object()
    for _ in range(2):
        run = desk.run()
        assert run.call("get_ticket", {"id": 7}, lambda _: odd) is odd
        assert run.history.calls
        assert run.call("click", {}, desk.tool)["number"] == desk.executed
    assert desk.executed == 2, "after what cannot be compared, no state is like another"


async def test_tools_that_are_awaited() -> None:
    desk = Desk()

    async def tool(arguments: Any) -> Any:
        return desk.tool(arguments)

    async def fails(_: Any) -> Any:
        raise LookupError("gone")

    for _ in range(2):
        assert (await desk.run().acall("get_ticket", {"id": 7}, tool))["number"] == 1
    with pytest.raises(LookupError):
        await desk.run().acall("get_ticket", {"id": 9}, fails)


def test_a_run_that_goes_on_knows_what_it_called() -> None:
    desk = Desk()
    desk.run().call("get_ticket", {"id": 7}, desk.tool)
    call = {"id": "1", "function": {"name": "get_ticket", "arguments": '{"id": 7}'}}
    said = [
        {"role": "user", "content": "Look"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "{}"},
        {"role": "assistant", "content": "Wait."},
    ]
    desk.run(messages=said).call("get_ticket", {"id": 7}, desk.tool)
    assert desk.executed == 2


@pytest.mark.parametrize("read_first", [False, True])
def test_what_was_read_while_the_state_moved_is_no_other_runs_answer(read_first: bool) -> None:
    rules = ToolRules.read({"move": {"effect": "state"}, "look": {"effect": "state"}})
    results = ToolResults(rules, salt=b"s")
    both, moved, place = Barrier(2), Event(), ["home"]

    def move(_: Any) -> Any:
        both.wait(PATIENCE)
        place[0] = "away"
        moved.set()
        return "moved"

    def look(_: Any) -> Any:
        both.wait(PATIENCE)
        moved.wait(PATIENCE)
        return place[0]

    run, calls = results.run(), [("move", move), ("look", look)]
    with ThreadPoolExecutor(2) as pool:
        made = [pool.submit(run.call, name, {}, tool) for name, tool in (reversed(calls) if read_first else calls)]
        assert {one.result(PATIENCE) for one in made} == {"moved", "away"}
    fresh = results.run()
    assert fresh.call("look", {}, lambda _: "home") == "home"
    assert results.run().call("look", {}, lambda _: "executed again") == "home", "a call that was alone is kept"
    assert fresh.call("move", {}, lambda _: "moved") == "moved"
    assert results.counts["parallel"] == 2


async def test_a_read_is_kept_whatever_else_is_under_way() -> None:
    desk = Desk()
    run = desk.run()

    async def tool(arguments: Any) -> Any:
        await asyncio.sleep(0)
        return desk.tool(arguments)

    await asyncio.gather(*(run.acall("get_ticket", {"id": number}, tool) for number in range(3)))
    again = desk.run()
    for number in range(3):
        again.call("get_ticket", {"id": number}, desk.tool)
    assert desk.executed == 3


def test_no_call_of_parallel_ones_is_lost() -> None:
    desk = Desk()
    run = desk.run()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: run.call("get_ticket", {"id": number}, desk.tool), range(200)))
    assert len(run.history.calls) == 200


def test_the_library_keeps_what_its_pack_declares(tmp_path: Path) -> None:
    pack = tmp_path / "pack.yaml"
    pack.write_text("tools: {get_*: {effect: reads, ttl: 5m}}\n")
    desk = Desk()
    with SemanticCache.open(str(tmp_path / "data"), policies=str(pack), embedder="hashing") as cache:
        for tool in ("get_ticket", "unknown"):
            for _ in range(2):
                cache.tools.run(tenant="acme").call(tool, {"id": 7}, desk.tool)
        assert desk.executed == 3
        sample = cache.inner.meter.registry.get_sample_value
        assert sample("semcache_tool_calls_total", {"why": "read"}) == 1.0
        assert sample("semcache_tool_calls_total", {"why": "unknown-tool"}) >= 2.0


def test_a_mistake_in_the_pack_stops_the_start(tmp_path: Path) -> None:
    pack = tmp_path / "pack.yaml"
    pack.write_text("tools: {get_*: {effect: reads, ttl: soon}}\n")
    with pytest.raises(ConfigError, match=r"tools\.get_\*\.ttl"):
        SemanticCache.open(str(tmp_path / "data"), policies=str(pack), embedder="hashing")


MOVING = ToolRules.read({"open": {"effect": "state"}, "press": {"effect": "state"}})


class Page:
    """An environment that stateful calls move."""

    def __init__(self) -> None:
        self.at = "blank"

    def open(self, arguments: Any) -> Any:
        self.at = arguments["page"]
        return {"at": self.at}

    def press(self, _: Any) -> Any:
        return {"pressed on": self.at}

    async def awaited(self, arguments: Any) -> Any:
        return self.open(arguments)

    async def pressed(self, arguments: Any) -> Any:
        return self.press(arguments)


def test_a_call_on_an_environment_that_answers_did_not_move_is_executed_after_what_was_skipped() -> None:
    cache = ToolResults(MOVING, salt=b"s" * 32)
    for expected in ("miss", "hit"):
        page, run = Page(), cache.run()
        run.call("open", {"page": "shop"}, page.open)
        assert run.found is not None
        assert run.found.outcome == expected
    assert page.at == "blank"
    assert run.call("press", {}, page.press) == {"pressed on": "shop"}
    assert cache.run().call("open", {"page": "shop"}, Page().open) == {"at": "shop"}


async def test_the_same_of_calls_that_are_awaited() -> None:
    cache = ToolResults(MOVING, salt=b"s" * 32)
    for _ in range(2):
        page, run = Page(), cache.run()
        await run.acall("open", {"page": "shop"}, page.awaited)
    assert page.at == "blank"
    assert await run.acall("press", {}, page.pressed) == {"pressed on": "shop"}


def test_what_follows_a_call_that_came_to_another_result_than_was_said_is_no_other_runs() -> None:
    cache = ToolResults(MOVING, salt=b"s" * 32)
    cache.run().call("open", {"page": "shop"}, Page().open)
    closed = cache.run()
    closed.call("open", {"page": "shop"}, lambda _: {"at": "closed"})
    assert closed.call("press", {}, lambda _: {"pressed on": "closed"}) == {"pressed on": "closed"}
    assert closed.found is not None
    assert closed.found.why is ToolReason.DIVERGED, "the run can tell that what it was told before no longer held"
    closed.call("press", {"again": 1}, lambda _: {"pressed on": "closed"})
    page, run = Page(), cache.run()
    run.call("open", {"page": "shop"}, page.open)
    assert run.call("press", {}, page.press) == {"pressed on": "shop"}
    assert run.found is not None
    assert run.found.why is ToolReason.COLD
    assert cache.counts["diverged"] == 1


async def test_awaited_calls_that_came_to_another_result_are_told_too() -> None:
    cache = ToolResults(MOVING, salt=b"s" * 32)
    for at in ("shop", "closed"):

        async def awaited(_: Any, at: str = at) -> Any:
            return {"at": at}

        run = cache.run()
        await run.acall("open", {"page": "shop"}, awaited)
    await run.acall("press", {}, awaited)
    assert run.found is not None
    assert run.found.why is ToolReason.DIVERGED


def test_what_a_run_reads_of_its_own_environment_after_it_moved_is_nobody_elses() -> None:
    rules = ToolRules.read({"open": {"effect": "state"}, "look": {"effect": "reads"}, "get": RULES_OF_TICKETS})
    results = ToolResults(rules, salt=b"s" * 32)

    def session(page: str) -> tuple[Any, Any]:
        run = results.run()
        run.call("open", {"page": page}, lambda _: f"opened {page}")
        seen = run.call("look", {}, lambda _: f"looks at {page}")
        return seen, run.call("get", {"id": 7}, lambda _: f"ticket, on {page}")

    assert session("shop") == ("looks at shop", "ticket, on shop")
    assert session("bank") == ("looks at bank", "ticket, on shop")
    assert results.run().call("look", {}, lambda _: "looks at nothing") == "looks at nothing"


def test_a_call_that_may_act_on_what_was_only_answered_is_executed_after_it() -> None:
    rules = ToolRules.read({"open": {"effect": "state"}, "send": {"effect": "writes"}})
    results, done = ToolResults(rules, salt=b"s" * 32), list[str]()
    for name in ("first", "second"):
        run = results.run()
        for tool in ("open", "send"):
            run.call(tool, {}, lambda _, tool=tool, name=name: done.append(f"{name} {tool}"))
    assert done == ["first open", "first send", "second open", "second send"]


@pytest.mark.parametrize("error", [{"isError": True, "content": []}, {"error": "down"}, {"success": False}, "Error: x"])
def test_a_result_that_is_an_error_is_not_kept(error: Any) -> None:
    desk = Desk()
    assert desk.run().call("get_ticket", {"id": 7}, lambda _: error) == error
    assert desk.results.counts["failed"] == 1
    assert desk.run().call("get_ticket", {"id": 7}, lambda _: "open") == "open"
