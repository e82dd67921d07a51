"""Tasks that only ask: a question, with or without statements before it, and no order to do anything.

What a question is about may be put into other words without harm: whoever answers it changes nothing. What an order
does, and to what, may not: "reboot" and "restart" are one, and "wipe" has neither for its opposite. Pure.
Invariant: a task with an order in it never only asks, but for the order to look or to tell.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from semcache.agents.slots import STOP, stem
from semcache.agents.word_alignment import Element
from semcache.matching.guards.opposites import AXES
from semcache.request.text import vocabulary
from semcache.request.wording.verbs import is_base

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*")
_QUESTION = vocabulary("who whom whose what which where when why how is are was were do does did has have had")
# These begin a question without its sign, too.
_WH = vocabulary("who whom whose what which how why is are was were does did has had")
_LEADING = re.compile(
    r"\A(?:according to|based on|in|at|on|for|of|from|during|after|before|if|and|so|then)\b[^?]*?,\s*", re.IGNORECASE
)
_TOWARDS = vocabulary("at on in for from to by of with")  # "at which stop"
_TELLING = re.compile(r"\A(?:show|tell) me\b", re.IGNORECASE)
_DOUBTS = vocabulary("should must ought may might not no never if unless")
# Orders that change nothing, and what is a verb by its spelling alone.
_LOOKING = vocabulary("look see consider read suppose given note imagine use simplify round answer explain while like")
_BESIDE = re.compile(r"(?:[,;:]|\b(?:and|then|so|you(?: must| should| can| could| have to| need to)?)) ([a-z]+)\b")
_FURTHER = re.compile(
    r"(?:[,;]|\b(?:and|then)) ([a-z]+) (?:(?:the|an?|it|them|him|her|me|my|our|your|all|every|this|that)\b|[A-Z$#\d])"
)
_PLEASE = vocabulary("please kindly")


def only_asks(task: str) -> bool:
    """Return True for a task that asks something and orders nothing."""
    asked = False
    for sentence in map(str.strip, _SENTENCE.split(task)):
        said = [word.casefold() for word in _WORD.findall(sentence)]
        opening = [word.casefold() for word in _WORD.findall(_LEADING.sub("", sentence))[:1]]
        opening += said[1:2] if _TOWARDS & set(said[:1]) and _WH & set(said[1:2]) else []
        questions = _QUESTION if sentence.endswith("?") else _WH
        asks = bool(_TELLING.match(sentence)) or bool(questions & {*opening, *said[:1]})
        orders = (_FURTHER if asks else _BESIDE).findall(sentence)
        if _PLEASE & set(said) or any(map(is_base, orders)):
            return False
        if not asks and said and is_base(said[0]) and said[0] not in _LOOKING:
            return False
        asked = asked or asks
    return asked


def may_differ(one: Sequence[Element], two: Sequence[Element], *, asks: bool, doubted: bool) -> bool:
    """Return True if the plan that two tasks had depends on none of the words in which they differ.

    It may depend on each word of an order that says something. Of a question it may on words of duty, doubt and
    denial: "what should I pay" and "what must I pay" are one, and "what did I pay" is another. So it may on words with
    an opposite, unless both sides of it had the plan, or others show that it does not (`doubted`).
    """
    sides = [frozenset([part for part in side if isinstance(part, str)]) for side in (one, two)]
    if not asks and any(stem(word) not in STOP for word in sides[0] | sides[1]):
        return False
    if asks and _DOUBTS & (sides[0] ^ sides[1]):
        return False
    if asks and doubted:
        return True
    return all(word not in AXES or _is_met(word, other) for side, other in (sides, sides[::-1]) for word in side)


def _is_met(word: str, others: frozenset[str]) -> bool:
    """Return True if one of these words is an opposite of a word: "begin" and "end"."""
    opposite = {(axis, -side) for axis, side in AXES[word]}
    return any(opposite & AXES.get(other, frozenset()) for other in others)
