"""Passing values: dates, times and what else is another one tomorrow, although two runs of one day had the same.

"Book a table for tomorrow" names no date, and the calls of two runs of one day hold the same one. Reads a value and the
name of its argument; knows no plan. Pure. Invariant: a value that a task or a result has is nowhere asked about here.
"""

from __future__ import annotations

import re
from typing import Any

from semcache.agents.slots import SlotKind, find
from semcache.config.calendar_names import MONTHS, SHORT_WEEKDAYS, WEEKDAYS

_NAMED = re.compile(
    r"(?:\A|[^a-z])(?:dates?|days?|weeks?|months?|years?|quarters?|time|timestamp|datetime|hours?|minutes?|since|until"
    r"|due|deadline|expir\w*|when|now|today|epoch)(?:\Z|[^a-z])"
)
_NUMBERED = re.compile(r"(?:\A|[^a-z])(?:date|day|week|month|year|quarter|hour|minute)(?:\Z|[^a-z])")
_COUNTING = re.compile(r"(?:\A|[^a-z])(?:per|max|min|limit|number|count|every)(?:\Z|[^a-z])")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_SPOKEN = re.compile(
    rf"\b(?:{'|'.join(one for one in MONTHS if one not in ('march', 'may'))}|{'|'.join(WEEKDAYS)}"
    r"|today|tomorrow|yesterday|tonight)\b",
    re.IGNORECASE,
)
_COMPACT = re.compile(r"20\d{6}(?:T?\d{4,6}Z?)?")
_SECONDS = 1_000_000_000  # of the epoch, from 2001 on
_DATED = frozenset((SlotKind.DATE, SlotKind.TIME))


def is_passing(value: Any, argument: str) -> bool:
    """Return True for a date or a time, and for a number in an argument that is called after one ("week": 49)."""
    if isinstance(value, bool) or value is None:
        return False
    if isinstance(value, int | float):
        name = _plain(argument)
        return abs(value) >= _SECONDS or (_NUMBERED.search(name) is not None and _COUNTING.search(name) is None)
    if not isinstance(value, str):
        return False
    if value.strip().isdecimal():
        return is_passing(int(value), argument)
    return (
        any(one.kind in _DATED for one in find(value))
        or _COMPACT.fullmatch(value) is not None
        or _SPOKEN.search(value) is not None
        or (_NAMED.search(_plain(argument)) is not None and value.casefold()[:3] in SHORT_WEEKDAYS)
    )


def passing_in(tree: Any, argument: str = "") -> bool:
    """Return True if arguments hold a passing value, also between the slots of a text (its `parts`)."""
    if isinstance(tree, dict):
        return any(passing_in(inner, str(key)) for key, inner in tree.items())
    if isinstance(tree, list | tuple):
        return any(passing_in(inner, argument) for inner in tree)
    parts = getattr(tree, "parts", None)
    if parts is not None:
        return any(is_passing(one, "") for one in parts if isinstance(one, str))
    return is_passing(tree, argument)


def _plain(argument: str) -> str:
    """The name of an argument in lower case, with a sign between its words."""
    return _CAMEL.sub("_", argument).lower()
