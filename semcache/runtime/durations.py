"""Lengths of time as packs and commands write them: a number and a unit.

Pure. Invariant: what `Duration` lets into a pack, `duration` reads.
"""

from __future__ import annotations

import re
from typing import Annotated

import msgspec

from semcache.errors import ConfigError

Duration = Annotated[
    str, msgspec.Meta(pattern=r"^\d+(\.\d+)?\s*(s|m|h|d|w)$", description="a number and a unit: 90s, 15m, 12h, 7d, 2w")
]
DAY = 86_400  # seconds
_LONGEST = 1e15  # seconds
UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": float(DAY), "w": 604800.0}


def duration(text: str) -> float:
    """Seconds of "90s", "15m", "12h", "7d" or "2w". Raises ConfigError."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smhdw])", text.strip())
    if match is None:
        raise ConfigError(f"{text!r} is no duration: write a number and one of s, m, h, d, w, such as 12h")
    seconds = float(match[1]) * UNITS[match[2]]
    if seconds > _LONGEST:
        raise ConfigError(f"{text[:40]!r} is longer than {_LONGEST / DAY:.0e} days: write less, such as 52w")
    return seconds
