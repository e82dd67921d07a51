"""Tables: a page and a JSON file for each section, each beside the command, data and seed that it came from.

Knows Markdown and nothing of how things were measured. Invariant: what is printed is what is kept.
"""

from __future__ import annotations

import json
import shlex
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from semcache.types.evidence import Interval

RESULTS = Path(__file__).parent.parent / "results"


@dataclass(frozen=True, slots=True)
class Table:
    """A titled table of cells."""

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """The measurement of one subcommand. `facts` are kept as JSON."""

    name: str
    title: str
    about: Sequence[str]
    tables: Sequence[Table]
    facts: Any
    figures: dict[str, Any] = field(default_factory=dict)


def command(argv: Sequence[str]) -> str:
    """The line of the page that says how it was made."""
    return f"`{shlex.join(['python', '-m', 'eval.decisions', *argv])}`"


def keep(section: Section, folder: Path = RESULTS) -> list[Path]:
    """Write the page, the facts and the figures; return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"decisions-{section.name}"
    page, facts = folder / f"{stem}.md", folder / f"{stem}.json"
    drawn = []
    for name, figure in section.figures.items():
        drawn.append(folder / f"{stem}-{name}.svg")
        figure.savefig(drawn[-1], metadata={"Date": None})
    text = markdown(section) + "".join([f"\n![{path.stem}]({path.name})\n" for path in drawn])
    page.write_text(text, encoding="utf-8")
    facts.write_text(json.dumps(section.facts, separators=(",", ":"), sort_keys=True) + "\n", encoding="utf-8")
    return [page, facts, *drawn]


def markdown(section: Section) -> str:
    """The page."""
    lines = [f"# {section.title}", "", *[f"- {line}" for line in section.about], ""]
    for table in section.tables:
        lines += [f"## {table.title}", ""]
        escaped = [[cell.replace("|", "\\|") for cell in row] for row in (table.heads, *table.rows)]
        rule = ["---", *["---:"] * (len(table.heads) - 1)]
        lines += [f"| {' | '.join(row)} |" for row in (escaped[0], rule, *escaped[1:])]
        lines += ["", *([table.note, ""] if table.note else [])]
    return "\n".join(lines)


def percent(value: float | None, digits: int = 2) -> str:
    """A share as a percentage; nothing for None."""
    return "" if value is None else f"{100 * value:.{digits}f}"


def between(found: Interval | None, digits: int = 2) -> str:
    """A share with its interval."""
    if found is None:
        return ""
    low, high = max(0.0, found.low), min(1.0, found.high)
    return f"{percent(found.estimate, digits)} ({percent(low, digits)}–{percent(high, digits)})"


def middle(values: Sequence[float], digits: int = 1) -> str:
    """The median of shares, with their range."""
    low, high = percent(min(values), digits), percent(max(values), digits)
    return f"{percent(statistics.median(values), digits)} ({low}–{high})"
