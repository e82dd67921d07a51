"""What a check of `semcache doctor` gives.

Knows nothing of what is checked. Invariant: what is not ok says how to mend it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Finding:
    """One row: what was looked at, how it is, what was found, and how to mend it ("" when it is ok)."""

    check: str
    state: Literal["ok", "warn", "fail"]
    found: str
    remedy: str = ""
