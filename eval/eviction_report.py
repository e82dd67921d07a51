"""The page and the figure of the comparison of eviction policies. Knows what was measured, not how."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from semcache.retention.eviction import POLICIES

if TYPE_CHECKING:
    from eval.eviction import Row


def plain(row: Row) -> dict[str, Any]:
    """A row as JSON has it, to four digits."""
    kept = asdict(row)
    kept["saved"] = {name: round(share, 4) for name, share in row.saved.items()}
    kept["bound"], kept["lead"] = round(row.bound, 4), [round(part, 4) for part in row.lead]
    return kept


def first(row: Row) -> str:
    """Where the default stands: first, within noise of first, or behind."""
    lead, low, high = row.lead
    if lead >= 0.0:
        return "first"
    return "within noise" if low <= 0.0 <= high else "behind"


def page(rows: Sequence[Row], loads: Sequence[Mapping[str, Any]], seeds: int) -> str:
    """The whole page in Markdown."""
    names = list(POLICIES)
    lines = [
        "# Eviction",
        "",
        "Made by `python -m eval.eviction`; how is said there and in `eviction_workloads.py`.",
        "",
    ]
    standing = [first(row) for row in rows]
    lines += [
        f"The default (`value`) is first in {standing.count('first')} of {len(rows)} cells, within noise of first in "
        f"{standing.count('within noise')}, behind in {standing.count('behind')}. Noise: the 95% interval of the "
        "difference from the best other policy holds 0 (bootstrap over 20 parts of each stream; prompts have "
        f"{seeds} seeds).",
        "",
        "## All policies",
        "",
        "Share of the offline bound that is reached, mean over all workloads of a capacity. The bound lets the future "
        "be known and keeps to the capacity only on average (PFOO-U, weighted by cost): no policy can reach it.",
        "",
        "| policy | " + " | ".join(f"{row:.0%}" for row in sorted({row.capacity for row in rows})) + " | all |",
        "|---" * (len({row.capacity for row in rows}) + 2) + "|",
    ]
    variants = [*names, *sorted({name for row in rows for name in row.saved} - set(names))]
    for name in variants:
        cells = []
        for capacity in [*sorted({row.capacity for row in rows}), None]:
            shares = [
                row.saved.get(name, row.saved[name.removesuffix(" by key")]) / row.bound
                for row in rows
                if capacity in (None, row.capacity)
            ]
            cells.append(f"{sum(shares) / len(shares):.1%}")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    lines += [
        "",
        "`by key` counts identical prompts instead of those of the same answer (on traces there is no difference).",
        "",
        "## Each workload",
        "",
        "Cost saved by hits, in % of the cost of all requests. `lead`: the default less the best other, in points.",
        "",
        "| workload | capacity | bound | " + " | ".join(names) + " | lead (95%) | |",
        "|---" * (len(names) + 5) + "|",
    ]
    for row in rows:
        best = max(row.saved[name] for name in names)
        shares = [
            f"**{100 * row.saved[n]:.1f}**" if row.saved[n] == best else f"{100 * row.saved[n]:.1f}" for n in names
        ]
        lead, low, high = (100 * part for part in row.lead)
        lines.append(
            f"| {row.workload} | {row.capacity:.0%} | {100 * row.bound:.1f} | "
            + " | ".join(shares)
            + f" | {lead:+.2f} ({low:+.2f} to {high:+.2f}) {row.best} | {first(row)} |"
        )
    return "\n".join([*lines, "", *_load(loads), ""])


def _load(loads: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = [
        "## Overload",
        "",
        "A simulated model with a queue; requests step from 0.7 to 1.4 times what it can take and back. With "
        "relaxation the error target goes from 1% towards 2 or 5% while the load lasts. The score for a target is set "
        "on other classes. The source only projected 9 to 17% less traffic.",
        "",
        "| stream | target, up to | calls per request | relaxed | less traffic (95%) "
        "| error per hit by meaning | relaxed | p95, s | relaxed |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for load in loads:
        low, high = load["cut_interval"]
        cells = [
            load["stream"],
            f"{load['relax_to']:.0%}",
            f"{load['calls']:.3f}",
            f"{load['calls_relaxed']:.3f}",
            f"{load['cut']:.1%} ({low:.1%} to {high:.1%})",
            f"{load['error']:.2%}",
            f"{load['error_relaxed']:.2%}",
            f"{load['p95']:.1f}",
            f"{load['p95_relaxed']:.1f}",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def figure(rows: Sequence[Row], path: Path) -> None:
    """Cost saved by capacity, one panel a workload."""
    try:
        import matplotlib as mpl
    except ImportError:
        print("no figure: matplotlib is not installed", file=sys.stderr)
        return
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    kinds = list(dict.fromkeys(row.workload for row in rows))
    plot, panels = plt.subplots(2, (len(kinds) + 1) // 2, figsize=(15, 5.5), sharex=True)
    for panel, kind in zip(panels.flat, kinds, strict=False):
        mine = [row for row in rows if row.workload == kind]
        capacities = [100 * row.capacity for row in mine]
        panel.plot(capacities, [100 * row.bound for row in mine], color="0.6", linestyle=":", label="bound")
        for name in POLICIES:
            strong = {"linewidth": 2.2, "color": "black"} if name == "value" else {"linewidth": 0.9}
            panel.plot(capacities, [100 * row.saved[name] for row in mine], label=name, **strong)
        panel.set(title=kind, xscale="log", xlabel="capacity, %")
    panels.flat[0].set_ylabel("cost saved, %")
    plot.legend(*panels.flat[0].get_legend_handles_labels(), loc="lower center", ncols=9)
    plot.tight_layout(rect=(0, 0.06, 1, 1))
    plot.savefig(path, dpi=80)
