"""Gaps of patterns: places for values, and what kinds of writing a gap has taken before.

A value is written as an ordinary word ("primer" where an identifier or a name is wanted), is several at once ("Ann, Bob
and Cy"), or has a bound ("under $30"). Pure. Invariant: a gap knows of its values how wide they were and how they were
written, and nothing that they said but for a keyed digest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from hashlib import blake2b

from semcache.agents.qualified_values import is_counted, is_indirect, is_pointing, is_qualified, is_token
from semcache.agents.slots import ARTICLE, STRICT, SlotKind, find, kind_of, words
from semcache.agents.value_heads import head_of
from semcache.agents.value_sorts import has_manner, is_person, is_thing, shape
from semcache.config.calendar_names import MONTHS, WEEKDAYS
from semcache.request.text import vocabulary
from semcache.request.wording.verbs import is_base
from semcache.runtime.scoped_memo import scoped_cache

_COMMA = re.compile(r",(?! ?[A-Z]{2}\b)")  # but "Allentown, PA"
_BETWEEN = re.compile(r"\s*,\s*(?:and\s+)?|\s+and\s+")
_ITEM = re.compile(r"""\"(?P<one>[^\"\n]+)\"|'(?P<two>[^'\n]+)'|(?P<bare>[\w.@/+-]+)""")
# A verb with what it is done to, behind another thing.
_DEED = re.compile(
    r"(?:,|\band)\s+((?-i:[a-z]+))\s+(?:(?:the|an?|it|them|him|her|me|us|my|our|his|its|their|your|this|that|these"
    r"|those|all|every|everything|some|any|one)\b|(?-i:[A-Z])|[$€£¥#]?\d)",
    re.IGNORECASE,
)
_SAME_TIME = {"during": "in", "within": "in"}
OWNED = re.compile(r"['\u2019]s\Z")
_LEADING = vocabulary(
    "in on at from to between for with without by of about into onto until till before after since during within over"
    " under near around through against"
)
# These join something else to a value; "in" and "near" are often part of one ("the parks in Berlin").
_JOINING = _LEADING - vocabulary("of in near around through against over under into onto") | {"as", "per", "via"}
_EXACT = frozenset((SlotKind.EMAIL, SlotKind.URL, SlotKind.QUOTED))
_BOUND = (
    r"at (?:most|least)|up to|(?:more|less|fewer|later|earlier|higher|lower|cheaper) than|under|over|below|above"
    r"|between|before|after|until|till|since|except|beyond|maximum|minimum|max|min"
)
_NEXT = (
    rf"(?:[$€£¥]?\s?\d|(?:the|a|an|of)\b|(?:{'|'.join([month[:3] for month in MONTHS])})[a-z]*\b"
    rf"|{'|'.join(WEEKDAYS)}|noon|midnight)"
)
_BOUNDED = re.compile(
    rf"\b(?:{_BOUND})\.?(?=\s+{_NEXT}|\s*\Z)"
    r"|\d\S*(?: \w+)? (?:or (?:less|more|under|over|below|above|fewer|cheaper|earlier|later)"
    r"|and (?:up|above|under|below|over)|at (?:most|least)|max(?:imum)?|min(?:imum)?|tops|plus)\b",
    re.IGNORECASE,
)
_REPEATED = re.compile(
    rf"\b(?:{'|'.join(WEEKDAYS)}|weekday|weekend)s\b|\S (?:twice|thrice|again|\d+ times|(?:every|each) \S+)\Z",
    re.IGNORECASE,
)
_LATER = re.compile(r"\bin (?:an?|\d+|[a-z]+) (?:second|minute|hour|day|week|month|year)s?\b", re.IGNORECASE)

# In front of any value: "at least medium", "anything but red".
_BOUNDED_WORD = re.compile(
    r"(?:at (?:most|least)|up to|(?:no )?(?:more|less|fewer|higher|lower) than|any(?:thing|one)? but|anything|all but"
    r"|everything but|except"
    r"|(?-i:(?:the )?distinct|extra|additional|more|only|just|about|around|roughly|almost|nearly|half|double|twice))"
    r"\s+\S",
    re.IGNORECASE,
)


_ARTICLED = re.compile(rf"{ARTICLE} [A-Z]")


class Writing(StrEnum):
    """A way in which a value is written."""

    ORDINARY = "ordinary"  # a word or name without a capital, a digit or a sign
    SEVERAL = "several"
    BOUNDED = "bounded"
    EITHER = "either"  # "4 or 5 stars"
    OWNER = "owner"  # "Ann" of "Ann's"
    KIND = "kind"  # "a white desk", which is any
    DEED = "deed"  # "red hats and order the cheapest"
    PHRASE = "phrase"  # "ann on Monday"
    DATED = "dated"  # "ann 2026-05-03"
    PERSON = "person"  # "Ann Lee"
    THING = "thing"  # "Archive"
    REPEATED = "repeated"  # "Mondays"
    MANNER = "manner"  # "red hats quickly"
    QUALIFIED = "qualified"  # "the other room"
    COUNTED = "counted"  # "two cores"
    SIGNS = "signs"  # "jsmith", which is no word
    WORDS = "words"  # several of them
    INDIRECT = "indirect"  # "that I am late", "when it is due"
    TAG = "tag"  # "#general"
    PATH = "path"
    FILE = "file"
    NUMBERED = "numbered"  # "OPS-12"
    CAPITALS = "capitals"  # "USD"
    CAPITAL = "capital"  # "Berlin"
    CODE = "code"  # "jdoe7"
    SLUG = "slug"  # "web-app"
    POINTING = "pointing"  # "this page"
    COMPOUND = "compound"  # "yoga class"
    ARTICLE = "article"  # "the Hotel Zen", which may be called "Hotel Zen" or "The Hotel Zen"


