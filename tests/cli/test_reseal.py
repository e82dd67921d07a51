"""Rotating the keys that encrypt entries."""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

Run = Callable[..., "subprocess.CompletedProcess[str]"]
OLD, NEW = (f"{name}:{base64.b64encode(bytes([number]) * 32).decode()}" for name, number in (("k1", 1), ("k2", 2)))
SECRET = "The access code of the depot"


def test_after_resealing_the_old_key_can_go(run: Run, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    line = {"messages": [{"role": "user", "content": "Where is the depot?"}], "response": SECRET, "model": "m"}
    log.write_text(json.dumps(line) + "\n")
    assert run("import", log).returncode == 0
    files = [file for file in (tmp_path / "data").iterdir() if file.is_file()]
    on_disk = [file for file in files if SECRET.encode() in file.read_bytes()]
    assert on_disk, "without keys entries lie in the clear, or this test proves nothing"
    sealed = run("reseal", "--json", env={"SEMCACHE_STORE__SEAL_KEYS": OLD})
    assert json.loads(sealed.stdout) == {"resealed": 1, "unreadable": 0}
    both = {"SEMCACHE_STORE__SEAL_KEYS": f"{NEW},{OLD}"}
    assert json.loads(run("reseal", "--json", env=both).stdout) == {"resealed": 1, "unreadable": 0}
    assert json.loads(run("reseal", "--json", env=both).stdout) == {"resealed": 0, "unreadable": 0}
    exported = run("export", env={"SEMCACHE_STORE__SEAL_KEYS": NEW})
    assert exported.returncode == 0
    assert SECRET in exported.stdout


def test_what_resealing_could_not_open_is_said(run: Run, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    line = {"messages": [{"role": "user", "content": "Where is the depot?"}], "response": SECRET, "model": "m"}
    log.write_text(json.dumps(line) + "\n")
    assert run("import", log, env={"SEMCACHE_STORE__SEAL_KEYS": OLD}).returncode == 0
    tried = run("reseal", env={"SEMCACHE_STORE__SEAL_KEYS": NEW})
    assert tried.returncode == 1
    assert "1 could not be opened" in tried.stderr


def test_resealing_without_keys_says_what_to_set(run: Run) -> None:
    done = run("reseal")
    assert done.returncode == 2
    assert "SEMCACHE_STORE__SEAL_KEYS" in done.stderr
