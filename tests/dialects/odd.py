"""Documents in which one value is of a kind that nobody expects there."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    2**70,
    1.5,
    "",
    "odd",
    [],
    [[]],
    [None],
    [{"type": []}],
    {},
    {"type": {}},
    {"id": []},
)


def changed(document: Any) -> Iterator[tuple[str, Any]]:
    """Every document that differs from this one in one value, and where it does; values are also left out."""
    for path in _paths(document):
        for odd in ODD:
            yield f"{'.'.join(map(str, path))}={odd!r}", _with(document, path, odd)
        if path:
            whole = copy.deepcopy(document)
            holder = _at(whole, path[:-1])
            del holder[path[-1]]
            yield f"{'.'.join(map(str, path))} left out", whole


def _paths(value: Any) -> Iterator[tuple[Any, ...]]:
    yield ()
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        for path in _paths(inner):
            yield (key, *path)


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def _with(document: Any, path: tuple[Any, ...], odd: Any) -> Any:
    whole = copy.deepcopy(document)
    if not path:
        return copy.deepcopy(odd)
    _at(whole, path[:-1])[path[-1]] = copy.deepcopy(odd)
    return whole
