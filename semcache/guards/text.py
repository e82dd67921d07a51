"""The words of a text, read once and shared by all guards.

Knows nothing of what words mean. Invariant: `words[i]` is `tokens[i]` in lower case with straight apostrophes.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_TOKEN = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_DIGIT = re.compile(r"\d")
READINGS = 4096  # remembered readings per guard: some MB at prompts of a few hundred characters


def vocabulary(words: str) -> frozenset[str]:
    """A set of words, written as text."""
    return frozenset(words.split())


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
    tokens = tuple(_TOKEN.findall(raw))
    words = tuple(map(str.lower, tokens))
    return Text(raw, lower, tokens, words, frozenset(words), _DIGIT.search(raw) is not None)
