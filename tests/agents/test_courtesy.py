"""Courtesy makes no other task, and what is no courtesy stays."""

from __future__ import annotations

import pytest

from semcache.agents.courtesy import without_courtesy


@pytest.mark.parametrize(
    "task",
    [
        "Please cancel order A-1",
        "Hi, could you please cancel order A-1? Thanks!",
        "I need you to cancel order A-1",
        "I\u2019d like to cancel order A-1, please.",
        "Can you cancel order A-1 for me?",
        "Hello! Go ahead and cancel order A-1. Thank you very much",
    ],
)
def test_the_same_is_to_be_done_without_it(task: str) -> None:
    assert without_courtesy(task).rstrip("?.!").casefold() == "cancel order a-1"


@pytest.mark.parametrize(
    "task",
    [
        "Don't cancel order A-1",
        "Can I cancel order A-1?",
        "Did you cancel order A-1?",
        'Post "Can you help me, please"',
        "Add the song Please Please Me to the list",
        "Thank Ann for the gift",
        "Send Bob a please-call note",
        "please",
    ],
)
def test_what_is_no_courtesy_stays(task: str) -> None:
    assert without_courtesy(task) == task


def test_a_denial_stays_behind_it() -> None:
    assert without_courtesy("Can you not cancel order A-1?") == "not cancel order A-1?"


@pytest.mark.parametrize(
    "task", ["Send the note \U0001f642 hi to Ann", "Send the note hi, please to Ann", "Send the note a\u200db to Ann"]
)
def test_what_may_be_a_value_stays_within_a_task(task: str) -> None:
    assert without_courtesy(task) == task
