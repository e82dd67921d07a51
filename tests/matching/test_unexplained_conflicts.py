"""A guard's finding that an edit of the wording explains is none, and a true difference keeps its veto."""

from __future__ import annotations

import pytest

from semcache.matching.guards import GUARDS
from semcache.matching.unexplained_conflicts import unexplained

EXPLAINED = [
    ("Is a car with 5,000 miles new?", "Is a car with 5 000 miles new?"),
    ("Who reigned before Louis XIV?", "Who reigned before Louis the Fourteenth?"),
    ("How high is Mt. Elbrus?", "How high is Mount Elbrus?"),
    ("How much is \u00bd a cup of rice?", "How much is half a cup of rice?"),
    ("Which language is spoken in Brazl?", "Which language is spoken in Brazil?"),
    ("What music was popular in the nineteen-eighties?", "What music was popular in the 1980s?"),
    ("How hot is 100 \u00b0F?", "How hot is 100 degrees Fahrenheit?"),
    ("What sells for \u00a320?", "What sells for 20 pounds sterling?"),
    ("Which enzyme breaks down lactose? TIA", "Which enzyme breaks down lactose?"),
    ("Does Oslo have trams? Thanks a million!", "Does Oslo have trams?"),
]
DIFFERENT = [
    ("Is a car with 5,000 miles new?", "Is a car with 50,000 miles new?"),
    ("Who reigned before Louis XIV?", "Who reigned before Louis XVI?"),
    ("Is 20 mg of it a safe dose?", "Is 20 mcg of it a safe dose?"),
    ("Which language is spoken in Brazil?", "Which language is spoken in Bolivia?"),
    ("How do I turn on dark mode?", "How do I turn off dark mode?"),
    ("flights from Oslo to Rome", "flights from Rome to Oslo"),
    ("How do I reset my password? \U0001f643", "How do I reset my password?"),
    ("How do I reset my password? \U0001f1eb\U0001f1f7", "How do I reset my password?"),
    ("Is it safe to eat raw eggs? \u2199", "Is it safe to eat raw eggs?"),
]


@pytest.mark.parametrize(("asked", "cached"), EXPLAINED)
def test_another_writing_of_the_same_thing_is_no_conflict(asked: str, cached: str) -> None:
    assert unexplained(asked, cached, tuple(GUARDS)) == ()


@pytest.mark.parametrize(("asked", "cached"), DIFFERENT)
def test_another_thing_is_a_conflict(asked: str, cached: str) -> None:
    assert unexplained(asked, cached, tuple(GUARDS))
    assert unexplained(cached, asked, tuple(GUARDS))
