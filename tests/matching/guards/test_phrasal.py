"""Opposites of more than one word are vetoed, and other words for the same side are not."""

from __future__ import annotations

import pytest

from semcache.matching import guards

OPPOSITE = [
    ("How do I disable two-factor authentication?", "How do I turn on two-factor authentication?"),
    ("How do I switch off notifications?", "How do I enable notifications?"),
    ("How do I turn the wifi off?", "How do I activate the wifi?"),
    ("How do I sign in to the shop?", "How do I log out of the shop?"),
    ("How do I opt in to emails?", "How do I opt out of emails?"),
    ("How do I speed up a video?", "How do I slow down a video?"),
    ("How do I shut down the server?", "How do I start the server?"),
    ("How do I list all containers?", "How do I list the running containers?"),
    ("How do I write a greedy pattern?", "How do I write a lazy pattern?"),
    ("what is the square root of 64", "what is the cube root of 64"),
    ("What are the causes of ww1?", "What are the effects of ww1?"),
    ("What are the side effects of zinc?", "What are the benefits of zinc?"),
    ("What is the smallest number of players?", "What is the largest number of players?"),
    ("What is quarter past six in 24 hour time?", "What is quarter to six in 24 hour time?"),
    ("Can my employer sue me?", "Can I sue my employer?"),
    ("Is the sun hotter than Sirius?", "Is the sun colder than Sirius?"),
    ("What has changed in version 3?", "What will change in version 3?"),
]
SAME = [
    ("How do I turn on the lamp?", "How do I switch the lamp on?"),
    ("How do I disable autoplay?", "How do I turn off autoplay?"),
    ("How do I log in to the shop?", "How do I sign into the shop?"),
    ("How do I turn dark mode on or off?", "How do I turn off dark mode?"),
    ("How do I reduce my heating bill?", "How do I lower my heating bill?"),
    ("Why is it not uncommon for cats to purr?", "Why is it common for cats to purr?"),
    ("Is it not impossible to learn Greek?", "Is it possible to learn Greek?"),
    ("Is this book yours?", "Is this book mine?"),
    ("Is Python faster than Java?", "Is Java slower than Python?"),
    ("Can a stop at the border be refused?", "Who has the power to refuse a stop at the border?"),
    ("What was the cause of the war and the effects of it?", "What were the causes and effects of the war?"),
]


@pytest.mark.parametrize(("one", "two"), OPPOSITE)
def test_opposites_are_vetoed_from_both_sides(one: str, two: str) -> None:
    for asked, cached in ((one, two), (two, one)):
        assert any(conflict.veto for conflict in guards.conflicts(asked, cached, tuple(guards.GUARDS)))


@pytest.mark.parametrize(("one", "two"), SAME)
def test_the_same_side_in_other_words_is_not(one: str, two: str) -> None:
    for asked, cached in ((one, two), (two, one)):
        assert not any(conflict.veto for conflict in guards.conflicts(asked, cached, tuple(guards.GUARDS)))
