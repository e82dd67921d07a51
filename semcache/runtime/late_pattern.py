"""Regular expressions that are compiled when they are first tried.

To compile all that the package knows takes longer than to load the rest of it, and most patterns are tried only on a
text that holds certain words: a process that sees few texts needs few of them. Knows nothing of what patterns are for.
Invariant: a late pattern does what the compiled one does, and is compiled at most once.
"""

from __future__ import annotations

import re
from typing import Any, cast

_METHODS = ("search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer")


class LatePattern:
    """A regular expression; `late` makes one. Once compiled, its methods are those of the compiled pattern."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self.flags = flags

    def __getattr__(self, name: str) -> Any:
        # Asked only for what the instance lacks: the methods, until the pattern is compiled.
        if name not in _METHODS:
            raise AttributeError(name)
        compiled = re.compile(self.pattern, self.flags)
        self.__dict__.update((method, getattr(compiled, method)) for method in _METHODS)
        return self.__dict__[name]


def late(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """The regular expression, compiled when it is first tried: for patterns behind a cheaper sign that few texts have.

    A mistake in it is found no sooner; a test compiles every one.

    >>> late("a+").findall("banana")
    ['a', 'a', 'a']
    """
    return cast("re.Pattern[str]", LatePattern(pattern, flags))
