"""Running the real program in a folder of its own."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeAlias
from uuid import uuid4

import pytest

from semcache.agents.library import AsyncSemanticCache
from tests.cli.forked import Fork, Forked
from tests.waiting import PATIENCE

Run: TypeAlias = Callable[..., "subprocess.CompletedProcess[str]"]
PYTHON = [sys.executable, "-W", "error::ResourceWarning"]
CLI = [*PYTHON, "-m", "semcache"]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment without anybody's settings; the cache lies in `tmp_path/data`."""
    root = str(Path(__file__).parents[2])
    # One category: the hashing embedder of these tests cannot tell examples apart.
    (tmp_path / "plain.yaml").write_text("name: plain\n")
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "PYTHONPATH": root,
        "SEMCACHE_DATA": str(tmp_path / "data"),
        "SEMCACHE_EMBEDDER": "hashing",
        "SEMCACHE_POLICIES": str(tmp_path / "plain.yaml"),
        "SEMCACHE_CACHE__TIMEOUT": str(PATIENCE),
        "NO_COLOR": "1",
    }


@pytest.fixture(scope="session")
def nursery() -> Iterator[subprocess.Popen[str]]:
    """A process that has the libraries loaded and forks one that runs a command, ten times as fast as a fresh one."""
    ours, theirs = socket.socketpair()
    command = [*PYTHON, str(Path(__file__).with_name("nursery.py")), str(theirs.fileno())]
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "OPENBLAS_NUM_THREADS": "1"}
    streams: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with (
        ours,
        theirs,
        subprocess.Popen(command, env=env, pass_fds=[theirs.fileno()], **streams) as process,
    ):
        process.pipes = ours  # type: ignore[attr-defined]
        yield process
        assert process.stdin is not None
        process.stdin.close()


@pytest.fixture
def run(tmp_path: Path, environment: dict[str, str], nursery: subprocess.Popen[str]) -> Run:
    """Run `semcache ARGS` in a process of its own; `env` adds variables."""

    def call(*args: object, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        assert nursery.stdin is not None
        assert nursery.stdout is not None
        words = [str(arg) for arg in args]
        order = {"args": words, "env": {**environment, **(env or {})}, "cwd": str(tmp_path), "id": uuid4().hex}
        nursery.stdin.write(json.dumps(order) + "\n")
        nursery.stdin.flush()
        done = json.loads(nursery.stdout.readline())
        while done["id"] != order["id"]:  # of a test that has given up
            done = json.loads(nursery.stdout.readline())
        return subprocess.CompletedProcess(words, done["code"], done["out"], done["err"])

    return call


@pytest.fixture
def start(tmp_path: Path, environment: dict[str, str]) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start `semcache ARGS` and leave it running until the test ends."""
    started: list[subprocess.Popen[str]] = []

    def call(*args: object, env: dict[str, str] | None = None) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [*CLI, *map(str, args)],
            cwd=tmp_path,
            env={**environment, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield call
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture
def fork(tmp_path: Path, environment: dict[str, str], nursery: subprocess.Popen[str]) -> Iterator[Fork]:
    """Start `semcache ARGS` as `start` does, but in a fork of the nursery, and its workers in forks of that."""
    with ExitStack() as started:

        def call(*args: object, env: dict[str, str] | None = None) -> Forked:
            process = Forked(nursery, [str(arg) for arg in args], {**environment, **(env or {})}, tmp_path)
            started.callback(process.close)
            return process

        yield call


@pytest.fixture
def fill(environment: dict[str, str]) -> Callable[..., list[str]]:
    """Put prompts and answers into the cache, as traffic would; returns the ids of the entries."""

    async def call(answers: dict[str, str], **scope: str) -> list[str]:
        ids = []
        async with await AsyncSemanticCache.open(
            environment["SEMCACHE_DATA"], policies=environment["SEMCACHE_POLICIES"], embedder="hashing"
        ) as cache:
            for prompt, answer in answers.items():
                await cache.record(await cache.lookup(prompt, model="m", **scope), answer)
                again = await cache.lookup(prompt, model="m", **scope)
                assert again.entry_id is not None
                ids.append(again.entry_id)
        return ids

    return call
