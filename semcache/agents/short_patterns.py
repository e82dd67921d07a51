"""Short patterns: those with one word beside values that spelling does not decide, such as "close INC-7".

Such a word tells little: "open" is done to files, people and programs by different tools. The pattern of one run is
therefore for its own values alone. Two runs of one plan with other values free it for values of the same family:
people, or identifiers with the same letters, ending or sign. Free text is freed only amid values of known kinds. Pure.
Invariant: a pattern of several telling words is left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b

from semcache.agents.pattern_gap import PatternGap, only_value
from semcache.agents.slots import ARTICLE, STOP, STRICT, SlotKind, stem, words
from semcache.agents.value_sorts import is_person, shape
from semcache.agents.word_alignment import Element
from semcache.request.text import vocabulary

_AMID = 2  # values of known kinds beside free text
_FIXED = 3  # fixed words of such a frame
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
    return blake2b(found.encode(), digest_size=8, key=salt[:64]).digest() if found else b""


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


def may_free(one: Sequence[Element], two: Sequence[Element], both: Sequence[Element]) -> bool:
    """Return True if what two short patterns of one plan have in common holds for other values too."""
    fixed = [element for element in both if isinstance(element, str)]
    if _likeness(one) != _likeness(two) or any(stem(word) in _LIGHT for word in fixed):
        return False
    gaps = [gap for gap in both if isinstance(gap, PatternGap)]
    known = [gap for gap in gaps if _is_known(gap)]
    # The first value is what the word is done to, and tells as much as the word itself: "move the sofa".
    framed = len(known) >= _AMID and len(fixed) >= _FIXED and gaps[0] in known
    return all(gap.only or _is_known(gap) or (framed and gap.kind is SlotKind.TEXT) for gap in gaps)


def frame(elements: Sequence[Element]) -> str:
    """The words of a short pattern, with a mark for each of its gaps; "" for any other pattern."""
    said = [stem(one) if isinstance(one, str) else "_" for one in elements]
    return " ".join([one for one in said if one != ARTICLE]) if len({*said} - STOP - {"_"}) == 1 else ""


def is_asked(task: str, elements: Sequence[Element]) -> bool:
    """Return True for a task that begins as the pattern does and ends as a question: "Call Ann?".

    "Could you call Ann?" is an order, and its rest without that courtesy has no capital.
    """
    begins = [stem(one) for one in elements[:1] if isinstance(one, str)]
    return task[:1].isupper() and task.rstrip().endswith("?") and [word.stem for word in words(task)[:1]] == begins


def _is_known(gap: PatternGap) -> bool:
    return gap.kind in STRICT or gap.kind in (SlotKind.QUOTED, SlotKind.CHOICE) or bool(gap.family)


def _likeness(elements: Sequence[Element]) -> list[str]:
    return [stem(one) if isinstance(one, str) else f"<{one.slot} {one.kind.value}>" for one in elements]
