"""What would happen is not what happened, nor what should."""

from __future__ import annotations

import pytest

from tests.matching.guards.verdicts import NOTHING, VETO, verdict

ROWS = [
    ("Would a toll road cut noise?", "Did a toll road cut noise?", VETO),
    ("Would closing the mill lower rents?", "Has closing the mill lowered rents?", VETO),
    ("Will the strike delay trains?", "Has the strike delayed trains?", VETO),
    ("Should museums charge tourists?", "Do museums charge tourists?", VETO),
    ("How would the trial end?", "How did the trial end?", VETO),
    ("What would happen if the dyke failed?", "What happened when the dyke failed?", VETO),
    ("How long should a nap be?", "How long was the nap?", VETO),
    ("Would a toll road cut noise?", "Will a toll road cut noise?", NOTHING),
    ("Would a toll road cut noise?", "Does a toll road cut noise?", NOTHING),
    ("What would happen if the dyke failed?", "What happens if the dyke fails?", NOTHING),
    ("Should I tip in Japan?", "Do I tip in Japan?", NOTHING),
    ("Must the landlord give the tenant notice?", "Does the landlord have to give the tenant notice?", NOTHING),
    ("Should only dry sheets be ironed?", "Is it only dry sheets that should be ironed?", NOTHING),
    ("When should lambs be weaned?", "When are lambs weaned?", NOTHING),
    ("Why would my dog eat soil?", "Why did my dog eat soil?", NOTHING),
    ("Has anyone seen the comet?", "Would anyone see the comet?", NOTHING),
    ("Could it have been the fuse that blew?", "Was it the fuse that blew?", NOTHING),
    ("Have you got oat milk?", "Would you have oat milk?", NOTHING),
    ("What would cause a fever at night?", "What has caused a fever at night?", NOTHING),
    ("Did a toll road cut noise in Oslo for good?", "Would bicycles and buses please everybody there?", NOTHING),
]


@pytest.mark.parametrize(("query", "cached", "expected"), ROWS)
def test_moods(query: str, cached: str, expected: str) -> None:
    """Who asked what a measure would do was served what it had done."""
    assert verdict("question", query, cached) == expected
