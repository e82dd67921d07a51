"""The memory for keys and values, chosen from what the machine has.

Knows devices, this process's control group and the sizes of a model, nothing of caches. Invariant: what is chosen is at
most a part of what is free now, and no more than running requests and a stock of prefixes could ever fill.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

LEAST = 1 << 30  # bytes where nobody can say what is free, and for a small model
_OF_HOST, _OF_DEVICE = 0.5, 0.85  # of what is free; others use the host too
_STOCK = 4  # times the longest contexts of all that run
_GROUP = Path("/sys/fs/cgroup")


def chosen_bytes(free: int | None, *, on_host: bool, context_bytes: int, running: int) -> int:
    """Bytes for a cache: a part of what is free, within what `running` contexts of `context_bytes` could use."""
    if free is None:
        return LEAST
    part = int(free * (_OF_HOST if on_host else _OF_DEVICE))
    return max(1, min(part, max(LEAST, _STOCK * running * context_bytes)))


def free_bytes(device: torch.device) -> int | None:
    """Bytes that are free on a device now, None where nobody says."""
    import torch

    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    return host_bytes(Path("/proc/meminfo"), _GROUP)


def host_bytes(meminfo: Path, group: Path) -> int | None:
    """Bytes that this process may still take: of the machine, and of its control group where that has a limit."""
    try:
        lines = dict(line.split(":", 1) for line in meminfo.read_text().splitlines() if ":" in line)
        free = int(lines["MemAvailable"].split()[0]) << 10
    except (OSError, KeyError, ValueError, IndexError):
        try:
            # Half of it, as nobody says what others use.
            return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
        except (OSError, ValueError, AttributeError):
            return None
    kinds = ("memory.max", "memory.current"), ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes")
    for limit, used in kinds:
        try:
            free = min(free, max(0, int((group / limit).read_text()) - int((group / used).read_text())))
        except (OSError, ValueError):
            continue  # no limit, or none of this kind
    return free
