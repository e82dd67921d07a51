"""A strategy that remembers what it was taught, for tests of learning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from semcache.config.packs import Pack
from semcache.types import Candidate, Controls, Verdict, Why
from semcache.types.evidence import Label, Standing, State


@dataclass
class Pupil:
    """Serves from the pack's threshold on, audits all of it, and doubts whatever else it sees."""

    pack: Pack
    audit: float = 1.0
    taught: list[list[Any]] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)

    def floor(self, category: str, controls: Controls) -> float:
        return -1.0

    def promising(self, candidates: Sequence[Candidate], text: str, category: str) -> Sequence[bool]:
        return [True] * len(candidates)

    def judge(
        self,
        candidate: Candidate,
        category: str,
        *,
        controls: Controls,
        draw: float,
        tenant: str = "",
    ) -> Verdict:
        serve = candidate.score >= self.pack.of(category).threshold
        return Verdict(serve, 0.9 if serve else 0.5, audit=self.audit, why=Why.SEMANTIC if serve else Why.UNCERTAIN)

    def note(
        self,
        category: str,
        p_correct: float | None,
        *,
        served: bool,
        audited: bool,
        candidate: Candidate | None = None,
    ) -> None:
        pass

    def observe(self, label: Label) -> None:
        self.labels.append(label)
        self.taught.append([label.seq, label.entry_id, label.correct, label.source.value, label.features])

    def standing(self, category: str) -> Standing:
        return Standing("pupil", State.FIXED, self.pack.target, -1.0)

    def state(self) -> dict[str, Any]:
        return {"taught": [[*row[:4], list(row[4])] for row in self.taught]}

    def restore(self, state: Mapping[str, Any]) -> None:
        self.taught = [[*row[:4], tuple(row[4])] for row in state["taught"]]
