"""One question wants another answer as JSON, in French or for a child; the subject's own words are no wish."""

from __future__ import annotations

import pytest

from tests.matching.guards.verdicts import DOUBT, NOTHING, VETO, verdict

ROWS = [
    ("List the planets in JSON", "List the planets as a table", VETO),
    ("List the planets in JSON", "List the planets", VETO),
    ("List the planets in JSON format", "List the planets as JSON", NOTHING),
    ("List the planets as bullet points", "List the planets in a bulleted list", NOTHING),
    ("Explain inflation in one sentence", "Explain inflation", VETO),
    ("Explain inflation in one sentence", "Explain inflation in a single sentence", NOTHING),
    ("Explain inflation in one sentence", "Explain inflation in one paragraph", VETO),
    ("Explain inflation in French", "Explain inflation in Spanish", VETO),
    ("Explain inflation in French", "Explain inflation", VETO),
    ("Explain inflation in English", "What does inflation mean for people on a pension?", DOUBT),
    ("Explain inflation to a child", "Explain inflation to an economist", VETO),
    ("Explain inflation to a child", "Explain inflation like I'm five", NOTHING),
    ("Explain inflation like I'm 5", "Explain inflation", VETO),
    ("Explain inflation for beginners", "Explain inflation for experts", VETO),
    ("How do I change a tyre?", "How do I change a tyre step by step?", VETO),
    ("How do I change a tyre?", "Show me step by step what to do about a flat wheel", DOUBT),
    ("Explain inflation briefly", "Explain inflation in detail", VETO),
    ("Explain inflation briefly", "Explain inflation in short", NOTHING),
    ("Explain inflation in simple terms", "Explain inflation in layman's terms", NOTHING),
    ("Explain inflation in simple terms", "Explain inflation in technical terms", VETO),
    ("Write a poem about rain", "Write an essay about rain", VETO),
    ("Explain it with examples", "Explain it", VETO),
    ("How do I draw a table with my tablet?", "How can I draw a table on my tablet?", NOTHING),
    ("What is the French word for rain?", "What is rain called in French?", NOTHING),
    ("Which French schools are good?", "Which schools are good in French history?", NOTHING),
    ("Is a short term loan a good idea?", "Are short term loans a good idea?", NOTHING),
    ("Seats for 5 people", "Seats for 6 people", NOTHING),
    ("Should I rent in the French capital?", "Should I rent in Paris?", NOTHING),
    ("How much is that in Japanese yen?", "How many yen is that?", NOTHING),
    ("List it in bullet points", "list it, bullets pls", NOTHING),
    ("Why is the total wrong in the table?", "Why would the sum not be right?", NOTHING),
    ("How do I sort names in a list?", "Which way can I put surnames in order?", DOUBT),
    ("How do I sort names in a list?", "How do I sort names?", VETO),
    ("Compare tea and coffee in a table", "How does tea differ from coffee?", VETO),
    ("Tea or coffee, in a table", "How does tea differ from coffee?", VETO),
    ("Tea or coffee, in the form of a table", "How does tea differ from coffee?", VETO),
    ("Explain inflation in one line", "Explain inflation in a single sentence", NOTHING),
    ("Explain inflation in one line", "Explain inflation", VETO),
    ("a one-liner on inflation", "a single sentence on inflation", NOTHING),
    ("The fall of Rome as a timeline", "Why was Rome not able to last?", VETO),
    ("git log one line", "How do I see what was changed in a repository?", DOUBT),
    ("My HTML form is sent twice", "Why does it submit two times?", NOTHING),
    ("List the planets in HTML format", "Which planets are there?", VETO),
    ("Was Dracula written in English or Irish?", "What tongue did Stoker use for Dracula?", DOUBT),
    ("Was Dracula published in French or in German?", "What tongue did Stoker use for Dracula?", DOUBT),
    ("I'm fluent in Thai, what next?", "Which language should come after the one I speak?", DOUBT),
    ("Summarise Dracula in Thai", "What happens in Dracula?", VETO),
    ("Write a birthday card to my boss", "A card for my manager's birthday, please", NOTHING),
    ("Write a birthday card to my boss", "A card for the birthday, please", VETO),
    ("Write a birthday card to my boss", "A card with wishes for somebody turning fifty", DOUBT),
    ("Rate tea and coffee in a table", "Which is nicer, tea or coffee?", VETO),
    ("What is rain called in Thai?", "What name has rain?", VETO),
    ("Describe inflation to a layman", "Explain inflation in simple words", NOTHING),
    ("Describe inflation to a layman", "Explain inflation to an expert", VETO),
    ("Explain a mortgage to my boss", "What is a mortgage?", VETO),
    ("Say good morning in German", "Say good morning in French, please", VETO),
]


@pytest.mark.parametrize(("query", "cached", "expected"), ROWS)
def test_form(query: str, cached: str, expected: str) -> None:
    assert verdict("form", query, cached) == expected
