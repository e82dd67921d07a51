"""A finding of `semcache doctor`: the result of one check.

Knows nothing of the checks. Invariant: a finding that is not ok says how to mend it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Finding:
    """One row: the check, its state, what was found, and how to mend it ("" when it is ok)."""

    check: str
    state: Literal["ok", "warn", "fail"]
    found: str
    remedy: str = ""
