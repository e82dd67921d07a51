"""Who asks about a word is not served what was said about another one, however much the two mean the same."""

from __future__ import annotations

import pytest

from semcache.matching.guards import mention
from semcache.request.text import read
from tests.matching.guards.verdicts import NOTHING, VETO, verdict

ROWS = [
    ("What is the plural of child?", "What is the plural of kid?", VETO),
    ("How do you spell necessary?", "How do you spell required?", VETO),
    ("What rhymes with big?", "What rhymes with large?", VETO),
    ("What is a synonym of big?", "What is a synonym of large?", VETO),
    ("What's the past tense of buy?", "What's the past tense of purchase?", VETO),
    ("What does trousers mean in British English?", "What does pants mean in British English?", VETO),
    ("meaning of the word photo", "meaning of the word picture", VETO),
    ("how many syllables does picture have", "how many syllables does image have", VETO),
    ("Is sofa a French word?", "Is couch a French word?", VETO),
    ("Use begin in a sentence.", "Use start in a sentence.", VETO),
    ("What part of speech is quickly?", "What part of speech is rapidly?", VETO),
    ("How is colonel pronounced?", "How is kernel pronounced?", VETO),
    ("What's the Spanish word for doctor?", "How do you say physician in Spanish?", VETO),
    ("What does the word serendipity mean?", "What does the word serenity mean?", VETO),
    ("Is it correct to say I have went?", "Is it correct to say I have gone?", VETO),
    ("Is it proper English to say between you and I?", "Is it proper English to say between you and me?", VETO),
    ("Is it right to say that whales are fish?", "Is it correct to say that whales are fish?", NOTHING),
    ("What does 'bail' mean?", "bail definition", NOTHING),
    ("synonyms for happy", "What is another word for happy?", NOTHING),
    ("How do you say thank you in Yoruba?", "How does one say thanks in Yoruba?", NOTHING),
    ("How do I pronounce the Irish name Siobhan?", "What's the pronunciation of Siobhan?", NOTHING),
    ("What does idempotent mean in HTTP?", "meaning of idempotence, http requests", NOTHING),
    ("What is the feminine of actor and of waiter?", "What is the feminine of waiter and of actor?", NOTHING),
    ("What did Nietzsche mean by it?", "what does that mean", NOTHING),
    ("What is the plural of ox?", "What is ox in the plural?", NOTHING),
    ("What does it mean when my phone beeps?", "What does my phone mean by a beep?", NOTHING),
]


@pytest.mark.parametrize(("query", "cached", "expected"), ROWS)
def test_words_that_are_spoken_of(query: str, cached: str, expected: str) -> None:
    for one, two in ((query, cached), (cached, query)):
        assert verdict("code", one, two) == expected


@pytest.mark.parametrize(
    "text", ["What is the capital of France?", "What does it mean?", "How do you say no to a client?"]
)
def test_a_text_that_uses_its_words_speaks_of_none(text: str) -> None:
    assert mention.read(read(text)) is None
