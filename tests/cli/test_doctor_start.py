"""What ends the start of a server is a failure for the doctor too."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]
ECHO = {"SEMCACHE_UPSTREAM__URL": "echo", "SEMCACHE_SERVER__PORT": "0"}


@pytest.mark.parametrize(
    ("env", "check", "word"),
    [
        ({"SEMCACHE_CACHE__JUDGE": "llm"}, "judge", "judge.model is not set"),
        ({"SEMCACHE_VERIFIER__KIND": "llm"}, "verifier", "verifier.model is not set"),
        ({"SEMCACHE_STORE__URL": "memory://", "SEMCACHE_SERVER__WORKERS": "2"}, "workers", "memory://"),
        ({"SEMCACHE_PRICES": "gone.yaml"}, "prices", "gone.yaml"),
        ({"SEMCACHE_STORE__URL": "mysql://db/x"}, "store", "no store speaks 'mysql'"),
    ],
    ids=["judge-without-model", "verifier-without-model", "shared-memory", "no-prices", "mysql"],
)
def test_settings_that_end_the_start_fail(run: Run, env: dict[str, str], check: str, word: str) -> None:
    """It said that all was well, or blamed the seal keys, and `semcache serve` ended with an error."""
    done = run("doctor", "--json", env={**ECHO, **env})
    assert done.returncode == 1
    rows = [row for row in json.loads(done.stdout)["checks"] if row["state"] == "fail"]
    assert [row["check"] for row in rows] == [check]
    assert word in rows[0]["found"]
    assert rows[0]["remedy"]
    start = run("serve", env={**ECHO, **env})
    assert start.returncode != 0
    assert word in start.stderr


def test_a_database_of_another_program_fails_and_is_not_said_to_be_upgraded(run: Run, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    with sqlite3.connect(tmp_path / "data" / "semcache.db") as base:
        base.execute("create table entries (title)")
    base.close()
    done = run("doctor", "--json", env=ECHO)
    assert done.returncode == 1
    [store] = [row for row in json.loads(done.stdout)["checks"] if row["check"] == "store"]
    assert store["state"] == "fail"
    assert "already has tables named entries" in store["found"]


def test_metrics_of_workers_need_a_folder_and_a_file_of_its_name_is_none(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    env = {**ECHO, "SEMCACHE_SERVER__WORKERS": "2", "PROMETHEUS_MULTIPROC_DIR": str(tmp_path / "file")}
    done = run("doctor", "--json", env=env)
    assert done.returncode == 1
    [metrics] = [row for row in json.loads(done.stdout)["checks"] if row["check"] == "metrics"]
    assert "is no folder" in metrics["found"]
