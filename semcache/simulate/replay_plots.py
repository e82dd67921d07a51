"""Plots of a replay, drawn with matplotlib, which is not installed with semcache.

Knows the figures of `replay_report` and the arrays of the last run. Invariant: importing this module needs no
matplotlib, and drawing needs no screen and leaves other users of matplotlib in the process alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from semcache.errors import ConfigError

if TYPE_CHECKING:
    from semcache.simulate.simulation_result import SimulationResult

REMEDY = "plots need matplotlib: `pip install matplotlib`, or leave them out with --no-plots"
_POINTS = 400
_SIZE = (7.0, 4.2)


def draw(report: Mapping[str, Any], last: SimulationResult, folder: Path) -> list[str]:
    """Write the plots into a folder and return their names. Raises ConfigError without matplotlib."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ConfigError(REMEDY) from error
    names = []
    for name, paint in (("over-time", _over_time), ("by-size", _by_size), ("against-fixed-scores", _against_static)):
        figure = Figure(figsize=_SIZE, layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots()
        axes.yaxis.set_major_formatter(_percent)
        if paint(axes, report, last):
            figure.savefig(folder / f"{name}.png", dpi=120)
            names.append(f"{name}.png")
    return names


def _over_time(axes: Any, report: Mapping[str, Any], last: SimulationResult) -> bool:
    if not len(last):
        return False
    places = np.unique(np.linspace(0, len(last) - 1, _POINTS).astype(int))
    count = np.arange(1, len(last) + 1)
    wrong, semantic = np.cumsum(last.semantic & last.wrong), np.cumsum(last.semantic)
    axes.plot(places, (np.cumsum(last.exact | last.semantic) / count)[places], label="hit rate")
    axes.plot(places, (np.cumsum(last.exact) / count)[places], label="exact hits")
    error = np.divide(wrong, semantic, out=np.zeros(len(last)), where=semantic > 0)
    if report["contract"] == "request":
        error = wrong / np.maximum(np.cumsum(last.looked_up), 1)
    axes.plot(places, error[places], label=f"error per {report['contract']}")
    axes.axhline(report["target"], linestyle=":", color="grey", label="target")
    axes.set(xlabel="requests", ylabel="share so far", title="Over time, at the last size")
    axes.legend()
    return True


def _by_size(axes: Any, report: Mapping[str, Any], _: SimulationResult) -> bool:
    runs = sorted((run for run in report["runs"] if run["size"] is not None), key=lambda run: run["size"])
    if len(runs) < 2:
        return False
    sizes, requests = [run["size"] for run in runs], report["requests"]
    axes.plot(sizes, [run["summary"]["hit_rate"] for run in runs], "o-", label="the pack")
    axes.plot(sizes, [run["answer_bound"] / requests for run in runs], "--", label="bound: every known answer")
    axes.plot(sizes, [run["exact_bound"] / requests for run in runs], ":", label="bound: exact repeats")
    axes.set(xlabel="entries", ylabel="hit rate", xscale="log", title="By size, beside offline-optimal eviction")
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.minorticks_off()
    axes.legend()
    return True


def _against_static(axes: Any, report: Mapping[str, Any], _: SimulationResult) -> bool:
    static = report.get("static")
    if not static:
        return False
    key = f"error_per_{report['contract']}"
    axes.plot([one[key] for one in static], [one["hit_rate"] for one in static], "o-", label="fixed scores")
    own = report["runs"][-1]["summary"]
    axes.plot([own[key][0] if own[key] else 0.0], [own["hit_rate"]], "*", markersize=14, label="the pack")
    axes.axvline(report["target"], linestyle=":", color="grey", label="target")
    axes.axhline(report["oracle_hit_rate"], linestyle="--", color="grey", label="every known answer")
    shown = max(report["target"] * 5, (own[key][0] if own[key] else 0.0) * 1.5)
    axes.set(xlim=(-shown / 40, shown), xlabel=f"error per {report['contract']}", ylabel="hit rate",
             title="Against fixed scores, in hindsight")  # fmt: skip
    axes.xaxis.set_major_formatter(_percent)
    axes.legend()
    return True


def _percent(share: float, _: float) -> str:
    return f"{100 * share:.3g}%"
