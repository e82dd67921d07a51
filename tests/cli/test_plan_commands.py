"""Templates in the data folder are listed, shown, edited and purged from the command line."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from itertools import count
from pathlib import Path

from semcache.agents.plan_library import PlanLibrary
from semcache.agents.plans import Plans
from semcache.storage.stores import open_store
from semcache.storage.stores.plan_rows import plans_of
from tests.agents.worlds import TOOLS, cancelling

Run = Callable[..., "subprocess.CompletedProcess[str]"]


async def filled(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    store = open_store(str(folder / "semcache.db"))
    await store.open()
    ids = count(1)
    plans = Plans(PlanLibrary(plans_of(store), salt=store.salt), salt=store.salt, new_id=lambda: next(ids))
    for user, code, tenant in (
        ("ann_lee_1", "AB12CD", "acme"),
        ("bo_ray_2", "EF34GH", "acme"),
        ("cy_fox_3", "IJ56KL", "other"),
    ):
        await plans.record(cancelling(user, code), tools=TOOLS, tenant=tenant, agent="desk")
    await store.close()


async def test_templates_are_listed_shown_edited_and_purged(run: Run, tmp_path: Path) -> None:
    await filled(tmp_path / "data")
    assert "`plans.mode`" in run("plans", "list", "--tenant", "nobody").stderr
    rows = json.loads(run("plans", "list", "--json").stdout)
    assert [(row["tenant"], row["runs"], row["steps"], row["writes"]) for row in rows] == [
        ("acme", 2, 2, ["cancel"]),
        ("other", 1, 2, ["cancel"]),
    ]
    assert "cancel the first reservation" in run("plans", "list", "--tenant", "acme").stdout
    plan_id = rows[0]["id"]
    shown = run("plans", "show", plan_id)
    assert "step 2: cancel" in shown.stdout
    assert "change of plan" in shown.stdout
    assert "ann_lee_1" not in shown.stdout
    template = json.loads(run("plans", "show", plan_id, "--json").stdout)
    template["steps"][1]["actions"][0]["arguments"]["reason"] = "by request"
    changed = tmp_path / "changed.json"
    changed.write_text(json.dumps(template), encoding="utf-8")
    assert json.loads(run("plans", "edit", plan_id, changed, "--json").stdout)["version"] == template["version"] + 1
    assert "by request" in run("plans", "show", plan_id).stdout
    assert run("plans", "show", "0" * 16).returncode == 1
    changed.write_text('{"steps": 3}', encoding="utf-8")
    assert run("plans", "edit", plan_id, changed).returncode == 2
    assert run("plans", "purge").returncode == 2
    assert json.loads(run("plans", "purge", "--tenant", "acme", "--dry-run", "--json").stdout)["ids"] == [plan_id]
    assert json.loads(run("plans", "purge", plan_id, "--json").stdout)["count"] == 1
    assert [row["tenant"] for row in json.loads(run("plans", "list", "--json").stdout)] == ["other"]
