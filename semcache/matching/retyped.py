"""Retyped texts: two texts with the same letters in the same order.

White space, the case of letters, the shape of quotes and the mark at the end may differ if that changes nothing: "WHO"
is not "who", "5!" is not "5", code keeps its case and its lines. Knows only the light words that become names when
capitalised. Invariant: symmetric, and true of any text and itself.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from semcache.request.text import LIGHT
from semcache.runtime.scoped_memo import scoped_cache

LONGEST = 8192  # characters; longer texts are compared as they are
_QUOTES = str.maketrans("\u2018\u2019\u201c\u201d\u00a0", "''\"\" ")
_CODE = re.compile(r"[`_{}()<>=\\]|\w\.\w")


class _TypedText(NamedTuple):
    """`end` is the mark at the end, "" without one; `words` are those before it, `folded` they without their case."""

    words: tuple[str, ...]
    folded: tuple[str, ...]
    end: str
    lines: str
    code: bool
    shouted: bool


def is_retyped(one: str, two: str) -> bool:
    """Return True if `one` and `two` are the same to the letter."""
    if one == two:
        return True
    if max(len(one), len(two)) > LONGEST:
        return False
    left, right = _read(one), _read(two)
    if left.folded != right.folded or left.lines != right.lines or not left.folded:
        return False
    if left.end and right.end and left.end != right.end:
        return False
    if left.words == right.words:
        return True
    if left.code or right.code:
        return False
    return not any(
        _name(a, b, left) or _name(b, a, right) for a, b in zip(left.words, right.words, strict=True) if a != b
    )


@scoped_cache(maxsize=4096)
def _read(text: str) -> _TypedText:
    plain = unicodedata.normalize("NFC", text).translate(_QUOTES).strip()
    end = _end(plain)
    body, marks = plain[:end].rstrip(), plain[end:]
    words = tuple(body.split())
    return _TypedText(
        words,
        tuple([word.casefold() for word in words]),
        next((mark for mark in "?!." if mark in marks), ""),
        body if "\n" in body else "",
        _CODE.search(body) is not None,
        body.isupper() and len(words) > 1,
    )


def _end(text: str) -> int:
    """Where the marks at the end begin; an exclamation mark behind a number may be a factorial."""
    end = len(text)
    while end:
        last = text[end - 1]
        if last == "!":
            before = text[: end - 1].rstrip()[-1:]
            if not (before.isalpha() or before in ("?", "!")):
                break
        elif last not in "?.\u2026" and not last.isspace():
            break
        end -= 1
    return end


def _name(word: str, other: str, reading: _TypedText) -> bool:
    """Return True if capitals make a name of a light word: "US" of "us"."""
    bare = word.strip(".,;:'\"")
    return bare.isupper() and len(bare) > 1 and not reading.shouted and not other.isupper() and bare.lower() in LIGHT
