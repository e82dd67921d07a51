"""What belongs to what, who acts and what comes first: the same words in other places ask something else."""

from __future__ import annotations

import pytest

from tests.matching.guards.verdicts import VETO, verdict

APART = [
    # owners
    ("How do I find the owner of a company?", "How do I find the company of an owner?"),
    ("Is my uncle's nephew my cousin?", "Is my nephew's uncle my cousin?"),
    ("Who was the father of Mozart's wife?", "Who was the wife of Mozart's father?"),
    # what is described
    ("How long is a house boat?", "How long is a boat house?"),
    (
        "Can I board with an expired passport and a valid ticket?",
        "Can I board with a valid passport and an expired ticket?",
    ),
    ("Do red foxes hunt grey squirrels?", "Do grey foxes hunt red squirrels?"),
    # roles
    ("Who insures the parcel, the carrier or me as shipper?", "Who insures the parcel, the shipper or me as carrier?"),
    # who acts
    ("My tenant broke my window, who pays?", "I broke my tenant's window, who pays?"),
    ("How do I let my son use my laptop?", "How do I use my son's laptop?"),
    ("My manager wants me to quit, what now?", "I want my manager to quit, what now?"),
    ("Does my wife have to repay my loan?", "Do I have to repay my wife's loan?"),
    ("Was the dent I caused covered?", "Was the dent caused to me covered?"),
    # what comes first
    ("Do I sort and then filter the list?", "Do I filter and then sort the list?"),
    ("Should I sand the door before painting?", "Should I paint the door before sanding?"),
    ("Should I rinse first and soak after?", "Should I soak first and rinse after?"),
    ("After resizing, do I crop?", "After cropping, do I resize?"),
]
ALIKE = [
    ("What is the height of the tower?", "What is the tower's height?"),
    (
        "Which river is longer, the River Tees or the River Tyne?",
        "Which river is longer, the Tees River or the Tyne River?",
    ),
    ("Can I move from my old bank to a new one?", "Can I move to a new bank from my old one?"),
    ("Is online chess free?", "Is chess online free?"),
    ("Who speaks Dutch, Frisian and Danish?", "Who speaks Danish, Dutch and Frisian?"),
    ("How do I delete my profile?", "How do I get my profile deleted?"),
    ("My dog bit the postman, what should I do?", "What should I do when my dog bit the postman?"),
    ("How do I train my dog to sit?", "How can I train my dog so that it sits?"),
    ("Should I sand the door before painting?", "Should I paint the door after sanding?"),
    ("Should I stretch before I run?", "Before I run, should I stretch?"),
    ("Do I filter and then sort the list?", "Do I sort the list after filtering?"),
    ("How do I pay my loan with my savings?", "How do I use my savings to pay my loan?"),
    ("Can my sister and I share my card?", "Can I share my card with my sister?"),
]


@pytest.mark.parametrize(("one", "two"), APART)
def test_what_has_changed_places_is_told_apart(one: str, two: str) -> None:
    assert verdict("direction", one, two) == VETO


@pytest.mark.parametrize(("one", "two"), ALIKE)
def test_the_same_in_another_order_is_not(one: str, two: str) -> None:
    assert verdict("direction", one, two) != VETO
