"""Cheap signs that an edit may apply: what a text holds, found by plain searches, before any pattern is tried.

Invariant: a sign is never missing where a pattern that ignores case would match; a sign alone changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

_DIGIT = re.compile(r"\d")
_OPENING = 40  # characters
_BLANKED = tuple(',.?!;:()"\u00bf\u00a1\u060c\u061f')


def bag_of(text: str) -> list[str]:
    """The words of a text in lower case, in order."""
    low = text.lower()
    for mark in _BLANKED:
        if mark in low:
            low = low.replace(mark, " ")
    return low.split()


def opening_words(text: str) -> list[str]:
    """The first words of a text in lower case, which tell if the pattern of an opening is worth a try."""
    return text[:_OPENING].lower().replace(",", " ").split()


def folded(text: str) -> str:
    """The text in lower case, with plain letters for those that patterns take for them."""
    low = text.lower()
    return low if text.isascii() else low.replace("\u017f", "s").replace("\u0131", "i").replace("i\u0307", "i")


def holds(text: str, parts: Iterable[str]) -> bool:
    """Return True if any of these stands in the text."""
    return any(map(text.__contains__, parts))


def begun(pattern: re.Pattern[str], plain: Callable[[re.Match[str]], str], text: str) -> str:
    """The text with what the pattern matches at its beginning in another writing, as `sub` has it but far faster."""
    match = pattern.match(text)
    return text if match is None else plain(match) + text[match.end() :]


def has_digit(text: str) -> bool:
    """Return True for a text with a digit of any writing, raised ones among them."""
    return _DIGIT.search(text) is not None or (not text.isascii() and any(map(str.isdigit, text)))
