"""Values of a task that unlike arguments of its run hold, one of them perhaps by chance.

"Set the fan to 3" and a call with `level=3, retries=3`: which of the two follows the task a second run shows. A name or
a long number is in two places by no chance. Pure. Invariant: one argument alone is never doubted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from semcache.agents.run import DeclaredTool, Json
from semcache.agents.schemas import choices

HeldBy: TypeAlias = tuple[str, str, Json]  # tool, argument, value

_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_SAYS_LITTLE = frozenset(("id", "ids", "no", "num", "number", "value", "name", "count", "code", "key", "type"))
_CHANCE = 1000  # numbers below it are shared by chance


def doubted(held: Sequence[HeldBy], tools: Mapping[str, DeclaredTool]) -> bool:
    """Return True for a value that arguments without a word in common hold, and that may be the same by chance."""
    names = {argument: _words(argument) for _, argument, _ in held}
    first = next(iter(names.values()), frozenset())
    if len(names) < 2 or all(name & first for name in names.values()):
        return False
    return any(_may_coincide(tools.get(tool), argument, value) for tool, argument, value in held)


def _words(argument: str) -> frozenset[str]:
    found = frozenset([one.casefold() for one in _PARTS.findall(argument)])
    return found - _SAYS_LITTLE or found


def _may_coincide(tool: DeclaredTool | None, argument: str, value: Json) -> bool:
    """Return True for a small number, and for a value out of the few that a schema lists."""
    number = int(value) if isinstance(value, str) and value.isdecimal() and len(value) < 4 else value
    if isinstance(number, int | float) and abs(number) < _CHANCE:
        return True
    return tool is not None and value in choices(tool, argument)
