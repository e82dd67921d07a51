"""Figures of `eval/results` that the documentation quotes, as tables that `eval.docs` writes.

Invariant: a figure is read from the file beside its page and rounded once.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from eval.markdown import table

_STREAMS = Path(__file__).parent / "results" / "decisions-streams.json"
_ASKED = ("certified + verifier", "hit")
_TARGETS = (0.01, 0.02, 0.05)
_NAMES: Mapping[str, str] = {
    "natural-judged": "natural questions of Quora, by the verdicts of a language model",
    "natural": "the same, by Quora's own labels, which are noisy",
    "hint3": "questions to small shops (`hint3`)",
    "covidq": "questions about a disease (`covidq`), few hits",
    "mix": "several kinds of traffic, mixed",
}


def wrong_before_audits() -> str:
    """The share of wrong hits by meaning on streams, by target, with the verifier that ships."""
    found = _streams()
    rows = [
        [told, *(_cell(found[name, target], rare=name == "natural-judged" and target == 0.01) for target in _TARGETS)]
        for name, told in _NAMES.items()
    ]
    others = {stream for stream, _ in found} - set(_NAMES)
    worst = [f"{max(_error(found[one, target]) for one in others):.1%}" for target in _TARGETS]
    rows.append([f"each of the other {len(others)}, at most", *worst])
    return table(["stream", *(f"target {target:.0%}" for target in _TARGETS)], rows)


def _streams() -> dict[tuple[str, float], list[dict[str, int]]]:
    """The counts of each order of requests, by stream and target."""
    read: dict[str, Any] = json.loads(_STREAMS.read_text(encoding="utf-8"))
    return {
        (run["stream"], run["target"]): [dict(zip(read["columns"], one, strict=True)) for one in run["counts"]]
        for run in read["runs"]
        if (run["contender"], run["contract"]) == _ASKED
    }


def _error(orders: Sequence[Mapping[str, int]]) -> float:
    """The mean share of wrong hits; an order without hits has none."""
    return statistics.fmean(one["wrong"] / one["semantic"] if one["semantic"] else 0.0 for one in orders)


def _cell(orders: Sequence[Mapping[str, int]], *, rare: bool) -> str:
    hits = sum(one["semantic"] for one in orders)
    seldom = f", with one hit in {sum(one['requests'] for one in orders) / hits:.0f} requests" if rare and hits else ""
    return f"{_error(orders):.1%}{seldom}"
