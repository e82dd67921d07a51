"""Results of tools are reused where nothing can have changed, and no run ever goes round in circles on them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semcache.agents.run import MAX_RESULT
from semcache.agents.tools import History, ToolReason, ToolResults, ToolRules
from semcache.errors import ConfigError
from tests.agents.worlds import called, tool

RULES = ToolRules.read(
    {
        "weather": {"effect": "reads", "ttl": "10m"},
        "get_ticket": {"effect": "reads", "ttl": "1h", "resources": ["ticket:{id}"]},
        "list_tickets": {"effect": "reads", "ttl": "1h", "resources": ["ticket:*"]},
        "my_calendar": {"effect": "reads", "share": "user"},
        "update_ticket": {"effect": "writes", "resources": ["ticket:{id}"]},
        "wipe": {"effect": "writes"},
        "browser_*": {"effect": "state", "ttl": "1d"},
    }
)
NEW = History.begin("sandbox")
ARGUMENTS = st.dictionaries(
    st.text(max_size=8),
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=12),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=8,
    ),
    max_size=4,
)


class World:
    """A cache with a clock that the test moves."""

    def __init__(self, **parts: Any) -> None:
        self.now = 1000.0
        self.cache = ToolResults(RULES, salt=b"s" * 32, clock=lambda: self.now, **parts)

    def run(self, tool_: str, arguments: dict[str, Any], result: Any, history: History = NEW, **given: Any) -> str:
        """Look up; execute and record on a miss. "hit", or why it was executed."""
        found = self.cache.lookup(tool_, arguments, history, **given)
        if found.outcome == "hit":
            return "hit"
        self.cache.record(found, result)
        return found.why.value


def test_a_read_is_reused_by_another_run_until_its_time_is_up() -> None:
    world = World()
    assert world.run("weather", {"city": "Bern"}, {"sky": "grey"}) == "cold"
    world.now += 599
    found = world.cache.lookup("weather", {"city": "Bern"}, NEW)
    assert (found.outcome, found.result, found.age) == ("hit", {"sky": "grey"}, 599.0)
    world.now += 1
    assert world.run("weather", {"city": "Bern"}, {"sky": "blue"}) == "cold"


@settings(max_examples=40)
@given(ARGUMENTS, ARGUMENTS)
def test_only_equal_arguments_share_a_result_in_whatever_order_they_come(one, two) -> None:
    world = World()
    world.run("weather", one, "first")
    turned = dict(reversed(one.items()))
    assert world.cache.lookup("weather", turned, NEW).outcome == "hit"
    assert (world.cache.lookup("weather", two, NEW).outcome == "hit") == (one == two and repr_of(one) == repr_of(two))


def repr_of(value: Any) -> Any:
    """JSON tells true from 1, which Python's == does not."""
    if isinstance(value, dict):
        return {key: repr_of(one) for key, one in value.items()}
    return [repr_of(one) for one in value] if isinstance(value, list) else (type(value).__name__, value)


def test_an_unknown_tool_is_never_answered_from_the_cache() -> None:
    world = World()
    assert [world.run("pay", {"to": "ann"}, "ok") for _ in range(3)] == ["unknown-tool"] * 3
    assert len(world.cache) == 0


@pytest.mark.parametrize(
    ("declared", "kept"),
    [
        ({"annotations": {"readOnlyHint": True}}, True),
        ({"annotations": {"readOnlyHint": True, "destructiveHint": True}}, False),
        ({"annotations": {"idempotentHint": True}}, False),
        ({"annotations": {"readOnlyHint": "yes"}}, False),
        ({"x-semcache": {"effect": "reads", "ttl": "5m"}}, True),
        ({"x-semcache": {"read_only": True}}, True),
        ({"x-semcache": {"effect": "sometimes"}}, False),
        ({"description": "reads only, promised"}, False),
    ],
)
def test_a_tool_may_declare_itself(declared, kept) -> None:
    world, declaration = World(), {"type": "function", "function": {"name": "fetch", "parameters": {}}, **declared}
    world.run("fetch", {"url": "a"}, "page", declaration=declaration)
    assert (world.cache.lookup("fetch", {"url": "a"}, NEW, declaration=declaration).outcome == "hit") is kept


def test_what_the_operator_says_counts_more_than_what_a_client_declares() -> None:
    world = World()
    claimed = {"name": "wipe", "annotations": {"readOnlyHint": True}}
    assert [world.run("wipe", {}, "ok", declaration=claimed) for _ in range(2)] == ["writes"] * 2


