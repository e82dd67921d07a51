"""Checking, printing and comparing policy packs."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

from semcache import policy
from semcache.cli.policies import differences

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def test_lint_passes_every_shipped_pack(run: Run) -> None:
    done = run("policy", "lint", *policy.packs())
    assert done.returncode == 0
    assert done.stdout.splitlines() == [f"{name}: ok" for name in policy.packs()]


def test_lint_names_file_line_and_key_of_a_mistake(run: Run, tmp_path: Path) -> None:
    broken = tmp_path / "broken.yaml"
    broken.write_text("name: mine\ncategories:\n  faq:\n    treshold: 0.9\n")
    done = run("policy", "lint", "default", broken)
    assert done.returncode == 1
    assert "default: ok" in done.stdout
    assert f"{broken}:4: categories.faq.treshold" in done.stdout
    assert "threshold" in done.stdout
    [_, row] = json.loads(run("policy", "lint", "default", broken, "--json").stdout)
    assert row["ok"] is False
    assert ":4:" in row["error"]


def test_lint_warns_of_personal_answers_shared_by_a_tenant(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("name: mine\ncategories:\n  orders:\n    personal: true\n")
    done = run("policy", "lint", file)
    assert done.returncode == 0
    assert "warning: categories.orders.personal" in done.stdout
    file.write_text("name: mine\nshare: user\ncategories:\n  orders:\n    personal: true\n")
    assert "warning" not in run("policy", "lint", file).stdout


def test_show_prints_what_lint_accepts(run: Run, tmp_path: Path) -> None:
    copy = tmp_path / "copy.yaml"
    copy.write_text(run("policy", "show", "default").stdout)
    assert policy.load(str(copy)).categories == policy.load("default").categories
    settled = json.loads(run("policy", "show", "default", "--json").stdout)
    assert settled["categories"]["default"]["ttl"] == policy.load("default").of("default").ttl
    missing = run("policy", "show", "defualt")
    assert missing.returncode == 2
    assert "'default'" in missing.stderr


def test_schema_is_a_json_schema(run: Run) -> None:
    assert json.loads(run("policy", "schema").stdout) == policy.json_schema()


def test_diff_tells_what_changed_and_nothing_else(run: Run, tmp_path: Path) -> None:
    old, new = tmp_path / "old.yaml", tmp_path / "new.yaml"
    old.write_text("target: 0.01\ncategories:\n  faq: {threshold: 0.9, ttl: 7d}\n")
    new.write_text("target: 0.02\ncategories:\n  faq: {threshold: 0.95, ttl: 1w}\n  code: {threshold: 0.97}\n")
    rows = differences(policy.load(str(old)), policy.load(str(new)))
    assert rows == [
        ("", "target", 0.01, 0.02),
        ("code", "category", "not there (default applies)", "there"),
        ("code", "threshold", 0.92, 0.97),
        ("faq", "threshold", 0.9, 0.95),
    ]
    assert [tuple(row.values()) for row in json.loads(run("policy", "diff", old, new, "--json").stdout)] == rows
    shown = run("policy", "diff", old, new)
    assert shown.returncode == 0
    assert "0.95" in shown.stdout
    assert run("policy", "diff", old, old).stdout == ""
