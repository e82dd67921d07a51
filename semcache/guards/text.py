"""The words of a text, read once and shared by all guards.

Knows nothing of what words mean. Invariant: `words[i]` is `tokens[i]` in lower case with straight apostrophes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

_TOKEN = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_DIGIT = re.compile(r"\d")
_SPACED = bytes(code if chr(code).isalnum() and code < 128 else 32 for code in range(256))
READINGS = 4096  # remembered readings per guard: 18 MB for all guards together at prompts of twelve words


def vocabulary(words: str) -> frozenset[str]:
    """A set of words, written as text."""
    return frozenset(words.split())


def heads(words: Iterable[str]) -> str:
    """A pattern for the first three letters of any of these words: one look ahead instead of many attempts."""
    initials: dict[str, set[str]] = {}
    for word in words:
        initials.setdefault(re.escape(word[0]), set()).add(re.escape(word[1:3]))
    return "|".join(f"{first}(?:{'|'.join(sorted(second))})" for first, second in sorted(initials.items()))


class Text(NamedTuple):
    """A text with its apostrophes straightened."""

    raw: str
    lower: str
    tokens: tuple[str, ...]
    words: tuple[str, ...]
    bag: frozenset[str]
    digits: bool


@lru_cache(maxsize=READINGS)
def read(text: str) -> Text:
    """Split `text` into words; hyphens, slashes and underscores separate, apostrophes inside a word do not."""
    raw = text.replace("\u2019", "'").replace("\u2018", "'")
    lower = raw.lower()
    tokens = _tokens(raw)
    words = tokens if lower == raw else _tokens(lower) if raw.isascii() else tuple(map(str.lower, tokens))
    return Text(raw, lower, tokens, words, frozenset(words), _DIGIT.search(raw) is not None)


def _tokens(raw: str) -> tuple[str, ...]:
    if raw.isascii() and "'" not in raw:
        return tuple(raw.encode("ascii").translate(_SPACED).decode("ascii").split())
    return tuple(_TOKEN.findall(raw))
