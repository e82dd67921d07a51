"""What the doctor finds, and that it changes nothing."""

from __future__ import annotations

import json
import socket
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from semcache.agents.library import AsyncSemanticCache
from semcache.cache.prompt_sample import note_serving
from semcache.cli.doctor_upstreams import _reply_finding
from semcache.config.packs import load
from semcache.storage.stores import open_store
from semcache.storage.stores.seal import example

Run = Callable[..., "subprocess.CompletedProcess[str]"]
Fill = Callable[..., Awaitable[list[str]]]
ECHO = {"SEMCACHE_UPSTREAM__URL": "echo", "SEMCACHE_SERVER__PORT": "0"}


def findings(done: subprocess.CompletedProcess[str]) -> dict[str, dict[str, Any]]:
    return {row["check"]: row for row in json.loads(done.stdout)["checks"]}


async def test_a_sound_installation_passes(run: Run, fill: Fill) -> None:
    await fill({"What is a monad?": "A box."})
    done = run("doctor", "--json", env={**ECHO, "SEMCACHE_EMBEDDER": "default"})
    assert done.returncode == 0, done.stdout
    rows = findings(done)
    assert json.loads(done.stdout)["ok"] is True
    assert rows["store"]["found"].startswith("1 entries")
    assert "384 dimensions" in rows["embedder"]["found"]
    # What an earlier embedder left is worth a warning with a remedy.
    assert rows["vectors"]["state"] == "warn"
    assert "semcache export" in rows["vectors"]["remedy"]
    assert all(row["remedy"] for row in rows.values() if row["state"] != "ok")


async def test_the_remedy_for_another_embedder_works(run: Run, fill: Fill, tmp_path: Path) -> None:
    await fill({"How do I reverse a list in Python?": "Use reversed()."})
    other = {**ECHO, "SEMCACHE_EMBEDDER": "hashing:128"}
    assert findings(run("doctor", "--json", env=other))["vectors"]["state"] == "warn"
    assert run("export", "-o", "all.jsonl", env=other).returncode == 0
    assert "1 of 1 lines imported" in run("import", "all.jsonl", env=other).stderr
    assert findings(run("doctor", "--json", env=other))["vectors"]["state"] == "ok"
    data, pack = str(tmp_path / "data"), str(tmp_path / "plain.yaml")
    async with await AsyncSemanticCache.open(data, policies=pack, embedder="hashing:128") as cache:
        found = await cache.lookup("how do I reverse a list in python", model="m")
        assert (found.outcome, found.answer) == ("semantic", "Use reversed().")
        assert len(cache.registry) == 1


def test_the_command_line_counts(run: Run) -> None:
    rows = findings(run("doctor", "--json", "--upstream", "echo", "--port", 0, "--embedder", "hashing:64"))
    assert rows["upstream"]["state"] == "ok"
    assert "64 dimensions" in rows["embedder"]["found"]
    assert "upstream.url from command line" in rows["settings"]["found"]


def test_a_host_that_is_none_is_told_from_a_port_in_use(run: Run) -> None:
    rows = findings(run("doctor", "--json", "--host", "nowhere.invalid"))
    assert rows["port"]["state"] == "fail"
    assert rows["port"]["remedy"] == "name an address of this machine with --host"


def test_before_the_first_start_nothing_is_made(run: Run, tmp_path: Path) -> None:
    done = run("doctor", env=ECHO)
    assert done.returncode == 0
    assert "none yet" in done.stdout
    assert not (tmp_path / "data").exists()


def test_broken_settings_are_a_finding(run: Run) -> None:
    done = run("doctor", "--json", env={**ECHO, "SEMCACHE_SERVER__PROT": "1"})
    assert done.returncode == 1
    assert "SEMCACHE_SERVER__PORT" in findings(done)["settings"]["found"]


def test_what_is_broken_fails_with_a_remedy(run: Run, tmp_path: Path) -> None:
    (tmp_path / "data" / "index").mkdir(parents=True)
    (tmp_path / "data" / "index" / "manifest.json").write_text("{}")
    (tmp_path / "data" / "semcache.db").write_text("no database at all " * 500)
    with socket.create_server(("127.0.0.1", 0)) as busy, socket.create_server(("127.0.0.1", 0)) as closed:
        gone = closed.getsockname()[1]
        closed.close()
        done = run(
            "doctor",
            "--json",
            "--policies",
            "suport",
            env={
                "SEMCACHE_UPSTREAM__URL": f"http://127.0.0.1:{gone}/v1",
                "SEMCACHE_SERVER__PORT": str(busy.getsockname()[1]),
            },
        )
    assert done.returncode == 1
    rows = findings(done)
    for check in ("policies", "store", "upstream", "port"):
        assert rows[check]["state"] == "fail", rows[check]
        assert rows[check]["remedy"]
    assert "'support'" in rows["policies"]["found"]
    assert rows["index"]["state"] == "warn"
    assert rows["embedder"]["state"] == "warn"


