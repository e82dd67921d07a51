"""Whoever types without capitals names the same months, countries and languages; half of 90 is 90 / 2."""

from __future__ import annotations

import pytest

from semcache.matching.guards import GUARDS, conflicts
from semcache.request.wording import canonical


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("events in august", "Events in August"),
        ("what to plant in march", "What to plant in March?"),
        ("best time to visit china", "Best time to visit China"),
        ("flights to turkey", "Flights to Turkey"),
        ("hello in polish", "Hello in Polish"),
        ("how do i sort a list in rust", "How do I sort a list in Rust?"),
        ("can i check in at 9", "Can I check in at 9 o'clock?"),
        ("What is half of 90?", "90 / 2"),
        ("What is a third of 90?", "What is 90 / 3?"),
        ("How much is twice 45?", "What is 45 times 2?"),
    ],
)
def test_one_question_has_one_wording(one: str, two: str) -> None:
    assert canonical(one).text == canonical(two).text


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("how do i polish it", "how do I Polish it"),
        ("turkey recipes", "Turkey recipes for a march"),
        ("What is half of 90?", "What is half of 80?"),
        ("What is a third of 90?", "What is 90 / 4?"),
        ("What is Double 11?", "What is 2 * 11?"),
        ("What is triple 9?", "What is 3 * 9?"),
        ("What is half 8?", "What is 8 / 2?"),
        ("What comes after 12 o'clock?", "What comes after 12?"),
        ("What is the difference between 3 and 4 o'clock?", "What is the difference between 3 and 4?"),
        ("How many degrees is it from 12 to 4 o'clock?", "How many degrees is it from 12 to 4?"),
        ("can i check in at 9", "Can I check in at 10 o'clock?"),
    ],
)
def test_another_question_has_another_wording(one: str, two: str) -> None:
    assert canonical(one).text != canonical(two).text


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Where can we settle a parking fee?", "Where can we settle a parking fine?"),
        ("How much is a 200 euro ticket plus 19% VAT?", "How much is a 200 euro ticket including 19% VAT?"),
        ("Where can I see my private posts?", "Where can I see my private messages?"),
    ],
)
def test_things_of_a_kind_are_told_apart(one: str, two: str) -> None:
    assert any(conflict.veto for conflict in conflicts(one, two, list(GUARDS)))
