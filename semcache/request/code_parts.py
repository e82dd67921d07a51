"""The parts of a text that are code or a formula, which have no other wording: "x = 7 // 2", "rm -rf ./tmp".

A word is code by the signs in it, and a sign on its own together with the words beside it. Knows no programming
language. Pure. Invariant: two texts with equal code parts may still mean different things; two with different ones
always do.
"""

from __future__ import annotations

import re
import unicodedata

from semcache.request.text import LIGHT
from semcache.runtime.scoped_memo import scoped_cache

_BOLD = re.compile(r"(\*\*|__)(?=\S)([^*_\n]{1,200})(?<=\S)\1")
_ITALIC = re.compile(r"(?<![\w*])\*(?=\w)([^*\n]{1,200})(?<=\w)\*(?![\w*])")
_MARKER = re.compile(r"(?m)^[ \t]*+(?:[-*\u2022+]|\d{1,3}[.)]|#{1,6}|>)[ \t]++")
_SIGNS = re.compile(
    r"[=<>\\^~|{}\[\]`]|\+\+|--\w|\*\*?\w|&&|//(?!\S+\.\S)|::|\(\)|[\w\]]\(|!\w|^[-+]\w|^&\w|^\.{0,2}/\w|%[a-z\d]\b(?<!\d%\d)"
    r"|\$[A-Za-z{(]|\w\?\.\w|\w_\w|\w[+*]\w|[)\]][-+*/]|[-+*/][(\[]|\d[a-z]?[-+*/]\d*[a-z]\b|\d[a-z][-+*/]\d|^\(\w{1,2}$|^\w{1,2}\)$"
)
_OPERATORS = frozenset("+*/%=<>!?|&^~-:")
_EMOTICON = re.compile(r"[:;=8][-']?[()DPp]+\Z")
_TAIL = ".,;:!?\"\u201d'\u2019\u2026"
_HEAD = "\"\u201c'\u2018"
_NUMBER = re.compile(r"[<>~\u2248]?[-+]?[$\u20ac\u00a3#]?\d[\d.,:/]*[%\u00b0]?\Z")
_INDENTED = re.compile(r"\n[ \t]+\S")
_SHORT = 2  # letters of what may be the name of a variable


def same_code(one: str, two: str) -> bool:
    """Return True if both texts have the same code parts in the same order; most texts have none."""
    return code_parts(one) == code_parts(two)


@scoped_cache(maxsize=2048)
def code_parts(text: str) -> tuple[str, ...]:
    """The words of a text that are code, lone signs with the words beside them, and the indents of such lines."""
    if text.isalpha():
        return ()
    text = text.replace("\u2192", "->").replace("\u21d2", "=>")
    plain = _MARKER.sub("", _ITALIC.sub(r"\1", _BOLD.sub(r"\2", text)))
    indented = _INDENTED.search(text) is not None
    found: list[str] = []
    for line in plain.split("\n"):
        words = line.split()
        parts = [part for place in range(len(words)) if (part := _part(words, place))]
        if parts and indented:
            found.append(f"indent {len(line) - len(line.lstrip())}")
        found += parts
    return tuple(found)


def _part(words: list[str], place: int) -> str:
    word = words[place]
    if word.isalnum() or _EMOTICON.match(word) is not None:
        return ""
    if _OPERATORS.issuperset(word) or (len(word) == 1 and unicodedata.category(word) == "Sm"):
        before, after = words[place - 1] if place else "", words[place + 1] if place + 1 < len(words) else ""
        if word in ("-", ":", "?", "!", "&") and not _is_short(before) and not _is_short(after):
            return ""  # a dash, or a mark that stands apart
        return " ".join((before.strip(_HEAD + _TAIL), word, after.strip(_HEAD + _TAIL)))
    bare = word.lstrip(_HEAD).rstrip(_TAIL)
    if _NUMBER.match(bare) is not None or _SIGNS.search(bare) is None:
        return ""
    return word.rstrip(".,;:!?") if "$" in bare or "\\" in bare else bare


def _is_short(word: str) -> bool:
    bare = word.strip("()[]" + _HEAD + _TAIL)
    return 0 < len(bare) <= _SHORT and bare.isalpha() and bare.lower() not in LIGHT
