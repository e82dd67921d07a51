"""Near the zoo is not in it."""

from __future__ import annotations

import pytest

from tests.matching.guards.verdicts import NOTHING, VETO, verdict

ROWS = [
    ("where can I park in the zoo", "parking near the zoo", VETO),
    ("Is it safe to live near power lines?", "living under power lines, safe?", VETO),
    ("Hotels near the canyon", "the canyon: hotels in the canyon", VETO),
    ("hang a tv over a fireplace", "tv beside a fireplace, how to hang it", VETO),
    ("run along the river", "a run across the river", VETO),
    ("files changed in the last commit", "which files changed since the last commit", VETO),
    ("Is a house near the airport worth less?", "Is a house far from the airport worth less?", VETO),
    ("Hotels near the canyon", "Hotels close to the canyon", NOTHING),
    ("Hotels near the canyon", "Hotels next to the canyon", NOTHING),
    ("Is it legal to sleep in a car?", "sleeping inside a car, legal?", NOTHING),
    ("things to do in Boston", "things to do around Boston", NOTHING),
    ("restaurants near my location", "restaurants in my location", NOTHING),
    ("What are my rights under the lease?", "What rights do I have in the lease?", NOTHING),
    ("Will prices fall in the near future?", "Will prices fall in the future?", NOTHING),
    ("slow since the update", "slow after the update", NOTHING),
    ("a walk along the river", "a walk beside the river", NOTHING),
    ("Is there parking around the arena?", "Is there parking in the arena?", VETO),
    ("wrap the text around the logo", "put the text behind the logo", VETO),
    ("house prices around Leeds", "house prices in Leeds", VETO),
    ("hikes around Innsbruck", "hikes near Innsbruck", NOTHING),
    ("getting around Tokyo by bus", "getting around in Tokyo by bus", NOTHING),
    ("a trip around Iceland", "a trip in Iceland", NOTHING),
    ("laws around gambling", "laws on gambling", NOTHING),
    ("restaurants around the corner", "restaurants on the corner", NOTHING),
    ("Can I fish by the lake?", "Can I fish in the lake?", VETO),
    ("Was it done by the book?", "Was it done in the book?", NOTHING),
]


@pytest.mark.parametrize(("query", "cached", "expected"), ROWS)
def test_whereabouts(query: str, cached: str, expected: str) -> None:
    """Who asked for parking in a place was served the answer for its surroundings."""
    assert verdict("question", query, cached) == expected
