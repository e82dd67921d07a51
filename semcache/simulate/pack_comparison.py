"""Comparison of two packs on the same traffic: the requests that they treat differently, and the cost.

Knows results; no packs, prompts or files. Invariant: every arrival is in at most one kind of change, and the kinds
account for the whole difference in hits and errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from semcache.simulate.simulation_result import Flags, SimulationResult

KINDS = {
    "gained": "served now, and rightly",
    "gained_wrong": "served now, and wrongly",
    "lost": "was served rightly, now forwarded",
    "lost_wrong": "was served wrongly, now forwarded",
    "turned_wrong": "was served rightly, now wrongly",
    "turned_right": "was served wrongly, now rightly",
}
_COMPARED = ("requests", "exact", "semantic", "misses", "bypassed", "audits", "wrong", "hit_rate", "net_hit_rate",
             "error_per_hit", "error_per_request", "backend_calls", "cost_saved", "latency_saved")  # fmt: skip


@dataclass(frozen=True, slots=True)
class ChangedDecision:
    """An arrival, by its place in the trace, that two packs treat differently; `source` is the entry that is served."""

    kind: str
    place: int
    category: str
    score: float | None
    source: int | None


def compare(old: SimulationResult, new: SimulationResult) -> dict[str, Any]:
    """Figures of both, and how many arrivals changed in each way, in all and by the new pack's categories."""
    kinds = _kinds(old, new)
    one, two = old.summary(), new.summary()
    return {
        "old": {name: one[name] for name in _COMPARED},
        "new": {name: two[name] for name in _COMPARED},
        "changes": {kind: int(mask.sum()) for kind, mask in kinds.items()},
        "categories": {
            name: {kind: int((mask & (new.category == name)).sum()) for kind, mask in kinds.items()}
            for name in new.categories()
            if any((mask & (new.category == name)).any() for mask in kinds.values())
        },
    }


def changes(old: SimulationResult, new: SimulationResult, *, most: int) -> list[ChangedDecision]:
    """The first changes of each kind, at most that many, in the order of `KINDS`."""
    found = []
    for kind, mask in _kinds(old, new).items():
        for place in np.flatnonzero(mask)[:most].tolist():
            result = old if kind.startswith("lost") else new
            score, source = float(result.score[place]), int(result.source[place])
            category = str(new.category[place])
            found.append(ChangedDecision(kind, place, category, score, source if source >= 0 else None))
    return found


def _kinds(old: SimulationResult, new: SimulationResult) -> dict[str, Flags]:
    before, after = old.exact | old.semantic, new.exact | new.semantic
    masks: Sequence[Flags] = (
        ~before & after & ~new.wrong,
        ~before & after & new.wrong,
        before & ~after & ~old.wrong,
        before & ~after & old.wrong,
        before & after & ~old.wrong & new.wrong,
        before & after & old.wrong & ~new.wrong,
    )
    return dict(zip(KINDS, masks, strict=True))
