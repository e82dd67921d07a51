"""A proxy of the audit's own, with keys of two tenants, and what it stands before: started, and ended with the block.

Knows commands of this program. The proxy runs at its defaults, but that plans are on, and hears a scripted upstream or
a local engine. Invariant: every process that is started here has ended when the block ends, and no setting of the
caller's environment reaches them.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from semcache.errors import UpstreamError

_PATIENCE = 120.0  # seconds that a start may take
_PROXY, _ECHO, _ENGINE = r"ready on (http://\S+?)/v1", r"ready on (http://\S+)", r"ready on (http://\S+?)/v1"
_LATENCY = "0.02"  # seconds of the scripted upstream


@contextmanager
def scripted(folder: Path) -> Iterator[str]:
    """Start the scripted upstream and return its URL."""
    command = ["-m", "semcache.upstream.backends.echo", "--port", "0", "--latency", _LATENCY]
    with _running(command, _ECHO, folder / "upstream.log") as url:
        yield url


@contextmanager
def engine(model: str, folder: Path) -> Iterator[str]:
    """Start the local engine with this model and return its URL."""
    command = ["-m", "semcache", "engine", "serve", "--model", model, "--port", "0"]
    with _running(command, _ENGINE, folder / "engine.log") as url:
        yield url


@contextmanager
def proxy(upstream: str, data: Path, options: Sequence[str] = ()) -> Iterator[str]:
    """Start a proxy before an upstream and return its URL."""
    command = ["-m", "semcache", "serve", "--upstream", upstream, "--port", "0", "--data", str(data), *options]
    with _running(command, _PROXY, data.parent / f"{data.name}.log") as url:
        yield url


def new_key(data: Path, tenant: str) -> str:
    """Make a key of a tenant and return it."""
    command = [sys.executable, "-m", "semcache", "keys", "create", "--tenant", tenant, "--data", str(data)]
    done = subprocess.run(  # noqa: S603 - this program itself
        command, env=_environment(), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise UpstreamError(f"no key for the audit could be made: {done.stderr.strip()}")
    return done.stdout.strip()


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SEMCACHE_")}
    return kept | {"SEMCACHE_PLANS__MODE": "answer", "SEMCACHE_PLANS__RULE": "finished"}


@contextmanager
def _running(command: Sequence[str], ready: str, log: Path) -> Iterator[str]:
    with log.open("wb") as told:
        process = subprocess.Popen(  # noqa: S603 - this program itself
            [sys.executable, *command], stdout=subprocess.DEVNULL, stderr=told, env=_environment()
        )
    try:
        end = time.monotonic() + _PATIENCE
        while (found := re.search(ready, log.read_text(errors="replace"))) is None:
            if process.poll() is not None or time.monotonic() > end:
                said = log.read_text(errors="replace").strip()[-500:]
                raise UpstreamError(f"{' '.join(command[:4])} did not start: {said}")
            time.sleep(0.05)
        yield found[1]
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
