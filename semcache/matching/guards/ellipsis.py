"""The guard for ellipsis: a prompt that leans on what was said before never matches by itself.

"What about Germany?" asks something only behind an earlier turn; `request.kinds.elliptic` recognises such a prompt.
Invariant: texts of the same words never conflict; whether their conversations match is not this guard's business.
"""

from __future__ import annotations

from semcache.matching.guards.base import ReadingGuard
from semcache.request.kinds.elliptic import is_elliptic
from semcache.request.text import read as read_text
from semcache.types import Conflict


class EllipsisGuard(ReadingGuard[tuple[str, ...] | None]):
    """Vetoes a prompt that leans on earlier turns, against any other prompt."""

    name = "ellipsis"

    def read(self, text: str) -> tuple[str, ...] | None:
        """The words of an elliptic text, None for any other."""
        return read_text(text).words if is_elliptic(text) else None

    def compare(
        self, one: tuple[str, ...] | None, two: tuple[str, ...] | None, _query: str, _cached: str, /
    ) -> Conflict | None:
        """Return a conflict if one of the texts says too little by itself."""
        if one != two:
            return Conflict(self.name, "both lean on earlier turns" if one and two else "one leans on earlier turns")
        return None
