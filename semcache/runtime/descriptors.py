"""File descriptors of this process: how many there may be, how many there are, and how many connections that leaves.

Invariant: `most` never lowers a limit, and where the system does not say, there is no limit.
"""

from __future__ import annotations

import sys
from pathlib import Path

_OWN = 200  # for the database, the upstream, models and logs
_WANTED = 65_536


def raise_limit() -> int:
    """Let this process have as many descriptors as it may ask for, and return how many."""
    if sys.platform == "win32":
        return _WANTED
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _WANTED if hard == resource.RLIM_INFINITY else min(hard, _WANTED)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        return wanted
    return _WANTED if soft == resource.RLIM_INFINITY else soft


def room() -> int:
    """Return how many connections of clients this process can hold beside its own files and those to the upstream."""
    most = raise_limit()
    return max(16, most - max(_OWN, most // 4))


def within(setting: int | None) -> int:
    """Return how many connections a process may hold: what is set, or fewer where there is no room for so many."""
    most = room()
    return min(setting, most) if setting is not None else most


def used() -> int | None:
    """Return how many descriptors are open now; None where the system does not say."""
    for folder in ("/proc/self/fd", "/dev/fd"):
        try:
            return len(list(Path(folder).iterdir())) - 1
        except OSError:
            continue
    return None
