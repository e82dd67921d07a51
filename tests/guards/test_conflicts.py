"""What all guards together hold against a pair: sure of near texts, in doubt about rewordings."""

from __future__ import annotations

import pytest

from semcache.guards import GUARDS, conflicts


@pytest.mark.parametrize(
    ("query", "cached", "vetoed"),
    [
        ("What is the capital of France?", "What is the capital of Spain?", True),
        ("Unlock a Samsung phone if I forgot the pattern", "Unlock an iPhone if I forgot the pattern", True),
        (
            "How do I unlock a Samsung phone if I forgot the pattern?",
            "I no longer recall the swipe code of my Galaxy. How could one get past that screen?",
            False,
        ),
        (
            "Do I have to give two weeks' notice in an at-will state?",
            "Where employment's at will, am I obliged to announce my departure a fortnight ahead?",
            False,
        ),
        # What leans on earlier turns, or asks for something else, does so in any words.
        ("What about the second one?", "How many moons does the planet Jupiter have in total?", True),
        (
            "Who painted the ceiling of the famous chapel in Rome?",
            "When did Michelangelo finish his frescoes at the Vatican?",
            True,
        ),
    ],
)
def test_findings_are_doubts_between_texts_of_other_words(query: str, cached: str, vetoed: bool) -> None:
    for found in (conflicts(query, cached, GUARDS), conflicts(cached, query, GUARDS)):
        assert any(conflict.veto for conflict in found) is vetoed
