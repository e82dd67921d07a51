"""A strategy that asks for an audit of everything it serves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from semcache.protocols import Threshold
from semcache.types import Candidate, Controls, Verdict
from semcache.types.evidence import Label, Standing


@dataclass
class Auditing:
    """Another strategy, audited."""

    inner: Threshold

    def floor(self, category: str, controls: Controls) -> float:
        return self.inner.floor(category, controls)

    def promising(self, candidates: Sequence[Candidate], text: str, category: str) -> Sequence[bool]:
        return self.inner.promising(candidates, text, category)

    def judge(
        self, candidate: Candidate, category: str, *, controls: Controls, draw: float, tenant: str = ""
    ) -> Verdict:
        return replace(self.inner.judge(candidate, category, controls=controls, draw=draw, tenant=tenant), audit=1.0)

    def note(
        self,
        category: str,
        p_correct: float | None,
        *,
        served: bool,
        audited: bool,
        candidate: Candidate | None = None,
    ) -> None:
        self.inner.note(category, p_correct, served=served, audited=audited, candidate=candidate)

    def observe(self, label: Label) -> None:
        self.inner.observe(label)

    def standing(self, category: str) -> Standing:
        return self.inner.standing(category)

    def state(self) -> dict[str, Any]:
        return self.inner.state()

    def restore(self, state: Mapping[str, Any]) -> None:
        self.inner.restore(state)
