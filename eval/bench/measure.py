"""Measured values: a series over the rounds, a ratio held against its target, and a section of the report.

Pure. Invariant: a ratio or difference is taken within each round before its median is, so that drift hits both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import ceil
from statistics import median
from typing import Any


@dataclass(frozen=True, slots=True)
class Series:
    """One quantity, one value a round."""

    values: tuple[float, ...]
    unit: str = ""

    @property
    def median(self) -> float:
        return median(self.values)

    def paired(self, other: Series, operation: Callable[[float, float], float], unit: str) -> Series:
        """The operation on the values of each round."""
        if len(self.values) != len(other.values):
            raise ValueError(f"{len(self.values)} rounds of one side and {len(other.values)} of the other")
        return Series(tuple(map(operation, self.values, other.values)), unit)

    def over(self, other: Series) -> Series:
        """The ratio to another series."""
        return self.paired(other, lambda mine, theirs: mine / theirs, "x")

    def less(self, other: Series) -> Series:
        """The difference to another series of the same unit."""
        return self.paired(other, lambda mine, theirs: mine - theirs, self.unit)

    def __str__(self) -> str:
        low, high = min(self.values), max(self.values)
        middle = f"{figures(self.median)} {self.unit}".strip()
        return middle if len(self.values) == 1 else f"{middle} ({figures(low)}-{figures(high)})"


@dataclass(frozen=True, slots=True)
class Row:
    """The measurement of one contender."""

    label: str
    values: dict[str, Series]


@dataclass(frozen=True, slots=True)
class Check:
    """A number that has a target."""

    label: str
    value: Series
    limit: float
    at_most: bool = True

    @property
    def met(self) -> bool:
        return self.value.median <= self.limit if self.at_most else self.value.median >= self.limit

    @property
    def target(self) -> str:
        return f"{'<=' if self.at_most else '>='} {figures(self.limit)} {self.value.unit}".strip()


@dataclass
class Section:
    """One comparison: rows of measurements, the numbers that have targets, and what to know about them."""

    name: str
    title: str
    rows: list[Row] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    about: dict[str, Any] = field(default_factory=dict)

    def columns(self) -> list[str]:
        """Every quantity that some row has, in the order of their first appearance."""
        return list(dict.fromkeys(name for row in self.rows for name in row.values))


def figures(value: float) -> str:
    """A number to three significant figures, without an exponent."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    if abs(value) >= 10:
        return f"{value:.1f}"
    return f"{value:.2f}" if abs(value) >= 1 else f"{value:.3g}"


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` of all values do not exceed; `share` is in (0, 1]."""
    ordered = sorted(values)
    return ordered[max(0, ceil(share * len(ordered)) - 1)]


def as_dict(section: Section) -> dict[str, Any]:
    """A section as JSON keeps it."""

    def series(value: Series) -> dict[str, Any]:
        rounded = [float(f"{each:.5g}") for each in value.values]
        return {"median": float(f"{value.median:.5g}"), "unit": value.unit, "values": rounded}

    return {
        "name": section.name,
        "title": section.title,
        "about": section.about,
        "rows": [
            {"label": row.label} | {name: series(value) for name, value in row.values.items()} for row in section.rows
        ],
        "checks": [
            {"label": check.label, "target": check.target, "met": check.met, **series(check.value)}
            for check in section.checks
        ],
        "notes": section.notes,
    }


def from_dict(kept: dict[str, Any]) -> Section:
    """The value that `as_dict` wrote, as far as tables need it."""

    def series(value: dict[str, Any]) -> Series:
        return Series(tuple(value["values"]), value["unit"])

    rows = [
        Row(row["label"], {name: series(value) for name, value in row.items() if name != "label"})
        for row in kept["rows"]
    ]
    checks = []
    for check in kept["checks"]:
        sign, limit, *_ = check["target"].split()
        checks.append(Check(check["label"], series(check), float(limit.replace(",", "")), at_most=sign == "<="))
    return Section(kept["name"], kept["title"], rows, checks, kept["notes"], kept["about"])
