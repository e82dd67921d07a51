"""The language finding: two texts that models of English do not read, in other words.

It is neither a veto nor a doubt in the numbers: P(correct) stays, and a strategy decides if likeness counts that an
English model has measured. Invariant: texts that differ by light edits alone have no such finding.
"""

from __future__ import annotations

from semcache.matching.light_edits import lightly_edited
from semcache.request.wording.foreign import unread
from semcache.types import Conflict

NAME = "language"


def compare(query: str, cached: str) -> Conflict | None:
    """The finding against two texts of which likeness is no evidence, None where it is."""
    if not unread(query, cached) or lightly_edited(query, cached):
        return None
    return Conflict(NAME, "in a language that models of English do not read", veto=False)
