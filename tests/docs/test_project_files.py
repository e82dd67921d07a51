"""The files that carry the project: workflows, hooks and the site's builder name only what there is."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.docs.fences import PAGES, ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
TARGETS = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
MAKE = re.compile(r"^\s*make ([a-z][\w-]*)", re.MULTILINE)


def steps(path: Path) -> list[dict[str, Any]]:
    jobs = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]
    return [step for job in jobs.values() for step in job["steps"]]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_calls_make_targets_that_exist(path: Path) -> None:
    called = {target for step in steps(path) for target in MAKE.findall(step.get("run", ""))}
    assert {"lint", "test", "test-slow"} <= called
    assert called <= TARGETS


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_uses_actions_of_a_stated_version(path: Path) -> None:
    used = [step["uses"] for step in steps(path) if "uses" in step]
    assert used
    assert all(re.fullmatch(r"[\w.-]+/[\w./-]+@[\w./-]+", name) for name in used)


def test_every_supported_python_is_tested() -> None:
    ci = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))
    tested = ci["jobs"]["test"]["strategy"]["matrix"]["python"]
    low, high = re.findall(r"3\.(\d+)", PROJECT["project"]["requires-python"])
    supported = [f"3.{minor}" for minor in range(int(low), int(high))]
    assert tested == supported
    prefix = "Programming Language :: Python :: 3."
    assert [one for one in PROJECT["project"]["classifiers"] if one.startswith(prefix)] == [
        f"Programming Language :: Python :: {one}" for one in supported
    ]


def test_the_changelog_says_everything_once() -> None:
    items = re.split(r"\n(?=- |#)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    changes = [" ".join(item.split()) for item in items if item.startswith("- ")]
    assert len(changes) > 50
    assert sorted(set(changes)) == sorted(changes)


def test_make_targets_that_documents_name_exist() -> None:
    for page in PAGES:
        assert set(MAKE.findall(page.read_text(encoding="utf-8"))) <= TARGETS, page


def test_what_installs_the_site_is_a_group_of_the_project() -> None:
    host = yaml.safe_load((ROOT / ".readthedocs.yaml").read_text(encoding="utf-8"))
    assert (ROOT / host["mkdocs"]["configuration"]).is_file()
    named = re.findall(r"--group (\w+)", "\n".join(host["build"]["jobs"]["install"]))
    assert named
    assert set(named) <= set(PROJECT["dependency-groups"])


def test_hooks_before_a_commit_are_those_of_make_lint() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"][0]["hooks"]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    programs = {hook["entry"].split()[0].rpartition("/")[2] for hook in hooks}
    assert programs == {"ruff", "mypy", "lint-imports"}
    assert all(f"$(BIN)/{program}" in makefile for program in programs)


def test_templates_of_issues_are_forms() -> None:
    for path in sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")):
        form = yaml.safe_load(path.read_text(encoding="utf-8"))
        if path.stem != "config":
            assert form["name"], path
            assert all({"type", "attributes"} <= set(part) for part in form["body"]), path


def test_the_addresses_of_the_project_stand_in_one_place() -> None:
    addresses = PROJECT["project"]["urls"].values()
    files = [*PAGES, ROOT / "mkdocs.yml", *WORKFLOWS, *sorted((ROOT / "adapters").glob("*.py"))]
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert not [address for address in addresses if address in text], file
