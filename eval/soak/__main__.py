"""Soak: `python -m eval.soak [--minutes 60] [--rate 4] [--page]`.

`semcache serve --workers 2` on PostgreSQL before a scripted upstream; clients ask at a low rate, and about once a
minute something is broken at random: connections of the database are cut, its server is restarted (orderly or not), its
disk is filled, the upstream is killed, or the younger worker is (so that the older one's memory can be followed for the
whole run). After each fault some of what was promised is asked for, at the end all of it. Memory, descriptors and
processor time of the workers are read every five seconds. Every draw comes from `--seed`; when it strikes depends on
the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from eval.bench.machine import facts
from eval.bench.servers import serving
from eval.demo import free_port
from eval.soak.faulty_database import FaultyDatabase, database
from eval.soak.soak_clients import Clients
from eval.soak.soak_page import RESULTS, summary, write

_SAMPLE = 5.0  # seconds
_HEAL = 20.0  # seconds after a fault in which the proxy may still find out that it is over
_TICKS = os.sysconf("SC_CLK_TCK")


class Upstream:
    """The scripted upstream, which can die."""

    def __init__(self, port: int, log: Path) -> None:
        self._command = [sys.executable, "-m", "semcache.upstream.backends.echo", "--port", str(port)]
        self._log = log
        self.start()

    def start(self) -> None:
        """Start it."""
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(self._command, stdout=log, stderr=log)

    def kill(self) -> None:
        """Kill it with SIGKILL."""
        self.process.kill()
        self.process.wait()


def workers(parent: int) -> list[int]:
    """The processes of a server's workers, oldest first."""
    found: list[tuple[int, int]] = []
    for path in Path("/proc").iterdir():
        if not path.name.isdigit():
            continue
        with suppress(OSError):
            rest = (path / "stat").read_text().rpartition(")")[2].split()
            command = (path / "cmdline").read_bytes()
            if int(rest[1]) == parent and b"spawn_main" in command:
                found.append((int(rest[19]), int(path.name)))
    return [pid for _, pid in sorted(found)]


def sampled(pid: int) -> dict[str, float]:
    """Resident memory in MB, open descriptors and seconds of processor time of a process; empty where it is gone."""
    with suppress(OSError):
        path = Path(f"/proc/{pid}")
        pages = int((path / "statm").read_text().split()[1])
        times = (path / "stat").read_text().rpartition(")")[2].split()
        spent = (int(times[11]) + int(times[12])) / _TICKS
        return {
            "rss": round(pages * os.sysconf("SC_PAGE_SIZE") / 1e6, 1),
            "fds": len(list((path / "fd").iterdir())),
            "cpu": round(spent, 2),
        }
    return {}


async def soak(seconds: float, rate: float, pool: int, seed: int, pause: float) -> dict[str, Any]:
    """Run; return everything that was seen."""
    rng = random.Random(seed)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="semcache-soak-run-")))
        pg = stack.enter_context(database())
        up, port = free_port(), free_port()
        upstream = Upstream(up, folder / "upstream.log")
        stack.callback(upstream.kill)
        command = [sys.executable, "-m", "semcache", "serve", "--upstream", f"http://127.0.0.1:{up}"]
        command += ["--port", str(port), "--workers", "2", "--data", str(folder / "data")]
        ready, log = f"http://127.0.0.1:{port}/readyz", folder / "proxy.log"
        proxy = stack.enter_context(serving(command, ready, log, env={"SEMCACHE_STORE__URL": pg.url}))
        start = time.monotonic()
        end = start + seconds
        clients = Clients(f"http://127.0.0.1:{port}", rate=rate, pool=pool, rng=rng, start=start)
        samples: list[dict[str, Any]] = []
        faults: list[dict[str, Any]] = []
        watch = asyncio.create_task(_watch(proxy.pid, samples, start))
        breaking = asyncio.create_task(_break(pg, upstream, proxy.pid, clients, faults, rng, (start, end, pause)))
        await clients.run(end)
        await breaking
        await asyncio.sleep(_HEAL)
        await clients.check(None)
        watch.cancel()
        await clients.close()
        book = clients.book
        return {
            "seconds": seconds,
            "rate": rate,
            "pool": pool,
            "seed": seed,
            "disk_filled": pg.small,
            "faults": faults,
            "samples": samples,
            "asked": [[round(a.at, 2), round(a.seconds, 4), a.fate, a.outcome] for a in book.asked],
            "outcomes": dict(book.outcomes),
            "promised": len(book.promised),
            "checked": book.checked,
            "lost": book.lost,
            "wrong": book.wrong,
            "tracebacks": _raised(log.read_text(errors="replace")),
        }


