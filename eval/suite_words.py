"""Words of a large language model about pairs of the suites of this folder, as they were recorded once.

Knows the recorded verdicts and no cache. Invariant: a pair has one word, whichever of its prompts was kept; of a pair
that nobody was asked about the judge is not sure, which serves nothing, and it is counted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

VERDICTS = Path(__file__).parent / "suite_verdicts"
UNSURE = 0.5


class RecordedJudge:
    """A verifier that gives the recorded words: P(yes) by the two prompts as a judge is shown them.

    `expected` names the answer of the request that is made; by it the words are held against the suite's labels.
    """

    def __init__(self, words: dict[frozenset[str], float]) -> None:
        self._words = words
        self.expected = ""
        self.asked = 0
        self.unknown: dict[tuple[str, str], bool] = {}
        self.agreed: dict[frozenset[str], bool] = {}

    async def same(self, query: str, cached_query: str, cached_answer: str) -> float:
        """P(yes) of the pair."""
        self.asked += 1
        pair = frozenset((query, cached_query))
        right = cached_answer == self.expected
        p_yes = self._words.get(pair)
        if p_yes is None:
            self.unknown[query, cached_query] = right
            return UNSURE
        self.agreed[pair] = (p_yes > UNSURE) == right
        return p_yes


def verdicts(names: Iterable[str] = (), *, folder: Path = VERDICTS) -> dict[frozenset[str], float]:
    """The words of the named files, or of all, by pair; ValueError for a pair with two words or no probability."""
    found: dict[frozenset[str], float] = {}
    for path in [folder / f"{name}.jsonl" for name in names] or sorted(folder.glob("*.jsonl")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            row = json.loads(line)
            pair, p_yes = frozenset((row["a"], row["b"])), row["p_yes"]
            if not 0.0 < p_yes < 1.0:
                raise ValueError(f"{path.name}:{number}: p_yes is {p_yes}: give a probability between 0 and 1")
            if found.setdefault(pair, p_yes) != p_yes:
                raise ValueError(f"{path.name}:{number}: {row['a']!r} and {row['b']!r} have another word already")
    return found
