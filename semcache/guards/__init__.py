"""Guards: cheap checks that two prompts cannot share an answer, looked up by the names that packs use.

A guard is pure and symmetric and costs microseconds: it reads each text once, remembers the reading, and compares two
readings. What it knows are words; it never sees vectors, answers or policies.
Invariant: a guard only ever vetoes. No finding says nothing about whether two prompts mean the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from semcache.errors import ConfigError
from semcache.guards.dates import Dates
from semcache.guards.entities import Entities
from semcache.guards.negation import Negation
from semcache.guards.numbers import Numbers
from semcache.protocols import Guard
from semcache.types import Conflict

GUARDS: dict[str, Guard] = {guard.name: guard for guard in (Numbers(), Negation(), Dates(), Entities())}


@lru_cache(maxsize=64)
def _chosen(names: tuple[str, ...]) -> tuple[Guard, ...]:
    unknown = [name for name in names if name not in GUARDS]
    if unknown:
        raise ConfigError(f"no guard {unknown[0]!r}; known: {', '.join(GUARDS)}")
    return tuple(GUARDS[name] for name in names)


def guards(names: Iterable[str]) -> tuple[Guard, ...]:
    """The guards of these names, in this order. Raises ConfigError for an unknown name."""
    return _chosen(tuple(names))


def conflicts(query: str, cached: str, names: Iterable[str]) -> tuple[Conflict, ...]:
    """What the named guards hold against sharing an answer, at most one finding each."""
    if query == cached:
        return ()
    found = [guard.conflict(query, cached) for guard in guards(names)]
    return tuple(conflict for conflict in found if conflict is not None)
