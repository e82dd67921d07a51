"""The ways in which two texts of a training count as one: but for case and white space, or but for punctuation too.

Pure. Invariant: each gives one text for all that count as one, and the same for its own result.
"""

from __future__ import annotations

import re
import unicodedata

_SPACE = re.compile(r"[\W_]+")
_MARKS = re.compile(r"[+\-*/=<>%$£€#^~]")


def caseless(text: str) -> str:
    """A text without case and repeated white space: what lies in one part of a split, and has one answer."""
    return " ".join(text.lower().split())


def unpunctuated(text: str) -> str:
    """A text without case, variants of letters, punctuation and space, but with the signs that change what is meant."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _SPACE.sub(" ", folded).strip() + "".join(_MARKS.findall(folded))
