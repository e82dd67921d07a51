"""Short patterns: those with one word beside values that spelling does not decide, such as "close INC-7".

Such a word tells little: "open" is done to files, people and programs by different tools. The pattern of one run is
therefore for its own values alone. Two runs of one plan with other values free it for values of the same family:
people, identifiers with the same letters, ending or sign, or things of one name ("yoga class", "spin class"). Free text
is freed only amid values of known kinds. Pure. Invariant: a pattern of several telling words is left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b

from semcache.agents.pattern_gap import PatternGap, Writing, only_value
from semcache.agents.slots import ARTICLE, STOP, STRICT, SlotKind, stem, words
from semcache.agents.value_heads import head_of
from semcache.agents.value_sorts import is_person, shape
from semcache.agents.word_alignment import Element
from semcache.request.text import vocabulary

_AMID = 2  # values of known kinds beside free text
_FIXED = 3  # fixed words of such a frame
_THINGS = 3  # of different names that had one plan
_HEADS = 64  # names of things that a pattern knows
_DIGEST = 8  # bytes
# Words that say next to nothing of what is done, or to what.
_LIGHT = vocabulary(
    """
    what who whom whose which where when why how get give show find make go run start set check tell need help put take
    see want use try let keep look handle process manage update change fix
    """
)
_ENDING = re.compile(r"\.([a-z]{2,12}\d?)\Z")
_LOGIN = re.compile(r"[a-z]+[._-][a-z]+")  # "ann.lee"


def family_of(value: str, salt: bytes = b"") -> bytes:
    """The keyed digest of what a value has in common with its like, b"" where nothing is known of them."""
    form = shape(value)
    found = "person" if is_person(value) else ""
    if form == "tag":
        found = "#digits" if value[1:].isdecimal() else "#letters"
    elif form == "numbered":
        found = re.split(r"[-_]", value)[0].casefold()
    elif form in ("file", "path") and (ending := _ENDING.search(value)) is not None:
        found = f"{form} {ending[1]}"
    if _LOGIN.fullmatch(value) and is_person(re.sub(r"[._-]", " ", value).title()):
        found = "login"
    if not found and (head := head_of(value)):
        return only_value(head, salt)
    return blake2b(found.encode(), digest_size=_DIGEST, key=salt[:64]).digest() if found else b""


def pinned(
    elements: Sequence[Element], values: Mapping[str, str], listed: Container[str], *, salt: bytes
) -> tuple[Element, ...]:
    """The elements of a short pattern for the values of its run alone.

    `listed` are the slots whose values the schema of a tool lists.
    """
    return tuple(
        [
            _pinned(one, values[one.slot], listed, salt) if isinstance(one, PatternGap) and one.slot in values else one
            for one in elements
        ]
    )


def _pinned(gap: PatternGap, value: str, listed: Container[str], salt: bytes) -> PatternGap:
    if gap.kind in STRICT or gap.kind is SlotKind.QUOTED:
        return gap
    kind = SlotKind.CHOICE if gap.slot in listed else gap.kind
    return replace(gap, kind=kind, only=only_value(value, salt), family=family_of(value, salt))


def likeness(element: Element) -> str:
    """An element, as it is the same in patterns that differ in the values of their gaps alone."""
    return stem(element) if isinstance(element, str) else f"<{element.slot} {element.kind.value}>"


def may_free(one: Sequence[Element], two: Sequence[Element], both: Sequence[Element]) -> bool:
    """Return True if what two short patterns of one plan have in common holds for other values too."""
    fixed = [element for element in both if isinstance(element, str)]
    if [*map(likeness, one)] != [*map(likeness, two)] or any(stem(word) in _LIGHT for word in fixed):
        return False
    gaps = [gap for gap in both if isinstance(gap, PatternGap)]
    known = [gap for gap in gaps if _is_known(gap) and not _has_head(gap)]
    # The first value is what the word is done to, and tells as much as the word itself: "move the sofa".
    framed = len(known) >= _AMID and len(fixed) >= _FIXED and gaps[0] in known
    return all(gap.only or _is_known(gap) or (framed and gap.kind is SlotKind.TEXT) for gap in gaps)


def is_of_family(value: str, gap: PatternGap, salt: bytes) -> bool:
    """Return True if a value is of one of the families of a gap.

    A thing is of the family of other things alone: "guest login" has the digest of "ann.lee", and is no user.
    """
    return bool(head_of(value)) == _has_head(gap) and family_of(value, salt) in _each(gap.family)


def freed_together(patterns: Sequence[Sequence[Element]]) -> tuple[Element, ...] | None:
    """The short pattern of several that differ in their values alone, for things that are called like theirs.

    Three things that had one plan show that the word is enough for a class, a lesson and a meeting. None where fewer
    had it, or where values differ of which nothing is known.
    """
    columns = list(zip(*patterns, strict=True))
    gaps = [[one for one in column if isinstance(one, PatternGap)] for column in columns]
    light = any(isinstance(one, str) and stem(one) in _LIGHT for one in patterns[0])
    if light or not any(map(_are_several_things, gaps)):
        return None
    joined = [_joined(held) if held else column[0] for held, column in zip(gaps, columns, strict=True)]
    return tuple([one for one in joined if one is not None]) if None not in joined else None


def _are_several_things(gaps: Sequence[PatternGap]) -> bool:
    """Return True for gaps that have had things of several names, and enough of them: any two of a name where freed."""
    had = len({gap.only for gap in gaps if gap.only}) + 2 * len({gap.family for gap in gaps if not gap.only})
    return bool(gaps) and all(map(_has_head, gaps)) and len({gap.family for gap in gaps}) > 1 and had >= _THINGS


def _joined(gaps: Sequence[PatternGap]) -> PatternGap | None:
    """The gap for the values of all these, None where it is not known which others it may take."""
    families = {gap.family for gap in gaps}
    same = len({gap.only or gap.family for gap in gaps}) == 1
    heads = frozenset([one for family in families for one in _each(family)])
    if not same and (not all(map(_is_known, gaps)) or (len(families) > 1 and not all(map(_has_head, gaps)))):
        return None
    return replace(
        gaps[0],
        widest=max(gap.widest for gap in gaps),
        took=frozenset().union(*[gap.took for gap in gaps]),
        led=frozenset().union(*[gap.led for gap in gaps]),
        only=gaps[0].only if same else b"",
        family=b"".join(sorted(heads)[:_HEADS]),
    )


def are_rivals(one: Sequence[Element], two: Sequence[Element]) -> bool:
    """Return True unless two patterns of one frame are told apart by what their values are: a class, and a flight."""
    gaps = [[gap for gap in side if isinstance(gap, PatternGap)] for side in (one, two)]
    return not any(
        _has_head(mine) and _is_other_thing(mine.family, theirs) for mine, theirs in zip(*gaps, strict=False)
    )


def _is_other_thing(heads: bytes, gap: PatternGap) -> bool:
    if gap.family:
        return _has_head(gap) and not _each(gap.family) & _each(heads)
    # One word alone is its own head.
    return gap.widest == 1 and gap.kind is SlotKind.TEXT and bool(gap.only) and gap.only not in _each(heads)


def _each(family: bytes) -> frozenset[bytes]:
    return frozenset([family[at : at + _DIGEST] for at in range(0, len(family), _DIGEST)])


def frame(elements: Sequence[Element]) -> str:
    """The words of a short pattern, with a mark for each of its gaps; "" for any other pattern."""
    said = [stem(one) if isinstance(one, str) else "_" for one in elements]
    return " ".join([one for one in said if one != ARTICLE]) if len({*said} - STOP - {"_"}) == 1 else ""


def is_asked(task: str, elements: Sequence[Element]) -> bool:
    """Return True for a task that begins as the pattern does and ends as a question: "Call Ann?".

    "Could you call Ann?" is an order, whose mark went with its courtesy.
    """
    begins = [stem(one) for one in elements[:1] if isinstance(one, str)]
    return task.rstrip().endswith("?") and [word.stem for word in words(task)[:1]] == begins


def _has_head(gap: PatternGap) -> bool:
    return bool(gap.family) and Writing.COMPOUND in gap.took


def _is_known(gap: PatternGap) -> bool:
    return gap.kind in STRICT or gap.kind in (SlotKind.QUOTED, SlotKind.CHOICE) or bool(gap.family)
