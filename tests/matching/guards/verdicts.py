"""What a guard says of two prompts, in one word, the same both ways."""

from __future__ import annotations

from semcache.matching.guards import GUARDS

VETO, DOUBT, NOTHING = "veto", "doubt", ""


def verdict(guard: str, query: str, cached: str) -> str:
    """ "veto", "doubt" or "" for no finding. Fails if the guard answers otherwise the other way round."""
    forth, back = (GUARDS[guard].conflict(*pair) for pair in ((query, cached), (cached, query)))
    found = [NOTHING if one is None else VETO if one.veto else DOUBT for one in (forth, back)]
    assert found[0] == found[1], (forth, back)
    return found[0]
