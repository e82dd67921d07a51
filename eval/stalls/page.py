"""The results page of the attack corpus: before and after, beside each other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_COMMAND = "python -m eval.stalls --page --label after"


def write(folder: Path, label: str, rows: list[dict[str, Any]], machine: dict[str, Any]) -> None:
    """Put the rows of this run under its label, and write the page of all labels."""
    file = folder / "stalls.json"
    kept: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    kept[label] = {"machine": machine, "rows": rows}
    file.write_text(json.dumps(kept, indent=1) + "\n")
    (folder / "stalls.md").write_text(page(kept))


def page(kept: dict[str, Any]) -> str:
    """Return the page."""
    before = {row["name"]: row for row in kept.get("before", {}).get("rows", [])}
    rows = kept.get("after", {}).get("rows", [])
    lines = [
        "# What an attacker's requests cost an honest tenant",
        "",
        f"`{_COMMAND}`",
        "",
        "A real proxy with keys; an honest tenant asks every 10 ms, three exact hits and a miss; another tenant, or a "
        "stranger, sends each shape from two connections. *Held* is the processor time of the proxy's longest turn of "
        "its event loop, in which nobody else is served: what other programs take does not count. Of a shape with a "
        "turn beyond 50 ms it is the least of up to three tries: what a shape causes it causes each time. *Late* is "
        "the honest tenant's longest wait from when a request was due, on this machine as busy as it was: the rows of "
        "nothing say what that alone costs. *Memory* is the proxy's peak.",
        "",
        "| shape | held, worst ms | held, p99.9 ms | late, worst ms | late before | failed | memory MB | before "
        "| the attacker got |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        old = before.get(row["name"], {})
        lines.append(
            f"| {row['name']} | {row['held']} | {row['held999']} | {row['worst']} | {old.get('worst', '')} "
            f"| {row['failed']} | {row['peak']:.0f} | {old.get('peak', '')} | {row['fate']} |"
        )
    if rows:
        quiet = [row for row in rows if not row["name"].startswith("(")]
        lines += [
            "",
            f"{len(quiet)} shapes. Longest turn of the loop {max(row['held'] for row in quiet)} ms; most memory "
            f"{max(row['peak'] for row in quiet):.0f} MB; requests of the honest tenant that failed "
            f"{sum(row['failed'] for row in quiet)}.",
        ]
    return "\n".join(lines) + "\n"
