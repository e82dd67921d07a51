"""What a purge takes with it beside entries, and what it says of the rest."""

from __future__ import annotations

import json
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from semcache.protocols import EntryStore
from semcache.storage.stores import open_store
from semcache.storage.stores.plan_rows import StoredPlan, plans_of
from semcache.storage.stores.tool_rows import ToolResultRow, tool_results_of

Run = Callable[..., "subprocess.CompletedProcess[str]"]
LATE = 9e9
OWNERS = (("acme", "ann"), ("acme", "bob"), ("acme", None), ("beta", "ann"), ("beta", None))


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[EntryStore]:
    store = open_store(str(folder / "data" / "semcache.db"))
    await store.open()
    try:
        yield store
    finally:
        await store.close()


@pytest.fixture
async def filled(tmp_path: Path, run: Run) -> None:
    """A store with tool results of two users and two tenants, and a plan of each tenant."""
    for tenant in ("acme", "beta"):
        assert run("keys", "create", "--tenant", tenant).returncode == 0
    async with opened(tmp_path) as store:
        for tenant, user in OWNERS:
            key = f"{tenant} {user}".ljust(32).encode()
            await tool_results_of(store).put(ToolResultRow(key, tenant, "get", b"1", 1.0, LATE, user))
        await plans_of(store).put_plans([StoredPlan(1, "acme", b"{}", LATE), StoredPlan(2, "beta", b"{}", LATE)])


async def left(folder: Path) -> tuple[list[tuple[str, str | None]], int]:
    async with opened(folder) as store:
        results = tool_results_of(store)
        keys = [(one, f"{one[0]} {one[1]}".ljust(32).encode()) for one in OWNERS]
        return [one for one, key in keys if await results.get(key, 2.0)], await plans_of(store).count_plans()


@pytest.mark.usefixtures("filled")
async def test_results_that_are_a_users_alone_go_with_the_user(tmp_path: Path, run: Run) -> None:
    tried = run("purge", "--scope", "acme/ann", "--dry-run")
    assert "1 result of tools would be deleted as well" in tried.stderr
    assert len((await left(tmp_path))[0]) == len(OWNERS)
    done = run("purge", "--scope", "acme/ann", "--yes", "--forever")
    assert done.returncode == 0, done.stderr
    assert "1 result of tools deleted as well, which nothing brings back" in done.stderr
    assert "1 result of tools of acme that users share stays" in done.stderr
    assert "1 plan of acme stays, for plans name no user" in done.stderr
    assert "semcache plans purge --tenant acme" in done.stderr
    assert await left(tmp_path) == ([("acme", "bob"), ("acme", None), ("beta", "ann"), ("beta", None)], 2)
    run("purge", "--scope", "*/ann", "--yes")
    assert await left(tmp_path) == ([("acme", "bob"), ("acme", None), ("beta", None)], 2)
    assert "tool_results=1" in run("actions").stdout


@pytest.mark.usefixtures("filled")
async def test_results_go_with_their_tenant_and_plans_only_for_good(tmp_path: Path, run: Run) -> None:
    done = run("purge", "--scope", "acme", "--yes")
    assert "3 results of tools deleted as well" in done.stderr
    assert "1 plan of acme stays: `semcache plans list`, `semcache plans purge --tenant acme`" in done.stderr
    assert await left(tmp_path) == ([("beta", "ann"), ("beta", None)], 2)
    done = run("purge", "--scope", "acme", "--yes", "--forever")
    assert "1 plan deleted as well" in done.stderr
    assert await left(tmp_path) == ([("beta", "ann"), ("beta", None)], 1)


@pytest.mark.usefixtures("filled")
async def test_everything_takes_all_results_and_says_which_plans_stay(tmp_path: Path, run: Run) -> None:
    found = json.loads(run("purge", "--all", "--yes", "--forever", "--json").stdout)
    assert (found["tool_results"], found["plans"]) == (5, 2)
    assert await left(tmp_path) == ([], 2)


@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize("option", [("--model", "m"), ("--older-than", "1d"), ("--tag", "t")], ids=lambda one: one[0])
async def test_a_purge_of_a_part_takes_nothing_beside_entries(
    tmp_path: Path, run: Run, option: tuple[str, str]
) -> None:
    done = run("purge", "--scope", "acme", *option, "--yes")
    assert done.returncode == 0
    assert "tools" not in done.stderr
    assert "plan" not in done.stderr
    assert len((await left(tmp_path))[0]) == len(OWNERS)
    run("purge", "--scope", "acme/*/here", "--yes")
    assert len((await left(tmp_path))[0]) == len(OWNERS)
