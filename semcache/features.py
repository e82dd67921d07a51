"""What distinguishes a right neighbour from a wrong one, as numbers: of the two prompts and of the neighbourhood.

Pure and cheap (some ten microseconds a pair); knows no vectors, answers or policies, and nothing of what is made of the
numbers. Invariant: `of` returns `len(NAMES)` finite floats, each of them bounded, for any two texts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from semcache.types import Candidate

NAMES = (
    "nearness",  # -ln(1 - score), at most 7
    "margin",  # score less the best score of another answer, within ±0.3; 0.3 when there is none
    "support",  # ln(1 + further neighbours of the same answer, hardly farther away)
    "rivals",  # ln(1 + neighbours of other answers, hardly farther away)
    "overlap",  # Jaccard index of the content words
    "spelling",  # Dice index of the letter trigrams
    "missing",  # ln(1 + content words of the request that the cached prompt lacks)
    "surplus",  # ln(1 + content words of the cached prompt that the request lacks)
    "same_words",  # 1: the same content words
    "reordered",  # 1: the same content words in another order
    "length",  # |ln(words of the request / words of the cached prompt)|, at most 3
    "brevity",  # 1 / content words of the shorter prompt
    "asks_else",  # 1: another question word (who, when, why, ...)
    "figures",  # 1: a digit in either
    "doubts",  # findings of the guards that are no veto, at most 3
)
NEAR = 0.05  # neighbours this much farther away than the candidate count as hardly farther

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_QUESTION = frozenset(["who", "whom", "whose", "when", "where", "why", "how", "which", "what"])
_STOP = frozenset(
    " ".join(
        (
            "a an the this that these those is are was were be been being am do does did done have has had having",
            "i me my mine we us our you your yours he him his she her it its they them their",
            "of in on at to for from by with about as into and or but if so than then there here",
            "can could will would shall should may might must please what which who whom whose when where why how",
            "just also any some very really get got",
        )
    ).split()
)


class _Reading(NamedTuple):
    content: tuple[str, ...]
    bag: frozenset[str]
    trigrams: frozenset[str]
    asks: str
    words: int
    digits: bool


def of(text: str, candidate: Candidate, neighbours: Sequence[Candidate]) -> tuple[float, ...]:
    """The features of serving `candidate` for `text`, in the order of `NAMES`.

    `neighbours` are all that were found, the candidate among them.
    """
    one, two = _read(text), _read(candidate.card.text)
    common = len(one.bag & two.bag)
    union = len(one.bag | two.bag)
    missing, surplus = len(one.bag) - common, len(two.bag) - common
    same = missing == surplus == 0 and union > 0
    trigrams = len(one.trigrams) + len(two.trigrams)
    shorter = min(len(one.content), len(two.content))
    margin, support, rivals = _surroundings(candidate, neighbours)
    return (
        min(7.0, -math.log(max(1e-9, 1.0 - candidate.score))),
        margin,
        support,
        rivals,
        common / union if union else 0.0,
        2 * len(one.trigrams & two.trigrams) / trigrams if trigrams else 0.0,
        math.log1p(missing),
        math.log1p(surplus),
        float(same),
        float(same and one.content != two.content),
        min(3.0, abs(math.log((one.words or 1) / (two.words or 1)))),
        1.0 / (shorter or 1),
        float(one.asks != two.asks),
        float(one.digits or two.digits),
        min(3.0, float(sum(not conflict.veto for conflict in candidate.conflicts))),
    )


def _surroundings(candidate: Candidate, neighbours: Sequence[Candidate]) -> tuple[float, float, float]:
    answer, score = candidate.card.answer_class, candidate.score
    support = rivals = 0
    rival = -1.0
    for other in neighbours:
        near = other.score >= score - NEAR
        if other.card.answer_class == answer:
            support += near and other.card.id != candidate.card.id
        else:
            rivals += near
            rival = max(rival, other.score)
    margin = 0.3 if rival < 0 else max(-0.3, min(0.3, score - rival))
    return margin, math.log1p(support), math.log1p(rivals)


@lru_cache(maxsize=8192)
def _read(text: str) -> _Reading:
    lower = text.lower().replace("\u2019", "'")
    words = _WORD.findall(lower)
    content = tuple([_stem(word) for word in words if word not in _STOP])
    squeezed = f" {' '.join(words)} "
    return _Reading(
        content,
        frozenset(content),
        frozenset([squeezed[i : i + 3] for i in range(min(len(squeezed), 600) - 2)]),
        next((word for word in words if word in _QUESTION), ""),
        len(words),
        any(character.isdigit() for character in text),
    )


def _stem(word: str) -> str:
    """A word without the endings that rarely change what is asked."""
    for ending in ("'s", "ing", "ies", "es", "ed", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word
