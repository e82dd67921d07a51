"""Answer classes of Quora's questions as a language model that read the pairs sees them, in place of the set's labels.

Knows the recorded verdicts by digests of the two questions, for the questions themselves may not be copied. Invariant:
of two questions without a verdict the set's own labels decide.

Classes are joined by average linkage: two become one while the mean P(yes) of the pairs between them is above one half,
the surest first. A chain of likely pairs does not make one class of its ends if the verdicts on those say no.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

from eval.decisions.data import Question

VERDICTS = Path(__file__).parents[1] / "question_verdicts" / "natural.jsonl"
_SAME = 0.5


def digest(one: str, two: str) -> str:
    """The name of a pair of questions, whichever comes first."""
    return hashlib.sha256("\n".join(sorted((one, two))).encode()).hexdigest()[:16]


@cache
def verdicts() -> Mapping[str, float]:
    """P(yes) by the digest of a pair: the mean of two readings."""
    rows = map(json.loads, VERDICTS.read_text(encoding="utf-8").splitlines())
    return {row["pair"]: (row["first"] + row["second"]) / 2 for row in rows}


def judged(questions: Sequence[Question], said: Mapping[str, float] | None = None) -> list[Question]:
    """These distinct questions with the answers that the verdicts give them; `said` are other verdicts."""
    known = verdicts() if said is None else said
    p_yes: dict[tuple[int, int], float] = {}
    for two, later in enumerate(questions):
        for one, earlier in enumerate(questions[:two]):
            p = known.get(digest(earlier.text, later.text), float(earlier.answer == later.answer))
            if p > 0.0:
                p_yes[one, two] = p
    firsts = joined(len(questions), p_yes)
    return [
        replace(one, answer=f"judged:{questions[first].text}") for one, first in zip(questions, firsts, strict=True)
    ]


def joined(count: int, p_yes: Mapping[tuple[int, int], float]) -> list[int]:
    """The class of each of `count` questions, named by the place of its first one.

    `p_yes` has P(yes) by the places of two questions, the lower one first, and 0 for those that it lacks.
    """
    classes = {place: [place] for place in range(count)}
    of = list(range(count))
    for (one, two), p in sorted(p_yes.items(), key=lambda row: (-row[1], row[0])):
        if p <= _SAME:
            break
        left, right = sorted((of[one], of[two]))
        if left == right:
            continue
        between = [p_yes.get((min(pair), max(pair)), 0.0) for pair in product(classes[left], classes[right])]
        if sum(between) > _SAME * len(between):
            for place in classes[right]:
                of[place] = left
            classes[left] += classes.pop(right)
    return of
