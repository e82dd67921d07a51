"""Routes in one order: "get to Milan from Rome" is "get from Rome to Milan".

Invariant: where a way begins and where it ends is kept, and "to" before a verb ("get to know people from work") begins
no end of a way.
"""

from __future__ import annotations

import re

from semcache.request.wording.verbs import is_base

_WORD = r"(?!(?:to|from|by|in|on|with|without|and|or|for|at|via|is|are|if|when|than|that|who)\b)[^\s,.?!;:]+"
_PLACE = rf"{_WORD}(?: {_WORD}){{0,3}}?"
_ROUTE = re.compile(
    r"\b((?:get|go|travel|drive|fly|walk|move|commute|cycle|sail|flights?|trains?|bus(?:es)?|ferry|distance|journey|trip"
    rf"|far is it|take|cost|last)) to ({_PLACE}) from ({_PLACE})"
    r"(?=$| (?:by|on|in|with|without|via|at|for|when|if)\b|[,.?!;:])",
    re.IGNORECASE,
)


def routed(text: str) -> str:
    """The text with the beginning of each way before its end.

    >>> routed("how do i get to milan from rome")
    'how do i get from rome to milan'
    """
    return _ROUTE.sub(_from_to, text) if " to " in text and " from " in text else text


def _from_to(match: re.Match[str]) -> str:
    going, end, start = match.groups()
    first = end.split(" ")[0].lower()
    return match[0] if is_base(first) and first != "work" else f"{going} from {start} to {end}"
