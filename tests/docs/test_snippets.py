"""Every snippet of the documentation runs, and says what the page says it says.

Python and bash blocks are run unless their info string has `no-run`. A `text output` block behind one is its whole
output, with `…` for anything; `own-data` gives a block a data folder of its own. A page's blocks share a folder. YAML
blocks marked `pack` or `settings` are loaded as such.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from semcache.config import packs
from semcache.config.settings import Settings
from tests.docs.conftest import Stage
from tests.docs.fences import PAGES, Fence, fences, runnable, says

KNOWN = {"no-run", "own-data", "output", "pack", "recipe", "settings"}
# One interpreter a page, so that heavy imports are paid for once; each block has a fresh namespace.
RUNNER = r"""
import contextlib, io, json, os, sys, traceback
told = []
for line, code in json.load(sys.stdin):
    out, error = io.StringIO(), None
    with contextlib.redirect_stdout(out):
        try:
            exec(compile("\n" * line + code, sys.argv[1], "exec"), {"__name__": "__main__"})
        except BaseException:
            error = traceback.format_exc()
    told.append([out.getvalue(), error])
print(json.dumps(told), flush=True)
os._exit(0)
"""


def ids(page: Path) -> str:
    return page.name if page.parent.name == "docs" else f"{page.parent.name}/{page.name}"


@pytest.fixture
def folder(stage: Stage, tmp_path: Path) -> Path:
    """The folder of a page, in front of a cache that knows nothing of other pages."""
    stage.reset()
    return tmp_path


@pytest.mark.process
@pytest.mark.parametrize("page", [page for page in PAGES if runnable(page, "python")], ids=ids)
def test_python(page: Path, stage: Stage, folder: Path) -> None:
    blocks = runnable(page, "python")
    program = json.dumps([[block.line, stage.ported(block.body)] for block in blocks])
    done = subprocess.run(
        [sys.executable, "-c", RUNNER, page.name],
        input=program,
        cwd=folder,
        env=stage.environment,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for block, (output, error) in zip(blocks, json.loads(done.stdout.splitlines()[-1]), strict=True):
        assert error is None, f"{block.where}\n{error}"
        compare(block, output)


@pytest.mark.process
@pytest.mark.parametrize("page", [page for page in PAGES if runnable(page, "bash")], ids=ids)
def test_bash(page: Path, stage: Stage, folder: Path) -> None:
    for block in runnable(page, "bash"):
        own = {"SEMCACHE_DATA": str(folder / f"data-{block.line}")} if "own-data" in block.words else {}
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", stage.ported(block.body)],
            cwd=folder,
            env={**stage.environment, **own},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, f"{block.where}\n{done.stdout}\n{done.stderr}"
        compare(block, done.stdout)


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_yaml_is_valid_and_every_word_is_known(page: Path, tmp_path: Path) -> None:
    for block in fences(page):
        assert block.language, f"{block.where}: a block needs a language"
        words = {word.partition("=")[0] for word in block.words}
        assert words <= KNOWN, f"{block.where}: {sorted(words - KNOWN)}"
        file = tmp_path / "block.yaml"
        file.write_text(block.body, encoding="utf-8")
        if "pack" in block.words:
            assert packs.load(str(file)).categories
        if "settings" in block.words:
            Settings.load({}, {}, file)


def test_an_output_that_differs_is_noticed() -> None:
    assert says("one\ntwo 3 four\n", "one\ntwo … four\n")
    assert not says("one\ntwo 3 five\n", "one\ntwo … four\n")
    assert not says("one\nmore\n", "one\n")


def compare(block: Fence, output: str) -> None:
    if block.output is not None:
        assert says(output, block.output), f"{block.where} says\n{output}\nand the page promises\n{block.output}"
