"""The courtesies of every language are known wherever prompts in other languages are compared."""

from __future__ import annotations

import re

import pytest

from semcache.matching.light_edits import lightly_edited
from semcache.request.wording.courtesies import COURTESIES
from semcache.request.wording.other_languages import language_of

ASKED = "Where is Lima?"
QUESTIONS = {
    "German": "welche frist ist das",
    "French": "quelle est la règle",
    "Spanish": "cuál es el horario",
    "Italian": "quale è il binario",
    "Portuguese": "onde você faço",
    "Dutch": "hoe kan het zijn",
    "Russian": "сколько мне",
    "Polish": "gdzie jest mój",
    "Arabic": "متى يمكنني",
    "Hindi": "कब है",
}


def plain(alternatives: str) -> list[str]:
    """The phrases in their first form, without what may be left out."""
    while "(" in alternatives:
        alternatives = re.sub(r"\(\?:[^()]*\)\?", "", alternatives)
        alternatives = re.sub(r"\(\?:([^()|]*)[^()]*\)(?!\?)", r"\1", alternatives, count=1)
    return [phrase for phrase in alternatives.split("|") if "[" not in phrase]


@pytest.mark.parametrize("name", COURTESIES)
def test_a_courtesy_that_a_mark_sets_off_makes_no_other_prompt(name: str) -> None:
    known = COURTESIES[name]
    greeted = [f"{one}, {ASKED}" for one in plain(known.greetings)]
    thanked = [f"{ASKED} {one}" for one in plain(known.thanks)]
    assert greeted
    assert [text for text in greeted + thanked if not lightly_edited(text, ASKED)] == []


@pytest.mark.parametrize(("name", "asked"), QUESTIONS.items())
def test_a_language_that_is_told_leaves_its_courtesies_out_without_a_mark(name: str, asked: str) -> None:
    known = COURTESIES[name]
    language = language_of(asked, asked.split())
    assert language is not None
    assert language.name == name
    for greeting in plain(known.greetings):
        match = language.opening.match(f"{greeting} {asked}")
        assert match is not None, greeting
        assert match.end() == len(greeting) + 1, greeting
    for thanks in plain(known.thanks):
        match = language.closing.search(f"{asked} {thanks}")
        assert match is not None, thanks
        assert match.start() == len(asked), thanks
