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

from semcache.guards import GUARDS
from semcache.types import Candidate

NAMES = (
    "nearness",  # -ln(1 - score), at most 7
    "margin",  # score less the best score of another answer, within ±0.3; 0.3 when there is none
    "support",  # ln(1 + further neighbours of the same answer, hardly farther away)
    "rivals",  # ln(1 + neighbours of other answers, hardly farther away)
    "vote",  # log-odds of this answer in a vote of the neighbours, the nearer the weightier; a stranger has a small say
    "company",  # ln(neighbours of the same answer)
    "spread",  # mean score of those neighbours less the candidate's score
    "crowd",  # ln(neighbours): little can be told from a lonely candidate's surroundings
    "overlap",  # Jaccard index of the content words
    "spelling",  # Dice index of the letter trigrams
    "missing",  # ln(1 + content words of the request that nothing in the cached prompt resembles)
    "surplus",  # ln(1 + content words of the cached prompt that nothing in the request resembles)
    "misspelt",  # ln(1 + content words that only resemble one of the other prompt)
    "same_words",  # 1: the same content words, but for their spelling
    "reordered",  # 1: the same content words in another order
    "length",  # |ln(words of the request / words of the cached prompt)|, at most 3
    "brevity",  # 1 / content words of the shorter prompt
    "asks_else",  # 1: another question word (who, when, why, ...)
    "figures",  # 1: a digit in either
    *(f"guard:{name}" for name in GUARDS),  # 1: that guard would veto, DOUBT: it doubts
)
NEAR = 0.05  # neighbours this much farther away than the candidate count as hardly farther
DOUBT = 0.2  # what a finding counts that is no veto
_STRANGER = 0.05  # the vote of the answer that nobody has given yet

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_QUESTION = frozenset(["who", "whom", "whose", "when", "where", "why", "how", "which", "what"])
_STOP = frozenset(
    " ".join(
        (
            "a an the this that these those is are was were be been being am do does did done have has had having",
            "i me my mine we us our you your yours he him his she her it its they them their",
            "of in on at to for from by with about as into and or but if so than then there here",
            "can could will would shall should may might must please what which who whom whose when where why how",
            "just also any some very really get got know tell like want need wondering quick question help",
            "hi hello hey thanks thank please pls kindly sorry excuse good morning afternoon evening asap advance u",
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
    missing, surplus, misspelt = _unmatched(one.bag - two.bag, two.bag - one.bag)
    same = missing == surplus == 0 and union > 0
    trigrams = len(one.trigrams) + len(two.trigrams)
    shorter = min(len(one.content), len(two.content))
    found = {conflict.guard: 1.0 if conflict.veto else DOUBT for conflict in candidate.conflicts}
    return (
        min(7.0, -math.log(max(1e-9, 1.0 - candidate.score))),
        *_surroundings(candidate, neighbours),
        common / union if union else 0.0,
        2 * len(one.trigrams & two.trigrams) / trigrams if trigrams else 0.0,
        math.log1p(missing),
        math.log1p(surplus),
        math.log1p(misspelt),
        float(same),
        float(same and one.content != two.content),
        min(3.0, abs(math.log((one.words or 1) / (two.words or 1)))),
        1.0 / (shorter or 1),
        float(one.asks != two.asks),
        float(one.digits or two.digits),
        *[found.get(name, 0.0) for name in GUARDS],
    )


def _surroundings(candidate: Candidate, neighbours: Sequence[Candidate]) -> tuple[float, ...]:
    answer, score = candidate.card.answer_class, candidate.score
    same: list[float] = []
    others: list[float] = []
    for other in neighbours:
        (same if other.card.answer_class == answer else others).append(other.score)
    same = same or [score]
    margin = max(-0.3, min(0.3, score - max(others))) if others else 0.3
    near = score - NEAR
    support = sum(one >= near for one in same) - 1
    rivals = sum(one >= near for one in others)
    best = max(*same, max(others, default=-1.0), -1.0)
    mine = sum([math.exp((one - best) / NEAR) for one in same])
    vote = math.log(max(1e-3, mine) / (_STRANGER + sum([math.exp((one - best) / NEAR) for one in others])))
    spread = sum(same) / len(same) - score
    crowd = math.log(len(same) + len(others))
    return margin, math.log1p(max(0, support)), math.log1p(rivals), vote, math.log(len(same)), spread, crowd


def _unmatched(one: frozenset[str], two: frozenset[str]) -> tuple[int, int, int]:
    """How many words on each side nothing on the other resembles, and how many pairs are alike."""
    if not one or not two:
        return len(one), len(two), 0
    left = set(two)
    alike = 0
    for word in sorted(one):
        like = next((other for other in sorted(left) if _resembles(word, other)), None)
        if like is not None:
            left.remove(like)
            alike += 1
    return len(one) - alike, len(left), alike


@lru_cache(maxsize=8192)
def _resembles(one: str, two: str) -> bool:
    """Whether two words are the same but for their spelling: four letters or more, most letter pairs in common."""
    if min(len(one), len(two)) < 4 or one[0] != two[0]:
        return False
    first = {one[at : at + 2] for at in range(len(one) - 1)}
    second = {two[at : at + 2] for at in range(len(two) - 1)}
    return 2 * len(first & second) >= 0.6 * (len(first) + len(second))


@lru_cache(maxsize=8192)
def _read(text: str) -> _Reading:
    lower = text.lower().replace("\u2019", "'")
    words = _WORD.findall(lower)
    content = tuple([_stem(word) for word in words if word.partition("'")[0] not in _STOP])
    squeezed = f" {' '.join(words)} "
    return _Reading(
        content,
        frozenset(content),
        frozenset([squeezed[i : i + 3] for i in range(min(len(squeezed), 600) - 2)]),
        next((asking for word in words if (asking := word.partition("'")[0]) in _QUESTION), ""),
        len(words),
        any(character.isdigit() for character in text),
    )


def _stem(word: str) -> str:
    """A word without the endings that rarely change what is asked."""
    for ending in ("'s", "ing", "ies", "es", "ed", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word
