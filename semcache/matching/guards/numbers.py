"""The guard for numbers and units: two prompts that name different quantities have different answers.

Reads digits, spelt-out numbers, ordinals, fractions, percentages, money, versions and units; equal quantities in other
units are equal. Dates are the dates guard's business and are blanked before this one reads.
Invariant: a number that only one text names is a conflict, save the incidental ones ("one of them", "first, ...").
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from semcache.matching.guards import dates, figures, written_numbers
from semcache.matching.guards.base import ReadingGuard
from semcache.matching.guards.quantities import Quantity, equal, excluding, strange
from semcache.matching.guards.spelled import SPELT, spelled
from semcache.matching.guards.units import CURRENCIES, DOLLARS, PER, PERIODS, POSSESSED, STANDALONE, UNITS
from semcache.request.text import FEW, differing, stem, vocabulary
from semcache.request.text import read as read_text
from semcache.types import Conflict

_CUES = SPELT | STANDALONE | PERIODS
_GATE = _CUES | frozenset(UNITS) | POSSESSED | {"pair"}
_UNIT_WORDS = frozenset(UNITS)
_NO_UNITS: frozenset[Unit] = frozenset()
_NEVER_ASKED = vocabulary("c d f g h l m s w p bar cal second foot stone")  # a number is asked in no unit of this name
_UNTIL = (("until",), ("till",), ("til",), ("since",), ("left",), ("remaining",))
_ONE = (("a",), ("an",), ("one",), ("the",), ("this",), ("last",), ("next",))
_DIGIT = re.compile(r"\d")
_OPERATOR = re.compile(
    r"^\s*(?:(?P<plus>\+|plus|added\s+to)|(?P<minus>-|\u2212|minus)|(?P<times>\*|x|\u00d7|times|multiplied\s+by)"
    r"|(?P<over>÷|/|over|divided\s+by|mod|modulo|%)|(?P<power>\^|\*\*|to\s+the\s+power\s+(?:of\s+)?)"
    r"|(?P<to>to|\u2013))\s*$"
)
_ORDERED = frozenset(("minus", "over", "power", "to"))
_JOINERS = frozenset(("and", "or", "to", "vs", "versus", "by", "with", "through"))
_NAMED_OPERATORS = {
    "sum": "plus", "add": "plus", "subtract": "minus", "difference": "minus", "minus": "minus",
    "multiply": "times", "product": "times", "divide": "over", "divided": "over", "quotient": "over",
}  # fmt: skip


# "The difference between the Alpha 5 and the Alpha 7" is none of numbers.
_OF_THINGS = re.compile(r"\bdifferences? between (?:the |an? )?(?!numbers?\b|sum\b|squares?\b|product\b)[a-z]")
_NOUN = re.compile(r"[ -]?([a-z]+)")


_SOME = 4  # content words by which texts may differ for an incidental number to tell them apart from another
_DIGITS = (6, 17)  # that a number is shown with, the second where the first does not tell two texts apart
_BOUNDS = {0: "", 1: "more than ", 2: "at least ", -1: "less than ", -2: "at most "}
_WHOLE = 15  # digits of a whole number


class Unit(NamedTuple):
    """A unit of measurement; units of one `kind` are chosen among."""

    kind: str
    dimension: str
    factor: float


class NumberReading(NamedTuple):
    """The numbers of a text. `units` are those that an answer is asked in, `named` all of its units."""

    quantities: tuple[Quantity, ...]
    units: frozenset[Unit]
    named: frozenset[Unit]
    operators: tuple[str, ...]


_NOTHING = NumberReading((), frozenset(), frozenset(), ())


class NumberGuard(ReadingGuard[NumberReading]):
    """Vetoes prompts about different quantities, units or calculations."""

    name = "numbers"

    def read(self, text: str) -> NumberReading:
        """The reading of `text`."""
        return read(text)

    def compare(self, one: NumberReading, two: NumberReading, query: str, cached: str, /) -> Conflict | None:
        """Compare the quantities that both texts name."""
        left, right = strange(one.quantities, two.quantities), strange(two.quantities, one.quantities)
        if (left and right) or any(not quantity.soft for quantity in (*left, *right)):
            apart = len(differing(query, cached) - _CUES)
            veto = excluding(left, right) or apart <= (_SOME if left and right else FEW)
            return Conflict(self.name, " / ".join(_show(one.quantities, two.quantities)), veto)
        if _exchanged(one, two, query, cached):
            return Conflict(self.name, f"{' / '.join(_show(one.quantities, two.quantities))} changed places")
        if _reordered(one, two):
            return Conflict(self.name, f"{' '.join(one.operators)} / {' '.join(two.operators)} in another order")
        if one.units != two.units and one.units and two.units:
            kinds = {unit.kind for unit in one.units - two.named} & {unit.kind for unit in two.units - one.named}
            if kinds:
                return Conflict(self.name, f"another unit of {sorted(kinds)[0]}")
        return None

    def is_arguable(self, one: NumberReading, two: NumberReading) -> bool:
        """Return False for the same quantities but for one, of which either text has another in the same unit."""
        left, right = strange(one.quantities, two.quantities), strange(two.quantities, one.quantities)
        return not (len(left) == len(right) == 1 and left[0].dimension and left[0].dimension == right[0].dimension)


def read(text: str) -> NumberReading:
    """The quantities, units and calculations in `text`."""
    words = read_text(text)
    if not words.digits and words.bag.isdisjoint(_GATE):
        return _NOTHING
    rest = figures.joined(spelled(figures.plain(dates.without(text), words), words), words)
    bounded = figures.is_bounded(words)
    quantities: list[Quantity] = []
    operators: list[str] = []
    consumed: set[str] = set()
    end = -1
    for start, finish, quantity, unit in written_numbers.found(rest):
        if unit and not (quantity is not None and quantity.soft and quantity.value == 1):
            consumed.add(unit)
        if quantity is None:
            continue
        if end >= 0:
            between = _OPERATOR.match(rest[end:start])
            if between is not None and between.lastgroup is not None:
                operators.append(between.lastgroup)
        end = finish
        noun = _NOUN.match(rest, end)
        bound = figures.bound(rest, start, end) if bounded else 0
        counted = quantity.dimension or (stem(noun[1]) if noun else "")
        quantities.append(Quantity(*quantity[:-2], bound, counted) if bound or counted else quantity)
    if len(quantities) > 1:
        named_ones = words.bag - {"difference"} if _OF_THINGS.search(words.lower) else words.bag
        operators += [kind for word, kind in _NAMED_OPERATORS.items() if word in named_ones and kind not in operators]
    units = named = _NO_UNITS
    if not words.bag.isdisjoint(_UNIT_WORDS):
        units, named = _units(words.words, consumed), _named(words.bag & _UNIT_WORDS | consumed)
    if not (quantities or units or named):
        return _NOTHING
    return NumberReading(tuple(quantities), units, named, tuple(operators))


def _units(words: tuple[str, ...], consumed: set[str]) -> frozenset[Unit]:
    found = set()
    for position, word in enumerate(words):
        if word in consumed or word not in UNITS:
            continue
        asked = word in STANDALONE or (
            word not in _NEVER_ASKED and _is_asked(words[max(0, position - 2) : position], words[position + 1 :])
        )
        if asked or (word in PERIODS and position and _is_rate(words[position - 1], word)):
            found.add(_unit(word))
    return frozenset(found)


def _unit(word: str) -> Unit:
    dimension, factor = UNITS[word]
    kind = "money" if dimension in CURRENCIES else "period" if dimension in ("duration", "months") else dimension
    return Unit(kind, dimension, factor)


def _named(words: Iterable[str]) -> frozenset[Unit]:
    """The units of these spellings; a dollar may be that of any country."""
    named = {_unit(word) for word in words if word in UNITS}
    if any(unit.dimension in DOLLARS for unit in named):
        named.add(_unit("dollar"))
    if _unit("dollar") in named:
        named |= {_unit(code) for code in DOLLARS}
    return frozenset(named)


def _is_rate(before: str, period: str) -> bool:
    return before in PER and (before != "in" or period.endswith("s"))


def _is_asked(before: tuple[str, ...], behind: tuple[str, ...]) -> bool:
    """Return True if a unit between these words is what a number is asked in: "how many days", "weeks until May"."""
    if before[-1:] in (("many",), ("much",)) or (before[-1:] in (("a",), ("an",), ("one",)) and before[0] == "in"):
        return True
    return behind[:1] in _UNTIL and before[-1:] not in _ONE


def _exchanged(one: NumberReading, two: NumberReading, query: str, cached: str) -> bool:
    """Return True if numbers have changed places between the same words, joined by more than "and" or "or"."""
    if len(one.quantities) < 2 or len(one.quantities) != len(two.quantities) or one.operators or two.operators:
        return False
    if all(equal(a, b) for a, b in zip(one.quantities, two.quantities, strict=True)):
        return False
    if _OF_THINGS.search(query.lower()) and _OF_THINGS.search(cached.lower()):
        return False
    left, right = _blanked(query), _blanked(cached)
    joined = any(
        one == two == "#" and word in _JOINERS for one, word, two in zip(left, left[1:], left[2:], strict=False)
    )
    return left == right and not joined


def _blanked(text: str) -> tuple[str, ...]:
    return tuple(["#" if word in SPELT or _DIGIT.search(word) else word for word in read_text(text).words])


def _reordered(one: NumberReading, two: NumberReading) -> bool:
    if len(one.quantities) < 2 or len(two.quantities) < 2 or not (one.operators or two.operators):
        return False
    if one.operators and two.operators:
        if set(one.operators) != set(two.operators) and {*one.operators, *two.operators} != {"minus", "to"}:
            return True
    elif not {*one.operators, *two.operators} <= {"plus", "to", "minus"}:
        return False
    if _ORDERED.isdisjoint(set(one.operators) & set(two.operators)) or len(one.quantities) != len(two.quantities):
        return False
    return not all(equal(a, b) for a, b in zip(one.quantities, two.quantities, strict=True))


def _show(one: tuple[Quantity, ...], two: tuple[Quantity, ...]) -> tuple[str, str]:
    """The quantities of two texts, with as many digits as it takes to tell them apart."""
    for digits in _DIGITS:
        left, right = _listed(one, digits), _listed(two, digits)
        if left != right:
            return left, right
    return _listed(one, _DIGITS[-1], bounded=True), _listed(two, _DIGITS[-1], bounded=True)


def _listed(quantities: tuple[Quantity, ...], digits: int, *, bounded: bool = False) -> str:
    written = (_BOUNDS[one.bound if bounded else 0] + _written(one, digits) for one in quantities)
    return ", ".join(written) or "no number"


def _written(one: Quantity, digits: int) -> str:
    if one.version:
        return one.version
    return f"{one.base:.{max(digits, _WHOLE) if one.base.is_integer() else digits}g} {one.dimension}".strip()
