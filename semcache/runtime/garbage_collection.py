"""The pace of the garbage collector, for a process that makes many objects that stay.

Invariant: what is in memory when it is settled is never walked over again.
"""

from __future__ import annotations

import gc


def collect_seldom() -> None:
    """Have the collector run seldom: modules, dictionaries and entries are many objects, and hardly any are garbage."""
    gc.set_threshold(20_000, 20, 50)


def settle() -> None:
    """Leave all that is in memory now out of every collection to come, and collect seldom."""
    gc.collect()
    gc.freeze()
    collect_seldom()
