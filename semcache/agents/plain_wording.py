"""The plain wording of a task and of a pattern: the canonical wording of the cache, around values that it leaves alone.

"I'd like to invite Ann Lee to Launch Prep" and "Invite Ann Lee to Launch Prep" have one. Two tasks with the same plain
wording and the same values would share an answer of the cache; so a plan of the one is a plan of the other.
Pure. Invariant: every typed value of a task stands in its plain wording once, as it was written.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from semcache.agents.pattern import PatternFit, TaskPattern
from semcache.agents.pattern_gap import PatternGap
from semcache.agents.slots import SlotKind, find
from semcache.request.wording.canonical import canonical
from semcache.runtime.scoped_memo import scoped_cache

_PLACE = re.compile(r'"v(\d+)"')  # quoted, because no edit touches what is quoted
_WISH = re.compile(r"(?:i|we)(?: would| ?['\u2019]d)? (?:like|want|need) (an?) ", re.IGNORECASE)
_GET = "get"
_GETTING = frozenset(
    ["arrange", "book", "buy", "create", "get", "make", "order", "rent", "request", "reserve", "schedule"]
)
_MARKED = re.compile(r"\"v\d|[{}]")


@scoped_cache(maxsize=4096)
def plain_task(task: str) -> str | None:
    """The task in plain wording; None where there is none, or where a value got lost in it."""
    if _MARKED.search(task):
        return None
    values: list[str] = []
    masked, end = "", 0
    for one in find(task):
        masked += f'{task[end : one.start]}"v{len(values)}"'
        values.append(task[one.start : one.end])
        end = one.end
    return _restored(canonical(masked + task[end:]).text, values)


def plain_pattern(pattern: TaskPattern) -> TaskPattern | None:
    """The pattern in plain wording; None for one that takes any words somewhere, or has signs between its words."""
    gaps = [one for one in pattern.elements if isinstance(one, PatternGap)]
    if pattern.signs or any(one.optional or (not one.slot and one.kind is SlotKind.TEXT) for one in gaps):
        return None
    places = iter(range(len(gaps)))
    said = " ".join([one if isinstance(one, str) else f'"v{next(places)}"' for one in pattern.elements])
    elements: list[str | PatternGap] = []
    for part in canonical(said).text.split():
        found = _PLACE.fullmatch(part)
        if found is None and '"' in part:
            return None
        elements.append(part if found is None else gaps[int(found[1])])
    kept = [one for one in elements if isinstance(one, PatternGap)]
    return replace(pattern, elements=tuple(elements)) if sorted(map(id, kept)) == sorted(map(id, gaps)) else None


def wished(task: str) -> str | None:
    """A task that names a thing alone, as one that asks to get it: "get a table for 4" of "I'd like a table for 4"."""
    found = _WISH.match(task)
    return plain_task(f"{_GET} {found[1]} {task[found.end() :]}") if found is not None else None


def getting(pattern: TaskPattern) -> TaskPattern | None:
    """A pattern that asks to get something, "book a table", with that verb for its own; None for any other."""
    first, second = (*pattern.elements, None, None)[:2]
    if first not in _GETTING or second not in ("a", "an"):
        return None
    return replace(pattern, elements=(_GET, *pattern.elements[1:]))


def as_written(task: str, plain: str, fitted: PatternFit) -> PatternFit | None:
    """The fit of a plain wording with its values as the task itself writes them.

    None where one is not to be found, or is free text of which the wording may have left out a part: "thanks" behind a
    message is a word of the message.
    """
    typed = {task[one.start : one.end].casefold() for one in find(task)}
    values: dict[str, str] = {}
    for slot, piece in fitted.values.items():
        written = set(re.findall(rf"(?<!\w){re.escape(piece)}(?!\w)", task, re.IGNORECASE))
        if len(written) != 1 or (piece.casefold() not in typed and _beside(piece, task) != _beside(piece, plain)):
            return None
        values[slot] = written.pop()
    return replace(fitted, values=values)


def _beside(piece: str, text: str) -> list[list[str]]:
    """The word right before and the one right behind each place where a piece stands, with their signs."""
    parts = re.split(rf"(?<!\w){re.escape(piece.casefold())}(?!\w)", text.casefold())
    return [before.split()[-1:] + behind.split()[:1] for before, behind in pairwise(parts)]


def _restored(text: str, values: Sequence[str]) -> str | None:
    places = [int(one) for one in _PLACE.findall(text)]
    if sorted(places) != list(range(len(values))):
        return None
    return _PLACE.sub(lambda found: values[int(found[1])], text)
