"""Unix times as dates in UTC.

Pure. Invariant: any time from 1970 on has a date, for what never ends may be shown as well.
"""

from __future__ import annotations

from datetime import UTC, datetime

_LAST = 253402300799  # the last second that a date can hold


def utc(seconds: float) -> datetime:
    """The date of a Unix time; the end of the year 9999 for any later one."""
    return datetime.fromtimestamp(min(seconds, _LAST), UTC)
