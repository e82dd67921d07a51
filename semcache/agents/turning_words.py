"""Words that make another task of the same words: negation, conditions, questions, tenses, magnitudes, directions.

"Never delete the branch", "Was the booking cancelled?" and "Delete it if it is old" hold every word of "Delete the
branch" and the like; an alignment that fits them to its pattern must not act on them. Pure.
Invariant: a task is only ever held back; words that the pattern itself has, quoted words, dates and identifiers, words
of a name that a slot takes and free text that a slot takes turn nothing.
"""

from __future__ import annotations

import re

from semcache.agents.pattern import PatternFit, PatternGap, TaskPattern
from semcache.agents.slots import SlotKind, find, kind_of
from semcache.request.text import vocabulary

_FREE = 4  # words that a slot of free text has taken before
_PLACE = 2  # words that a name has had before which may be a place's or a thing's

# Whatever the plan does.
_ALWAYS = vocabulary(
    """
    not no never none nobody nothing neither nor cannot without if unless until whenever provided only except
    excluding otherwise instead simulate pretend imagine suppose hypothetically undo revert reverse dry avoid
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
_QUESTIONS = vocabulary("who whom whose why how what which where when")
# In a name's place these say that it is none, or that it is more than one.
_NO_NAME = vocabulary(
    """
    and or but as at by for to till via with about because than then versus i me my mine we us our you your he him his
    she her it its they them their this that these those who whoever whom everyone everybody someone somebody anyone
    anybody anywhere everywhere somewhere all any both each every either some most other others another same next last
    first second twice thrice again back now today soon please week weeks weekend month months year years day days hour
    hours minute minutes morning noon evening night midnight asap brother sister mother father wife husband daughter son
    boss friend test draft copy urgent
    """
)
_TIMES = re.compile(
    r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|may|june|july|august|september"
    r"|october|november|december|christmas|easter|usd|eur|gbp|jpy|chf|euros?|dollars?|pounds?)\b"
)
_LIST = re.compile(r",(?! ?[A-Z]{2}\b)")  # but "Allentown, PA"
_OWNED = re.compile(r"['\u2019]s? [a-z]")
_MANNER = re.compile(r"\b[a-z]+ly\b")
_STOPS = re.compile(r"(?:\A|[.,;:!?]\s+|\b(?:please|to|and|then|must|should|now|kindly|can|could|will)\s+)stop\b")
_ASKERS = re.compile(r"\b(?:can|could|may|shall|should|do|did|would) (?:i|we|he|she|they)\b")
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
_SCALED = re.compile(r"\d\s?[kmb]\b", re.IGNORECASE)


def turning(task: str, pattern: TaskPattern, fit: PatternFit, *, writes: bool) -> tuple[str, ...]:
    """The words of a task that turn it from what the pattern asks for, and those of the pattern that it lacks.

    `writes`: the plan calls a tool that may change something.
    """
    gaps = [one for one in pattern.elements if isinstance(one, PatternGap)]
    if writes and any(_is_no_name(gap, fit.values[gap.slot]) for gap in gaps if gap.slot in fit.values):
        return ("no name",)
    told = around = task
    for gap, piece in zip(gaps, fit.pieces, strict=False):
        around = around.replace(piece, " ", 1) if piece else around
        if gap.slot and piece:
            free = gap.kind is SlotKind.TEXT and gap.widest >= _FREE
            told = told.replace(piece, " " if free else _of_no_name(piece), 1)
    told, around = _plain(told), _plain(around)
    fixed = " ".join(pattern.fixed)
    said, known = _turned(told), _turned(fixed)
    if writes:
        # Of a plan that answers questions the verbs and prepositions of their values make no other.
        said |= _moved(around if _QUESTIONS & set(pattern.fixed) else told)
        known |= _moved(fixed)
    return tuple(sorted(said ^ known))


def _is_no_name(gap: PatternGap, piece: str) -> bool:
    """Return True where a name is wanted and something else stands: "nobody", "Frank on Monday", "Frank and Gina".

    So it is where an identifier is wanted: "Cancel booking all", "Cancel booking BK-1 BK-2".

    Small words beside capitals belong to the name where it had several words before: "Schenley park".
    """
    if gap.kind is SlotKind.ID:
        said = piece.split()
        return bool(_NO_NAME & set(said)) or said[:1] == ["of"] or sum(one.kind is gap.kind for one in find(piece)) > 1
    if gap.kind is not SlotKind.NAME:
        return False
    several = " and " in piece or (gap.widest < _PLACE and _LIST.search(piece) is not None)
    if kind_of(piece) is not SlotKind.TEXT:
        return several
    lower = piece.casefold()
    strange = bool(_NO_NAME & set(_WORD.findall(lower))) or any(one.search(piece) for one in (_OWNED, _MANNER))
    return several or gap.widest < _PLACE or piece == lower or strange or _TIMES.search(lower) is not None


def _of_no_name(piece: str) -> str:
    """The words of a piece that belong to no name: "Out of Office" and "One Stop Market" say nothing of out and stop.

    A negation is one with its capital too, unless a name begins before it.
    """
    kept: list[str] = []
    before = ""
    for word in piece.split():
        small = word.strip("\"'(),.;:").casefold()
        named = word[:1].isupper() and (before[:1].isupper() or small not in _ALWAYS)
        kept += [] if named and not small.endswith("n't") else [word]
        before = word
    return " ".join(kept) or " "


def _plain(text: str) -> str:
    """A text without what is quoted, and without its dates and identifiers."""
    for value in find(text):
        if value.kind in (SlotKind.QUOTED, SlotKind.DATE, SlotKind.ID):
            text = text.replace(value.text, " ", 1)
    return text.casefold().replace("\u2019", "'")


def _turned(lower: str) -> set[str]:
    words = {part for word in _WORD.findall(lower) for part in word.split("-")}
    found = words & _ALWAYS | {word for word in words if word.endswith("n't")}
    found |= {match[0] for match in _SCALED.finditer(lower)} and {"a scale"}
    return found | ({"stop"} if _STOPS.search(lower) else set())


def _moved(lower: str) -> set[str]:
    return set(_WORD.findall(lower)) & _WRITING | set(_ASKERS.findall(lower))
