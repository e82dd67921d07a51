"""Checking, printing and comparing policy packs."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

from semcache.cli.policy_commands import differences
from semcache.config import pack_schema
from semcache.config import packs as policy

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
    assert json.loads(run("policy", "schema").stdout) == pack_schema.json_schema()


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


def packs(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Two packs that differ in a threshold, and a trace on which that matters."""
    old, new, trace = tmp_path / "old.yaml", tmp_path / "new.yaml", tmp_path / "trace.jsonl"
    old.write_text("defaults: {strategy: static, threshold: 0.99, guards: []}\n")
    new.write_text("defaults: {strategy: static, threshold: 0.6, guards: []}\n")
    rows = [
        {"prompt": "How do I paint a garden fence?", "answer": "brush", "at": 1, "cost": 0.25},
        "torn",
        {"prompt": "How do I paint the garden fence?", "answer": "brush", "at": 2, "cost": 0.25},
        {"prompt": "How do I paint a garden gnome?", "answer": "carefully", "at": 3, "cost": 0.25},
    ]
    trace.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return old, new, trace


def test_diff_with_a_trace_says_what_would_have_changed(run: Run, tmp_path: Path) -> None:
    old, new, trace = packs(tmp_path)
    done = run("policy", "diff", old, new, "--trace", trace, "--json")
    assert done.returncode == 0, done.stderr
    assert "line 2: no JSON object" in done.stderr
    found = json.loads(done.stdout)
    assert found["settings"] == [{"category": "default", "setting": "threshold", "first": 0.99, "second": 0.6}]
    traffic = found["traffic"]
    assert traffic["changes"] == {
        "gained": 1, "gained_wrong": 1, "lost": 0, "lost_wrong": 0, "turned_wrong": 0, "turned_right": 0,
    }  # fmt: skip
    assert (traffic["old"]["semantic"], traffic["new"]["semantic"], traffic["new"]["wrong"]) == (0, 2, 1)
    assert traffic["new"]["cost_saved"] == 0.5
    assert [(one["kind"], one["line"], one["answer_of_line"]) for one in traffic["examples"]] == [
        ("gained", 3, 1),
        ("gained_wrong", 4, 1),
    ]
    assert "paint" not in done.stdout + done.stderr


def test_diff_shows_prompts_only_when_asked(run: Run, tmp_path: Path) -> None:
    old, new, trace = packs(tmp_path)
    shown = run("policy", "diff", old, new, "--trace", trace)
    assert shown.returncode == 0
    assert "served now, and wrongly" in shown.stdout
    assert "gnome" not in shown.stdout
    assert "gnome" in run("policy", "diff", old, new, "--trace", trace, "--show-prompts").stdout
    none = run("policy", "diff", old, new, "--trace", trace, "--examples", "0", "--show-prompts").stdout
    assert "gnome" not in none


def test_diff_of_a_trace_that_is_not_there_is_an_error(run: Run, tmp_path: Path) -> None:
    done = run("policy", "diff", "default", "code", "--trace", tmp_path / "nowhere.jsonl")
    assert done.returncode == 1
    assert "nowhere.jsonl cannot be read" in done.stderr


def test_lint_warns_of_promises_that_nothing_can_keep(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("defaults: {strategy: certified, audit: 0}\n")
    done = run("policy", "lint", file)
    assert done.returncode == 0
    assert "warning: categories.default.audit is 0" in done.stdout
    file.write_text("target: 0.02\nrelax_to: 0.01\n")
    assert "relax_to 0.01 is stricter than its target 0.02" in run("policy", "lint", file).stdout
    file.write_text("relax_to: 0.02\ndefaults: {strategy: certified, audit: 0.1}\n")
    assert "warning" not in run("policy", "lint", file).stdout


def test_diff_shows_durations_as_packs_write_them(run: Run, tmp_path: Path) -> None:
    old, new = tmp_path / "old.yaml", tmp_path / "new.yaml"
    old.write_text("defaults: {ttl: 7d}\n")
    new.write_text("defaults: {ttl: 7d, change_every: 12h, revalidate: 90s}\n")
    shown = run("policy", "diff", old, new).stdout
    assert "12h" in shown
    assert "90s" in shown
    assert "not set" in shown


def test_lint_shows_every_mistake_at_once(run: Run, tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text(
        "name: bad\ntargt: 0.01\ncategories:\n  a:\n    treshold: 0.5\n    strategy: certifed\n"
        '    rules:\n      patterns: ["("]\n  b:\n    target: 2\n    guards: [numbrs]\n'
    )
    done = run("policy", "lint", tmp_path / "bad.yaml")
    assert done.returncode == 1
    told = done.stdout.splitlines()
    assert [line.split(": ")[2] for line in told] == [
        "targt",
        "categories.a.treshold",
        "categories.b.target",
        "categories.a.strategy",
        "categories.a.rules.patterns",
        "categories.b.guards",
    ]
    assert all(line.startswith("error: ") for line in told)
