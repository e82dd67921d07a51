"""Quantities that two texts name: which are equal, and which cannot be said of one thing.

Knows no texts. Invariant: `equal` is symmetric, and no quantity equals one of another dimension, save where a unit may
have been left out.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from semcache.matching.guards.units import CURRENCIES, DOLLARS

_POUND = 0.45359237  # kg
_ENOUGH = 8  # strange quantities that are looked at
_DAY = 86400.0
_MONTH = (28, 31)  # days


class Quantity(NamedTuple):
    """A number as written (`value`), and in the base unit of its dimension (`base`); `factor` is that of its unit.

    `bound` is that of `figures.bound`, `noun` what is counted, so far as the next word tells.
    """

    value: float
    base: float
    dimension: str
    version: str
    soft: bool
    factor: float = 1.0
    bound: int = 0
    noun: str = ""


def strange(quantities: tuple[Quantity, ...], others: tuple[Quantity, ...]) -> tuple[Quantity, ...]:
    """The first quantities that equal none of the others, those that are not incidental if there are any."""
    same = frozenset(others)
    hard: list[Quantity] = []
    soft: list[Quantity] = []
    for quantity in quantities:
        if quantity in same or any(equal(quantity, other) for other in others):
            continue
        (soft if quantity.soft else hard).append(quantity)
        if len(hard) == _ENOUGH:
            break
    return tuple(hard or soft[:_ENOUGH])


def excluding(left: tuple[Quantity, ...], right: tuple[Quantity, ...]) -> bool:
    """Return True if quantities of two texts cannot be said of one thing.

    An incidental one excludes only another number of what it counts; a month may have been meant by thirty days.
    """
    if not (left and right):
        return False
    if left[0].soft or right[0].soft:
        return any(one.noun == two.noun != "" for one in left for two in right)
    return not all(any(_nearly(one, two) for two in right) for one in left)


def _nearly(one: Quantity, two: Quantity) -> bool:
    """Return True for a number of months and one of days that may be the same time."""
    months, other = (one, two) if one.dimension == "months" else (two, one)
    days = other.base / _DAY
    return (
        months.dimension == "months"
        and other.dimension == "duration"
        and _MONTH[0] * months.base <= days <= _MONTH[1] * months.base
    )


def equal(one: Quantity, two: Quantity) -> bool:
    """Return True if two quantities are one, or may be but for a unit that is left out."""
    if one.bound and two.bound and _bounds_alike(one, two):
        return True
    if one.bound and two.bound and one.value == two.value and _bound_otherwise(one, two):
        return False
    if one.version or two.version:
        if one.version and two.version:
            return one.version == two.version
        versioned, other = (one, two) if one.version else (two, one)
        return versioned.version == f"{other.value:g}"
    if "pounds" in (one.dimension, two.dimension) and one.dimension != two.dimension:
        pounds, other = (one, two) if one.dimension == "pounds" else (two, one)
        factor = {"gbp": 1.0, "mass": _POUND, "": 1.0}.get(other.dimension, math.nan)
        return math.isclose(pounds.value * factor, other.base, rel_tol=2e-3)
    if one.dimension == two.dimension:
        # Only what was converted is rounded: $999 is not $1000.
        return math.isclose(one.base, two.base, rel_tol=1e-12 if _is_exact(one, two) else 2e-3)
    if "dollars" in (one.dimension, two.dimension) and {one.dimension, two.dimension} <= DOLLARS | {"dollars"}:
        return one.base == two.base
    if not one.dimension or not two.dimension or "degrees" in (one.dimension, two.dimension):
        return one.value == two.value or ((two.dimension or one.dimension) in CURRENCIES and one.base == two.base)
    return False


def _bounds_alike(one: Quantity, two: Quantity) -> bool:
    """Return True for two bounds on a whole number that allow the same: more than 4, and at least 5."""
    strict, other = (one, two) if abs(one.bound) == 1 else (two, one)
    if other.bound != 2 * strict.bound or not strict.value.is_integer():
        return False
    alike = strict.factor == other.factor if strict.dimension and other.dimension else True
    return alike and other.value == strict.value + strict.bound


def _bound_otherwise(one: Quantity, two: Quantity) -> bool:
    """Return True for bounds on either side of a number, and for a count where only one of them allows the number."""
    if one.bound * two.bound < 0:
        return True
    return one.bound != two.bound and not one.dimension and not two.dimension


def _is_exact(one: Quantity, two: Quantity) -> bool:
    """Return True if the units of two quantities of one dimension convert without rounding: kilometres and metres."""
    if one.factor == two.factor or one.dimension == "temperature":
        return one.factor == two.factor
    ratio = max(one.factor, two.factor) / min(one.factor, two.factor)
    return math.isclose(ratio, round(ratio), rel_tol=1e-9)
