"""Measure how late an honest tenant's replies come while another tenant, or a stranger, sends each shape of the corpus.

    python -m eval.stalls [--shapes REGEX] [--page] [--label before]

A real proxy with keys, its scripted upstream, and a probe in a process of its own that asks every 10 ms, exact hits and
misses, and counts a reply's time from when its request was due. Each shape is sent from two connections at once for its
window; beside the figures stand those of windows in which nothing was sent: what the machine itself costs. A shape with
a turn of more than 50 ms is sent up to three times, and the time with the shortest longest turn counts: what a shape
causes it causes each time.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path

import httpx2
import numpy as np

from eval.bench.machine import facts
from eval.bench.servers import program, serving
from eval.demo import free_port
from eval.stalls.connections import ATTACKS, Target
from eval.stalls.shapes import Shape, shapes

PACE = 0.01
LONG, REPEATS = 50.0, 3  # milliseconds of a turn beyond which a shape is tried again, and how often in all
RESULTS = Path(__file__).parents[1] / "results"


@dataclass(frozen=True)
class Row:
    """One window: the probe's delays in milliseconds, the proxy's peak memory in MB, and what the attack was told.

    `held` is the processor time of the longest turn of the proxy's event loop, `held999` its quantile, in milliseconds.
    """

    name: str
    count: int
    worst: float
    p999: float
    p50: float
    failed: int
    peak: float
    held: float
    held999: float
    fate: str


class Probe:
    """The honest tenant's process and what it has written."""

    def __init__(self, host: str, port: int, key: str) -> None:
        command = [sys.executable, "-m", "eval.stalls.probe", host, str(port), key, str(PACE)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.lines: list[tuple[float, float, int]] = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            due, late, status = line.split()
            self.lines.append((float(due), float(late), int(status)))

    def between(self, start: float, end: float) -> list[tuple[float, int]]:
        """Return delays and statuses of what was due in a window, once the last has come."""
        deadline = time.monotonic() + 60
        while (not self.lines or self.lines[-1][0] < end) and time.monotonic() < deadline:
            time.sleep(0.02)
        return [(late, status) for due, late, status in self.lines if start <= due < end]

    def end(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(30)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--shapes", default="", help="a regular expression of names")
    parser.add_argument("--label", default="after")
    parser.add_argument("--page", action="store_true", help="write results/stalls.json and the page")
    given = parser.parse_args(arguments)
    rows = measure(re.compile(given.shapes))
    if given.page:
        from eval.stalls.page import write

        write(RESULTS, given.label, [asdict(row) for row in rows], facts())


def measure(wanted: re.Pattern[str]) -> list[Row]:
    """Run every shape whose name matches."""
    rows: list[Row] = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="semcache-stalls-")))
        honest, attacker = (_key(folder, tenant) for tenant in ("honest", "attacker"))
        up, port = free_port(), free_port()
        echo = [sys.executable, "-m", "eval.stalls.upstream", str(up)]
        stack.enter_context(serving(echo, f"http://127.0.0.1:{up}/", folder / "echo.log"))
        options = ["--upstream", f"http://127.0.0.1:{up}", "--port", str(port), "--data", str(folder / "data")]
        log = folder / "proxy.log"
        meter = folder / "turns"
        command = [sys.executable, "-m", "eval.stalls.metered", str(meter), "serve", *options]
        proxy = stack.enter_context(serving(command, f"http://127.0.0.1:{port}/readyz", log))
        target = Target("127.0.0.1", port, attacker)
        probe = Probe("127.0.0.1", port, honest)
        stack.callback(probe.end)
        time.sleep(2)
        jobs: list[tuple[str, Shape | None]] = [("(nothing)", None)]
        jobs += [(one.name, one) for one in shapes() if wanted.search(one.name)]
        jobs += [(name, None) for name in ATTACKS if wanted.search(name)]
        jobs.append(("(nothing, after)", None))
        again = {name: REPEATS for name, _ in jobs}
        while jobs:
            name, shape = jobs.pop(0)
            again[name] -= 1
            payload = shape.payload() if shape is not None else None
            _reset_peak(proxy.pid)
            start = time.monotonic()
            if payload is not None and shape is not None:
                fate = _send(target, shape, *payload)
            else:
                fate = ATTACKS[name](target) if name in ATTACKS else _nothing()
            end = max(time.monotonic(), start + 1.0)
            time.sleep(max(0.0, end - time.monotonic()) + 0.1)
            late = probe.between(start, end)
            row = _row(name, late, _peak(proxy.pid), _held(meter, start, time.monotonic()), fate)
            print(json.dumps(asdict(row)), flush=True)
            if rows and rows[-1].name == name:
                rows[-1] = min(rows[-1], row, key=lambda one: one.held)
            else:
                rows.append(row)
            if row.held > LONG and again[name]:
                jobs.insert(0, (name, shape))
    return rows


def _nothing() -> str:
    time.sleep(4.0)
    return ""


def _key(folder: Path, tenant: str) -> str:
    command = [program(), "keys", "create", "--tenant", tenant, "--data", str(folder / "data")]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def _send(target: Target, shape: Shape, headers: list[tuple[str, str]], body: bytes) -> str:
    """Send a request from two connections at once, twice each; return the statuses and the time of the slowest."""
    fates: list[str] = []

    def post(which: int) -> None:
        with httpx2.Client(timeout=120, trust_env=False) as client:
            for count in range(2):
                sent = body.replace(b'"}]', b' %d"}]' % (2 * which + count)) if shape.fresh else body
                started = time.monotonic()
                try:
                    known = [("authorization", f"Bearer {target.key}"), *headers]
                    url = f"http://{target.host}:{target.port}{shape.path}"
                    status = client.post(url, content=sent, headers=known)
                    fates.append(f"{status.status_code} {time.monotonic() - started:.2f} s")
                except httpx2.HTTPError as error:
                    fates.append(f"{type(error).__name__} {time.monotonic() - started:.2f} s")

    threads = [threading.Thread(target=post, args=(which,)) for which in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return max(fates, key=lambda fate: float(fate.split()[1]))


def _held(meter: Path, start: float, end: float) -> list[float]:
    """Return the processor time of every turn of the loop in a window, in milliseconds."""
    time.sleep(0.5)
    lines = [line.split() for line in meter.read_text().splitlines()]
    return [float(held) * 1e3 for at, held in lines if start <= float(at) <= end + 0.3] or [float("nan")]


def _row(name: str, found: list[tuple[float, int]], peak: float, held: list[float], fate: str) -> Row:
    late = np.array([one for one, _ in found]) * 1e3 if found else np.array([float("nan")])
    failed = sum(status != 200 for _, status in found)
    quantiles = [float(np.quantile(late, q)) for q in (1.0, 0.999, 0.5)]
    turns = [round(float(np.quantile(held, q)), 1) for q in (1.0, 0.999)]
    return Row(name, len(found), *(round(value, 1) for value in quantiles), failed, peak, *turns, fate)


def _reset_peak(pid: int) -> None:
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def _peak(pid: int) -> float:
    found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    return round(int(found[1]) / 1024, 1) if found else 0.0


if __name__ == "__main__":
    main()
