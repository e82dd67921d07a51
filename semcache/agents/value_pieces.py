"""The piece of a task that is a value: from which sign to which it goes, of which kind it is, and if it was cut short.

Knows one task and places in it, no patterns. Invariant: a piece holds the words that it was asked for, and beyond them
only signs, or the rest of a typed value that one of them begins or ends in.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from semcache.agents.pattern_gap import items
from semcache.agents.slots import STRICT, SlotKind, TaskWord, find, kind_of, words

# What may stand beside a value and is no part of it.
_BEGINS = re.compile(r"(?:\A|\s|[\"'“”‘’«»`,;:¿¡—–]|(?<!\w)\()\Z")
_NUMBER_BEGINS = re.compile(rf"{_BEGINS.pattern}|[$€£¥#]\Z|[^\W\d]-\Z")  # a sum, a place in a list, "top-3"
_ENDS = re.compile(r"\Z|\s|[\"“”‘’«»`;!?…)—–]|['’](?:s\b|\W|\Z)|[.,:](?!\w)")


def span_of(task: str, said: Sequence[TaskWord], first: int, end: int, kind: SlotKind) -> tuple[int, int]:
    """The place of a value in these words of a task, with the signs that belong to it."""
    start, stop = _widened(task, said[first].start, said[end - 1].end, kind)
    if (first and start < said[first - 1].end) or (end < len(said) and stop > said[end].start):
        # A capital made one name of a value and a word beside it.
        return said[first].start, said[end - 1].end
    return start, stop


def _widened(task: str, start: int, stop: int, kind: SlotKind) -> tuple[int, int]:
    """Take in the signs that belong to a value but to no word: a currency, a percent sign, what else a quote holds."""
    if kind is SlotKind.NUMBER:
        return start, stop
    for value in find(task):
        if (
            value.start <= start
            and stop <= value.end
            and (value.kind is not SlotKind.QUOTED or kind is SlotKind.QUOTED)
        ):
            inner = task.find(value.text, value.start, value.end)
            return inner, inner + len(value.text)
    # A longer piece may begin or end with such a value, "$10 off" or "a discount of 5%", and end in brackets.
    typed = [one for one in find(task) if one.kind is SlotKind.AMOUNT]
    start = next((one.start for one in typed if one.start < start < one.end), start)
    stop = next((one.end for one in typed if one.start < stop < one.end), stop)
    opened = task.count("(", start, stop) - task.count(")", start, stop)
    return start, stop + (opened == 1 and task[stop : stop + 1] == ")")


def is_cut(task: str, start: int, stop: int, kind: SlotKind) -> bool:
    """Return True if a piece may be a part of a value: a sign adjoins it that neither ends a clause nor encloses it."""
    unpaired = any(task.count(one, start, stop) != task.count(two, start, stop) for one, two in ("()", "[]", "{}"))
    whole = _quote(task, start, stop)
    if whole is not None:
        return whole != task[start:stop]
    begins = _NUMBER_BEGINS if kind is SlotKind.NUMBER else _BEGINS
    return unpaired or not (begins.search(task, max(0, start - 2), start) and _ENDS.match(task, stop))


def is_parted_name(task: str, end: int, start: int) -> bool:
    """Return True if one value ends and the next begins within one name: "Ann Lee, Bo | Ray"."""
    between = task[end:start]
    names = [one for one in find(task) if one.kind is SlotKind.NAME]
    return between.isspace() and any(one.start < end and start < one.end for one in names)


def own_value(piece: str, kind: SlotKind) -> str | None:
    """The one value of this kind in a piece that says more than that, "" for several; None where it says no more."""
    found = [one.text for one in find(piece) if one.kind is kind] if kind in STRICT or kind is SlotKind.ID else []
    if len(found) > 1:
        return ""
    return found[0] if found and len(found[0]) + 1 < len(piece.strip()) else None


def kind_at(task: str, start: int, stop: int, value: str) -> SlotKind:
    """The kind of a value that stands at this place."""
    if _quote(task, start, stop) is not None:
        return SlotKind.QUOTED
    return SlotKind.NAME if all(kind_of(one) is SlotKind.NAME for one in items(value)) else kind_of(value)


def _quote(task: str, start: int, stop: int) -> str | None:
    """The quoted text whose words are those of this piece, None where there is none."""
    count = len(words(task[start:stop]))
    held = [one for one in find(task) if one.kind is SlotKind.QUOTED and one.start <= start and stop <= one.end]
    return next((one.text for one in held if len(words(one.text)) == count), None)
