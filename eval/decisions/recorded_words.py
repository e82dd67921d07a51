"""Words of a large language model as they were recorded once, asked about on their own pairs and drawn for others.

Knows the recorded verdicts and no cache. Invariant: a pair gets the same word each time it is asked about; nothing is
fitted on the verdicts.
"""

from __future__ import annotations

import gzip
import json
import random
from dataclasses import dataclass
from functools import cache

from eval.decisions.data import DATA

_SETS = {"natural": "qqp", "zipf": "qqp", "clinc150": "clinc150", "banking77": "banking77", "covidq": "covidq"}


@dataclass(frozen=True, slots=True)
class RecordedWord:
    """P(yes) that a model gave about a pair; `same` is the data set's own label."""

    cached: str
    asked: str
    same: bool
    p_yes: float


@cache
def recorded(name: str) -> tuple[RecordedWord, ...]:
    """The words about the pairs of a set."""
    with gzip.open(DATA / "judge_verdicts" / "verdicts.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return tuple([RecordedWord(one["a"], one["b"], one["same"], one["p_yes"]) for one in rows if one["set"] == name])


def drawn(stream: str, asked: str, cached: str, *, same: bool, seed: int) -> float:
    """P(yes) about a pair of a stream: that of a pair of the same set and label, the same one each time."""
    pool = _pool(_SETS[stream], same)
    return random.Random(f"{seed}:{asked}:{cached}").choice(pool)


@cache
def _pool(name: str, same: bool) -> tuple[float, ...]:
    return tuple([one.p_yes for one in recorded(name) if one.same == same])
