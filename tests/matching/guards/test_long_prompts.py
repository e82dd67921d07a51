"""A long prompt of one character or word costs every guard time in proportion to its length.

The texts are so long that a pattern which grows with the square of the length runs into the limit of a test.
"""

from __future__ import annotations

import random

import pytest

from semcache.matching.guards import GUARDS

LONG = 200_000  # characters
ODD = [
    "`" * LONG,
    "(" * LONG + "x?",
    "\n" * LONG + "x?",
    "A." * (LONG // 2) + "x?",
    "1-" * (LONG // 2) + " 1()",
    "un" * (LONG // 2) + " a@b",
    "jan " * (LONG // 4),
    "\u4e3a\u4ec0\u4e48" * (LONG // 3),
]


@pytest.mark.parametrize("text", ODD, ids=[text[:4].encode("unicode_escape").decode() for text in ODD])
def test_an_odd_prompt_is_read(text: str) -> None:
    for guard in GUARDS.values():
        assert guard.conflict(text, text) is None


def test_many_names_and_numbers_are_compared() -> None:
    rng = random.Random(1)
    one, two = (
        " ".join(f"the X{''.join(rng.choices('abcdefgh', k=7))} for {rng.randrange(10**9)}" for _ in range(10_000))
        for _ in range(2)
    )
    for name in ("entities", "numbers"):
        found = GUARDS[name].conflict(one, two)
        assert found is not None
        assert found.veto
