"""The neighbourhood of a request: its candidates, each with the features of the entries around it.

An entry that a guard vetoes does not count as a rival of the others. If prompts come from one template ("a flight to
Rome"), or differ in a number, guards rule out the nearest neighbours one by one, and their nearness says nothing about
the entry that is left. Pure. Invariant: guards are asked only if entries of several answers are near, and the order of
candidates stays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from semcache.matching import features
from semcache.types import Candidate, Conflict

Objections: TypeAlias = Callable[[str, str], tuple[Conflict, ...]]

_CLOSE = 0.7  # score of the nearest from which rivals are looked at: below, nothing is served
_RIVAL = 0.15  # farther away than the nearest, an entry hardly counts


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """`candidates` with their surroundings, and the findings of guards on those that were looked at, by entry."""

    text: str
    candidates: list[Candidate]
    findings: dict[int, tuple[Conflict, ...]]
    conflicts: Objections

    def objections(self, found: Candidate) -> tuple[Conflict, ...]:
        """The findings of guards on a candidate; they are asked where they have not been."""
        known = self.findings.get(found.card.id)
        return self.conflicts(self.text, found.card.text) if known is None else known


def surveyed(text: str, candidates: Sequence[Candidate], conflicts: Objections) -> Neighbourhood:
    """The candidates, best first, with the features of `features.AROUND`; those of vetoed ones count all as rivals."""
    findings: dict[int, tuple[Conflict, ...]] = {}
    surroundings = features.around(candidates)
    if len(candidates) > 1 and candidates[0].score >= _CLOSE:
        near = [one for one in candidates if one.score >= candidates[0].score - _RIVAL]
        if len({one.card.answer_class for one in near}) > 1:
            findings = {one.card.id: conflicts(text, one.card.text) for one in near}
    vetoed = {entry for entry, found in findings.items() if any(conflict.veto for conflict in found)}
    if vetoed:
        left = [place for place, one in enumerate(candidates) if one.card.id not in vetoed]
        for place, values in zip(left, features.around([candidates[place] for place in left]), strict=True):
            surroundings[place] = values
    return Neighbourhood(
        text,
        [Candidate(one.card, one.score, around=values) for one, values in zip(candidates, surroundings, strict=True)],
        findings,
        conflicts,
    )
