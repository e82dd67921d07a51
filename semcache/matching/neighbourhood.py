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

from semcache.matching.surroundings import around
from semcache.types import Candidate, Conflict

Objections: TypeAlias = Callable[[str, str], tuple[Conflict, ...]]
UnlessVetoed: TypeAlias = Callable[[str, str], tuple[Conflict, ...] | None]

_CLOSE = 0.7  # score of the nearest from which rivals are looked at: below, nothing is served
_RIVAL = 0.15  # farther away than the nearest, an entry hardly counts


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """`candidates` with their surroundings, best first, and what guards found about those looked at, by entry.

    In place of findings with a veto there may be None. `conflicts` asks the guards about the request's `text` and
    another.
    """

    text: str
    candidates: list[Candidate]
    findings: dict[int, tuple[Conflict, ...] | None]
    conflicts: Objections

    def down_to(self, floor: float) -> Neighbourhood:
        """The candidates of at least this score, whose surroundings are those among all."""
        near = [found for found in self.candidates if found.score >= floor]
        return Neighbourhood(self.text, near, self.findings, self.conflicts)

    def objections(self, found: Candidate) -> tuple[Conflict, ...]:
        """The findings of guards on a candidate; they are asked where not all that they find is known."""
        known = self.findings.get(found.card.id)
        return self.conflicts(self.text, found.card.text) if known is None else known


def surveyed(
    text: str, candidates: Sequence[Candidate], conflicts: Objections, unless_vetoed: UnlessVetoed | None = None
) -> Neighbourhood:
    """The candidates, best first, with the surroundings; those of vetoed ones count all as rivals.

    `unless_vetoed` gives what `conflicts` does, or None for a veto, and saves time: of prompts from one template nearly
    every rival is vetoed, and few of them are ever served.
    """
    surroundings = around(candidates)
    findings = _of_rivals(text, candidates, unless_vetoed or conflicts)
    vetoed = {entry for entry, found in findings.items() if found is None or any(one.veto for one in found)}
    if vetoed:
        left = [place for place, one in enumerate(candidates) if one.card.id not in vetoed]
        for place, values in zip(left, around([candidates[place] for place in left]), strict=True):
            surroundings[place] = values
    return Neighbourhood(
        text,
        [Candidate(one.card, one.score, around=values) for one, values in zip(candidates, surroundings, strict=True)],
        findings,
        conflicts,
    )


def _of_rivals(
    text: str, candidates: Sequence[Candidate], conflicts: UnlessVetoed
) -> dict[int, tuple[Conflict, ...] | None]:
    """The findings of guards on the nearest candidates, by entry; none if these have one answer, or are far away."""
    if len(candidates) < 2 or candidates[0].score < _CLOSE:
        return {}
    near = [one for one in candidates if one.score >= candidates[0].score - _RIVAL]
    if len({one.card.answer_class for one in near}) < 2:
        return {}
    return {one.card.id: conflicts(text, one.card.text) for one in near}
