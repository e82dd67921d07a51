"""The surroundings of a candidate: what the other neighbours tell of it, before any text is compared.

Knows scores and answer classes, nothing of texts. Pure. Invariant: every number is finite and bounded.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from semcache.types import Candidate

NEAR = 0.05  # neighbours this much farther away than the candidate count as hardly farther
_STRANGER = 0.05  # the vote of the answer that nobody has given yet
_NEAREST = 7.0
_WIDEST = 0.3  # margin


class Surroundings(NamedTuple):
    """The features of a candidate that describe its surroundings."""

    nearness: float  # -ln(1 - score), at most 7
    margin: float  # score less the best score of another answer, within ±0.3; 0.3 when there is none
    support: float  # ln(1 + further neighbours of the same answer, hardly farther away)
    rivals: float  # ln(1 + neighbours of other answers, hardly farther away)
    vote: float  # log-odds of this answer in a vote of the neighbours, the nearer the weightier; a stranger votes, too
    company: float  # ln(neighbours of the same answer)
    spread: float  # mean score of those neighbours less the candidate's score
    crowd: float  # ln(neighbours): little can be told from a lonely candidate's surroundings


def around(candidates: Sequence[Candidate]) -> list[Surroundings]:
    """The surroundings of each candidate. `candidates` are all that were found, best first."""
    # Negated, they ascend, as `bisect` wants them.
    depths = [-one.score for one in candidates]
    groups: dict[int, list[float]] = {}  # depths, by answer class
    for one, depth in zip(candidates, depths, strict=True):
        groups.setdefault(one.card.answer_class, []).append(depth)
    votes = {answer: sum([math.exp((depths[0] - depth) / NEAR) for depth in group]) for answer, group in groups.items()}
    first, second, *_ = [*sorted([group[0] for group in groups.values()]), None, None]
    total, crowd = sum(votes.values()), math.log(len(depths) or 1)
    found: list[Surroundings] = []
    for one, depth in zip(candidates, depths, strict=True):
        answer = one.card.answer_class
        group, vote, near = groups[answer], votes[answer], depth + NEAR
        rival = second if group[0] == first else first
        support = bisect_right(group, near)
        found.append(
            Surroundings(
                nearness=min(_NEAREST, -math.log(max(1e-9, 1.0 + depth))),
                margin=_WIDEST if rival is None else max(-_WIDEST, min(_WIDEST, rival - depth)),
                support=math.log(support),
                rivals=math.log1p(bisect_right(depths, near) - support),
                vote=math.log(max(1e-3, vote) / (_STRANGER + max(0.0, total - vote))),
                company=math.log(len(group)),
                spread=-sum(group) / len(group) + depth,
                crowd=crowd,
            )
        )
    return found
