"""Words that make another task of the same words: negation, conditions, questions, tenses, magnitudes, directions.

"Never delete the branch", "Was the booking cancelled?" and "Delete it if it is old" hold every word of "Delete the
branch" and the like; an alignment that fits them to its pattern must not act on them. Pure.
Invariant: a task is only ever held back; words that the pattern itself has, quoted words, dates and identifiers, words
of a name that a slot takes and free text that a slot takes turn nothing.
"""

from __future__ import annotations

import re
from itertools import pairwise

from semcache.agents.pattern import PatternFit, TaskPattern, realised
from semcache.agents.pattern_gap import PatternGap, Writing, bounds, items, writing
from semcache.agents.slots import AGREEING, SlotKind, find, kind_of
from semcache.config.calendar_names import MONTHS, WEEKDAYS
from semcache.request.text import vocabulary
from semcache.request.wording.misspelt import dictionary

_FREE = 4  # words that a slot of free text has taken before
_MORE = frozenset((Writing.QUALIFIED, Writing.COUNTED, Writing.INDIRECT))
_PAIR = 2  # words of a name without capitals
_PLACE = 2  # words that a name has had before which may be a place's or a thing's

# Whatever the plan does.
_ALWAYS = vocabulary(
    """
    not no never none nobody nothing neither nor cannot without if unless until whenever provided only except
    excluding otherwise instead simulate pretend imagine suppose hypothetically undo revert reverse dry avoid
    refuse but whatever whichever whoever whomever million billion thousand hundred dozen minus half cents cent percent
    """
)
# Where it changes something: what asks about it, tells of it, puts it off or turns it round.
_WRITING = vocabulary(
    """
    who whom whose why how what which where whether was were did has have had been is are am may might should does do
    all both each every rest remaining when once while before after tomorrow yesterday tonight later from off out into
    """
)
_QUESTIONS = vocabulary("who whom whose why how what which where when")
_QUESTION = re.compile(rf"(?:{'|'.join(sorted(_QUESTIONS))})\b|(?:show|tell) me\b")
_MEASURING = ("calculate", "compare", "compute", "estimate", "measure")  # orders that change nothing
_NAMED_THINGS = (SlotKind.ID, SlotKind.EMAIL, SlotKind.URL)
_NAMING = vocabulary("named called titled entitled")
# In a name's place these say that it is none, or that it is more than one.
_NO_NAME = vocabulary(
    """
    and or but as at by for to till via with about because than then versus i me my mine we us our you your he him his
    she her it its they them their this that these those who whoever whom everyone everybody someone somebody anyone
    anybody anywhere everywhere somewhere all any both each every either some most other others another same next last
    first second twice thrice again back now today soon please week weeks weekend month months year years day days hour
    hours minute minutes morning noon evening night midnight asap brother sister mother father wife husband daughter son
    boss friend test draft copy urgent customers clients users members team staff colleagues people employees students
    guests attendees managers
    """
)
_TIMES = re.compile(
    rf"\b(?:(?:{'|'.join(WEEKDAYS)})s?|{'|'.join(MONTHS)}"
    r"|christmas|easter|usd|eur|gbp|jpy|chf|euros?|dollars?|pounds?)\b"
)
# What stands for something else, and is no value of its own.
_REFERRING = vocabulary(
    """
    everyone everybody everything someone somebody something anyone anybody anything all any both each every either some
    others another same it its them they this that these those him her us me else the a an of other next last previous
    first usual rest whole entire
    """
)
_PARTICLES = vocabulary("the a an al da de del della den der di du el la le van von y zu")
_FURTHER = re.compile(r"(?:,| and) (?:the|an?|my|our|your|his|her|their) ")  # "the attic and the hallway"
_CAPITAL = re.compile(r"[a-z0-9,] (?!I\b)[A-Z]")
_OWNED = re.compile(r"['\u2019]s? [a-z]")
_MANNER = re.compile(r"\b[a-z]+ly\b")
_STOPS = re.compile(r"(?:\A|[.,;:!?]\s+|\b(?:please|to|and|then|must|should|now|kindly|can|could|will)\s+)stop\b")
_ASKERS = re.compile(r"\b(?:can|could|may|shall|should|do|did|would) (?:i|we|he|she|they)\b")
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
_EITHER = re.compile(r"\bor\b", re.IGNORECASE)  # outside of values: of two steps only one is wanted
_SCALED = re.compile(r"\d\s?[kmb]\b", re.IGNORECASE)


