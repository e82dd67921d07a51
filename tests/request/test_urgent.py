"""Urgency belongs to the deed that is asked for, and to the answer only where that alone can be hastened."""

from __future__ import annotations

import pytest

from semcache.request.wording import canonical

APART = [
    ("How do I get a passport as soon as possible?", "How do I get a passport?"),
    ("How do I sell my house asap", "How do I sell my house"),
    ("How do I renew a passport asap?", "How do I renew a passport?"),
    ("How do I learn Spanish asap?", "How do I learn Spanish?"),
    ("Should I see a doctor as soon as possible?", "Should I see a doctor?"),
    ("how do i pay off debt asap pls", "how do i pay off debt"),
    ("What can I do to get pregnant asap?", "What can I do to get pregnant?"),
    ("Draft an email that asks Ann to reply as soon as possible", "Draft an email that asks Ann to reply"),
    ("I need a flight to Oslo asap", "I need a flight to Oslo"),
    ("How do I find a job ASAP? Thanks", "How do I find a job?"),
]
SAME = [
    ("What is the capital of Peru, asap", "What is the capital of Peru?"),
    ("How do I reset a router, as soon as possible, please?", "How do I reset a router?"),
    ("Explain recursion asap", "Explain recursion"),
    ("I need information on visas asap", "I need information on visas"),
]


@pytest.mark.parametrize(("one", "two"), APART)
def test_who_wants_a_thing_done_soon_is_not_told_how_it_is_done_in_time(one: str, two: str) -> None:
    assert canonical(one).text != canonical(two).text


@pytest.mark.parametrize(("one", "two"), SAME)
def test_an_answer_that_is_wanted_soon_is_the_same_answer(one: str, two: str) -> None:
    assert canonical(one).text == canonical(two).text
