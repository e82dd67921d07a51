"""Results of tools as Python writes them: `{'paid': 40.0, 'open': True}`, which is `str` of what a tool returned.

Many agent libraries hand such a text to the model where others hand JSON. It is rewritten sign by sign and evaluated
nowhere, in a time that grows with its length. Pure. Invariant: what comes back is JSON that says the same, or None.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

_LONGEST = 64 << 10  # characters; a longer result stays a text
_TOKEN = re.compile(
    r"'(?P<single>(?:[^'\\\n]|\\[^\n])*)'|\"(?P<double>(?:[^\"\\\n]|\\[^\n])*)\""
    r"|(?P<word>True|False|None)\b|(?P<plain>[\[\]{}(),:]|\s+|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.]))"
)
_ESCAPE = re.compile(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|(.))")
_SIGNS = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"'}
_WORDS = {"True": "true", "False": "false", "None": "null"}
_BRACKETS = {"(": "[", ")": "]"}
_CLOSING = {"(": ")", "[": "]", "{": "}"}


def as_json(text: str) -> str | None:
    """The JSON of a dictionary, a list or a tuple that Python wrote, None for any other text."""
    text = text.strip()
    if text[:1] not in ("{", "[", "(") or text[-1:] not in ("}", "]", ")") or len(text) > _LONGEST:
        return None
    parts: list[str] = []
    opened: list[str] = []
    place = 0
    while place < len(text):
        token = _TOKEN.match(text, place)
        written = _written(token) if token is not None else None
        if token is None or written is None or not _is_placed(token[0], parts, opened):
            return None
        place = token.end()
        if written in ("]", "}") and parts[-1] == ",":
            # A tuple of one value has a comma behind it.
            parts.pop()
        if not written.isspace():
            parts.append(written)
    return "".join(parts)


def _is_placed(sign: str, parts: Sequence[str], opened: list[str]) -> bool:
    """Return True if a sign may stand behind these parts; `opened` are the brackets around it ("(,": with a comma)."""
    if sign in _CLOSING:
        opened.append(sign)
    elif sign == ",":
        if not opened or parts[-1] in ("[", "{"):
            return False
        opened[-1] = f"{opened[-1][0]},"
    elif sign in _CLOSING.values():
        bracket = opened.pop() if opened else " "
        # "(5)" is no tuple.
        return _CLOSING.get(bracket[0]) == sign and (bracket != "(" or parts[-1] == "[")
    return True


def _written(token: re.Match[str]) -> str | None:
    said = token["single"] if token["single"] is not None else token["double"]
    if said is None:
        return _WORDS[token["word"]] if token["word"] else _BRACKETS.get(token["plain"], token["plain"])
    try:
        return json.dumps(_ESCAPE.sub(_unescaped, said))
    except (ValueError, OverflowError, KeyError):
        return None


def _unescaped(found: re.Match[str]) -> str:
    code = found[1] or found[2] or found[3]
    return chr(int(code, 16)) if code else _SIGNS[found[4]]
