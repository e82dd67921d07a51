"""Where a request's time went, by the proxy's own account: the stages in its log.

Reads the log that `semcache serve` writes. Invariant: only requests of the outcome asked for are counted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from statistics import median


def medians(lines: Iterable[str], outcome: str) -> dict[str, float]:
    """Median milliseconds of each stage over the logged requests with this outcome; `ms` is the whole request."""
    found: dict[str, list[float]] = {}
    for line in lines:
        if not line.startswith("{"):
            continue
        try:
            event = json.loads(line)
        except ValueError:  # the last line may be half written
            continue
        if event.get("outcome") == outcome and "ms" in event:
            found.setdefault("ms", []).append(event["ms"])
            for stage, took in event.get("stages_ms", {}).items():
                found.setdefault(stage, []).append(took)
    return {stage: round(median(values), 3) for stage, values in found.items()}


def sentence(lines: Iterable[str], outcome: str) -> str:
    """The medians in words."""
    stages = medians(lines, outcome)
    whole = stages.pop("ms", 0.0)
    parts = ", ".join(f"{stage} {took:.3g}" for stage, took in stages.items())
    return f"the proxy's own log, medians of a {outcome} in ms: {whole:.3g} in all, {parts or 'no stages'}"
