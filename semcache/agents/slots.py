"""The values of a task: where they stand, of which type each one is, and the words around them.

Reads spelling alone: numbers, amounts, dates, addresses, identifiers, quoted strings and names. Knows no tool and no
template. Invariant: values never overlap, come from left to right, and each is the text between its own bounds.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from calendar import monthrange
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache, wraps
from typing import NamedTuple, TypeVar

from semcache.config.calendar_names import MONTHS, SHORT_MONTHS
from semcache.request.text import vocabulary
from semcache.request.wording.misspelt import dictionary
from semcache.request.wording.unit_names import symbol
from semcache.runtime.scoped_memo import scoped_cache

T = TypeVar("T")
READINGS = 4096  # texts whose words are remembered
_SHORT = 2000  # characters; the reading of a longer text takes far more memory than the text
_LONG_READINGS = 8
_LONGEST = 1 << 18
_BEFORE = 100  # characters in which a sentence is seen to begin


def _remembered(read: Callable[[str], T]) -> Callable[[str], T]:
    """The same function, with a memory for many short texts and for the few long ones that are being worked on."""
    short, long = scoped_cache(READINGS)(read), scoped_cache(_LONG_READINGS, usual=_LONGEST)(read)

    @wraps(read)
    def remembering(text: str) -> T:
        return (short if len(text) <= _SHORT else long)(text)

    return remembering


class SlotKind(StrEnum):
    """The kind of value that a slot holds."""

    LIST = "list"  # "['a', 'b']"
    QUOTED = "quoted"
    EMAIL = "email"
    URL = "url"
    DATE = "date"
    TIME = "time"
    AMOUNT = "amount"
    ID = "id"
    NUMBER = "number"
    NAME = "name"
    CHOICE = "choice"  # one of the values that a tool's schema lists
    TEXT = "text"


STRICT = frozenset(
    (SlotKind.LIST, SlotKind.EMAIL, SlotKind.URL, SlotKind.DATE, SlotKind.TIME, SlotKind.AMOUNT, SlotKind.NUMBER)
)  # kinds that spelling alone decides


@dataclass(frozen=True, slots=True)
class TaskValue:
    """A value in a text; `start` and `end` are offsets in characters, `text` is without its quotes."""

    kind: SlotKind
    start: int
    end: int
    text: str


class TaskWord(NamedTuple):
    """A word of a text; `stem` is what it is compared by, `start` and `end` are offsets in characters."""

    stem: str
    start: int
    end: int


_MONTH = rf"(?:{'|'.join((*MONTHS, *SHORT_MONTHS))})\b\.?"
COUNTS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_QUOTED_ITEM = r"(?:\"[^\"\n]{1,200}\"|'[^'\n]{1,200}')"
_ITEM = rf"(?:{_QUOTED_ITEM}|[\w.@/+-]{{1,64}})"
_PHONE = (
    r"(?<![\w.])(?:(?=\+(?:[ .()-]{0,2}\d){8})\+\d{1,3}(?:[ .-]?\(?\d{2,12}\)?){1,5}"
    r"|\(\d{3}\) ?\d{3}[ -]\d{4}|\d{3}-\d{3}-\d{4})(?![\w-])"
)
_FORMS: tuple[tuple[SlotKind, str], ...] = (
    (
        SlotKind.LIST,
        rf"\[ ?(?:{_QUOTED_ITEM}|[\w.@/+-]{{1,64}} ?, ?{_ITEM})(?: ?, ?{_ITEM}){{0,63}} ?\]",
    ),
    (SlotKind.QUOTED, r"\"[^\"\n]{1,2000}\"|“[^”\n]{1,2000}”|`[^`\n]{1,2000}`|(?<!\w)'[^'\n]{1,2000}'(?!\w)"),
    (SlotKind.EMAIL, r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}"),
    (SlotKind.URL, r"https?://[^\s<>\"']{1,2000}[^\s<>\"'.,;:!?)\]]"),
    (
        SlotKind.DATE,
        rf"\d{{4}}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?|\d{{1,2}}/\d{{1,2}}/\d{{2,4}}|\d{{1,2}}/\d{{4}}"
        rf"|\d{{4}}/\d{{1,2}}"
        rf"|{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?\b|\d{{1,2}}(?:st|nd|rd|th)? {_MONTH}(?: \d{{4}})?"
        rf"|{_MONTH} \d{{4}}\b|\b(?:q[1-4]|quarter [1-4]) (?:of )?(?:fy ?)?\d{{4}}\b|\bfy ?\d{{2,4}}\b"
        r"|\b(?:19|20)\d\d\b",
    ),
    (
        SlotKind.TIME,
        r"(?<![\w:.])\d{1,2}(?::\d\d){1,2}(?: ?[ap]\.?m\b)?(?![\w:])|(?<![\w:.])\d{1,2} ?[ap]\.?m\b",
    ),
    (
        SlotKind.AMOUNT,
        r"[$€£¥] ?\d[\d,]*(?:\.\d+)?(?: ?(?:million|billion|[kmb]))?\b"
        r"|\d[\d,]*(?:\.\d+)? ?(?:%|(?:percent|usd|eur|dollars?|euros?)\b)",
    ),
    # A telephone number; a path; a version; and a word with a letter among its first characters: to look further would
    # look through the whole of a long ruling at each dash.
    (
        SlotKind.ID,
        _PHONE + r"|#\w+|(?<![\w/.~:])(?:~|\.{1,2})?/(?:[\w.-]{1,255}/){0,32}[\w.-]{0,254}\w/?"
        r"|(?=\w[\w./-]{0,63}[^\W\d]|[^\W\d])\w+(?:[./-]+\w+)*|(?<![\w.])\d{1,9}(?:\.\d{1,9}){2,4}(?![\w.]*\w)",
    ),
    (SlotKind.NUMBER, rf"[+-]?\b\d[\d,]*(?:\.\d+)?\b|\b(?:{'|'.join(COUNTS + ORDINALS)})\b"),
)
_VALUE = re.compile("|".join(f"(?P<{kind.value}>{form})" for kind, form in _FORMS), re.IGNORECASE)
_CAPITAL = "[A-ZÀ-ÖØ-Þ" + "".join([chr(code) for code in range(0x100, 0x590) if chr(code).isupper()]) + "]"
_NAME = re.compile(rf"\b{_CAPITAL}[\w'’&-]*(?: (?:(?:of|the|and|de|van|von|&) (?={_CAPITAL}))?{_CAPITAL}[\w'’&-]*)*")
_JOINT = re.compile(r" (?:of|the|and|de|van|von|&) ")  # as in a name
_CAMEL = re.compile(r"\b[A-Z]+[a-z]+[A-Z]\w*")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_FILE = re.compile(r"(?:[\w-]+\.)+[a-z]{2,12}\d?")  # "notes.txt", "example.org"
_VERSION = re.compile(r"v?\d+(?:\.\d+){2,}", re.IGNORECASE)
_IDENTIFIERS = (_FILE, _VERSION, re.compile(_PHONE))
_DAY_OF_YEAR = re.compile(r"(?:0?[1-9]|[12]\d|3[01])/(?:0?[1-9]|[12]\d|3[01])")  # a fraction, but in a date's place
_DAY = re.compile(r"(?<!\d)(\d{4})-(\d\d)-(\d\d)(?!\d)")
_TIME = re.compile(
    r"(?<![\w:.])(?P<hour>\d{1,2})(?=:\d| ?[ap]\.?m\b)"
    r"(?::(?P<minute>\d\d)(?::\d\d)?)?(?: ?(?P<half>[ap]\.?m\b))?(?![\w:])",
    re.IGNORECASE,
)
_QUANTITY = re.compile(r"\d $")
_STARTS = re.compile(r"(?:^|[.!?:;\n]\s*|[\"“(]\s*)$")
_NEVER = vocabulary(
    "i i'm i'd i've i'll a an the my me we our you your he she it they this that these those what who whom whose when"
    " where why how which is are was were do does did can could will would should may might please if and or but"
    " then also in on at to for from by with of as not no yes give show tell list find get"
)
ARTICLE = "the"  # whoever leaves it out means the same; "a desk" is any desk
STOP = vocabulary(
    "a an the of in on at to for from by with and or is are was were be been do does did has have had i me my we our"
    " you your it its this that these those please can could would will as s"
)

# Forms that differ by what stands beside them alone: "an order", "what are the orders".
AGREEING = {"an": "a", "are": "is", "were": "was", "does": "do", "has": "have", "these": "this", "those": "that"}


@_remembered
def words(text: str) -> tuple[TaskWord, ...]:
    """The words of a text, in order."""
    return tuple([TaskWord(stem(found.group()), found.start(), found.end()) for found in _WORD.finditer(text)])


@_remembered
def units(text: str) -> tuple[TaskWord, ...]:
    """The words of a text as patterns align them, with each list in brackets as one."""
    found = list(words(text))
    for one in find(text):
        if one.kind is SlotKind.LIST:
            inside = [place for place, word in enumerate(found) if one.start <= word.start < one.end]
            found[inside[0] : inside[-1] + 1] = [TaskWord(one.text.casefold(), one.start, one.end)]
    return tuple(found)


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """A word in lower case, without the endings that rarely change what is asked for."""
    lower = word.casefold().replace("’", "'").removesuffix("'s")
    if lower in STOP:
        return AGREEING.get(lower, lower)
    for ending in ("ies", "ing", "es", "ed", "s"):
        if lower.endswith(ending) and len(lower) - len(ending) >= 3:
            return lower[: -len(ending)]
    return lower


@_remembered
def find(text: str) -> tuple[TaskValue, ...]:
    """The typed values of a text.

    `SlotKind.CHOICE` and `SlotKind.TEXT` are never found: only a tool call can tell those.
    """
    found: list[TaskValue] = []
    for match in _VALUE.finditer(text):
        kind = SlotKind(str(match.lastgroup))
        raw = match.group()
        if (kind is SlotKind.ID and not _identifier(raw)) or impossible(raw):
            continue
        quoted = kind is SlotKind.QUOTED
        found.append(TaskValue(kind, match.start(), match.end(), raw[1:-1] if quoted else raw))
    starts, ends = [value.start for value in found], [value.end for value in found]
    for begin, end in _names(text, found):
        start = begin
        # The first word of a sentence has its capital for another reason, and is no part of a name if it is a word.
        first = text[start:end].split(" ", 1)
        while first and (first[0].casefold() in _NEVER or (_begins(text, start) and _is_capital_of_sentence(first))):
            if len(first) == 1:
                first = []
            else:
                start += len(first[0]) + 1
                first = first[1].split(" ", 1)
        if first and _QUANTITY.search(text, max(0, start - _BEFORE), start) and symbol(first[0]) is not None:
            # "8 GB": what a number counts is no name.
            continue
        after = bisect_right(ends, start)
        if first and (after == len(ends) or end <= starts[after]):
            found.append(TaskValue(SlotKind.NAME, start, end, text[start:end]))
    return tuple(sorted(found, key=lambda value: value.start))


def _names(text: str, found: Sequence[TaskValue]) -> Iterator[tuple[int, int]]:
    """The places of what is written as a name; "A-1 of Ann Lee" holds one, beside an identifier."""
    ids = [one for one in found if one.kind is SlotKind.ID]
    begun, over = {one.start for one in ids}, {one.end for one in ids}
    for match in _NAME.finditer(text):
        start, end = match.span()
        for joint in _JOINT.finditer(text, start, end):
            if joint.start() in over or joint.end() in begun:
                yield start, joint.start()
                start = joint.end()
        yield start, end


def _is_capital_of_sentence(parts: Sequence[str]) -> bool:
    """Return True unless the first word of a sentence and the rest of what looks like its name are one."""
    return len(parts) == 1 or parts[0].casefold() in dictionary()


def _begins(text: str, at: int) -> bool:
    """Return True if a sentence begins there."""
    return _STARTS.search(text, max(0, at - _BEFORE), at) is not None


def impossible(text: str) -> bool:
    """Return True if a text holds a date that no calendar has, or a time that no clock shows."""
    return any(_no_date(*map(int, one)) for one in _DAY.findall(text)) or any(map(_no_time, _TIME.finditer(text)))


def _no_date(year: int, month: int, day: int) -> bool:
    return not (1 <= month <= 12 and 1 <= day <= monthrange(max(1, year), month)[1])


def _no_time(clock: re.Match[str]) -> bool:
    hour, minute = int(clock["hour"]), int(clock["minute"] or 0)
    return minute > 59 or hour > 23 or (clock["half"] is not None and not 1 <= hour <= 12)


def kind_of(value: str) -> SlotKind:
    """The kind of a value that stands alone; `SlotKind.TEXT` for one that no spelling betrays."""
    found = find(value)
    if len(found) == 1 and len(found[0].text) >= len(value.strip()) - 2:
        return found[0].kind
    return SlotKind.NAME if value[:1].isupper() and all(word[:1].isupper() for word in value.split()) else SlotKind.TEXT


def admits(kind: SlotKind, text: str) -> bool:
    """Return True if a text can fill a slot of this kind; only the strict kinds refuse anything."""
    return (
        kind not in STRICT
        or any(value.kind in (kind, SlotKind.QUOTED) for value in find(text))
        or kind_of(text) is kind
        or (kind is SlotKind.DATE and _DAY_OF_YEAR.fullmatch(text.strip()) is not None)
    )


def _identifier(raw: str) -> bool:
    """Return True for what is no ordinary word, by its signs, its capitals inside, or its digits."""
    if raw.startswith("#") or "_" in raw or ("/" in raw and not raw.replace("/", "").isupper()):
        return True
    if any(form.fullmatch(raw) for form in _IDENTIFIERS):
        return True
    if not any(map(str.isdigit, raw)):
        return bool(_CAMEL.fullmatch(raw))
    # "top-1" and "3-day" are words with a number; "UPC-12" and "HAT039" name something.
    return raw.count("-") == 0 or any(map(str.isupper, raw))
