"""Words that make another task of the same words: negation, conditions, questions, tenses, magnitudes, directions.

"Never delete the branch", "Was the booking cancelled?" and "Delete it if it is old" hold every word of "Delete the
branch" and the like; an alignment that fits them to its pattern must not act on them. Pure.
Invariant: a task is only ever held back; words that the pattern itself has, quoted words and free text that a slot
takes turn nothing.
"""

from __future__ import annotations

import re

from semcache.agents.pattern import PatternFit, PatternGap, TaskPattern
from semcache.agents.slots import SlotKind, find, kind_of
from semcache.request.text import vocabulary

_FREE = 4  # words that a slot of free text has taken before

# Whatever the plan does.
_ALWAYS = vocabulary(
    """
    not no never none nobody nothing neither nor cannot without if unless until whenever provided only except
    excluding otherwise instead simulate pretend imagine suppose hypothetically undo revert reverse dry avoid stop
    refuse million billion thousand hundred dozen minus half cents cent percent
    """
)
# Where it changes something: what asks about it, tells of it, puts it off or turns it round.
_WRITING = vocabulary(
    """
    who whom whose why how what which where whether was were did has have had been is are am may might should does do
    when once while before after tomorrow yesterday tonight later from off out into
    """
)
_ASKERS = re.compile(r"\b(?:can|could|may|shall|should|do|did|would) (?:i|we|he|she|they)\b")
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*")
_SCALED = re.compile(r"\d\s?[kmb]\b", re.IGNORECASE)


def turning(task: str, pattern: TaskPattern, fit: PatternFit, *, writes: bool) -> tuple[str, ...]:
    """The words of a task that turn it from what the pattern asks for, and those of the pattern that it lacks.

    `writes`: the plan calls a tool that may change something.
    """
    told = _without(task, [value.text for value in find(task) if value.kind is SlotKind.QUOTED])
    gaps = [one for one in pattern.elements if isinstance(one, PatternGap)]
    free = [one.slot and one.kind is SlotKind.TEXT and one.widest >= _FREE for one in gaps]
    told = _without(told, [piece for piece, loose in zip(fit.pieces, free, strict=False) if loose])
    if writes and any(_is_no_name(gap, fit.values[gap.slot]) for gap in gaps if gap.slot in fit.values):
        return ("no name",)
    said, fixed = _turning(told, writes=writes), _turning(" ".join(pattern.fixed), writes=writes)
    return tuple(sorted(said ^ fixed))


def _is_no_name(gap: PatternGap, piece: str) -> bool:
    """Return True where a name is wanted and something else stands: "nobody", "Frank on Monday", "Frank and Gina"."""
    return gap.kind is SlotKind.NAME and (kind_of(piece) is SlotKind.TEXT or " and " in piece)


def _without(text: str, pieces: list[str]) -> str:
    for piece in pieces:
        text = text.replace(piece, " ", 1)
    return text


def _turning(text: str, *, writes: bool) -> set[str]:
    lower = text.casefold().replace("\u2019", "'")
    words = set(_WORD.findall(lower))
    found = words & (_ALWAYS | _WRITING if writes else _ALWAYS)
    found |= {word for word in words if word.endswith("n't")}
    found |= {match[0] for match in _SCALED.finditer(lower)} and {"a scale"}
    if writes:
        found |= set(_ASKERS.findall(lower))
    return found
