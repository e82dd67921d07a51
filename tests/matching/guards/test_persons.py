"""Whoever says what he will do asks for something else than who has it done; and "the latter" is another thing."""

from __future__ import annotations

import pytest

from tests.matching.guards.verdicts import NOTHING, VETO, verdict

OTHERS = [
    ("Teach me Italian.", "I will teach you Italian."),
    ("Ask me a riddle.", "Let me ask you a riddle."),
    ("Explain chess to me.", "I'll explain chess to you."),
    ("I want you to guess a number.", "I want to guess a number."),
    ("You go first.", "I go first."),
    ("Give me an argument for nuclear power.", "I will give you an argument for nuclear power."),
    (
        "I've bought a ficus and a cactus. How often should the latter be watered?",
        "I've bought a cactus and a ficus. How often should the latter be watered?",
    ),
    (
        "Compare Venus with Mars. How long is a day on the first one?",
        "Compare Mars with Venus. How long is a day on the first one?",
    ),
    (
        "Alice and Bob weigh 60 and 80 kg respectively. How heavy is Bob?",
        "Bob and Alice weigh 60 and 80 kg respectively. How heavy is Bob?",
    ),
]
SAME = [
    ("I want to close my account", "close my account, how?"),
    ("Can you teach me Italian?", "Please teach me Italian."),
    ("How do I poach an egg?", "I'd like to poach an egg, how?"),
    ("Write a letter for my former student", "For my former student, write a letter"),
    ("I got a parking fine and think it's wrong", "I think my parking fine is wrong"),
]


@pytest.mark.parametrize(("one", "two"), OTHERS)
def test_who_is_to_do_it_and_what_is_pointed_to_are_told_apart(one: str, two: str) -> None:
    assert verdict("direction", one, two) == VETO
    assert verdict("direction", two, one) == VETO


@pytest.mark.parametrize(("one", "two"), SAME)
def test_the_same_wish_in_other_words_is_no_conflict(one: str, two: str) -> None:
    assert verdict("direction", one, two) == NOTHING


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("What does x = 9 // 4 give?", "What does x = 9 / 4 give?"),
        ("What does echo '$HOME' print?", 'What does echo "$HOME" print?'),
        ("What is int **p?", "What is int *p?"),
        ("What does def f(items=[]) do?", "What does def f(items=()) do?"),
    ],
)
def test_code_that_differs_in_its_signs_alone_is_other_code(one: str, two: str) -> None:
    assert verdict("code", one, two) == VETO


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Who owes money, the debtor or the creditor?", "Who is owed money, the debtor or the creditor?"),
        ("Who teaches, the mentor or the mentee?", "Who is taught, the mentor or the mentee?"),
        ("Who can sue for defamation?", "Who can be sued for defamation?"),
        ('What is "chair" in French?', 'What does "chair" mean in French?'),
    ],
)
def test_who_does_and_who_suffers_it_are_told_apart(one: str, two: str) -> None:
    assert verdict("direction", one, two) == VETO
    assert verdict("direction", two, one) == VETO


def test_by_whom_it_is_done_is_the_same_question() -> None:
    assert verdict("direction", "Who is the trainee trained by?", "Who trains the trainee?") == NOTHING
