"""Retry-After: the wait that a server asks for before it is asked again.

Pure. Invariant: a date, or what is no plain count of seconds below 100,000, is taken for no wish.
"""

from __future__ import annotations

from collections.abc import Mapping


def asked_pause(headers: Mapping[str, str]) -> float:
    """The seconds that the header asks for; 0 where there is none. `headers` have names in lower case."""
    asked = str(headers.get("retry-after", ""))
    return float(asked) if asked.isdecimal() and len(asked) < 6 else 0.0
