"""As fast as is not faster than."""

from __future__ import annotations

import pytest

from tests.matching.guards.verdicts import NOTHING, VETO, verdict

ROWS = [
    ("Is Rust as fast as C?", "Is Rust faster than C?", VETO),
    ("is tea as strong as coffee", "coffee and tea: is tea stronger than coffee", VETO),
    ("Are generic drugs as good as brands?", "Are generic drugs better than brands?", VETO),
    ("Does a cat sleep as much as a dog?", "Does a cat sleep more than a dog?", VETO),
    ("Is squash as tiring as tennis?", "Is squash more tiring than tennis?", VETO),
    ("Is a mac as easy to use as a PC?", "Is a mac easier to use than a PC?", VETO),
    ("Is Perth as hot as Rome?", "Is Perth hotter than Rome?", VETO),
    ("Are A and B equally heavy?", "Is A heavier than B?", VETO),
    ("Is Rust as fast as C?", "Is Rust just as fast as C?", NOTHING),
    ("Is Rust as fast as C?", "Are Rust and C equally fast?", NOTHING),
    ("I need it as soon as possible, is rail sooner?", "I need it soon, is rail sooner?", NOTHING),
    ("Is Rust as fast as C?", "Is Rust younger than C?", NOTHING),
    ("Why is A twice as large as B?", "Why is A two times larger than B?", NOTHING),
    ("Why is iron not as hard as steel?", "Why is steel harder than iron?", NOTHING),
]


@pytest.mark.parametrize(("query", "cached", "expected"), ROWS)
def test_equatives(query: str, cached: str, expected: str) -> None:
    """A yes to "is A as fast as B?" was served to those who asked if it is faster."""
    assert verdict("question", query, cached) == expected
