"""A firm, a country or a program whose name is a common word is not the thing: "Apple" and "an apple"."""

from __future__ import annotations

import pytest

from tests.matching.guards.verdicts import NOTHING, VETO, verdict


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("What does Apple sell?", "What does an apple sell for?"),
        ("What is Turkey famous for?", "What is a turkey famous for?"),
        ("What do Oracle do?", "What does an oracle do?"),
        ("What is Python?", "What is a python?"),
        ("How do I clean up Windows?", "How do I clean the windows?"),
        ("Where do I find Photos?", "Where do I find the photos?"),
        ("How much does Jaguar pay?", "How much does a jaguar eat?"),
    ],
)
def test_a_name_is_not_a_thing(one: str, two: str) -> None:
    assert verdict("entities", one, two) == VETO


@pytest.mark.parametrize(
    ("one", "two"),
    [
        # The thing is of the name.
        ("How do I install Helm charts?", "How do I install a helm chart?"),
        ("How do I make a Zoom call?", "How do I start a zoom meeting?"),
        ("Where is the Ring doorbell's battery?", "Where is a ring doorbell's battery?"),
        # With an article, a capital says nothing; nor does one at the beginning, or in a title.
        ("How do I peel an Apple?", "How do I peel an apple?"),
        ("Apples: how do I peel an apple?", "How do I peel an apple?"),
        ("How Do I Peel Apple Skins?", "How do I peel the skin of an apple?"),
        ("How far is Earth from the sun?", "How far is the earth from the sun?"),
        ("How do I open Excel", "how do i open excel"),
    ],
)
def test_other_capitals_tell_nothing(one: str, two: str) -> None:
    assert verdict("entities", one, two) == NOTHING
