"""A question of what anybody can do, knows or would choose is no request to the reader to do it."""

from __future__ import annotations

import pytest

from semcache.request.wording import canonical

APART = [
    ("Can anyone draft a will?", "Draft a will"),
    ("Can anyone edit Wikipedia?", "Can you edit Wikipedia?"),
    ("Can you name a star?", "Name a star"),
    ("Can someone prove a negative?", "Prove a negative"),
    ("Would you recommend a Tesla?", "Recommend a Tesla"),
    ("Would you choose Python or Java?", "Choose Python or Java"),
    ("Would you say that Go is easy?", "Say that Go is easy"),
    ("Can you develop an allergy as an adult?", "Develop an allergy as an adult"),
    ("Can you plan a wedding in 3 months?", "Plan a wedding in 3 months"),
    ("Can you solve a Rubik's cube in 20 moves?", "Solve a Rubik's cube in 20 moves"),
    ("Could you predict an earthquake?", "Predict an earthquake"),
    ("Is it possible to prove a negative?", "Prove a negative"),
    ("Is anyone able to predict an earthquake?", "Predict an earthquake"),
    ("I wonder if you can format a hard drive", "Format a hard drive"),
    ("Do you know how to play chess?", "How do I play chess?"),
    ("Do you know how to swim?", "How do I swim?"),
    ("Do you happen to know how to speak French?", "How do I speak French?"),
    ("You know how to code in Rust?", "How do I code in Rust?"),
]
SAME = [
    ("Can you please name a star?", "Name a star"),
    ("Can anyone explain recursion?", "Explain recursion"),
    ("Could someone recommend a book on sailing?", "Recommend a book on sailing"),
    ("Can you draft an email to my landlord?", "Draft an email to my landlord"),
    ("Can you plan an itinerary for Rome?", "Plan an itinerary for Rome"),
    ("Can you design a logo and a slogan for a bakery?", "Can you please design a logo and a slogan for a bakery?"),
    ("Can you calculate 15% of 80 and 90?", "Calculate 15% of 80 and 90"),
    ("Can you name the planets?", "Name the planets"),
    ("Would you explain the water cycle?", "Explain the water cycle"),
    ("Does anyone know how to whistle?", "How do I whistle?"),
    ("Do you know how to reset a router?", "How do I reset a router?"),
    ("Do you know how I can whistle?", "How do I whistle?"),
    ("Do you know where the Louvre is?", "Where is the Louvre?"),
]


@pytest.mark.parametrize(("one", "two"), APART)
def test_who_asks_if_it_can_be_done_is_not_given_it_done(one: str, two: str) -> None:
    assert canonical(one).text != canonical(two).text


@pytest.mark.parametrize(("one", "two"), SAME)
def test_a_request_for_words_is_one_in_any_courtesy(one: str, two: str) -> None:
    assert canonical(one).text == canonical(two).text
