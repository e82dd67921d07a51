"""Guards: cheap checks that two prompts cannot share an answer, looked up by the names that packs use.

A guard is pure and symmetric and costs microseconds: it reads each text once, remembers the reading, and compares two
readings. What it knows are words; it never sees vectors, answers or policies. A clear conflict is a veto, an uncertain
one a doubt, which only lowers P(correct). A veto against a text in quite other words is arguable.
Invariant: a guard only ever objects. No finding says nothing about whether two prompts mean the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from semcache.config import plugins
from semcache.errors import ConfigError
from semcache.matching.guards import capitals, languages, listing, pasted, tone
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
from semcache.request.wording.calculations import calculation
from semcache.request.wording.mending import mended
from semcache.runtime.scoped_memo import scoped_cache
from semcache.types import Conflict

__all__ = ["GUARDS", "conflicts", "guards", "unless_vetoed", "vetoes"]

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
_SLOW = frozenset(("question", "negation", "direction", "entities"))
_FINAL = (pasted.compare, listing.compare)  # vetoes that no pack switches off, in whatever words
# Guards whose findings text-speak and slips may account for. What a name is of which the letters differ, no guess says.
_SPOKEN = frozenset(("numbers", "dates", "quantifiers", "question", "form", "negation", "ellipsis"))


class _Readings:
    """The readings of one text by the guards of a panel, each made when it is asked for."""

    __slots__ = ("_guards", "_made", "_text")

    def __init__(self, text: str, chosen: tuple[ReadingGuard[Any], ...]) -> None:
        self._text = text
        self._guards = chosen
        self._made: list[Any] = [None] * len(chosen)

    def by(self, place: int) -> Any:
        """The reading by the guard in this place of the panel."""
        made = self._made[place]
        if made is None:
            made = self._made[place] = self._guards[place].read(self._text)
        return made


class _Panel:
    """Some guards, with what they read in the texts seen of late."""

    def __init__(self, chosen: tuple[ReadingGuard[Any], ...]) -> None:
        self.guards = chosen
        self.readings = scoped_cache(maxsize=READINGS)(self._readings)
        self._quickest = sorted(range(len(chosen)), key=lambda place: chosen[place].name in _SLOW)

    def _readings(self, text: str) -> _Readings:
        return _Readings(text, self.guards)

    def findings(self, query: str, cached: str, *, quickest: bool = False) -> Iterator[tuple[int, Conflict]]:
        """The findings of the guards with their places, at most one each; in this order, or the quickest first."""
        one, two = self.readings(query), self.readings(cached)
        for place in self._quickest if quickest else range(len(self.guards)):
            first, second = one.by(place), two.by(place)
            if first is not second:
                conflict = self.guards[place].compare(first, second, query, cached)
                if conflict is not None:
                    yield place, conflict

    def is_arguable(self, veto: Conflict, query: str, cached: str) -> bool:
        """Return True for a veto of these guards on two texts in quite other words that these may explain."""
        return veto.guard in GUARDS and any(
            guard.name == veto.guard
            and guard.is_arguable(self.readings(query).by(place), self.readings(cached).by(place))
            for place, guard in enumerate(self.guards)
        )


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
    """The findings against sharing an answer: of the named guards, at most one each, and of what no pack switches off.

    The latter are about letters, capitals, tone, language, pasted material and lists. Findings that a text's style of
    writing explains ("u" for "you") are left out.
    """
    return _findings(query, cached, names, (languages.compare, *_FINAL))


def vetoes(query: str, cached: str, names: Iterable[str]) -> tuple[Conflict, ...]:
    """The `conflicts` that are vetoes, as none about languages is."""
    return tuple([one for one in _findings(query, cached, names, _FINAL) if one.veto])


def _findings(
    query: str, cached: str, names: Iterable[str], always: Sequence[Callable[[str, str], Conflict | None]]
) -> tuple[Conflict, ...]:
    if query == cached:
        return ()
    style = _of_style(query, cached)
    query, cached = unstyled(query), unstyled(cached)
    panel = _panel(tuple(names))
    found = [conflict for _, conflict in panel.findings(query, cached)]
    left = style + _unmended(found, query, cached)
    if any(conflict.veto for conflict in left) and len(differing(query, cached)) >= _FAR:
        left = [replace(one, arguable=one.veto and panel.is_arguable(one, query, cached)) for one in left]
    return (*left, *[one for compare in always if (one := compare(query, cached)) is not None])


def unless_vetoed(query: str, cached: str, names: Iterable[str]) -> tuple[Conflict, ...] | None:
    """The `conflicts` of two texts, None for a veto among them: the guards stop at it, and slow ones come last."""
    if query == cached:
        return ()
    style = _of_style(query, cached)
    if any(conflict.veto for conflict in style):
        return None
    query, cached = unstyled(query), unstyled(cached)
    doubts: dict[int, Conflict] = {}
    for place, conflict in _panel(tuple(names)).findings(query, cached, quickest=True):
        if _unmended([conflict], query, cached):
            if conflict.veto:
                return None
            doubts[place] = conflict
    if any(compare(query, cached) is not None for compare in _FINAL):
        return None
    unread = languages.compare(query, cached)
    return (*style, *[doubts[place] for place in sorted(doubts)], *([unread] if unread is not None else []))


def _of_style(query: str, cached: str) -> list[Conflict]:
    """The finding against texts as they were written: in their characters, capitals or tone."""
    if not alike(query, cached):
        return [Conflict("characters", "they differ in symbols or scripts")]
    if capitals.tell(query, cached):
        return [Conflict("characters", "capitals make other words of the same letters")]
    jest = tone.compare(query, cached)
    return [] if jest is None else [jest]


def _unmended(found: list[Conflict], query: str, cached: str) -> list[Conflict]:
    """The findings that stand: "4 2 weeks" has the numbers of "for 2 weeks", and "12 * 25 =" asks what "25 * 12" is."""
    if found and (sum_of := calculation(query)) is not None and sum_of == calculation(cached):
        return []
    doubtful = tuple([conflict.guard for conflict in found if conflict.guard in _SPOKEN])
    if not doubtful:
        return found
    one, two = mended(query), mended(cached)
    if one == query and two == cached:
        return found
    left = {conflict.guard for _, conflict in _panel(doubtful).findings(one, two)}
    return [conflict for conflict in found if conflict.guard not in _SPOKEN or conflict.guard in left]
