"""A compound is one word in two parts, with a hyphen or without; what may be two words stays two."""

from __future__ import annotations

import pytest

from semcache.request.wording.canonical import canonical

EQUAL = [
    ("How do I build a web site?", "How do I build a website?"),
    ("what is a trade-mark", "what is a trademark"),
    ("How do I login to my account?", "How do I log into my account?"),
    ("how to setup a printer", "How do I set up a printer?"),
    ("I can't signup for the newsletter", "I can't sign up for the newsletter"),
    ("how do I sign into Gmail", "how do I sign in to Gmail"),
    ("How do I backup my phone?", "How do I back up my phone?"),
    ("How do I make a back up of my phone?", "How do I make a backup of my phone?"),
    ("where is the log-in page", "where is the login page"),
    ("How do I back-up my phone?", "How do I back up my phone?"),
    ("what is a start-up", "what is a start up"),
    ("what is multi-threading", "what is multithreading"),
    ("What is a hash map?", "What is a hashmap?"),
    ("How do I bake sour dough bread?", "How do I bake sourdough bread?"),
    ("Do giftcards expire?", "Do gift cards expire?"),
    ("what is a non profit", "what is a nonprofit"),
    ("how do I re-install Windows", "how do I reinstall Windows"),
    ("How do I deal with a difficult co-worker?", "How do I deal with a difficult coworker?"),
]
APART = [
    ("what does line 5 mean on line 5", "what does line 5 mean online 5"),
    ("How do I keep a green house cool?", "How do I keep a greenhouse cool?"),
    ("how does interest grow over time", "how does interest grow overtime"),
    ("Re order 1234", "Reorder 1234"),
    ("How do I check list length?", "How do I checklist length?"),
    ("how do I re-sign the contract", "how do I resign the contract"),
    ("how do I pass port 80 to docker", "how do I passport 80 to docker"),
    ("What is the difference between setup and set up?", "What is the difference between setup and setup?"),
    ("is it login or log in", "is it log in or log in"),
    ("how do I put a log in the fire", "how do I put a login the fire"),
    ("When is a HashMap slow in Java?", "When is a hash map slow in Java?"),
    ("what is pre-position", "what is preposition"),
]


@pytest.mark.parametrize(("one", "two"), EQUAL)
def test_a_compound_has_one_writing(one: str, two: str) -> None:
    assert canonical(one).text == canonical(two).text


@pytest.mark.parametrize(("one", "two"), APART)
def test_what_may_be_two_words_stays_two(one: str, two: str) -> None:
    assert canonical(one).text != canonical(two).text


def test_who_asks_how_it_is_written_keeps_what_was_written() -> None:
    assert canonical("which is right, web site or website").text == "which is right, web site or website"