def turning(task: str, pattern: TaskPattern, fit: PatternFit, *, writes: bool) -> tuple[str, ...]:
    """The words of a task that turn it from what the pattern asks for, and those of the pattern that it lacks.

    `writes`: the plan calls a tool that may change something.
    """
    if fit.pieces and bounds(task) != bounds(realised(pattern, fit)):
        return ("a bound",)
    gaps = [one for one in pattern.elements if isinstance(one, PatternGap)]
    asks = _only_asks(pattern)
    if unlike := _unlike_value(task, pattern, fit, asks=asks, writes=writes):
        return (unlike,)
    told = around = task
    for gap, piece in zip(gaps, fit.pieces, strict=False):
        around = around.replace(piece, " ", 1) if piece else around
        if gap.slot and piece:
            free = (gap.kind is SlotKind.TEXT and gap.widest >= _FREE) or gap.kind is kind_of(piece) is SlotKind.AMOUNT
            told = told.replace(piece, " " if free else _of_no_name(piece), 1)
    told, around = _plain(told), _plain(around)
    fixed = " ".join(pattern.fixed)
    said, known = _turned(told), _turned(fixed)
    if _EITHER.search(around):
        said |= {"or"}
    if _EITHER.search(fixed):
        known |= {"or"}
    if writes:
        # Of a plan that answers questions the verbs and prepositions of their values make no other.
        said |= _moved(around if asks or _QUESTIONS & set(pattern.fixed) else told)
        known |= _moved(fixed)
    return tuple(sorted(said ^ known))


def _unlike_value(task: str, pattern: TaskPattern, fit: PatternFit, *, asks: bool, writes: bool) -> str:
    """A value that is none of those that its slot is for, in a word; "" where there is none."""
    gaps = [one for one in pattern.elements if isinstance(one, PatternGap)]
    taken = [(gap, fit.values[gap.slot]) for gap in gaps if gap.slot in fit.values]
    if any(_is_bounded(gap, piece) for gap, piece in taken):
        return "a bound"
    if any(gap.kind is SlotKind.NAME and _is_name_and_more(piece) for gap, piece in taken):
        return "no name"
    if any(Writing.PERSON in gap.took and _OWNED.search(piece) for gap, piece in taken):
        # "Ann Lee's boss" is somebody else, whoever is asked for.
        return "no name"
    if not asks and any(_is_list(gap, piece) for gap, piece in taken):
        return "a list"
    if any(_points(gap, piece) for gap, piece in taken):
        return "what is pointed at"
    measures = pattern.elements[0] in _MEASURING and not _is_joined(pattern)
    if (
        writes
        and not (asks or measures)
        and any(_says_more(gap, one) for gap, piece in taken for one in _items(gap, piece))
    ):
        return "more than a value"
    cased, named = _CAPITAL.search(task) is not None, _named(pattern)
    singles = [(gap, one) for gap, piece in taken if gap.slot not in named for one in _items(gap, piece)]
    return (
        "no name"
        if writes and not (asks or measures) and any(_is_no_name(gap, one, cased=cased) for gap, one in singles)
        else ""
    )


def _only_asks(pattern: TaskPattern) -> bool:
    """Return True for a task that begins as a question and joins only values: whoever carries it out changes nothing.

    Its tools may not be declared so; a value that is no name leads to a look at nothing, and to no deed.
    """
    begins = " ".join([one if isinstance(one, str) else "_" for one in pattern.elements[:2]])
    return _QUESTION.match(begins) is not None and not _is_joined(pattern)


def _is_joined(pattern: TaskPattern) -> bool:
    """Return True where words, and not values alone, are joined to what stands before them."""
    joined = any(one == "and" and isinstance(two, str) for one, two in pairwise(pattern.elements))
    return joined or "then" in pattern.fixed


def _named(pattern: TaskPattern) -> frozenset[str]:
    """The slots of which the pattern says that their value is a name, whatever it is: "a folder named news"."""
    pairs = pairwise(pattern.elements)
    return frozenset([gap.slot for word, gap in pairs if word in _NAMING and isinstance(gap, PatternGap)])


def _is_bounded(gap: PatternGap, piece: str) -> bool:
    """Return True where a bound, "at most $30", stands in the place of what had none."""
    free = gap.kind is SlotKind.QUOTED or (gap.kind is SlotKind.TEXT and gap.widest >= _FREE)
    return not free and Writing.BOUNDED in writing(piece) - gap.took


def _points(gap: PatternGap, piece: str) -> bool:
    """Return True where a word that points stands in the place of a value: no tool knows what it points at."""
    free = gap.kind not in (SlotKind.NAME, SlotKind.TEXT, SlotKind.ID) or gap.widest >= _FREE
    return not free and Writing.POINTING in writing(piece) - gap.took


