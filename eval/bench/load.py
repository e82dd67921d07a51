"""Load from wrk: one run of it, and turns of several servers under the same load.

Knows wrk's script and its result line, nothing of what is asked. Invariant: only the server whose turn it is runs; the
others sleep.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eval.bench.machine import cores
from eval.bench.measure import Row, Series
from eval.bench.servers import Server

WARM_UP = 1  # second, the least that wrk can do
SCRIPT = Path(__file__).with_name("load.lua")


class LoadFailed(Exception):
    """wrk is missing, or did not report."""


@dataclass(frozen=True, slots=True)
class Load:
    """The load to send: a file of bodies, one a line; with `tell` outcomes are counted by Cache-Status."""

    bodies: Path
    path: str = "/v1/chat/completions"
    tell: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    """The figures of one run of wrk, and the server's costs. Latencies are microseconds."""

    p50: float
    p99: float
    requests: int
    seconds: float
    errors: int
    cpu: float
    counts: Mapping[str, int]

    @property
    def rate(self) -> float:
        return self.requests / self.seconds

    @property
    def cpu_each(self) -> float:
        """Server processor time per request, microseconds."""
        return self.cpu * 1e6 / max(1, self.requests)


@dataclass
class Contender:
    """A server in a comparison, perhaps one of several on the same server.

    `connections` are the numbers of connections to load it with; `at` is the line at which its next run begins.
    """

    label: str
    server: Server
    load: Load
    connections: tuple[int, ...] = (1, 32)
    at: int = 0
    runs: dict[int, list[Run]] = field(default_factory=dict)

    def series(self, connections: int, quantity: str, unit: str) -> Series:
        """One quantity of all runs with so many connections."""
        return Series(tuple(getattr(run, quantity) for run in self.runs[connections]), unit)

    def row(self, connections: int) -> Row:
        """Everything that was measured with so many connections."""
        return Row(
            f"{self.label}, {connections} conn",
            {
                "req/s": self.series(connections, "rate", ""),
                "p50": self.series(connections, "p50", "us"),
                "p99": self.series(connections, "p99", "us"),
                "server CPU/req": self.series(connections, "cpu_each", "us"),
            },
        )

    def share(self, outcome: str) -> float:
        """The share of this outcome in all runs, if the load told."""
        runs = [run for group in self.runs.values() for run in group]
        return sum(run.counts[outcome] for run in runs) / max(1, sum(sum(run.counts.values()) for run in runs))

    def errors(self) -> int:
        """Requests that failed, in all runs."""
        return sum(run.errors for group in self.runs.values() for run in group)


def take_turns(
    contenders: Sequence[Contender], *, rounds: int, seconds: int, between: Callable[[], object] = lambda: None
) -> None:
    """Let each contender run with each number of connections, round after round; `between` ends a round."""
    for contender in contenders:
        contender.server.sleep()
    for turn in range(rounds):
        # Every other round runs backwards, so that nobody always follows the same one.
        for contender in contenders if turn % 2 == 0 else reversed(contenders):
            contender.server.wake()
            _wrk(contender, 1, WARM_UP)
            for count in contender.connections:
                contender.runs.setdefault(count, []).append(_wrk(contender, count, seconds))
            contender.server.sleep()
        between()
    for contender in contenders:
        contender.server.wake()


def _wrk(contender: Contender, connections: int, seconds: int) -> Run:
    program = shutil.which("wrk")
    if program is None:
        raise LoadFailed("wrk is not installed: apt-get install wrk")
    load = contender.load
    command = [
        "taskset",
        "-c",
        str(cores()[1]),
        program,
        "-t1",
        f"-c{connections}",
        f"-d{seconds}s",
        "--timeout",
        "10s",
    ]
    command += ["-s", str(SCRIPT), contender.server.url + load.path, "--", str(load.bodies), str(contender.at)]
    before = contender.server.cpu_seconds()
    told = subprocess.run(
        [*command, *(["tell"] if load.tell else [])], capture_output=True, text=True, timeout=seconds + 60, check=False
    )
    spent = contender.server.cpu_seconds() - before
    result = parse(told.stdout)
    if result is None:
        raise LoadFailed(f"wrk against {contender.label} told nothing: {told.stdout[-300:]}{told.stderr[-300:]}")
    contender.at += int(result["requests"]) + connections
    counts = {name: int(result[name]) for name in ("exact", "semantic", "missed", "failed")}
    return Run(
        result["p50"], result["p99"], int(result["requests"]), result["seconds"], int(result["errors"]), spent, counts
    )


def parse(output: str) -> dict[str, Any] | None:
    """The result line of the script; None when there is none."""
    for line in output.splitlines():
        if line.startswith("RESULT "):
            found: dict[str, Any] = json.loads(line.removeprefix("RESULT "))
            return found
    return None
