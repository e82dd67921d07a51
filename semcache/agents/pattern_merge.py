"""One pattern of two: what tasks that led to the same plan have in common.

Knows patterns and no plans. Invariant: where the two differ, the merged one has a gap that takes any words, unless what
they differ by may lead to another plan; then there is none.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from difflib import SequenceMatcher

from semcache.agents.asking_tasks import may_differ
from semcache.agents.pattern import TaskPattern
from semcache.agents.pattern_gap import PatternGap
from semcache.agents.short_patterns import may_free
from semcache.agents.slots import SlotKind, stem
from semcache.agents.word_alignment import Element, weight

_KEPT = 0.6  # share of the weight that two patterns must have in common to be merged


def merge(one: TaskPattern, two: TaskPattern, *, doubted: bool = False) -> TaskPattern | None:
    """The pattern of both, where they agree on most; None where they do not.

    Where values that the plan does not use differ, or light words, a gap takes any: the two tasks had the same plan,
    so it does not depend on them. Of other words that is known of questions alone, and of words with an opposite only
    where more shows it (`doubted`).
    """
    if one.signs != two.signs:
        return None
    left, right = [_mark(element) for element in one.elements], [_mark(element) for element in two.elements]
    asks = one.asks and two.asks
    merged: list[Element] = []
    for tag, start, end, first, last in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if tag == "equal":
            merged += [
                _both(mine, theirs)
                for mine, theirs in zip(one.elements[start:end], two.elements[first:last], strict=True)
            ]
            continue
        mine, theirs = one.elements[start:end], two.elements[first:last]
        if {gap.slot for gap in _named(mine)} | {gap.slot for gap in _named(theirs)}:
            return None
        if not may_differ(mine, theirs, asks=asks, doubted=doubted):
            # "Private" and "hidden" lead to one plan, and "public" to another.
            return None
        widest = max(_width(mine), _width(theirs))
        merged.append(PatternGap("", SlotKind.TEXT, widest, optional=not mine or not theirs))
    pattern = TaskPattern(tuple(_joined(merged)), one.signs, asks=asks, orders=one.orders and two.orders)
    if not pattern.telling:
        pattern = replace(pattern, freed=may_free(one.elements, two.elements, pattern.elements))
    kept = sum(map(weight, pattern.fixed))
    most = max(sum(map(weight, one.fixed)), sum(map(weight, two.fixed)))
    return pattern if pattern.telling and kept >= _KEPT * most else None


def _mark(element: Element) -> str:
    return stem(element) if isinstance(element, str) else f"<{element.slot}>"


def _both(one: Element, two: Element) -> Element:
    if isinstance(one, str) or isinstance(two, str):
        return one
    kind = one.kind if one.kind is two.kind else SlotKind.TEXT
    optional = one.optional or two.optional
    only = one.only if one.only == two.only else b""
    family = one.family if one.family == two.family else b""
    return PatternGap(
        one.slot, kind, max(one.widest, two.widest), optional, one.took | two.took, only, one.led | two.led, family
    )


def _named(elements: Iterable[Element]) -> list[PatternGap]:
    return [one for one in elements if isinstance(one, PatternGap) and one.slot]


def _width(elements: Iterable[Element]) -> int:
    return max(1, sum(one.widest if isinstance(one, PatternGap) else 1 for one in elements))


def _joined(elements: Iterable[Element]) -> list[Element]:
    """Neighbouring gaps that fill nothing are one."""
    joined: list[Element] = []
    for one in elements:
        last = joined[-1] if joined else None
        if isinstance(one, PatternGap) and isinstance(last, PatternGap) and not one.slot and not last.slot:
            joined[-1] = PatternGap("", SlotKind.TEXT, one.widest + last.widest, one.optional and last.optional)
        else:
            joined.append(one)
    return joined
