"""Patterns that several wordings of one plan have in common, and which of them still stand.

Two wordings that differ in words which decide nothing have one (`merge`). A word with an opposite may decide; three
questions with three words in its place have one all the same. Pure.
Invariant: of a template's patterns only those that stand for no single task are ever dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from semcache.agents.pattern import TaskPattern
from semcache.agents.pattern_gap import PatternGap
from semcache.agents.pattern_merge import merge
from semcache.agents.short_patterns import frame, freed_together, likeness
from semcache.agents.slots import SlotKind


def is_loose(pattern: TaskPattern) -> bool:
    """Return True if a pattern was merged: what two tasks have in common is not made looser by a third."""
    return any(isinstance(one, PatternGap) and not one.slot and one.kind is SlotKind.TEXT for one in pattern.elements)


def in_common(known: Sequence[TaskPattern], learned: TaskPattern) -> list[TaskPattern]:
    """The patterns that a new wording has in common with known ones."""
    whole = [one for one in known if not is_loose(one)]
    found = [both for one in whole if (both := merge(one, learned)) is not None]
    doubted: dict[str, list[tuple[TaskPattern, TaskPattern]]] = {}
    for one, both in _doubted(whole, learned):
        doubted.setdefault(both.text(), []).append((one, both))
    thrice = [
        pairs[0][1]
        for text, pairs in doubted.items()
        if any(_text_of(one, two) == text for (one, _), (two, _) in combinations(pairs, 2))
    ]
    return [*found, *thrice]


def freed(patterns: Sequence[TaskPattern]) -> tuple[TaskPattern, ...]:
    """The patterns, of which short ones that differ in their values alone are used for more where enough of them do."""
    alike: dict[tuple[object, ...], list[int]] = {}
    for place, one in enumerate(patterns):
        if frame(one.elements):
            shape = [(likeness(part), isinstance(part, PatternGap) and bool(part.family)) for part in one.elements]
            alike.setdefault((one.signs, one.asks, *shape), []).append(place)
    found = dict(enumerate(patterns))
    for places in alike.values():
        elements = freed_together([patterns[one].elements for one in places])
        if elements is not None:
            found[places[0]] = replace(patterns[places[0]], elements=elements, freed=True)
            for place in places[1:]:
                del found[place]
    return tuple(found.values())


def without_loose(patterns: Sequence[TaskPattern]) -> list[int]:
    """The places of the patterns that stand, which are all but those merged more loosely than they would be now."""
    whole = [one for one in patterns if not is_loose(one)]
    if not whole or len(whole) == len(patterns):
        return list(range(len(patterns)))
    wanted = {one.text() for one in patterns if is_loose(one)}
    merged: set[str] = set()
    for end in range(1, len(whole)):
        if wanted <= merged:
            break
        merged |= {both.text() for both in in_common(whole[:end], whole[end])}
    return [place for place, one in enumerate(patterns) if not is_loose(one) or one.text() in merged]


def _doubted(whole: Sequence[TaskPattern], learned: TaskPattern) -> list[tuple[TaskPattern, TaskPattern]]:
    """The questions among these with what each has in common with a new one, whatever the words that they differ in."""
    if not learned.asks:
        return []
    pairs = [(one, merge(one, learned, doubted=True)) for one in whole]
    return [(one, both) for one, both in pairs if both is not None]


def _text_of(one: TaskPattern, two: TaskPattern) -> str:
    both = merge(one, two, doubted=True)
    return both.text() if both is not None else ""
