"""A question beside a table or lettered choices is worded as without; what stands in them is left as it is."""

from __future__ import annotations

import pytest

from semcache.request.wording import canonical
from semcache.request.wording.joined_questions import separated
from semcache.request.wording.listed import listed

TABLE = "| town | rain |\n| --- | --- |\n| Lille | 7 |\n| Brest | 12 |"
CHOICES = "A) oak\nB) trout\nC) moss"


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (f"Which town has the most rain?\n\n{TABLE}", f"What town has the most rain?\n{TABLE}"),
        (f"Which town has the most rain?\n\n{TABLE}", f"{TABLE}\n\nWhich town has the most rain?"),
        (
            f"Which town has the most rain?\n\n{TABLE}",
            f"Which town has the most rain?\n{TABLE.replace(' --- ', '---')}",
        ),
        (f"Which of these is a fish?\n{CHOICES}", f"Which one of these is a fish?\n\n{CHOICES}"),
        (f"Which of these is a fish?\n{CHOICES}", f"which of the following is a fish?\n{CHOICES.replace(')', '.')}"),
        ("What is a delta, and how does it form?", "What's a delta? How does it form?"),
        ("What is a delta, and how does it form?", "What is a delta? And how does it form?"),
        ("What is taught on Mondays \u2014 and which are free?", "What is taught on Mondays - and which are free?"),
        ("How much does it cost and when does it start?", "How much does it cost? When does it start?"),
    ],
)
def test_one_question_has_one_wording(one: str, two: str) -> None:
    assert canonical(one).text == canonical(two).text


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (f"Which town has the most rain?\n\n{TABLE}", f"Which town has the most rain?\n\n{TABLE.replace('7', '17')}"),
        (f"Which town has the most rain?\n\n{TABLE}", f"Which town has the least rain?\n\n{TABLE}"),
        (f"Which town has the most rain?\n\n{TABLE}", f"Which town has the most rain?\n\n{TABLE.lower()}"),
        (f"Which of these is a fish?\n{CHOICES}", f"Which of these is a fish?\n{CHOICES.replace('oak', 'elm')}"),
        (f"Which of these is a fish?\n{CHOICES}", "Which of these is a fish?\nA) trout\nB) oak\nC) moss"),
        (f"Which of these is a fish?\n{CHOICES}", f"Which of these is no fish?\n{CHOICES}"),
        (f"Convert this to HTML\n{TABLE}", f"Convert this to HTML\n{TABLE.replace('---', ':---:', 1)}"),
    ],
)
def test_another_table_or_choice_has_another_wording(one: str, two: str) -> None:
    assert canonical(one).text != canonical(two).text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "\n\n",
        "A question?\nOne line",
        f"Intro.\nQuestion?\n{TABLE}",
        "Why?\nA) one\nC) two",
        "Why?\n1. a\n3. b",
    ],
)
def test_what_is_no_question_beside_a_list_is_read_as_before(text: str) -> None:
    assert listed(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "how and why does bread rise",
        "tell me what a delta is and why it forms",
        "what is the difference between how a bird sees and how does a fish see",
        "do you know when and where the fair is",
        "what is salt and pepper",
    ],
)
def test_what_is_one_question_stays_one(text: str) -> None:
    assert separated(text) == text
