"""Two texts and what they state: shared words of other things, and statements that only one makes."""

from __future__ import annotations

import pytest

from semcache.request.assertions import regrouped, unshared


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Alfa is 90, Beta is 120 with breakfast.", "Alfa is 90 with breakfast, Beta is 120."),
        ("Ann wrote the first part and Bob edited the second.", "Bob wrote the first part and Ann edited the second."),
        ("Basic: no support. Pro: support, API.", "Basic: no support, API. Pro: support."),
        ("Sam paid Kim.", "Kim paid Sam."),
        ("Ana zahlt bar, Ben mit Karte.", "Ana zahlt mit Karte, Ben bar."),
    ],
)
def test_words_said_of_other_things_are_noticed_both_ways(one: str, two: str) -> None:
    assert regrouped(one, two)
    assert regrouped(two, one)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("The Uetliberg is a popular hike close to the city.", "A popular hike close to the city is the Uetliberg."),
        ("In the fridge, eggs keep five weeks.", "Eggs keep five weeks in the fridge."),
        ("Cook it in water for 12 minutes, then rest.", "Cook it for 12 minutes in water, then rest."),
        ("It is a popular hike, close to the city.", "It is a popular hike close to the city."),
        ("Yes, it is.", "No, it isn't."),
    ],
)
def test_a_phrase_that_moved_is_said_of_the_same_thing(one: str, two: str) -> None:
    assert not regrouped(one, two)
    assert not regrouped(two, one)


def test_what_only_one_text_states_is_left() -> None:
    one = "It costs 12.50 euros, has a sauna and opens at 9:30."
    assert unshared(one, "It costs 12.50 euros, has a pool, and opens at 9:30.") == ("has a sauna", "has a pool")
    assert unshared(one, "It costs 12.50 euros and opens at 9:30.") == ("has a sauna", "")
    assert unshared("It is warm. It is warm.", "It's warm.") == ("It is warm", "")
    assert unshared(one, one) == ("", "")
