"""Guards: cheap checks that two prompts cannot share an answer, looked up by the names that packs use.

A guard is pure and symmetric and costs microseconds: it reads each text once, remembers the reading, and compares two
readings. What it knows are words; it never sees vectors, answers or policies. A clear conflict is a veto, an uncertain
one a doubt, which only lowers P(correct). A veto against a text in quite other words is arguable.
Invariant: a guard only ever objects. No finding says nothing about whether two prompts mean the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Any

from semcache.config import plugins
from semcache.errors import ConfigError
from semcache.matching.guards import capitals, languages, tone
from semcache.matching.guards.base import ReadingGuard, TextGuard
from semcache.matching.guards.code import CodeGuard
from semcache.matching.guards.dates import DateGuard
from semcache.matching.guards.direction import DirectionGuard
from semcache.matching.guards.ellipsis import EllipsisGuard
from semcache.matching.guards.entities import EntityGuard
from semcache.matching.guards.form import FormGuard
from semcache.matching.guards.negation import NegationGuard
from semcache.matching.guards.numbers import NumberGuard
from semcache.matching.guards.quantifiers import QuantifierGuard
from semcache.matching.guards.question import QuestionGuard
from semcache.matching.guards.scope import ScopeGuard
from semcache.protocols import Guard
from semcache.request.characters import alike, unstyled
from semcache.request.text import READINGS, differing
from semcache.request.wording.mending import mended
from semcache.runtime.scoped_memo import scoped_cache
from semcache.types import Conflict

__all__ = ["GUARDS", "conflicts", "guards"]

# Cheapest first.
_ALL: tuple[ReadingGuard[Any], ...] = (
    FormGuard(),
    CodeGuard(),
    ScopeGuard(),
    QuantifierGuard(),
    EllipsisGuard(),
    QuestionGuard(),
    NumberGuard(),
    DateGuard(),
    NegationGuard(),
    DirectionGuard(),
    EntityGuard(),
)
GUARDS: dict[str, ReadingGuard[Any]] = {guard.name: guard for guard in _ALL}
_FAR = 8  # content words that stand in one of two texts only, from which on a veto is arguable
# Guards whose findings text-speak and slips may account for. What a name is of which the letters differ, no guess says.
_SPOKEN = frozenset(("numbers", "dates", "quantifiers", "question", "form", "negation", "ellipsis"))


class _Panel:
    """Some guards, with what they read in the texts seen of late."""

    def __init__(self, chosen: tuple[ReadingGuard[Any], ...]) -> None:
        self.guards = chosen
        self.readings = scoped_cache(maxsize=READINGS)(self._readings)

    def _readings(self, text: str) -> tuple[Any, ...]:
        return tuple([guard.read(text) for guard in self.guards])


@lru_cache(maxsize=64)
def _panel(names: tuple[str, ...]) -> _Panel:
    return _Panel(tuple([_guard(name) for name in names]))


def _guard(name: str) -> ReadingGuard[Any]:
    """The built-in guard, or that of a plug-in, under the name that packs have for it."""
    if name in GUARDS:
        return GUARDS[name]
    if name not in plugins.names("guards"):
        raise ConfigError(plugins.unknown("guards", name, GUARDS))
    made: Guard = plugins.make("guards", name)
    return made if isinstance(made, ReadingGuard) else TextGuard(made)


def guards(names: Iterable[str]) -> tuple[Guard, ...]:
    """The guards of these names, in this order. Raises ConfigError for an unknown name."""
    return _panel(tuple(names)).guards


def conflicts(query: str, cached: str, names: Iterable[str]) -> tuple[Conflict, ...]:
    """The findings of the named guards against sharing an answer, at most one each."""
    if query == cached:
        return ()
    panel = _panel(tuple(names))
    found: list[Conflict] = []
    if not alike(query, cached):
        found.append(Conflict("characters", "they differ in symbols or scripts"))
    elif capitals.tell(query, cached):
        found.append(Conflict("characters", "capitals make other words of the same letters"))
    elif (jest := tone.compare(query, cached)) is not None:
        found.append(jest)
    query, cached = unstyled(query), unstyled(cached)
    for guard, one, two in zip(panel.guards, panel.readings(query), panel.readings(cached), strict=True):
        if one is not two:
            conflict = guard.compare(one, two, query, cached)
            if conflict is not None:
                found.append(conflict)
    left = _unmended(found, query, cached)
    if any(conflict.veto for conflict in left) and len(differing(query, cached)) >= _FAR:
        left = [replace(one, arguable=one.veto and one.guard in GUARDS) for one in left]
    if (unread := languages.compare(query, cached)) is not None:
        left.append(unread)
    return tuple(left)


def _unmended(found: list[Conflict], query: str, cached: str) -> list[Conflict]:
    """The findings that text-speak does not account for: "4 2 weeks" has no other numbers than "for 2 weeks"."""
    doubtful = tuple([conflict.guard for conflict in found if conflict.guard in _SPOKEN])
    if not doubtful:
        return found
    one, two = mended(query), mended(cached)
    if one == query and two == cached:
        return found
    panel = _panel(doubtful)
    left = {
        guard.name
        for guard, first, second in zip(panel.guards, panel.readings(one), panel.readings(two), strict=True)
        if first is not second and guard.compare(first, second, one, two) is not None
    }
    return [conflict for conflict in found if conflict.guard not in _SPOKEN or conflict.guard in left]
