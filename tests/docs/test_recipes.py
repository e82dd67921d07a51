"""The recipes run, each with the real package in an environment of its own, against a real proxy.

`SEMCACHE_RECIPES` names a folder in which the environments are kept between runs.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from tests.cli.conftest import environment, start  # noqa: F401
from tests.cli.test_serve import ECHO, Start, ready, url_of
from tests.docs.fences import ROOT, Fence, fences
from tests.waiting import PATIENCE

pytestmark = [pytest.mark.slow, pytest.mark.process, pytest.mark.timeout(900)]
_PREFIX = "recipe="
RECIPES = {
    word.removeprefix(_PREFIX): fence
    for fence in fences(ROOT / "docs" / "recipes.md")
    for word in fence.words
    if word.startswith(_PREFIX)
}


@pytest.fixture(scope="module")
def environments(tmp_path_factory: pytest.TempPathFactory) -> Path:
    kept = os.environ.get("SEMCACHE_RECIPES")
    return Path(kept) if kept else tmp_path_factory.mktemp("recipes")


def _installed(folder: Path, needs: str, fence: Fence) -> list[str]:
    """Return what runs a recipe, with its packages installed; skip where they cannot be had."""
    folder.mkdir(parents=True, exist_ok=True)
    if fence.language == "javascript":
        npm, node = shutil.which("npm"), shutil.which("node")
        if npm is None or node is None:
            pytest.skip("Node is not installed")
        if not (folder / "node_modules").exists():
            _install([npm, "install", "--no-audit", "--no-fund", *needs.split(",")], folder)
        return [node, "recipe.mjs"]
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        _install([str(python), "-m", "pip", "install", "-q", needs], folder)
    return [str(python), "recipe.py"]


def _install(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        shutil.rmtree(folder)
        pytest.skip(f"cannot be installed here: {done.stderr[-500:]}")


@pytest.mark.parametrize("needs", RECIPES)
def test_a_recipe_is_served_by_the_cache(
    needs: str,
    environments: Path,
    start: Start,  # noqa: F811
) -> None:
    fence = RECIPES[needs]
    folder = environments / needs.replace("[", "-").replace("]", "").replace("/", "-").replace(",", "-")
    command = _installed(folder, needs, fence)
    url = url_of(ready(start("serve", *ECHO))).removesuffix("/v1")
    assert "http://localhost:8080" in fence.body
    (folder / command[1]).write_text(fence.body.replace("http://localhost:8080", url), encoding="utf-8")
    plain = {"PATH": os.environ["PATH"], "HOME": str(folder), "NO_PROXY": "127.0.0.1"}
    done = subprocess.run(command, cwd=folder, env=plain, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    if needs == "ollama":
        assert done.stdout.startswith("404 Ollama's own API is not served here")
        return
    assert "you said “What is a monad?”" in done.stdout
    stats = _served(url)
    assert stats["miss"]["requests"] == 1
    assert stats["exact"]["requests"] >= 1


def _served(url: str) -> dict[str, dict[str, int]]:
    with urllib.request.urlopen(f"{url}/semcache/stats", timeout=PATIENCE) as reply:
        found: dict[str, dict[str, int]] = json.load(reply)["outcomes"]
    return found


def test_every_framework_of_the_page_is_run() -> None:
    rows = (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8").partition("| --- |")[2].split("\n\n")[0]
    assert len(RECIPES) == rows.count("\n")
