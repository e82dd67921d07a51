"""A real proxy in front of the scripted upstream, for the snippets of the documentation.

Pages say `localhost:8080` for the proxy and `localhost:8000` for the upstream; the ports are put in here.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.docs.fences import ROOT
from tests.waiting import PATIENCE


@dataclass(frozen=True)
class Stage:
    """Where snippets run."""

    folder: Path
    proxy: int
    upstream: int
    environment: dict[str, str]

    def ported(self, text: str) -> str:
        """A snippet with the ports of this run."""
        return text.replace("localhost:8080", f"127.0.0.1:{self.proxy}").replace(
            "localhost:8000", f"127.0.0.1:{self.upstream}"
        )

    def reset(self) -> None:
        """Let a page find a cache that holds one entry, which no page asks for."""
        self._post("/semcache/invalidate", {"everything": True})
        asked = {"model": "seed", "messages": [{"role": "user", "content": "What does the first entry hold?"}]}
        self._post("/v1/chat/completions", asked)

    def _post(self, path: str, body: object) -> None:
        url, headers = f"http://127.0.0.1:{self.proxy}{path}", {"content-type": "application/json"}
        asked = urllib.request.Request(url, json.dumps(body).encode(), headers)
        with urllib.request.urlopen(asked, timeout=10) as reply:
            reply.read()


@pytest.fixture(scope="session")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    folder = tmp_path_factory.mktemp("docs")
    (folder / "bin").mkdir()
    # The real programs, wherever this interpreter has them.
    for name, module in (("semcache", " -m semcache"), ("python", "")):
        program = folder / "bin" / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}"{module} "$@"\n', encoding="utf-8")
        program.chmod(0o755)
    environment = {
        "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder),
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "adapters")]),
        "SEMCACHE_DATA": str(folder / "data"),
        "SEMCACHE_CACHE__TIMEOUT": str(PATIENCE),
        "NO_COLOR": "1",
    }
    upstream, proxy = free_port(), free_port()
    echo = [sys.executable, "-m", "semcache.upstream.backends.echo", "--port", str(upstream)]
    serve = [sys.executable, "-m", "semcache", "serve", "--port", str(proxy)]
    serve += ["--upstream", f"http://127.0.0.1:{upstream}"]
    with ExitStack() as stack:
        stack.enter_context(running(echo, f"http://127.0.0.1:{upstream}/echo/stats", folder, environment))
        stack.enter_context(running(serve, f"http://127.0.0.1:{proxy}/readyz", folder, environment))
        yield Stage(folder, proxy, upstream, environment)


@contextmanager
def running(command: list[str], ready: str, folder: Path, environment: dict[str, str]) -> Iterator[None]:
    """A server that runs until the block ends; `ready` answers when it is."""
    with (folder / "servers.log").open("ab") as log:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
    try:
        for _ in range(300):
            assert process.poll() is None, (folder / "servers.log").read_text(encoding="utf-8")
            try:
                with urllib.request.urlopen(ready, timeout=1):
                    break
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        yield
    finally:
        process.terminate()
        process.wait(timeout=30)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
