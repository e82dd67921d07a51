"""What is required is not what is enough, what is recommended, or what is allowed."""

from __future__ import annotations

import pytest

from tests.matching.guards.verdicts import NOTHING, VETO, verdict

ROWS = [
    ("Should I sell my shares now?", "Should I have sold my shares then?", VETO),
    ("Should I have a party at home?", "Should I give a party at home?", NOTHING),
    ("Is a visa required for Kenya?", "Is a visa enough for Kenya?", VETO),
    ("is a passport needed to board a cruise", "to board a cruise, is a passport sufficient", VETO),
    ("Is a visa required for Kenya?", "Kenya: is a visa mandatory?", NOTHING),
    ("Is a passport enough to board a cruise?", "Does a passport suffice for boarding a cruise?", NOTHING),
    ("How many hours of sleep are enough?", "How many hours of sleep are needed?", NOTHING),
    ("Which papers are enough?", "Which papers are required?", NOTHING),
    ("Which vaccines are required for Ghana?", "Which vaccines are recommended for Ghana?", VETO),
    ("Is a helmet recommended on a bike?", "Is it advisable to wear a helmet on a bike?", NOTHING),
    ("Is a deposit mandatory?", "Is a deposit optional?", VETO),
    ("Is it legal to vote at 16?", "Is it mandatory to vote at 16?", VETO),
    ("Is it legal to vote at 16?", "Is voting at 16 allowed?", NOTHING),
    ("Is it legal to ride without a helmet?", "Is a helmet required for a ride?", NOTHING),
    ("Is rain possible in Lima?", "Is rain likely in Lima?", VETO),
    ("Is rain likely in Lima?", "Is rain probable in Lima?", NOTHING),
    ("Guests must not bring food", "Guests need not bring food", VETO),
    ("guests mustn't take off their shoes", "guests don't have to take off their shoes", VETO),
    ("Guests need not bring food", "Guests do not have to bring food", NOTHING),
    ("Guests must not bring food", "Guests are not allowed to bring food", NOTHING),
    ("can I run with shin splints", "running with shin splints, should I", VETO),
    ("can I run with shin splints", "running with shin splints, may I", NOTHING),
]


@pytest.mark.parametrize(("query", "cached", "expected"), ROWS)
def test_modality(query: str, cached: str, expected: str) -> None:
    """Unseen, "is it enough?" was answered with what had been said of "is it required?"."""
    assert verdict("question", query, cached) == expected
