"""Results of tools as Python writes them: `{'paid': 40.0, 'open': True}`, which is `str` of what a tool returned.

Many agent libraries hand such a text to the model where others hand JSON. It is rewritten sign by sign and evaluated
nowhere, in a time that grows with its length. Pure. Invariant: what comes back is JSON that says the same, or None.
"""

from __future__ import annotations

import json
import re

_LONGEST = 64 << 10  # characters; a longer result stays a text
_TOKEN = re.compile(
    r"'(?P<single>(?:[^'\\\n]|\\[^\n])*)'|\"(?P<double>(?:[^\"\\\n]|\\[^\n])*)\""
    r"|(?P<word>True|False|None)\b|(?P<plain>[\[\]{}(),:]|\s+|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.]))"
)
_ESCAPE = re.compile(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|(.))")
_SIGNS = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"'}
_WORDS = {"True": "true", "False": "false", "None": "null"}
_BRACKETS = {"(": "[", ")": "]"}


def as_json(text: str) -> str | None:
    """The JSON of a dictionary, a list or a tuple that Python wrote, None for any other text."""
    text = text.strip()
    if text[:1] not in ("{", "[", "(") or text[-1:] not in ("}", "]", ")") or len(text) > _LONGEST:
        return None
    parts: list[str] = []
    place = 0
    while place < len(text):
        token = _TOKEN.match(text, place)
        if token is None:
            return None
        place = token.end()
        written = _written(token)
        if written is None:
            return None
        if written == "]" and parts and parts[-1] == ",":
            # A tuple of one value has a comma behind it.
            parts.pop()
        if not written.isspace():
            parts.append(written)
    return "".join(parts)


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
