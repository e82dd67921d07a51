"""Questions as strangers ask them, and what a language model says of those that lie near each other.

Knows its own files and nothing of any data set. Invariant: no pair joins a question that is trained on with one that is
held out, which are of other topics and of other hands.
Written groups are made of pairs, and what is near in them was made to be near. Here every question was written for its
own sake; which of them share an answer was found afterwards, and is as unclear as it is in traffic.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from semcache.train.pairs import Pair
from semcache.train.recipe.mixture import MinedPair

_UNREAD = "unread_"


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question, what it is about, and the hand that wrote it."""

    text: str
    topic: str
    hand: str

    @property
    def held(self) -> bool:
        """True if the verifier is not trained on it."""
        return self.hand.startswith(_UNREAD)


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """Two questions, and P(yes) of a language model that was asked if one answer serves both."""

    one: str
    two: str
    p_yes: float


@cache
def questions() -> tuple[AskedQuestion, ...]:
    """All questions, in the order of the file."""
    return tuple([AskedQuestion(**row) for row in _rows("questions.jsonl")])


@cache
def verdicts() -> tuple[JudgedPair, ...]:
    """The verdicts, in the order of the file; a pair has one."""
    return tuple([JudgedPair(**row) for row in _rows("verdicts.jsonl")])


def paired() -> Iterator[MinedPair]:
    """The pairs, with labels that are as sure as the verdicts are."""
    hands = {one.text: one for one in questions()}
    for judged in verdicts():
        same = judged.p_yes > 0.5
        sure = judged.p_yes if same else 1.0 - judged.p_yes
        asked = hands[judged.one]
        yield MinedPair(Pair(judged.one, judged.two, same, "asked", f"natural:{asked.hand}"), sure, asked.held)


def _rows(name: str) -> Iterator[dict[str, Any]]:
    text = files("semcache.train.recipe").joinpath("natural", name).read_text(encoding="utf-8")
    return map(json.loads, filter(None, text.split("\n")))