def _raised(log: str) -> dict[str, int]:
    """The exceptions of a log that came with a traceback, by their last line without its details."""
    found = re.findall(r"Traceback \(most recent call last\):\n(?:[ \t].*\n|\n)*([\w.]+)", log)
    return dict(Counter(found))


async def _watch(parent: int, samples: list[dict[str, Any]], start: float) -> None:
    while True:
        found = {str(pid): one for pid in workers(parent) if (one := sampled(pid))}
        samples.append({"at": round(time.monotonic() - start, 1), "workers": found})
        await asyncio.sleep(_SAMPLE)


async def _break(
    pg: FaultyDatabase,
    upstream: Upstream,
    parent: int,
    clients: Clients,
    faults: list[dict[str, Any]],
    rng: random.Random,
    times: tuple[float, float, float],
) -> None:
    """Break something, mend it, wait, and check promises, from the start to the end, with pauses of about the third."""
    start, end, usual = times

    def kill_younger() -> None:
        found = workers(parent)
        if len(found) == 2:
            os.kill(found[-1], signal.SIGKILL)

    kinds: dict[str, tuple[Callable[[], object], float, Callable[[], object]]] = {
        "connections cut": (pg.cut, 0.0, lambda: None),
        "server restarted": (lambda: pg.restart("fast"), 0.0, lambda: None),
        "server crashed": (lambda: pg.restart("immediate"), 0.0, lambda: None),
        "upstream killed": (upstream.kill, 5.0, upstream.start),
        "worker killed": (kill_younger, 0.0, lambda: None),
    }
    if pg.small:
        kinds["disk filled"] = (pg.fill, 10.0, pg.release)
    bag: list[str] = []
    while True:
        pause = usual * rng.uniform(0.6, 1.4)
        if time.monotonic() + pause + 2 * _HEAL > end:
            return
        await asyncio.sleep(pause)
        bag = bag or rng.sample(sorted(kinds), len(kinds))
        name = bag.pop()
        strike, wait, mend = kinds[name]
        begun = time.monotonic()
        await asyncio.to_thread(strike)
        await asyncio.sleep(wait)
        await asyncio.to_thread(mend)
        over = time.monotonic()
        faults.append({"kind": name, "from": round(begun - start, 1), "to": round(over - start, 1)})
        print(json.dumps(faults[-1]), flush=True)
        await asyncio.sleep(_HEAL)
        await clients.check(20)


def main(arguments: Sequence[str] | None = None) -> int:
    """Soak, print the summary, and keep it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--rate", type=float, default=4.0, help="requests a second")
    parser.add_argument("--pool", type=int, default=1500, help="questions that are asked")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--pause", type=float, default=60.0, help="seconds between two faults, about")
    parser.add_argument("--page", action="store_true", help="write results/soak.json and the page")
    given = parser.parse_args(arguments)
    seen = asyncio.run(soak(given.minutes * 60, given.rate, given.pool, given.seed, given.pause))
    command = f"python -m eval.soak --minutes {given.minutes:g} --rate {given.rate:g} --page"
    told: dict[str, Any] = {"machine": facts(), "command": command}
    told |= summary(seen, heal=_HEAL)
    print(json.dumps(told, indent=1))
    if given.page:
        write(told)
        (RESULTS.parent.parent / ".eval").mkdir(exist_ok=True)
        (RESULTS.parent.parent / ".eval" / "soak-raw.json").write_text(json.dumps(seen))
    return 1 if told["lost"] or told["failed_quietly"] else 0


if __name__ == "__main__":
    sys.exit(main())
