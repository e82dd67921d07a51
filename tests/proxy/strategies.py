"""Strategies that a test dictates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from semcache.config.packs import Pack
from semcache.types import Candidate, Controls, Verdict, Why
from semcache.types.evidence import Label, Standing, State


@dataclass
class Scripted:
    """Serves from the pack's threshold on, and doubts what lies between `doubt` and that.

    What is served is audited with the pack's own rate; doubts are verified where the pack names a verifier, and are
    right with the probability `believed`.
    """

    pack: Pack
    doubt: float = 0.3
    believed: float = 0.5
    labels: list[Label] = field(default_factory=list)

    def floor(self, category: str, controls: Controls) -> float:
        return self.doubt if controls.min_score is None else max(self.doubt, controls.min_score)

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
        policy = self.pack.of(category)
        if candidate.score >= policy.threshold:
            return Verdict(serve=True, p_correct=candidate.score, audit=policy.audit, why=Why.SEMANTIC)
        verify = policy.verify != "off"
        return Verdict(serve=False, p_correct=self.believed, audit=policy.audit, verify=verify, why=Why.UNCERTAIN)

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

    def standing(self, category: str) -> Standing:
        return Standing("scripted", State.FIXED, self.pack.target, self.doubt)

    def state(self) -> dict[str, Any]:
        return {}

    def restore(self, state: Mapping[str, Any]) -> None:
        pass
