"""Metrics of the processes of several workers, added up: processor time, memory and file descriptors.

Knows the folder in which workers leave their metrics, and `/proc`. Invariant: a worker that has ended is in no sum.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

_LIVE = re.compile(r"gauge_live\w+_(\d+)\.db")
_EARLIEST = "process_start_time_seconds"


class WorkerProcessCollector:
    """Collects what `process_*` metrics say of every living worker that has a file in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def collect(self) -> Iterator[Any]:
        """Give one family for each metric."""
        from prometheus_client import ProcessCollector

        families: dict[str, Any] = {}
        for pid in sorted(self._workers()):
            # Without a registry it is asked here alone.
            for family in ProcessCollector(pid=partial(int, pid), registry=None).collect():
                if family.name not in families:
                    families[family.name] = family
                    continue
                [total], [own] = families[family.name].samples, family.samples
                value = min(total.value, own.value) if family.name == _EARLIEST else total.value + own.value
                families[family.name].samples = [total._replace(value=value)]
        yield from families.values()

    def _workers(self) -> set[int]:
        found = {int(name[1]) for path in self._folder.iterdir() if (name := _LIVE.fullmatch(path.name))}
        return {pid for pid in found if Path(f"/proc/{pid}").is_dir()}
