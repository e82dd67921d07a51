"""Server processes on a processor of their own: started, waited for, put to sleep between turns, and always ended.

Knows processes and /proc, nothing of what is served. Invariant: when a block ends, however it ends, no process that
was started for it is left, nor any that those have started.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx2

from eval.bench.machine import cores, group_cpu_seconds, resident
from eval.demo import free_port

_PATH = re.compile(r"(?:/[\w.@+-]+){2,}/")


class DidNotStart(Exception):
    """A server gave up, or was not ready in time."""


@dataclass(frozen=True, slots=True)
class Server:
    """A running server, the leader of its process group."""

    pid: int
    url: str

    def cpu_seconds(self) -> float:
        """Processor time used so far."""
        return group_cpu_seconds(self.pid)

    def resident(self) -> int:
        """Bytes in memory."""
        return resident(self.pid)

    def sleep(self) -> None:
        """Stop it where it is, so that it takes nothing from the one whose turn it is."""
        os.killpg(self.pid, signal.SIGSTOP)

    def wake(self) -> None:
        """Let it go on."""
        os.killpg(self.pid, signal.SIGCONT)


@contextmanager
def serving(
    command: Sequence[str],
    ready: str,
    log: Path,
    *,
    core: int | None = None,
    env: Mapping[str, str] | None = None,
    patience: float = 60.0,
    every: float = 0.05,
) -> Iterator[Server]:
    """Run a server until the block ends. `ready` is a URL that answers 200 once it serves. Raises DidNotStart."""
    pinned = [] if core is None else ["taskset", "-c", str(core)]
    with log.open("wb") as out:
        running = subprocess.Popen(
            [*pinned, *command],
            stdout=out,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            env={**os.environ, **(env or {})},
            start_new_session=True,
        )
    try:
        deadline = time.monotonic() + patience
        while not _answers(ready):
            if running.poll() is not None or time.monotonic() > deadline:
                # The reason ends up in published results: no paths of this machine.
                tail = _PATH.sub("", " ".join(log.read_text(errors="replace")[-600:].split()))
                why = "gave up" if running.poll() is not None else f"was not ready after {patience:.0f} s"
                raise DidNotStart(f"{Path(command[0]).name} {why}: {tail}")
            time.sleep(every)
        yield Server(running.pid, ready[: ready.index("/", 8)])
    finally:
        _end(running)


def program() -> str:
    """The product's command."""
    return shutil.which("semcache", path=str(Path(sys.executable).parent)) or "semcache"


def product(folder: Path, upstream: str, policies: str = "default") -> AbstractContextManager[Server]:
    """The proxy as a user starts it over the data in `folder`, its log in a file."""
    port = free_port()
    options = ("--upstream", upstream, "--port", str(port), "--data", str(folder / "data"), "--policies", policies)
    command = [program(), "serve", *options]
    return serving(command, f"http://127.0.0.1:{port}/readyz", folder / "product.log", core=cores()[0])


def upstream(folder: Path) -> AbstractContextManager[Server]:
    """The scripted upstream, answering at once, on the clients' processor."""
    port = free_port()
    command = [sys.executable, "-m", "semcache.upstream.backends.echo", "--port", str(port)]
    return serving(command, f"http://127.0.0.1:{port}/echo/stats", folder / "upstream.log", core=cores()[1])


def bare(folder: Path, app: str, *arguments: str) -> AbstractContextManager[Server]:
    """One of the bare applications, under the server and the options that the product uses."""
    port = free_port()
    command = [sys.executable, "-m", f"eval.bench.bare.{app}", "--port", str(port), *arguments]
    return serving(command, f"http://127.0.0.1:{port}/ready", folder / f"{app}.log", core=cores()[0])


def _answers(url: str) -> bool:
    try:
        return httpx2.get(url, timeout=5).status_code == 200
    except httpx2.HTTPError:
        return False


def _end(running: subprocess.Popen[bytes]) -> None:
    """End the whole group: politely, then not."""
    for number in (signal.SIGCONT, signal.SIGTERM):
        with suppress(ProcessLookupError):
            os.killpg(running.pid, number)
    with suppress(subprocess.TimeoutExpired):
        running.wait(timeout=30)
    with suppress(ProcessLookupError):
        os.killpg(running.pid, signal.SIGKILL)
    running.wait()
