"""Unix times as dates in UTC.

Pure. Invariant: any time from 1970 on has a date, for what never ends may be shown as well.
"""

from __future__ import annotations

from datetime import UTC, datetime

from semcache.errors import ConfigError, InvalidArgument

_LAST = 253402300799  # the last second that a date can hold


def utc(seconds: float) -> datetime:
    """The date of a Unix time; the end of the year 9999 for any later one."""
    return datetime.fromtimestamp(min(seconds, _LAST), UTC)


def iso(seconds: float) -> str:
    """A Unix time as ISO 8601 in UTC, to the second: "2027-01-31T18:00:00Z"."""
    return utc(seconds).isoformat(timespec="seconds").replace("+00:00", "Z")


def later(text: str, now: float) -> float:
    """The Unix time that "90d" (from `now`), "2027-01-31" or "2027-01-31T18:00" names, the latter two in UTC.

    Raises InvalidArgument for anything else, and for what is over.
    """
    from semcache.runtime.durations import duration  # with msgspec, which no help needs

    try:
        date = datetime.fromisoformat(text.strip())
    except ValueError:
        try:
            found = now + duration(text)
        except ConfigError:
            raise InvalidArgument(
                f"{text!r} is no time: write how long from now, such as 90d, or a date or time in UTC, such as "
                "2027-01-31 or 2027-01-31T18:00"
            ) from None
    else:
        found = (date if date.tzinfo is not None else date.replace(tzinfo=UTC)).timestamp()
    if found <= now:
        raise InvalidArgument(f"{text!r} is over: write a time that is still to come")
    return found
