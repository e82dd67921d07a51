"""The library's plans: opened with the cache, kept with it, shared by everyone on the same store."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from semcache import AsyncSemanticCache, SemanticCache
from semcache.agents.small_planner import SmallPlanner, SmallTerms, SmallWork
from semcache.config.settings import Settings
from semcache.errors import ConfigError, InvalidArgument
from semcache.storage.stores import open_store
from semcache.storage.stores.plan_rows import StoredPlan, plans_of
from semcache.storage.stores.seal import Seal
from tests.agents.worlds import TOOLS, asked, cancelling, finished
from tests.waiting import PATIENCE

TASK = asked("Cancel the first reservation of user cy_fox_3, please")


def test_plans_are_recorded_looked_up_and_judged(tmp_path: Path) -> None:
    with SemanticCache.open(str(tmp_path), embedder="hashing") as cache:
        assert cache.plans.lookup(TASK, tools=TOOLS).outcome == "miss"
        assert cache.plans.record(cancelling("ann_lee_1", "AB12CD"), tools=TOOLS) is not None
    with SemanticCache.open(str(tmp_path), embedder="hashing") as cache:
        found = cache.plans.lookup(TASK, tools=TOOLS)
        assert (found.outcome, found.calls[0].arguments) == ("plan", {"user_id": "cy_fox_3"})
        assert cache.plans.outcome(found, success=False)
        assert cache.plans.lookup(TASK, tools=TOOLS).outcome == "miss"
        counted = cache.inner.meter.registry.get_sample_value("semcache_plan_lookups_total", {"why": "key"})
        assert counted == 1.0
    with pytest.raises(InvalidArgument, match="closed"):
        cache.plans.lookup(TASK)


async def test_a_cache_follows_the_plans_of_others_on_its_store(tmp_path: Path) -> None:
    async with (
        await AsyncSemanticCache.open(str(tmp_path), embedder="hashing") as one,
        await AsyncSemanticCache.open(str(tmp_path), embedder="hashing") as two,
    ):
        plan_id = await one.plans.record(cancelling("ann_lee_1", "AB12CD"), tools=TOOLS)
        await two.catch_up()
        assert (await two.plans.lookup(TASK, tools=TOOLS)).plan_id == plan_id
        gone = await two.plans.library.purge([plan_id or ""], tenant=None, agent=None, now=0.0, dry_run=False)
        assert gone == [plan_id]
        await one.catch_up()
        assert (await one.plans.lookup(TASK, tools=TOOLS)).outcome == "miss"


async def test_plans_are_opened_when_they_are_first_used_and_once(tmp_path: Path) -> None:
    async with await AsyncSemanticCache.open(str(tmp_path), embedder="hashing") as cache:
        plans = cache.plans
        before = len(cache.components.maintenance._sweepers)
        found = await asyncio.gather(*(plans.lookup(TASK, tools=TOOLS) for _ in range(3)))
        assert {one.outcome for one in found} == {"miss"}
        assert len(cache.components.maintenance._sweepers) == before + 1, "nothing was open before"
        assert cache.plans is await cache.open_plans()


def test_opening_the_library_does_not_import_the_agents(tmp_path: Path) -> None:
    program = (
        "import sys; from semcache import SemanticCache\n"
        f"with SemanticCache.open({str(tmp_path)!r}, embedder='hashing') as cache:\n"
        "    assert 'semcache.agents.plans' not in sys.modules\n"
        "    assert cache.plans.lookup('Cancel it').outcome == 'miss'\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=PATIENCE)


async def test_rotated_keys_take_the_plans_along(tmp_path: Path) -> None:
    row = StoredPlan(7, "ac\x00me", b'{"a": 1}', 50.0)

    async def keyed(*keys: tuple[str, bytes]) -> tuple[int, list[bytes]]:
        store = open_store(str(tmp_path / "semcache.db"), seal=Seal(keys) if keys else None)
        await store.open()
        try:
            if not keys:
                await plans_of(store).put_plans([row, StoredPlan(8, "b", b"", 60.0)])
            return await store.reseal(1), [one.body for one in await plans_of(store).plans(0) if one.body]
        finally:
            await store.close()

    old, new = ("k1", b"1" * 32), ("k2", b"2" * 32)
    assert await keyed() == (0, [row.body])
    assert await keyed(old) == (1, [row.body])
    assert await keyed(new, old) == (1, [row.body])
    assert await keyed(new, old) == (0, [row.body])
    assert await keyed(new) == (0, [row.body])
    assert await keyed(old) == (0, [])


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("mode", "always"),
        ("mode", True),
        ("rule", "never"),
        ("target", 1.0),
        ("target", 0),
        ("life", 0),
        ("life", "inf"),
    ],
)
def test_a_wrong_setting_is_named(key: str, value: object) -> None:
    with pytest.raises(ConfigError, match=f"plans.{key}"):
        Settings.load({f"plans.{key}": value}, {}, None)


def test_off_may_be_written_as_yaml_reads_it(tmp_path: Path) -> None:
    file = tmp_path / "semcache.yaml"
    file.write_text("plans:\n  mode: off\n  rule: finished\n  target: 0.95\n  life: 86400\n", encoding="utf-8")
    plans = Settings.load({}, {}, file).plans
    assert (plans.mode, plans.rule, plans.target, plans.life) == ("off", "finished", 0.95, 86400.0)


async def test_a_small_model_fills_in_once_recorded_runs_have_certified_it(tmp_path: Path) -> None:
    """The reason of a cancellation stands nowhere in the task: a small model says it, as recorded runs do."""
    asked_for: list[str] = []

    async def small(prompt: str) -> str:
        asked_for.append(prompt)
        names = re.findall(r'"(\w+)":\{"for"', prompt)
        return json.dumps(dict.fromkeys(names, "ill" if "fever" in prompt else "change of plan"))

    def run(number: int) -> list[dict[str, Any]]:
        why, of = ("ill", "a fever") if number % 2 else ("change of plan", "my work")
        return finished(
            f"Cancel the first reservation of user ann_lee_{number}, please, for {of}",
            ("find_user", {"user_id": f"ann_lee_{number}"}, {"reservations": [f"R{number}"]}),
            ("cancel", {"reservation_id": f"R{number}", "reason": why}, "ok"),
        )

    planner = SmallPlanner(SmallTerms(target=0.1))
    async with await AsyncSemanticCache.open(str(tmp_path), embedder="hashing") as cache:
        plans = await cache.open_plans(small=small, planner=planner)
        for number in range(1, 12):
            await plans.record(run(number), tools=TOOLS)
        under_way = run(101)[:4]
        found = await plans.lookup(under_way, tools=TOOLS)
        assert (found.outcome, found.why) == ("miss", "open-slot")
        assert 0 < planner.comparisons == len(asked_for)
        for number in range(12, 80):
            await plans.record(run(number), tools=TOOLS)
        assert planner.may(SmallWork.SLOTS)
        found = await plans.lookup(under_way, tools=TOOLS)
        assert (found.outcome, found.asked, found.calls[0].arguments["reason"]) == ("plan", 1, "ill")
        done = await plans.lookup(run(101)[:6], tools=TOOLS)
        assert (done.why, done.last_word) == ("plan-done", False), "its last words were never compared"