@dataclass(frozen=True, slots=True)
class PatternGap:
    """A place for a value. `slot` names the slot it fills, "" for a value that the plan does not use.

    `widest` is the largest number of words it took so far; an `optional` one may take none. `took` are the ways in
    which its values were written. `only` is the digest of the one value that a gap without a slot has had, b"" once it
    has had several: with another value the task may need another plan. `led` are the prepositions that its
    values began with: "make <text>" of "on Friday" is not that of "to the project". `family` is the digest of what the
    values of a short pattern have in common (`short_patterns`), or several where they are things of several names.
    """

    slot: str
    kind: SlotKind
    widest: int = 1
    optional: bool = False
    took: frozenset[Writing] = frozenset()
    only: bytes = b""
    led: frozenset[str] = frozenset()
    family: bytes = b""

    def taking(self, piece: str) -> PatternGap:
        """The gap once it has taken this piece of a task, too."""
        widest = max(self.widest, len(words(piece)))
        return replace(self, widest=widest, took=self.took | writing(piece), led=self.led | leading(piece))


@scoped_cache(maxsize=4096)
def writing(piece: str) -> frozenset[Writing]:
    """The ways in which a value is written."""
    kind = kind_of(piece)
    if kind in STRICT or kind in _EXACT:
        return frozenset()
    found = set[Writing]()
    if len(items(piece)) > 1:
        found.add(Writing.SEVERAL)
    if any(is_base(one[1]) for one in _DEED.finditer(piece)):
        found.add(Writing.DEED)
    if piece.casefold().startswith(("a ", "an ")):
        found.add(Writing.KIND)
    if " or " in piece.casefold():
        found.add(Writing.EITHER)
    if bounds(piece) or _BOUNDED_WORD.match(piece):
        found.add(Writing.BOUNDED)
    if _is_phrase(piece):
        found.add(Writing.PHRASE)
    if any(one.kind in (SlotKind.DATE, SlotKind.TIME) and not one.text.isdecimal() for one in find(piece)):
        found.add(Writing.DATED)
    if _LATER.search(piece):
        found.add(Writing.DATED)
    if any(kind_of(one) is SlotKind.TEXT and not any(map(str.isdigit, one)) for one in items(piece)):
        found.add(Writing.ORDINARY)
    if _REPEATED.search(piece):
        found.add(Writing.REPEATED)
    if has_manner(piece):
        found.add(Writing.MANNER)
    if is_qualified(piece):
        found.add(Writing.QUALIFIED)
    if _ARTICLED.match(piece):
        found.add(Writing.ARTICLE)
    if is_counted(piece):
        found.add(Writing.COUNTED)
    if is_indirect(piece):
        found.add(Writing.INDIRECT)
    if is_pointing(piece):
        found.add(Writing.POINTING)
    if " " in piece:
        found.add(Writing.WORDS)
    if is_token(piece):
        found.add(Writing.SIGNS)
    if kind is SlotKind.NAME and not piece.isupper():
        found.add(Writing.CAPITAL)
    if head_of(piece):
        found.add(Writing.COMPOUND)
    if shape(piece):
        found.add(Writing(shape(piece)))
    if all(map(is_person, items(piece))):
        found.add(Writing.PERSON)
    if all(map(is_thing, items(piece))):
        found.add(Writing.THING)
    return frozenset(found)


def _is_phrase(piece: str) -> bool:
    """Return True where a preposition joins something to a value: "ann on Monday", but "Doctors without Borders"."""
    said = piece.split()
    inside = [at for at in range(1, len(said) - 1) if said[at] in _JOINING]
    return any(not (said[at - 1][:1].isupper() and said[at + 1][:1].isupper()) for at in inside)


def only_value(piece: str, salt: bytes) -> bytes:
    """The keyed digest of a value that fills no slot, in any case and with or without "the"."""
    plain = " ".join(piece.casefold().removeprefix(f"{ARTICLE} ").split())
    return blake2b(plain.encode(), digest_size=8, key=salt[:64]).digest()


def without_article(piece: str, gap: PatternGap) -> str:
    """A value without "the" where none before had it: "A-1" of "the A-1", "orders" where one word has stood."""
    rest = piece.removeprefix(f"{ARTICLE} ")
    single = gap.kind is SlotKind.ID or (gap.kind is SlotKind.TEXT and gap.widest == 1)
    return rest if gap.slot and single and " " not in rest else piece


def leading(piece: str) -> frozenset[str]:
    """The preposition that a value begins with, if it does; "during 2022" is "in 2022"."""
    return frozenset([_SAME_TIME.get(word, word) for word in piece.casefold().split()[:1] if word in _LEADING])


def bounds(text: str) -> frozenset[str]:
    """The bounds in a text, in lower case: "under" of "under $30"."""
    return frozenset([one.group().casefold() for one in _BOUNDED.finditer(text)])


def items(piece: str) -> list[str]:
    """The items of a list, "milk, eggs and bread" or "['milk', 'eggs']"; the piece itself where it is none."""
    if piece[:1] == "[" and kind_of(piece) is SlotKind.LIST:
        return [next(filter(None, found.groups())) for found in _ITEM.finditer(piece)]
    listed = _COMMA.search(piece) is not None or " and " in piece
    return [one.strip() for one in _BETWEEN.split(piece)] if listed else [piece]


def listing(parts: Iterable[str]) -> re.Pattern[str]:
    """The expression that finds these items as a list in words."""
    return re.compile(rf"(?<!\w){f'(?:{_BETWEEN.pattern})'.join(map(re.escape, parts))}(?!\w)")
