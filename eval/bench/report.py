"""Tables: a section on the console, and the page that is made of every section kept so far.

Knows rich and Markdown, no measurement. Invariant: the page says of every section when, where and by which command it
was measured.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from eval.bench.measure import Section, as_dict, from_dict

PAGE = "bench.md"
_HEAD = """# Benchmarks

Made by `make bench`; do not edit. Each value is the median over the rounds, with the range in brackets. Trust the
ratios, which compare sides that were measured in turns; absolute times are those of the machine named below.
"""


def show(console: Console, section: Section) -> None:
    """Print a section."""
    console.rule(f"[bold]{section.title}", align="left")
    table = Table(box=None, pad_edge=False)
    columns = section.columns()
    table.add_column("")
    for column in columns:
        table.add_column(column, justify="right")
    for row in section.rows:
        table.add_row(row.label, *(str(row.values[name]) if name in row.values else "" for name in columns))
    console.print(table)
    for check in section.checks:
        verdict = "[green]met[/]   " if check.met else "[red]missed[/]"
        console.print(f"{verdict} {check.label}: [bold]{check.value}[/], target {check.target}", highlight=False)
    for note in section.notes:
        console.print(f"[dim]{note}[/]", highlight=False)
    console.print()


def keep(folder: Path, section: Section) -> None:
    """Write a section to `folder` and make the page anew."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"bench-{section.name}.json").write_text(json.dumps(as_dict(section), indent=1) + "\n", encoding="utf-8")
    kept = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("bench-*.json"))]
    order = ("http", "semantic", "lookup", "miss", "miss_before", "start", "embed")
    kept.sort(key=lambda each: order.index(each["name"]) if each["name"] in order else len(order))
    (folder / PAGE).write_text(page([from_dict(each) for each in kept]), encoding="utf-8")


def page(sections: Sequence[Section]) -> str:
    """The Markdown page of these sections."""
    lines = [_HEAD]
    for section in sections:
        lines += [f"## {section.title}", ""]
        if section.checks:
            lines += _table(
                ["target", "measured", "wanted", ""],
                [[c.label, str(c.value), c.target, "met" if c.met else "**missed**"] for c in section.checks],
            )
        columns = section.columns()
        if section.rows:
            cells = [[row.label, *(str(row.values.get(name, "")) for name in columns)] for row in section.rows]
            lines += _table(["", *columns], cells)
        lines += [f"- {note}" for note in section.notes]
        lines += [f"- {line}" for line in _facts(section.about)] + [""]
    return "\n".join(lines)


def _table(heads: list[str], rows: list[list[str]]) -> list[str]:
    escaped = [[cell.replace("|", "\\|") for cell in row] for row in (heads, *rows)]
    rule = ["---"] * len(heads)
    return [f"| {' | '.join(row)} |" for row in (escaped[0], rule, *escaped[1:])] + [""]


def _facts(about: dict[str, Any]) -> list[str]:
    if not about:
        return []
    machine = about["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    calm = " to ".join(f"{value:.1f}" for value in about["calibration_ms"])
    load = " to ".join(f"{value:.1f}" for value in about["load_average"])
    return [
        f"`{about['command']}`, {about['rounds']} rounds, seed {about['seed']}, {about['at']}",
        f"{machine['cpu']}, {machine['cores']} cores, {machine['memory_gib']} GiB, {machine['system']}; load average "
        f"{load}, a fixed loop of Python took {calm} ms before and after",
        f"Python {machine['python']}, {versions}",
    ]
