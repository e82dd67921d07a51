"""Texts of calls that an agent composed around values, "We refunded 12.50 for order A-1", and what surrounds these.

A text in which values of the task or of results stand between other words is taken apart. One run does not show if
those words belong to every task of its kind; a second one with other values and the same words does (`grow`). Pure.
Invariant: no word around the values stands in a result, or is a part of a value of the task, and none has a digit.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from semcache.agents.run import digest
from semcache.agents.slots import STOP, words
from semcache.agents.template import Hole, ResultPlace

_LONGEST = 2000  # characters of a text that is taken apart
_LEAST, _MOST = 3, 200  # characters of a result's text that is sought in another
_WHOLE = 10  # whole numbers below this stand in texts by chance
_ROUND = 1000  # from here on a text may write a number with separators
_MONEY = 2  # decimals of a number that texts write as it is
# Where these stand around a value it is part of a query, an address or code, and what it holds may have to be escaped.
_CODE = re.compile(r"[\"'`=<>{}\[\]\\&;|]|://")
_SAFE = re.compile(r"[\w .,:@/+-]*")
_LINK = re.compile(r"[\w.:@-]*")


@dataclass(frozen=True, slots=True)
class FromResult:
    """A value that stood at these places in results."""

    places: tuple[ResultPlace, ...]


Part: TypeAlias = "str | Hole | FromResult"


@dataclass(frozen=True, slots=True)
class ComposedText:
    """A text of an open slot, taken apart; its holes are slots of the task."""

    parts: tuple[Part, ...]

    @property
    def slots(self) -> tuple[str, ...]:
        """The slots of the task in it."""
        return tuple([one.slot for one in self.parts if isinstance(one, Hole)])

    def seen(self, salt: bytes) -> bytes:
        """A keyed digest of what surrounds the values, and of where these come from."""
        said = [
            one if isinstance(one, str) else [one.slot] if isinstance(one, Hole) else [list(one.places[0])]
            for one in self.parts
        ]
        return digest(salt.hex(), "composed", said)


def taken_apart(text: str, values: Iterable[tuple[str, Part]]) -> tuple[Part, ...]:
    """A text cut at the values that it holds as whole words, the longest first."""
    parts: list[Part] = [text]
    for value, part in sorted(values, key=lambda pair: -len(pair[0])):
        if value.casefold() not in text.casefold():
            continue
        # A number is no part of a longer one, of a time or of a date.
        before = r"(?<!\d[.,:/-])" if value[:1].isdigit() else ""
        after = r"(?![.,:/-]\d)" if value[-1:].isdigit() else ""
        cut = re.compile(rf"(?<!\w){before}{re.escape(value)}(?!\w){after}", re.IGNORECASE)
        fresh: list[Part] = []
        for one in parts:
            if not isinstance(one, str):
                fresh.append(one)
                continue
            pieces = cut.split(one)
            for number, piece in enumerate(pieces):
                fresh += [part] * (number > 0) + [piece] * bool(piece)
        parts = fresh
    return tuple(parts)


def composed(
    text: str,
    values: Iterable[tuple[str, Part]],
    *,
    plain: Container[str],
    foreign: Container[str],
) -> ComposedText | None:
    """The text taken apart at these values; None where it holds none, or where its other words may be values too.

    `plain` are stems of words that the task says beside its values, `foreign` those of its values and of results.
    """
    if len(text) > _LONGEST:
        return None
    parts = taken_apart(text, values)
    if all(isinstance(one, str) for one in parts):
        return None
    around = [word.stem for one in parts if isinstance(one, str) for word in words(one)]
    known = all(one in STOP or one in plain or one not in foreign for one in around)
    free = known and not any(map(str.isdigit, "".join([one for one in parts if isinstance(one, str)])))
    return ComposedText(parts) if free else None


def sought(value: Any) -> str | None:
    """The text by which a value of a result is found in a longer one; None for a value that says too little."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return str(value) if abs(value) >= _WHOLE else None
    if isinstance(value, float):
        return written(value)
    telling = isinstance(value, str) and _LEAST <= len(value) <= _MOST and not value.isalpha()
    named = isinstance(value, str) and value[:1].isupper() and len(value) >= _LEAST and len(value) <= _MOST
    return value if telling or named else None


def written(value: Any) -> str | None:
    """A value as a text has it; None for a number that can be written in several ways."""
    text = str(value)
    if isinstance(value, float):
        return text if abs(value) < _ROUND and len(text.partition(".")[2]) == _MONEY else None
    return text


def fits(parts: Sequence[str | Hole], place: int, value: str) -> bool:
    """Return True if a value can stand at this place of a text without being escaped."""
    beside = [one for one in (*parts[max(0, place - 1) : place], *parts[place + 1 : place + 2]) if isinstance(one, str)]
    if any("://" in one for one in parts if isinstance(one, str)):
        return _LINK.fullmatch(value) is not None
    return not any(_CODE.search(one) for one in beside) or _SAFE.fullmatch(value) is not None
