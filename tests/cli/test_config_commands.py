"""Showing settings, and refusing bad ones."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def test_show_names_sources_and_masks_secrets(run: Run, tmp_path: Path) -> None:
    (tmp_path / "semcache.yaml").write_text("server:\n  port: 9000\n")
    secrets = {
        "SEMCACHE_UPSTREAM__API_KEY": "sk-upstream-secret",
        "SEMCACHE_STORE__URL": "postgresql://me:hunter2@db/cache",
        "SEMCACHE_SERVER__ADMIN_TOKEN": "admin-secret-of-this-test",
    }
    for arguments in ([], ["--json"]):
        done = run("config", "show", *arguments, env=secrets)
        assert done.returncode == 0
        for secret in ("sk-upstream-secret", "hunter2", "admin-secret-of-this-test"):
            assert secret not in done.stdout + done.stderr
    shown = json.loads(done.stdout)
    assert shown["server.port"]["value"] == "9000"
    assert shown["server.port"]["source"].endswith("semcache.yaml:2")
    assert shown["upstream.api_key"]["source"] == "SEMCACHE_UPSTREAM__API_KEY"
    assert shown["server.host"] == {"value": "127.0.0.1", "source": "default"}


def test_an_unknown_setting_is_2_with_file_and_line(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("log:\n  level: info\nserver:\n  prot: 9000\n")
    for command in (["config", "show"], ["stats"], ["serve", "--upstream", "echo"]):
        done = run(*command, "--config", file)
        assert done.returncode == 2
        assert done.stderr == f"error: {file}:4: server.prot is no setting; did you mean server.port?\n"
        assert done.stdout == ""


def test_several_mistakes_are_a_line_each(run: Run) -> None:
    done = run("config", "show", env={"SEMCACHE_SERVER__PORT": "high", "SEMCACHE_LOG__LEVEL": "loud"})
    assert done.returncode == 2
    lines = done.stderr.splitlines()
    assert len(lines) == 2
    assert all(line.startswith("error: SEMCACHE_") for line in lines)