def test_a_changed_schema_shares_nothing_with_the_old_one() -> None:
    world = World()
    world.run("weather", {"city": "Bern"}, "grey", declaration=tool("weather", city="string"))
    changed = tool("weather", city="string", unit="string")
    assert world.cache.lookup("weather", {"city": "Bern"}, NEW, declaration=changed).outcome == "miss"


def test_tenants_and_users_share_nothing() -> None:
    world = World()
    world.run("weather", {"city": "Bern"}, "grey", tenant="acme")
    assert world.cache.lookup("weather", {"city": "Bern"}, NEW, tenant="other").outcome == "miss"
    world.run("my_calendar", {}, "free", user="ann")
    assert world.cache.lookup("my_calendar", {}, NEW, user="ann").outcome == "hit"
    assert world.cache.lookup("my_calendar", {}, NEW, user="bob").outcome == "miss"
    assert world.cache.lookup("my_calendar", {}, NEW).why is ToolReason.NO_USER


def test_a_write_makes_what_it_touches_new_for_every_run_and_leaves_the_rest() -> None:
    world = World()
    for number in (7, 8):
        world.run("get_ticket", {"id": number}, f"open {number}")
    world.run("list_tickets", {}, [7, 8])
    assert world.run("update_ticket", {"id": 7}, "ok") == "writes"
    assert world.run("get_ticket", {"id": 7}, "closed") == "cold"
    assert world.run("get_ticket", {"id": 8}, "?") == "hit"
    assert world.run("list_tickets", {}, [8]) == "cold"
    world.run("wipe", {}, "ok")
    assert [world.run(name, {"id": 8}, "?") for name in ("get_ticket", "list_tickets")] == ["cold", "cold"]
    world.cache.change("ticket:8")
    assert world.run("get_ticket", {"id": 8}, "?") == "cold"


def test_versions_that_the_caller_knows_are_part_of_the_key() -> None:
    world = World()
    world.run("get_ticket", {"id": 7}, "one", versions={"ticket:7": "etag-1"})
    found = world.cache.lookup("get_ticket", {"id": 7}, NEW, versions={"ticket:7": "etag-1"})
    assert found.result == "one"
    assert world.cache.lookup("get_ticket", {"id": 7}, NEW, versions={"ticket:7": "etag-2"}).outcome == "miss"


@pytest.mark.parametrize(
    ("result", "why"),
    [
        ("x" * (MAX_RESULT + 1), ToolReason.TOO_LARGE),
        ({"note": "key sk-proj-abcdefghijklmnop1234"}, ToolReason.CREDENTIAL),
        (object(), ToolReason.FAULT),
        ("\ud800", ToolReason.FAULT),
    ],
)
def test_a_result_that_must_not_be_kept_is_not(result, why) -> None:
    world = World()
    assert world.cache.record(world.cache.lookup("weather", {"city": "Bern"}, NEW), result) is why
    assert world.cache.lookup("weather", {"city": "Bern"}, NEW).outcome == "miss"


def test_a_failed_call_is_tried_again() -> None:
    world = World()
    found = world.cache.lookup("weather", {"city": "Bern"}, NEW)
    assert world.cache.record(found, "Error: 503", failed=True) is ToolReason.FAILED
    assert world.cache.lookup("weather", {"city": "Bern"}, NEW).outcome == "miss"


@pytest.mark.parametrize("arguments", [{"a": object()}, {"a": "\ud800"}, {"a": "x" * 70_000}])
def test_arguments_that_cannot_be_read_are_executed(arguments) -> None:
    world = World()
    found = world.cache.lookup("weather", arguments, NEW)
    assert found.outcome == "miss"
    world.cache.record(found, "ok")
    assert len(world.cache) == 0


def test_memory_is_bounded_and_the_least_recently_used_goes() -> None:
    world = World(limit=5_000)
    for number in range(20):
        world.run("weather", {"city": number}, "x" * 700)
        world.cache.lookup("weather", {"city": 0}, NEW)
    assert len(world.cache) == 5
    assert world.cache.lookup("weather", {"city": 0}, NEW).outcome == "hit"
    assert world.cache.lookup("weather", {"city": 1}, NEW).outcome == "miss"
    assert world.cache.purge(tenant="default") == 5


