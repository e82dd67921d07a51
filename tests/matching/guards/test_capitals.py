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
    ],
)
def test_capitals(one: str, two: str, vetoed: bool) -> None:
    found = guards.conflicts(one, two, tuple(guards.GUARDS))
    assert any(conflict.veto for conflict in found) is vetoed
