"""The page of equal wordings and of closing: streams whose fate is known, and counts that add up."""

from __future__ import annotations

import pytest

from eval.decisions import strata
from eval.decisions.strata import Alarms, Course
from semcache.request.wording import Edit


@pytest.mark.parametrize("edit", strata.EDITS, ids=lambda edit: edit.name)
def test_a_kind_of_edit_that_is_right_is_served_all_along(edit: Edit) -> None:
    found = strata.kept(Course("right", 0.0, 0.0), edit, 1)
    assert (found.hits, found.wrong, found.ever, found.closed) == (strata.LENGTH, 0.0, False, None)


def test_a_kind_of_edit_that_turns_wrong_is_closed_and_its_errors_are_counted_from_the_change_on() -> None:
    found = strata.kept(Course("turns", 0.0, 0.5), Edit.TYPO, 1)
    assert found.closed is not None
    assert found.wrong_until == pytest.approx(0.5 * found.closed)
    assert found.wrong >= found.wrong_until
    assert found.hits < strata.LENGTH


def test_an_error_at_the_target_is_not_above_it_and_twice_of_it_is() -> None:
    target = strata.courses(0.01)[1].after
    assert not strata.kept(Course("at", target, target), Edit.CHARACTERS, 1).ever
    assert strata.kept(Course("twice", 2 * target, 2 * target), Edit.CHARACTERS, 1).ever


def test_the_noise_of_a_judge_that_was_told_closes_no_kind_that_is_right() -> None:
    untold, told = (strata.kept(Course("", 0.0, 0.0, 0.1, told), Edit.CHARACTERS, 1) for told in (False, True))
    assert untold.closed is not None
    assert told.closed is None


def test_alarms_are_counted_from_the_change() -> None:
    (late,) = strata.alarmed(Alarms(0.01, 0.5, 500, first=1, count=1))
    (never,) = strata.alarmed(Alarms(0.01, 0.0, 0, first=1, count=1))
    assert late is not None
    assert 0 < late < 100
    assert never is None
