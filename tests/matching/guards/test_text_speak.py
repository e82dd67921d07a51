"""Text-speak accounts for a guard's finding, where what it stands for does not differ."""

from __future__ import annotations

import pytest

from semcache.matching.guards import GUARDS, conflicts


@pytest.mark.parametrize(
    ("asked", "cached"),
    [
        ("how do i freeze my membership 4 3 months", "How do I freeze my membership for 3 months?"),
        ("how 2 write a cover letter", "How to write a cover letter"),
        ("do i need a visa b4 i fly", "Do I need a visa before I fly?"),
        ("how do i no when pasta is done", "How do I know when pasta is done?"),
        ("how do u no if an avocado is ripe", "How do you know if an avocado is ripe?"),
    ],
)
def test_a_figure_that_stands_for_a_word_is_no_other_number(asked: str, cached: str) -> None:
    assert not [one for one in conflicts(asked, cached, GUARDS) if one.veto]


@pytest.mark.parametrize(
    ("asked", "cached"),
    [
        ("how do i freeze my membership 4 3 months", "How do I freeze my membership for 6 months?"),
        ("how do i freeze my membrship for 4 months", "How do I freeze my membership for 3 months?"),
        ("i have no phone, how do i pay", "i have a phone, how do i pay"),
        ("y cant i turn off teh alarm", "Why can't I turn on the alarm?"),
        ("cheap flights frm rome to paris pls", "cheap flights from Paris to Rome"),
    ],
)
def test_what_differs_beside_a_slip_is_vetoed(asked: str, cached: str) -> None:
    assert [one for one in conflicts(asked, cached, GUARDS) if one.veto]
