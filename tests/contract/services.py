"""The proxy and a scripted upstream as real processes, as a user runs them."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from tests.waiting import PATIENCE

ROOT = Path(__file__).parents[2]


@dataclass
class Service:
    """A running program; `url` is what it said it can be reached at, without a path. `log` is its standard error."""

    process: subprocess.Popen[bytes]
    url: str
    log: Path
    output: Path

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def get(self, path: str, **options: Any) -> httpx2.Response:
        return httpx2.get(self.url + path, timeout=PATIENCE, **options)

    def post(self, path: str, json: Any = None, **options: Any) -> httpx2.Response:
        return httpx2.post(self.url + path, json=json, timeout=PATIENCE, **options)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(PATIENCE)

    def kill_all(self) -> None:
        """Kill the program and the worker processes that it has started, all at once."""
        tasks = Path(f"/proc/{self.process.pid}/task")
        started = [int(child) for one in tasks.glob("*/children") for child in one.read_text().split()]
        for process in (self.process.pid, *started):
            os.kill(process, signal.SIGKILL)
        self.process.wait(PATIENCE)

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(PATIENCE)


@contextmanager
def started(*command: str, ready: str, **environment: str) -> Iterator[Service]:
    """Run `python -m command` until the block ends. It is ready when it prints `ready`, whose group 1 is its URL."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("SEMCACHE_", "OPENAI_", "ANTHROPIC_", "PROMETHEUS_"))
    }
    folder = Path(tempfile.mkdtemp(prefix="semcache-test-"))
    log, output = folder / "stderr", folder / "stdout"
    with log.open("wb") as stderr, output.open("wb") as stdout:
        process = subprocess.Popen(
            [sys.executable, "-m", *command],
            stdout=stdout,
            stderr=stderr,
            cwd=ROOT,
            env=inherited | {"SEMCACHE_CACHE__TIMEOUT": str(PATIENCE)} | environment,
        )
    try:
        deadline = time.monotonic() + PATIENCE
        while (found := re.search(ready, log.read_text())) is None:
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.02)
        service = Service(process, found[1], log, output)
        yield service
        service.stop()
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        shutil.rmtree(folder)


@contextmanager
def echo(*options: str) -> Iterator[Service]:
    """A scripted upstream."""
    with started("semcache.upstream.backends.echo", "--port", "0", *options, ready=r"ready on (http://\S+)") as service:
        yield service


@contextmanager
def serving(upstream: str, data: Path, *options: str, **environment: str) -> Iterator[Service]:
    """`semcache serve`."""
    command = ("semcache", "serve", "--upstream", upstream, "--port", "0", "--data", str(data), *options)
    with started(*command, ready=r"ready on (http://\S+)/v1", **environment) as service:
        yield service


def semcache(*command: str) -> str:
    """Standard output of a command of the program."""
    done = subprocess.run(
        [sys.executable, "-m", "semcache", *command], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