@pytest.mark.parametrize(
    "spec", [{"effect": "maybe"}, {"effect": "reads", "ttl": "soon"}, {"ttl": "1h"}, {"effect": "reads", "tll": "1h"}]
)
def test_a_mistake_in_a_pack_names_the_tool(spec) -> None:
    with pytest.raises(ConfigError, match=r"tools\.weather"):
        ToolRules.read({"weather": spec})


# Loops


def test_an_agent_that_waits_for_a_change_reaches_the_tool_every_time() -> None:
    """Polling: a replayed "pending" would be asked for, and replayed, for ever (BerriAI/litellm-docs PR 833)."""
    world, history, seen = World(), NEW, []
    world.run("weather", {"city": "Bern"}, "pending")
    for result in ("pending", "pending", "done"):
        found = world.cache.lookup("weather", {"city": "Bern"}, history)
        got = found.result if found.outcome == "hit" else result
        world.cache.record(found, got)
        seen.append((found.outcome, got))
        history = history.after("weather", {"city": "Bern"}, got, RULES)
        if got == "done":
            break
    assert seen == [("hit", "pending"), ("miss", "pending"), ("miss", "done")]


@settings(max_examples=60)
@given(st.lists(st.sampled_from(["weather", "get_ticket", "list_tickets", "pay", "browser_click"]), max_size=40))
def test_a_run_is_replayed_no_call_twice_whatever_its_cycle(cycle) -> None:
    world = World()
    for name in set(cycle):
        world.run(name, {"id": 1}, "before")
    history, replayed = NEW, []
    for name in cycle:
        found = world.cache.lookup(name, {"id": 1}, history)
        if found.outcome == "hit" and not name.startswith("browser"):
            replayed.append(name)
        got = found.result if found.outcome == "hit" else "new"
        world.cache.record(found, got)
        history = history.after(name, {"id": 1}, got, RULES)
    assert len(replayed) == len(set(replayed))


def test_results_of_tools_are_part_of_what_a_step_is_known_by() -> None:
    """Crow issue 93: with tool messages left out of the key, the step after a result was the step before it."""
    one = History.of([*called(("browser_open", {"url": "a"}, "page 1"))], RULES)
    two = History.of([*called(("browser_open", {"url": "a"}, "page 2"))], RULES)
    assert len({NEW.state, one.state, two.state}) == 3


def test_nothing_read_before_a_write_of_this_run_is_replayed_after_it() -> None:
    """Stale results: the agent writes, reads what was there before, and writes again."""
    world = World()
    world.run("weather", {"city": "Bern"}, "old")
    world.run("get_ticket", {"id": 8}, "open")
    unknown = NEW.after("pay", {"to": "ann"}, "ok", RULES)
    assert world.run("weather", {"city": "Bern"}, "new", unknown) == "after-write"
    declared = NEW.after("update_ticket", {"id": 7}, "ok", RULES)
    assert world.run("get_ticket", {"id": 7}, "new", declared) == "after-write"
    assert world.run("get_ticket", {"id": 8}, "open", declared) == "hit"


# Stateful environments


def test_a_stateful_result_is_reused_only_after_the_very_same_history() -> None:
    """The tree of TVCACHE; also stagehand 1558: a step that was not recorded must not be skipped on replay."""
    world = World()
    opened = NEW.after("browser_open", {"url": "a"}, "page", RULES)
    world.run("browser_click", {"id": 3}, "menu", opened)
    assert world.cache.lookup("browser_click", {"id": 3}, opened).result == "menu"
    others = [
        NEW,
        NEW.after("browser_open", {"url": "b"}, "page", RULES),
        NEW.after("browser_open", {"url": "a"}, "other page", RULES),
        opened.after("solve_captcha", {}, "ok", RULES),
        opened.after("weather", {"city": "Bern"}, "grey", RULES),
        History.begin("another sandbox").after("browser_open", {"url": "a"}, "page", RULES),
    ]
    assert [world.cache.lookup("browser_click", {"id": 3}, one).outcome for one in others] == ["miss"] * 6


def test_a_replayed_path_ends_where_the_recorded_one_did() -> None:
    world, recorded = World(), NEW
    for step in range(3):
        world.run("browser_scroll", {}, f"view {step}", recorded)
        recorded = recorded.after("browser_scroll", {}, f"view {step}", RULES)
    history, seen = NEW, []
    while (found := world.cache.lookup("browser_scroll", {}, history)).outcome == "hit":
        seen.append(found.result)
        history = history.after("browser_scroll", {}, found.result, RULES)
    assert seen == ["view 0", "view 1", "view 2"]
