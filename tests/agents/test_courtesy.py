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
        "Set my status to thanks",
        "please",
    ],
)
def test_what_is_no_courtesy_stays(task: str) -> None:
    assert without_courtesy(task) == task


def test_the_mark_of_a_question_goes_with_the_courtesy_that_made_it_one() -> None:
    assert without_courtesy("hi, would you please cancel order A-1?") == "cancel order A-1"
    assert without_courtesy("hi, cancel order A-1?").endswith("order A-1?")


def test_a_denial_stays_behind_it() -> None:
    assert without_courtesy("Can you not cancel order A-1?") == "not cancel order A-1"


@pytest.mark.parametrize(
    "task", ["Send the note \U0001f642 hi to Ann", "Send the note hi, please to Ann", "Send the note a\u200db to Ann"]
)
def test_what_may_be_a_value_stays_within_a_task(task: str) -> None:
    assert without_courtesy(task) == task


@pytest.mark.parametrize(
    "task",
    [
        "Text Ann that I am on my way, wait for me",
        "Send Ann a message saying the report is done, thanks",
        "Reply to INC-7 with: Thanks for your patience. Please restart.",
        "Add a comment to INC-7: could you look at it, please?",
        "Mail Ann: Hi Ann, the report is done. Thanks, Bob",
    ],
)
def test_what_a_task_dictates_keeps_its_own_courtesy(task: str) -> None:
    assert without_courtesy(task) == task
    assert without_courtesy(f"Hi! Could you please {task[0].lower()}{task[1:]}").casefold() == task.casefold()


def test_what_stands_in_quotes_ends_with_them() -> None:
    assert without_courtesy('Send Ann a note saying "please call". Thanks!') == 'Send Ann a note saying "please call"'


def test_a_clause_with_that_dictates_nothing() -> None:
    assert without_courtesy("Update the ticket that I opened, please") == "Update the ticket that I opened"
