"""What counts as one text typed twice: a miss here is a needless call, and a mistake a wrong answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.matching.retyped import is_retyped

TEXTS = st.text(st.sampled_from("aZüßИ5 ?!.\n'\u2019`("), max_size=12)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("I need to correct the street of my parcel", "i need to correct the street of my parcel"),
        ("What is a fjord?", "  what is  a fjord"),
        ("Restart the flow", "RESTART THE FLOW"),
        ("What\u2019s up?", "What's up"),
        ("This number is invalid", "This number is invalid ?"),
        ("Thanks!", "thanks"),
        ("hi", "Hi!!"),
        ("Salut", "Salut !"),
        ("What is the US GDP?", "WHAT IS THE US GDP"),
        ("Wie groß ist Köln?", "WIE GROSS IST KÖLN"),
        ("Is it 5?", "is it 5"),
        ("caf\u00e9", "cafe\u0301"),
    ],
)
def test_what_a_keyboard_does_to_a_text(one: str, two: str) -> None:
    assert is_retyped(one, two)
    assert is_retyped(two, one)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("What does WHO do?", "What does who do?"),
        ("Where is US?", "where is us?"),
        ("What is 5!", "What is 5"),
        ("You are open.", "You are open?"),
        ("print(Foo)", "print(foo)"),
        ("if a:\n  b", "if a:\nb"),
        ("what is C", "what is C#"),
        ("3.5", "35"),
        ("recover the file", "re cover the file"),
        ("x\u00b2", "x2"),
        ("?", "!"),
        ("Is it on?", "Is it on now?"),
        ("a" * 9000, "A" + "a" * 8999),
    ],
)
def test_what_changes_the_text(one: str, two: str) -> None:
    assert not is_retyped(one, two)
    assert not is_retyped(two, one)


@given(TEXTS, TEXTS)
def test_it_is_symmetric_and_true_of_a_text_and_itself(one: str, two: str) -> None:
    assert is_retyped(one, one)
    assert is_retyped(one, two) == is_retyped(two, one)
