"""What a soak showed: failures by what was broken, memory, descriptors, times and promises, and their page. Pure."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).parents[1] / "results"
_WINDOWS = 6


def summary(seen: dict[str, Any], *, heal: float) -> dict[str, Any]:
    """The figures of a run. A request is quiet if it met no fault nor the `heal` seconds after one."""
    faults = seen["faults"]
    failed: dict[str, Counter[str]] = {one["kind"]: Counter() for one in faults}
    requests: Counter[str] = Counter()
    quiet: list[tuple[float, float]] = []
    failed_quietly: Counter[str] = Counter()
    for at, seconds, fate, _ in seen["asked"]:
        met = [one for one in faults if at < one["to"] + heal and at + seconds > one["from"]]
        for one in met[:1]:
            requests[one["kind"]] += 1
            if fate != "ok":
                failed[one["kind"]][fate] += 1
        if not met:
            quiet.append((at, seconds))
            if fate != "ok":
                failed_quietly[fate] += 1
    width = seen["seconds"] / _WINDOWS
    windows = []
    for number in range(_WINDOWS):
        some = [seconds for at, seconds in quiet if number * width <= at < (number + 1) * width]
        inside = [one for one in seen["samples"] if number * width <= one["at"] < (number + 1) * width]
        windows.append(
            {
                "minutes": f"{number * width / 60:.0f}–{(number + 1) * width / 60:.0f}",
                "requests": len(some),
                "p50": _milliseconds(some, 0.5),
                "p99": _milliseconds(some, 0.99),
                **_oldest(inside, len([1 for at, *_ in seen["asked"] if number * width <= at < (number + 1) * width])),
            }
        )
    return {
        "seconds": seen["seconds"],
        "rate": seen["rate"],
        "pool": seen["pool"],
        "seed": seen["seed"],
        "disk_filled": seen["disk_filled"],
        "faults": dict(Counter(one["kind"] for one in faults)),
        "requests": len(seen["asked"]),
        "outcomes": seen["outcomes"],
        "requests_in_faults": dict(requests),
        "failed": {kind: dict(counts) for kind, counts in failed.items() if counts},
        "failed_quietly": dict(failed_quietly),
        "promised": seen["promised"],
        "checked": seen["checked"],
        "lost": seen["lost"],
        "wrong": seen["wrong"],
        "tracebacks": seen["tracebacks"],
        "windows": windows,
    }


def _oldest(samples: Sequence[dict[str, Any]], requests: int) -> dict[str, float]:
    """Memory and descriptors of the oldest worker at the end of a window, and processor time by request of both."""
    rows = [next(iter(one["workers"].values())) for one in samples if one["workers"]]
    if not rows:
        return {"rss": 0.0, "fds": 0.0, "cpu": 0.0}
    spent = 0.0
    for before, after in itertools.pairwise(samples):
        for pid, one in after["workers"].items():
            if pid in before["workers"]:
                spent += one["cpu"] - before["workers"][pid]["cpu"]
    last = rows[-12:]
    return {
        "rss": float(np.median([one["rss"] for one in last])),
        "fds": float(np.median([one["fds"] for one in last])),
        "cpu": round(1e3 * spent / max(1, requests), 2),
    }


def _milliseconds(seconds: Sequence[float], quantile: float) -> float:
    return round(1e3 * float(np.quantile(seconds, quantile)), 1) if seconds else 0.0


def write(told: dict[str, Any]) -> None:
    """Keep figures and page."""
    (RESULTS / "soak.json").write_text(json.dumps(told, indent=1) + "\n")
    (RESULTS / "soak.md").write_text(page(told))


def page(told: dict[str, Any]) -> str:
    """The page."""
    filled = "" if told["disk_filled"] else " The disk was not filled: no file system could be mounted here."
    lines = [
        "# An hour with faults" if told["seconds"] >= 3500 else f"# {told['seconds'] / 60:.0f} minutes with faults",
        "",
        f"`{told['command']}`",
        "",
        f"Two workers on PostgreSQL, {told['rate']:g} requests a second of {told['pool']:,} questions (exact, "
        f"reworded, streams, embeddings), {sum(told['faults'].values())} faults at random.{filled} A request is "
        "*quiet* if it met no fault nor the 20 seconds after one. The worker that is killed is always the younger one, "
        "so that the memory of the older one is that of the whole run.",
        "",
        "| what was broken | times | requests then | failed |",
        "| --- | --- | --- | --- |",
    ]
    for kind, count in sorted(told["faults"].items()):
        bad = ", ".join(f"{number} {fate}" for fate, number in told["failed"].get(kind, {}).items()) or "0"
        lines.append(f"| {kind} | {count} | {told['requests_in_faults'].get(kind, 0)} | {bad} |")
    quietly = ", ".join(f"{count} {fate}" for fate, count in told["failed_quietly"].items()) or "0"
    raised = ", ".join(f"{count} {name}" for name, count in told["tracebacks"].items()) or "none"
    lines += [
        "",
        f"{told['requests']:,} requests; of the quiet ones {quietly} failed. {told['promised']:,} answers were "
        f"promised (`stored`, received whole) and asked for {told['checked']:,} times: {len(told['lost'])} were lost. "
        f"Answers to another question: {len(told['wrong'])}. Tracebacks in the log: {raised}.",
        "",
        "| minutes | quiet requests | p50 ms | p99 ms | CPU of the workers, ms a request | RSS of the older worker, MB "
        "| its descriptors |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for one in told["windows"]:
        lines.append(
            f"| {one['minutes']} | {one['requests']} | {one['p50']} | {one['p99']} | {one['cpu']} | {one['rss']:.0f} "
            f"| {one['fds']:.0f} |"
        )
    if told["lost"]:
        lines += ["", "Lost:", "", *[f"- {one}" for one in told["lost"][:20]]]
    lines += [
        "",
        "Times are those of a machine that others used too; processor time by request is not disturbed by them.",
    ]
    return "\n".join(lines) + "\n"