async def test_missing_seal_keys_and_open_doors_are_found(run: Run, tmp_path: Path) -> None:
    ring = {"SEMCACHE_STORE__SEAL_KEYS": example()}
    log = tmp_path / "log.jsonl"
    log.write_text(json.dumps({"model": "m", "messages": [{"role": "user", "content": "Hi?"}], "response": "Hi!"}))
    assert run("import", log, env=ring).returncode == 0
    for env, sound in ((ring, True), ({}, False), ({"SEMCACHE_STORE__SEAL_KEYS": example()}, False)):
        done = run("doctor", "--json", env={**ECHO, **env})
        assert findings(done)["seal keys"]["state"] == ("ok" if sound else "fail")
        assert done.returncode == (0 if sound else 1)
    open_to_all = run("doctor", "--json", env={**ECHO, **ring, "SEMCACHE_SERVER__HOST": "0.0.0.0"})
    assert open_to_all.returncode == 1
    assert "keys create" in findings(open_to_all)["API keys"]["remedy"]


@pytest.mark.parametrize(
    ("status", "has_key", "state"),
    [
        (200, False, "ok"),
        (404, True, "warn"),
        (401, False, "warn"),
        (401, True, "fail"),
        (403, True, "fail"),
        (503, True, "warn"),
    ],
)
def test_an_upstream_that_refuses_is_reachable(status: int, has_key: bool, state: str) -> None:
    assert _reply_finding("it answers", status, has_key).state == state


async def test_system_prompts_with_the_date_in_them_are_told_with_the_line_that_mends_it(
    run: Run, tmp_path: Path
) -> None:
    data, pack = str(tmp_path / "data"), tmp_path / "plain.yaml"
    line = "ignore_in_system: [date, time]"
    async with await AsyncSemanticCache.open(data, policies=str(pack), embedder="hashing") as cache:
        for day in range(10, 14):
            said = f"You serve the Vault. Current date: 2026-11-{day}, 10:{day}"
            messages = [{"role": "system", "content": said}, {"role": "user", "content": "What is a monad?"}]
            found = await cache.lookup(messages)
            assert found.why == "cold"
            await cache.record(found, "A box.")
        assert line in (await cache.stats())["varying_prompts"][0]
    row = findings(run("doctor", "--json", env=ECHO))["prompts"]
    assert (row["state"], line in row["remedy"], "current date" in row["found"]) == ("warn", True, True)
    for done in (run("stats"), run("explain", "What is a monad?", "--system", "Something new")):
        assert line in " ".join(done.stdout.split())
        assert "Vault" not in done.stdout
    pack.write_text(f"{pack.read_text()}\n{line}\n")
    assert findings(run("doctor", "--json", env=ECHO))["prompts"]["state"] == "ok"


async def test_why_and_stats_go_by_the_pack_of_the_server(run: Run, tmp_path: Path) -> None:
    """A server may have been started with another pack than these commands know of."""
    data, pack = str(tmp_path / "data"), str(tmp_path / "plain.yaml")
    async with await AsyncSemanticCache.open(data, policies=pack, embedder="hashing") as cache:
        for day in range(10, 14):
            system = {"role": "system", "content": f"You serve the Vault. Current date: 2026-11-{day}"}
            found = await cache.lookup([system, {"role": "user", "content": "What is a monad?"}])
            await cache.record(found, "A box.")
    newest = json.loads(run("requests", "--json").stdout)[0]["id"]
    for command in (["why", newest], ["stats"]):
        assert "ignore_in_system: [date]" in " ".join(run(*command).stdout.split())
    served = tmp_path / "served.yaml"
    served.write_text("name: served\nignore_in_system: [date]\n")
    store = open_store(f"sqlite:///{tmp_path / 'data' / 'semcache.db'}")
    await store.open()
    await note_serving(store, load(str(served)), now=1.0)
    await store.close()
    for command in (["why", newest], ["stats"]):
        done = run(*command)
        assert (done.returncode, "ignore_in_system" in done.stdout) == (0, False)


async def test_a_snapshot_of_this_embedder_is_sound(run: Run, tmp_path: Path) -> None:
    data, pack = str(tmp_path / "data"), str(tmp_path / "plain.yaml")
    async with await AsyncSemanticCache.open(data, policies=pack, embedder="hashing") as cache:
        await cache.record(await cache.lookup("What is a monad?"), "A box.")
    rows = findings(run("doctor", "--json", env=ECHO))
    assert rows["index"]["found"] == "a snapshot of 1 vectors"
    assert rows["vectors"]["state"] == "ok"
