"""What used to be so is over."""

from __future__ import annotations

import pytest

from tests.matching.guards.verdicts import NOTHING, VETO, verdict

ROWS = [
    ("I used to smoke, what does insurance cost?", "What does insurance cost if I smoke?", VETO),
    ("insurance for someone who used to smoke", "someone who smokes: insurance", VETO),
    ("which process used to use port 80", "port 80, which process uses it", VETO),
    ("Which cars used to be made in Perth?", "Which cars are made in Perth?", VETO),
    ("What did people use to wear to the opera?", "What do people wear to the opera?", VETO),
    ("What did people use to wear to the opera?", "What did people wear to the opera?", NOTHING),
    ("Which cars used to be made in Perth?", "Which cars were made in Perth?", NOTHING),
    ("I used to smoke, what does insurance cost?", "I stopped smoking, what does insurance cost?", NOTHING),
    ("I used to live in Spain, do I pay tax?", "Do I pay tax? I lived in Spain before", NOTHING),
    ("What is a lathe used to make?", "What does a lathe make?", NOTHING),
    ("What are forks used to eat?", "What do people eat with forks?", NOTHING),
    ("How do I get used to wear lenses?", "How do I wear lenses?", NOTHING),
]


@pytest.mark.parametrize(("query", "cached", "expected"), ROWS)
def test_habits(query: str, cached: str, expected: str) -> None:
    """Who had given up smoking was told what insurance costs those who smoke."""
    assert verdict("question", query, cached) == expected
