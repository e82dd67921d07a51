"""The tone of a prompt that asks for an answer in jest, for the opposite of what it says, or from another's mouth.

Knows the words that say so. Who laughs at the end of a question may mean it all the same, which is a doubt.
Invariant: a text that speaks about jokes, and asks for none, is no jest; nor is a question of whether or not.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from semcache.request.text import READINGS
from semcache.request.wording.cues import folded, holds
from semcache.runtime.scoped_memo import scoped_cache
from semcache.types import Conflict

_JEST = re.compile(
    r"""
    ^\W*(?:jokingly|ironically|sarcastically|sarcasm|satirically|in\ jest|as\ a\ joke|just\ for\ fun|hypothetically
        |opposite\ day|in\ bizarro\ world|wrong\ answers?\ only|parody
        |pretend(?!\ (?:to\ be|that\ you|you|u|ur)\b))\b\W*(?=\w)
    | (?:^|\s|\()/?(?:/s|/j|/jk|/sarcasm|/sarcastic|/joking|/irony|/lh|/hj|jk|j/k|just\ kidding
        |only\ joking|(?<!\bor\ )not\ really|(?<=[.!?\u2026]\ )or\ not|wink\ wink
        |wrong\ answers?\ only|opposite\ day|in\ opposite\ land)\W*$
    | \b(?:answer|reply|respond)\b[^.?!\n]{0,30}\b
        (?:the\ (?:opposite|reverse)\ of|wrongly|incorrectly|falsely|untruth\w*)\b
    | \bs\W{0,2}arcasm\b|\b(?:be\ sarcastic|answer\ wrongly|lie\ to\ me)\W*$
    | (?:^|[^\w\s]\ ?|\b(?:say|tell|me|answer|do|with|give|claim)\ )the\ opposite\W*$
    """,
    re.VERBOSE | re.IGNORECASE,
)
# A text that it matches holds one of these.
_SIGNS = (
    "/", "joking", "ironically", "arcas", "satirically", "in jest", "as a joke", "for fun", "hypothetically",
    "opposite", "bizarro", "wrong answer", "parody", "pretend", "jk", "kidding", "not really", "or not", "wink",
    "reverse", "wrongly", "incorrectly", "falsely", "untruth", "lie to me",
)  # fmt: skip
# A part that the model is to play, and the words by which others say the same.
_ROLE = re.compile(r"^\W*(?:pretend (?:to be|that you|you|u|ur)|role-?play)\b", re.IGNORECASE)
_PLAYED = re.compile(
    r"\b(?:pretend|role|role-?play|act as|mock|imagine|as if you|as though you|you are|you're|u are|ur|your part|play"
    r"|view|perspective|voice|as an?)\b|\bu =",
    re.IGNORECASE,
)
_LAUGHTER = re.compile(r"^\W*lol\b\W*(?=\w)|\b(?:lol|lmao|rofl|haha\w*)\W*$", re.IGNORECASE)


class ToneReading(NamedTuple):
    """`plays` is that the model is to play a part from the first word on."""

    jest: bool
    plays: bool
    laughs: bool


@scoped_cache(maxsize=READINGS)
def read(text: str) -> ToneReading:
    """The tone of a text."""
    return ToneReading(
        is_jest(text),
        _ROLE.match(text) is not None,
        _LAUGHTER.search(text) is not None,
    )


def is_jest(text: str) -> bool:
    """Return True if a prompt says that it is not meant as it stands."""
    return holds(folded(text), _SIGNS) and _JEST.search(text) is not None


def compare(query: str, cached: str) -> Conflict | None:
    """The finding against two texts of which one is meant in jest, or may be."""
    one, two = read(query), read(cached)
    if one.jest != two.jest:
        return Conflict("tone", "one of them is meant in jest")
    if one.plays != two.plays and not (_PLAYED.search(query) and _PLAYED.search(cached)):
        return Conflict("tone", "one of them gives the model a part to play")
    if one.laughs != two.laughs:
        return Conflict("tone", "one of them is said with a laugh", False)
    return None
