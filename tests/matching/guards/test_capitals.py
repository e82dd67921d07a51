"""Capitals that make another word are vetoed where the embedder cannot see them, and capitals of style are not."""

from __future__ import annotations

import pytest

from semcache.matching import guards


@pytest.mark.parametrize(
    ("one", "two", "vetoed"),
    [
        ("How do I report IT to my manager?", "How do I report it to my manager?", True),
        ("Is Polish hard to learn?", "Is polish hard to learn?", True),
        ("What does ls -a show?", "What does ls -A show?", True),
        ("Is 8 GB enough?", "Is 8 Gb enough?", True),
        ("WHAT IS A MONSOON IN INDIA?", "what is a monsoon in India", False),
        ("how do i get to Madrid", "How do I get to madrid?", False),
        # A writer without capitals tells nothing by leaving one out, unless the word may be another one.
        ("how much ram do i need for gaming", "How much RAM do I need for gaming?", False),
        ("is vat charged on second-hand books", "Is VAT charged on second-hand books?", False),
        ("do macbooks need antivirus", "Do MacBooks need antivirus?", False),
        ("where did martin luther king grow up", "Where did Martin Luther King grow up?", False),
        ("how do I set the margins of a page in word", "How do I set the margins of a page in Word?", False),
        ("if it rains, do tortoises hide", "If it rains do tortoises hide?", False),
        ("what does dna stand for", "What does DNA stand for?", False),
        ("what is the irs", "What is the IRS?", False),
        ("who was the first us president", "Who was the first US president?", False),
        ("how do they tell us dates", "How do they tell US dates?", True),
        ("what is rest", "What is REST?", True),
        ("What is ML?", "What is ml?", True),
        ("what is ml", "What is ML?", True),
        ('is "a" the same as "a" in python comparisons', 'Is "a" the same as "A" in Python comparisons?', True),
        ("what does the pattern \\d match in a long text", "What does the pattern \\D match in a long text?", True),
        ("is apple healthy", "Is Apple healthy?", True),
        (
            "which rules does the us have for drones over cities",
            "Which rules does the US have for drones over cities?",
            True,
        ),
        (
            "what does the c stand for in the equation of energy",
            "What does the C stand for in the equation of energy?",
            True,
        ),
        ("what does ls -a show that plain ls does not show", "What does ls -A show that plain ls does not show?", True),
        ("is 8 Gb enough for photos and music", "is 8 gb enough for photos and music", True),
        (
            "Does this apply to the staff of the it department?",
            "Does this apply to the staff of the IT department?",
            True,
        ),
    ],
)
def test_capitals(one: str, two: str, vetoed: bool) -> None:
    found = guards.conflicts(one, two, tuple(guards.GUARDS))
    assert any(conflict.veto for conflict in found) is vetoed
