"""The machine: what it is, how busy it is, and which processor serves and which one asks.

Reads /proc. Invariant: where there are two processors, a server and its client never share one.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import Any

PACKAGES = (
    "semcache-llm",
    "onnxruntime",
    "tokenizers",
    "hnswlib",
    "numpy",
    "uvicorn",
    "uvloop",
    "httptools",
    "msgspec",
)


def cores() -> tuple[int, int]:
    """The processor for servers and the one for clients."""
    mine = sorted(os.sched_getaffinity(0))
    return mine[0], mine[1] if len(mine) > 1 else mine[0]


@contextmanager
def pinned(core: int) -> Iterator[None]:
    """Keep this thread, and those that it starts, on one processor for a block."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def calibration() -> float:
    """Milliseconds of a fixed loop of Python, the median of five: more than usual means that others are working."""
    times = []
    for _ in range(5):
        started = time.perf_counter()
        total = 0
        for number in range(200_000):
            total += number * number % 7
        times.append((time.perf_counter() - started) * 1e3)
    return median(times)


def facts(packages: Sequence[str] = PACKAGES) -> dict[str, Any]:
    """The facts that a reader needs to judge the numbers."""
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30),
        "system": f"{platform.system()} {platform.release().partition('-')[0]}",
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in packages},
    }


def resident(pid: int | str = "self") -> int:
    """Bytes of a process that are in memory."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def group_cpu_seconds(group: int) -> float:
    """Processor time that the processes of a group have used so far."""
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == group:
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def _cpu() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"
