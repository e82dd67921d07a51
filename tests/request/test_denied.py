"""A question that denies something is not the one that doubts the denial: the yes to one is the no to the other."""

from __future__ import annotations

import pytest

from semcache.request.wording import canonical

APART = [
    ("Should I not take aspirin with ibuprofen?", "Shouldn't I take aspirin with ibuprofen?"),
    ("Can employees not work weekends?", "Can't employees work weekends?"),
    ("Can a landlord not return a deposit?", "Can't a landlord return a deposit?"),
    ("Is aspirin not safe in pregnancy?", "Isn't aspirin safe in pregnancy?"),
    ("Do cats not like water?", "Don't cats like water?"),
    ("Was the bridge not finished in 1930?", "Wasn't the bridge finished in 1930?"),
    ("Does the plan not include dental care?", "Doesn't the plan include dental care?"),
    ("Is it true that vaccines do not cause autism?", "Don't vaccines cause autism?"),
    ("Is it true that the earth is not flat?", "Isn't the earth flat?"),
    ("Is it true that bats are not blind?", "Are bats not blind?"),
    ("Is it true that whales never sleep?", "Do whales never sleep?"),
    ("Can you tell me if the shop is not open on Monday?", "Isn't the shop open on Monday?"),
    ("I wonder whether no mammals lay eggs", "Do no mammals lay eggs?"),
]
SAME = [
    ("Why can I not log in?", "Why can't I log in?"),
    ("Why does my printer not print in color?", "Why doesn't my printer print in color?"),
    ("When should you not use a fire blanket?", "When shouldn't you use a fire blanket?"),
    ("Which foods should I not freeze?", "Which foods shouldn't I freeze?"),
    ("Could the Titanic not have avoided the iceberg?", "Couldn't the Titanic have avoided the iceberg?"),
    ("Can you tell me if it is safe to not wear a mask?", "Is it safe to not wear a mask?"),
    ("Can you tell me whether or not cats see red?", "Do cats see red?"),
    ("Tell me if the shop is open when it is not a weekday", "Is the shop open when it is not a weekday?"),
    ("Is it true that bats are blind?", "Are bats blind?"),
]


@pytest.mark.parametrize(("one", "two"), APART)
def test_nobody_is_served_the_opposite_of_what_is_asked(one: str, two: str) -> None:
    assert canonical(one).text != canonical(two).text


@pytest.mark.parametrize(("one", "two"), SAME)
def test_a_no_that_asks_the_same_from_another_place_is_one_wording(one: str, two: str) -> None:
    assert canonical(one).text == canonical(two).text
