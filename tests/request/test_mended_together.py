"""Slips are read as words of the text beside them, and what may be another word stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.request.wording.mended_together import mended_together


@pytest.mark.parametrize(
    ("typed", "beside", "read"),
    [
        ("how 2 opne a csv flie", "How do I open a CSV file?", "how to open a csv file"),
        ("How long is the fere trial?", "How long is the free trial?", "How long is the free trial?"),
        ("how cn i reverse a strng n pythn thx", "How do I reverse a string in Python?", "reverse a string in python"),
        ("when shoud i take creatin", "When should I take creatine?", "when should i take creatine"),
        ("is valhiem fre to play", "Is Valheim free to play?", "is valheim free to play"),
        ("How do I get Mew in Pokemn Go?", "How do I get Mew in Pokemon Go?", "How do I get Mew in Pokemon Go?"),
    ],
)
def test_a_slip_is_read_as_the_word_that_the_other_text_has(typed: str, beside: str, read: str) -> None:
    assert read in mended_together(typed, beside)[0]
    assert mended_together(typed, beside)[1] == beside
    assert mended_together(beside, typed) == mended_together(typed, beside)[::-1]


@pytest.mark.parametrize(
    ("typed", "beside"),
    [
        ("how do i use grip", "How do I use grep?"),
        ("how do i cancel my lyft membership", "How do I cancel my Lift membership?"),
        ("what is prednisolone used for", "What is prednisone used for?"),
        ("what is quinidine used for", "What is quinine used for?"),
        ("what is lamisil used for", "What is Lamictal used for?"),
        ("how do i fix a flickr on my screen", "How do I fix a flicker on my screen?"),
        ("where can i buy a tumblr", "Where can I buy a tumbler?"),
        ("how do i install numba", "How do I install numpy?"),
        ("what is a stroma", "What is a stoma?"),
        ("what is butene", "What is butane?"),
        ("what is cytisine", "What is cytosine?"),
        ("how do i chnge my phone", "How do I charge my phone?"),
        ("what is the price of sliver", "What is the price of silver?"),
        ("whats the differnce betwen count and counta in excel", "What does COUNT do in Excel?"),
    ],
)
def test_what_may_be_another_word_is_not_read_as_that_of_the_other_text(typed: str, beside: str) -> None:
    one, two = mended_together(typed, beside)
    assert one.lower() != two.lower().rstrip("?")
    assert "charge" not in one


def test_a_word_of_both_texts_stays() -> None:
    typed = "whats the differnce betwen count and counta in excel"
    read, beside = mended_together(typed, "What's the difference between COUNT and COUNTA in Excel?")
    assert read == "whats the difference between count and counta in excel"
    assert beside == "What's the difference between COUNT and COUNTA in Excel?"


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_two_texts_can_be_read_in_either_order(one: str, two: str) -> None:
    assert mended_together(one, two) == mended_together(two, one)[::-1]
    assert mended_together(one, one) == (mended_together(one, one)[0],) * 2
