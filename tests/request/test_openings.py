"""Openings that ask for nothing: each is found by the words it begins with, and left off before a question."""

from __future__ import annotations

import pytest

from semcache.request.wording import canonical
from semcache.request.wording.cues import opening_words
from semcache.request.wording.openings import _OPENINGS, opening_of

BEFORE = [
    "hi team, ", "hello, ", "hey ", "good morning all, ", "dear john, ", "to whom it may concern: ", "um, ", "hmm, ",
    "oh, ", "mm, ", "so ", "ok so ", "well, ", "honestly ", "then ", "lol ", "like ", "and ", "please ", "kindly ",
    "be so kind as to tell me ", "help me out and tell me ", "advise me on ", "quick question: ", "my question is ",
    "what i want to know is ", "just wondering, ", "curious if you know ", "by the way, ", "sorry, but ",
    "if possible, ", "when you get a chance, ", "i am wondering ", "i am hoping you can tell me ", "i'm curious ",
    "i'd like to know ", "we would be happy to know ", "i want to know ", "i need to know: ", "help me understand ",
    "we need help understanding ", "need to know ", "i wonder ", "i do not know ", "do not know ", "not sure ",
    "no idea ", "i want you to tell me ", "i have a question: ", "it would be great to know ", "can you tell me ",
    "could someone please explain ", "would you explain ", "are you able to tell me ", "is it possible to tell me ",
    "do you think you can tell me ", "would you mind telling me ", "may i ask ", "does anyone know ", "anyone know ",
    "any idea ", "is there any chance someone knows ", "let me know, please, ", "someone tell me ", "tell me: ",
]  # fmt: skip


@pytest.mark.parametrize("opening", BEFORE)
def test_an_opening_is_found_by_its_first_word(opening: str) -> None:
    text = f"{opening}what is a merge queue"
    lengths = [found.end() for one in _OPENINGS if (found := one.pattern.match(text)) is not None]
    assert opening_of(text, opening_words(text)[0]) == lengths[0]


@pytest.mark.parametrize("opening", BEFORE)
def test_a_question_with_an_opening_is_served_from_the_answer_to_it(opening: str) -> None:
    assert canonical(f"{opening}what is a merge queue").text == "what is a merge queue"


def test_what_begins_like_an_opening_and_asks_for_something_is_kept() -> None:
    assert canonical("so what if i fail").text != canonical("what if i fail").text
    assert canonical("hello world in python").text != canonical("in python").text


def test_a_verb_of_two_words_is_a_request_behind_politeness() -> None:
    assert canonical("can you please break down the costs").text == canonical("break down the costs").text
