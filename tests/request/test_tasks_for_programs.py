"""A task for a program is no question of yes or no about one thing, and no command to say it."""

from __future__ import annotations

import pytest

from semcache.request.wording import canonical

APART = [
    ("Check if a number is prime", "Is a number prime?"),
    ("Check whether a file exists in Bash", "Does a file exist in Bash?"),
    ("Check if port 8080 is open on Linux", "Is port 8080 open on Linux?"),
    ("Check if two strings are anagrams", "Are two strings anagrams?"),
    ("Verify whether the column is empty in SQL", "Is the column empty in SQL?"),
    ("Check if brackets are balanced", "Are brackets balanced?"),
    ("Can you check if a year is a leap year", "Is a year a leap year?"),
    ("Create a list of integers in Python", "List integers in Python"),
    ("Make a list of files in Bash", "List files in Bash"),
    ("Write a list of primes in Rust", "List primes in Rust"),
    ("a list of integers in Python", "List integers in Python"),
]
SAME = [
    ("Can you check whether 221 is prime?", "Is 221 prime?"),
    ("Please check if the Louvre is open on Mondays", "Is the Louvre open on Mondays?"),
    ("Can you tell me if a whale is a fish?", "Is a whale a fish?"),
    ("Create a list of EU member states", "List EU member states"),
    ("Give me a list of string methods in Python", "List string methods in Python"),
    ("Make a list of birds in Norway", "List birds in Norway"),
    ("I want to know if a tomato is a fruit", "Is a tomato a fruit?"),
]


@pytest.mark.parametrize(("one", "two"), APART)
def test_code_that_checks_or_creates_is_another_wish(one: str, two: str) -> None:
    assert canonical(one).text != canonical(two).text


@pytest.mark.parametrize(("one", "two"), SAME)
def test_what_is_checked_or_listed_in_words_is_one_question(one: str, two: str) -> None:
    assert canonical(one).text == canonical(two).text
