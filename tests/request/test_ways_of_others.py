"""The way a company or another person does a thing, or what befalls them, is not the way the asker does it."""

from __future__ import annotations

import pytest

from semcache.request.wording import canonical

APART = [
    ("How do you encrypt files?", "How do I encrypt files?"),
    ("How do you prevent chargebacks?", "How do I prevent chargebacks?"),
    ("How do you cancel fraudulent listings?", "How do I cancel fraudulent listings?"),
    ("How do you resolve disputes?", "How do I resolve disputes?"),
    ("How do you calculate delivery times?", "How do I calculate delivery times?"),
    ("How do you calculate the delivery fee?", "How do I calculate the delivery fee?"),
    ("How do you prevent hallucinations?", "How do I prevent hallucinations?"),
    ("How do you clean rooms?", "How do I clean rooms?"),
    ("How do you write code?", "How do I write code?"),
    ("How do you recognize faces?", "How do I recognize faces?"),
    ("How does someone join a gang?", "How do I join a gang?"),
    ("How can someone steal a car with keyless entry?", "How can I steal a car with keyless entry?"),
    ("How does a person starve?", "How do I starve?"),
    ("How does someone turn into an alcoholic?", "How do I turn into an alcoholic?"),
    ("How does someone become a cult member?", "How do I become a cult member?"),
    ("How does a person burn calories at rest?", "How do I burn calories at rest?"),
    ("How does somebody become rich?", "How do I become rich?"),
]
SAME = [
    ("How do you remove wax from carpet?", "How do I remove wax from carpet?"),
    ("How do you calculate the volume of a cone?", "How do I calculate the volume of a cone?"),
    ("How do you bake bread?", "How do I bake bread?"),
    ("How do you reverse a list in Python?", "How do I reverse a list in Python?"),
    ("How do you sort strings in Java?", "How do I sort strings in Java?"),
    ("How do you tell if an egg is bad?", "How do I tell if an egg is bad?"),
    ("How do you write a cover letter?", "How do I write a cover letter?"),
    ("How do you get rid of rust?", "How do you get rid of rust?"),
    ("How do people make candles at home?", "How do I make candles at home?"),
    ("How does somebody become a notary?", "How do I become a notary?"),
    ("How can someone register to vote?", "How can I register to vote?"),
    ("How do you tie a tie?", "How do I tie a tie?"),
    ("How do you undo the last commit?", "How do I undo the last commit?"),
    ("How would you install Docker on Linux?", "How would I install Docker on Linux?"),
]


@pytest.mark.parametrize(("one", "two"), APART)
def test_what_you_or_another_does_is_not_what_i_do(one: str, two: str) -> None:
    assert canonical(one).text != canonical(two).text


@pytest.mark.parametrize(("one", "two"), SAME)
def test_one_way_of_anybody_is_asked_for_by_anybody(one: str, two: str) -> None:
    assert canonical(one).text == canonical(two).text
