"""One pack at several error targets on the same trace: what each serves, and whether it was kept.

Knows runs of a trace and how people read them; no files. Invariant: nothing but the target differs between the runs,
and a target counts as kept or missed only where the whole interval of the error lies on one side of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from semcache.simulate.replay_report import amount, grid, rate
from semcache.simulate.trace_replay import PackRun

COLUMNS = ("target", "hit rate", "by meaning", "wrong", "error", "target kept", "audits", "net hit rate", "saved $")
KEPT, MISSED, OPEN = "yes", "no", "too few hits to say"


def target_figures(runs: Sequence[tuple[float, PackRun]], contract: str, *, priced: bool) -> list[dict[str, Any]]:
    """The figures of each target's run, as JSON has them; `error` is the one that `contract` speaks of."""
    found = []
    for target, run in runs:
        summary = run.result.summary()
        error = summary[f"error_per_{contract}"]
        found.append(
            {
                "target": target,
                **{name: summary[name] for name in ("hit_rate", "semantic", "wrong", "audits", "net_hit_rate")},
                "error": error,
                "kept": kept(target, error),
                "cost_saved": summary["cost_saved"] if priced else None,
            }
        )
    return found


def kept(target: float, error: Sequence[float] | None) -> bool | None:
    """True if the whole interval of an error lies within a target, False if it lies above; None: it cannot be said."""
    if error is None:
        return None
    _, low, high = error
    return True if high <= target else False if low > target else None


def target_table(found: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """The figures as rows under `COLUMNS`."""
    said = {True: KEPT, False: MISSED, None: OPEN}
    return [
        [
            f"{100 * one['target']:.4g}%",
            f"{one['hit_rate']:.1%}",
            f"{one['semantic']:,}",
            f"{one['wrong']:,}",
            rate(one["error"]),
            said[one["kept"]],
            f"{one['audits']:,}",
            f"{one['net_hit_rate']:.1%}",
            amount(one["cost_saved"]),
        ]
        for one in found
    ]


def target_section(found: Sequence[Mapping[str, Any]]) -> str:
    """The part of the page of Markdown about targets, "" where none was compared."""
    if not found:
        return ""
    said = "One target for all categories, at the last size. Kept, or not, is what the whole 95% interval says."
    return "\n".join(["", "## By target", "", said, "", grid(COLUMNS, target_table(found)), ""])
