"""Excuses before a question say nothing; what looks like one and bears on the answer stays."""

from __future__ import annotations

import pytest

from semcache.request.wording import canonical

PLAIN = "how do i rotate a video"


@pytest.mark.parametrize(
    "text",
    [
        "lol how do I rotate a video",
        "haha, how do I rotate a video?",
        "noob here, how do I rotate a video?",
        "Hi there, first time user here. How do I rotate a video?",
        "not sure if this is the right place to ask, but how do I rotate a video?",
        "ok so this is probably obvious but how do I rotate a video?",
        "I know it's late but how do I rotate a video?",
        "homework help pls: how do I rotate a video?",
        "This has been bugging me for ages: how do I rotate a video?",
        "How do I rotate a video? I've looked everywhere.",
    ],
)
def test_an_excuse_is_left_out(text: str) -> None:
    assert canonical(text).text == PLAIN


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("It's late, should I still eat?", "Should I still eat?"),
        ("It is late but can I still board?", "Can I still board?"),
        ("My train is late but can I still board?", "Can I still board?"),
        ("beginner here, how do I train for a marathon?", "How do I train for a marathon?"),
        ("is lol a word", "is a word"),
        ("LOL dolls for girls", "dolls for girls"),
    ],
)
def test_what_bears_on_the_answer_stays(one: str, two: str) -> None:
    assert canonical(one).text != canonical(two).text
