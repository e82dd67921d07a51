"""How long until it is there: the help page, the import, and a proxy that is ready with entries in its store.

Processes run as a user starts them, on any processor; the interpreter's own start is measured in turns with them.
Files are in the page cache, as on a restart.
"""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
import time
from pathlib import Path

import httpx2

from eval.bench import filling
from eval.bench.measure import Check, Row, Section, Series
from eval.bench.options import Options
from eval.bench.servers import program, serving
from eval.demo import free_port

LIMITS = {10_000: 3.0, 100_000: 10.0}


def measure(folder: Path, options: Options) -> Section:
    """Time the commands, then the proxy at both sizes, with and without a snapshot of its index."""
    section = Section("start", "Start")
    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "python -c 'import semcache'": [sys.executable, "-c", "import semcache"],
        "semcache --help": [program(), "--help"],
    }
    took: dict[str, list[float]] = {label: [] for label in commands}
    for turn in range(-1, 2 * options.rounds):
        for label, command in commands.items():
            started = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True)
            if turn >= 0:
                took[label].append(time.perf_counter() - started)
    series = {label: Series(tuple(values), "s") for label, values in took.items()}
    section.rows = [Row(label, {"time": value}) for label, value in series.items()]
    section.checks = [
        Check("semcache --help", series["semcache --help"], 0.3),
        Check("import semcache, interpreter included", series["python -c 'import semcache'"], 0.2),
    ]
    for size, limit in LIMITS.items():
        if options.quick and size > 10_000:
            section.notes.append(f"{size:,} entries were left out: --quick")
            continue
        for label, values in _ready(folder / f"data-{size}", size, options).items():
            value = Series(tuple(values), "s")
            section.rows.append(Row(f"ready with {size:,} entries, {label}", {"time": value}))
            section.checks.append(Check(f"ready with {size:,} entries, {label}", value, limit))
    section.notes.append(
        "ready: from the command until /readyz names every entry. Without a snapshot the vectors come from the store; "
        "search is exact at first and a graph is built while requests are served"
    )
    return section


def _ready(data: Path, size: int, options: Options) -> dict[str, list[float]]:
    asyncio.run(filling.fill_store(data, size, options.seed))
    index, aside = data / "index", data / "index.aside"
    index.rename(aside)
    found: dict[str, list[float]] = {"with a snapshot": [], "without a snapshot": []}
    for _ in range(min(3, options.rounds)):
        for label, values in found.items():
            shutil.rmtree(index, ignore_errors=True)
            if label == "with a snapshot":
                shutil.copytree(aside, index)
            values.append(_start(data, size))
    return found


def _start(data: Path, size: int) -> float:
    port = free_port()
    command = [program(), "serve", "--upstream", "echo", "--port", str(port), "--data", str(data)]
    ready = f"http://127.0.0.1:{port}/readyz"
    started = time.perf_counter()
    with serving(command, ready, data.with_suffix(".log"), every=0.01):
        took = time.perf_counter() - started
        entries = httpx2.get(ready, timeout=30).json()["entries"]
    if entries != size:
        raise RuntimeError(f"the proxy was ready with {entries:,} entries instead of {size:,}")
    return took
