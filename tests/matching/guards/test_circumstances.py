"""By whom, with whom, for what and while what a thing is done."""

from __future__ import annotations

import pytest

from tests.matching.guards.verdicts import NOTHING, VETO, verdict

ROWS = [
    ("calendars shared by me", "calendars shared with me", VETO),
    ("forms signed by us", "forms signed for us", VETO),
    ("calendars shared with me", "the calendars that were shared with me", NOTHING),
    ("calendars shared by me", "calendars I shared", NOTHING),
    ("Can I be fired for taking sick leave?", "Can I be fired while on sick leave?", VETO),
    ("Can I be fined for eating on a tram?", "Can I be fined while eating on a tram?", VETO),
    ("Can I be fired for being ill?", "Can I be fired because of being ill?", NOTHING),
    ("Should I drain the tank before I flush it?", "Should I drain the tank instead of flushing it?", VETO),
    ("Should I call instead of writing?", "Should I call rather than write?", NOTHING),
    ("Should I call before writing?", "Do I call before I write?", NOTHING),
]


@pytest.mark.parametrize(("query", "cached", "expected"), ROWS)
def test_circumstances(query: str, cached: str, expected: str) -> None:
    """Who asked for what others had shared with him was served what he had shared."""
    assert verdict("question", query, cached) == expected