def _is_list(gap: PatternGap, piece: str) -> bool:
    """Return True where several things are named in the place of one."""
    if gap.kind not in (SlotKind.NAME, SlotKind.TEXT) or Writing.SEVERAL not in writing(piece) - gap.took:
        return False
    if gap.widest < _PLACE or Writing.PERSON in writing(piece) or (gap.kind is SlotKind.NAME and " and " in piece):
        return True
    # "Crime and Punishment" may be one, "mem-low and cpu-high" are two.
    coded = all("-" in one or "_" in one for one in items(piece))
    single = Writing.WORDS not in gap.took and " " not in "".join(items(piece))
    paired = gap.kind is SlotKind.TEXT and (single or "," in piece)
    return gap.widest < _FREE and (coded or paired or _FURTHER.search(piece) is not None)


def _says_more(gap: PatternGap, piece: str) -> bool:
    """Return True where words beside a value, or in the place of one, say more than the values of a slot did so far."""
    new = writing(piece) - gap.took if gap.kind in (SlotKind.NAME, SlotKind.TEXT) else frozenset()
    if gap.kind is SlotKind.TEXT and gap.widest >= _FREE:
        return Writing.INDIRECT in new
    # "Duplicate of SUP-9" where "duplicate" and "fixed" have stood.
    joined = gap.kind is SlotKind.TEXT and gap.widest == 1 and any(one.kind in _NAMED_THINGS for one in find(piece))
    return not new.isdisjoint(_MORE) or (Writing.WORDS in new and (joined or Writing.SIGNS in gap.took))


def _items(gap: PatternGap, piece: str) -> list[str]:
    return items(piece) if Writing.SEVERAL in gap.took else [piece]


def _is_no_name(gap: PatternGap, piece: str, *, cased: bool) -> bool:
    """Return True where a name or an identifier is wanted and something else stands: "nobody", "Frank on Monday".

    Words without capitals, as in "Schenley park" or "primer", are taken for a name where it had such before, or where
    the whole task has no capitals (not `cased`); ordinary words are taken for an identifier where it had such before.
    """
    lower = piece.casefold()
    said = _WORD.findall(lower)
    if gap.kind is SlotKind.ID:
        whole = lower.split() if kind_of(piece) is not gap.kind else []
        if _NO_NAME & set(whole) or whole[:1] == ["of"] or sum(one.kind is gap.kind for one in find(piece)) > 1:
            return True
        return bool(whole) and Writing.ORDINARY not in gap.took and all(word in dictionary() for word in whole)
    if gap.kind is SlotKind.TEXT:
        return bool(said) and set(said) <= _REFERRING
    if gap.kind is not SlotKind.NAME or kind_of(piece) is not SlotKind.TEXT:
        return False
    if _NO_NAME & set(said) or any(one.search(piece) for one in (_OWNED, _MANNER)):
        return True
    if Writing.ORDINARY in gap.took:
        return False
    if piece[:1].islower() and piece != lower and said[0] not in _PARTICLES and said[0] in dictionary():
        # "owner Ann Lee" says something of her.
        return True
    if Writing.PERSON in gap.took and piece != lower and set(filter(str.islower, _WORD.findall(piece))) - _PARTICLES:
        # "Tom Baker temporary"
        return True
    if piece == lower:
        return cased or said[:1] == ["the"] or len(said) > max(_PAIR, gap.widest)
    return gap.widest < _PLACE


def _is_name_and_more(piece: str) -> bool:
    """Return True where a time or a currency stands beside a name: "Frank on Monday", "Ann Lee in euros"."""
    return kind_of(piece) is SlotKind.TEXT and _TIMES.search(piece.casefold()) is not None


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
    """A text without what is quoted, and without its dates, times and identifiers."""
    for value in find(text):
        if value.kind in (SlotKind.QUOTED, SlotKind.DATE, SlotKind.TIME, SlotKind.ID):
            text = text.replace(value.text, " ", 1)
    return text.casefold().replace("\u2019", "'")


def _turned(lower: str) -> set[str]:
    words = {part for word in _WORD.findall(lower) for part in word.split("-")}
    found = words & _ALWAYS | {word for word in words if word.endswith("n't")}
    found |= {match[0] for match in _SCALED.finditer(lower)} and {"a scale"}
    return found | ({"stop"} if _STOPS.search(lower) else set())


def _moved(lower: str) -> set[str]:
    return {AGREEING.get(one, one) for one in set(_WORD.findall(lower)) & _WRITING} | set(_ASKERS.findall(lower))
