"""Figures of the streams: hits against errors. Needs matplotlib, which the package itself does not; without it, none.

Invariant: a figure shows what the tables hold and nothing else.
"""

from __future__ import annotations

import importlib.util
import statistics
from typing import Any

from eval.decisions.figures import Line
from eval.decisions.running import Measured


def possible() -> bool:
    """Return True if matplotlib is installed."""
    return importlib.util.find_spec("matplotlib") is not None


def streams(measured: Measured, lines: list[Line]) -> dict[str, Any]:
    """One figure for each insertion protocol, one panel for each stream: requests saved against error per request."""
    from matplotlib.figure import Figure

    found: dict[str, Any] = {}
    for insertion in dict.fromkeys(insertion for _, insertion in measured.bounds):
        names = [stream for stream, each in measured.bounds if each == insertion]
        figure = Figure(figsize=(3.2 * len(names), 3.4), layout="constrained")
        for panel, stream in zip(figure.subplots(1, len(names), squeeze=False)[0], names, strict=True):
            _panel(
                panel, measured, [one for one in lines if (one.key.stream, one.key.insertion) == (stream, insertion)]
            )
        figure.axes[0].set_ylabel("requests saved, net of audits [%]")
        figure.axes[-1].legend(fontsize=6, loc="lower right")
        found[insertion] = figure
    return found


def _panel(panel: Any, measured: Measured, lines: list[Line]) -> None:
    first = lines[0].key
    bounds = measured.bounds[first.stream, first.insertion]
    static = [
        (statistics.fmean([one.error("request") for one in runs]), statistics.fmean([one.saved for one in runs]))
        for runs in zip(*[one.static for one in bounds], strict=True)
    ]
    panel.plot(*_percent(sorted(static)), color="grey", linewidth=1, label="static, any threshold")
    oracle = 100 * statistics.fmean([one.oracle for one in bounds])
    panel.axhline(oracle, color="black", linestyle=":", label="oracle")
    for name, contract in dict.fromkeys((one.key.contender, one.key.contract) for one in lines):
        points = [
            (one.per_request.estimate, one.saved.estimate)
            for one in lines
            if (one.key.contender, one.key.contract) == (name, contract)
        ]
        panel.plot(*_percent(sorted(points)), marker="o", markersize=3, linewidth=0.8, label=f"{name} ({contract})")
    panel.set_title(first.stream, fontsize=9)
    panel.set_xlim(-0.1, 5.5)
    panel.set_ylim(0, 1.15 * oracle)
    panel.set_xlabel("wrong, of requests [%]")


def _percent(points: list[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [100 * x for x, _ in points], [100 * y for _, y in points]
