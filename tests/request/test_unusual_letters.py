"""Prompts with a dotless i, a dotted capital or a long s, which patterns take for i and s, are read."""

from __future__ import annotations

import pytest

from semcache.matching.guards import GUARDS, conflicts
from semcache.request.wording import canonical, mended

ASKED = [
    "How do I create a new g\u0131t branch?",
    "How do I undo the last G\u0130T comm\u0131t?",
    "How do I use a java\u017fcript closure?",
    "What is two \u017fixths of 30?",
    "What is one \u017fixth of 30?",
    "Who is Louis the \u017fixteenth?",
    "What happened in the nineteen \u017fixties?",
    "What happened in the \u017feventies?",
    "What was new in nineteen e\u0131ghty-four?",
    "Who \u0131s the d\u0131scoverer of penicillin?",
    "How h\u0131gh is Everest?",
    "How w\u0131de is the Nile?",
    "What is the th\u0131rty-f\u0131rst prime?",
    "What is the twenty-\u017fixth letter?",
    "I have a \u017fix-year-old, what should he eat?",
    "What is half a m\u0131llion divided by 5?",
    "How much is 5 m\u0131llion yen in dollars?",
    "How much is 5 m\u0131l yen in dollars?",
    "How do I \u017fetup a printer and then s\u0131gnup?",
    "Explain world war \u0131\u0131 to me",
    "Explain chapter v\u0131\u0131 to me",
    "Cook it for 5 m\u0131n. and then what?",
    "Is it done \u017fince the \u017fixth of June?",
]


@pytest.mark.parametrize("text", ASKED)
def test_unusual_letters_are_read_without_a_fault(text: str) -> None:
    first = canonical(text).text
    assert canonical(first).text == first
    assert mended(text)
    conflicts(text, text.replace("\u0131", "i").replace("\u017f", "s"), GUARDS)


def test_an_unusual_letter_is_no_plain_one() -> None:
    turkish = "What does s\u0131n\u0131r mean in Turkish?"
    assert canonical(turkish).text != canonical(turkish.replace("\u0131", "i")).text
