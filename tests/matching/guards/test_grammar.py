"""Between the same content words the light ones make the difference."""

from __future__ import annotations

import pytest

from tests.matching.guards.verdicts import DOUBT, NOTHING, VETO, verdict

ROWS = [
    ("Can I wash tomatoes?", "Must I wash tomatoes?", VETO),
    ("Should I tell my boss?", "Do I have to tell my boss?", VETO),
    ("Is it mandatory to register a bike?", "Is it possible to register a bike?", VETO),
    ("Do I have to tell my boss?", "Must I tell my boss?", NOTHING),
    ("Can I wash tomatoes?", "May I wash tomatoes?", NOTHING),
    ("How can I wash tomatoes?", "How should I wash tomatoes?", NOTHING),
    ("Is Venus habitable?", "Was Venus habitable?", VETO),
    ("How do people travel in London?", "How will people travel in London?", DOUBT),
    ("Which countries did Napoleon invade?", "Which countries has Napoleon invaded?", NOTHING),
    ("He is the brother of the king", "He was the brother of the king", NOTHING),
    ("How do I write to a senator?", "How do I write for a senator?", VETO),
    ("Books by Churchill", "Books about Churchill", VETO),
    ("books by Churchill", "about Churchill: books", VETO),
    ("books by Churchill", "by Churchill: books", NOTHING),
    ("Which books did Churchill write?", "Churchill: books written by him", NOTHING),
    ("How do I go to work by bus?", "go by bus to work, how", NOTHING),
    ("Which is the best app for learning yoga?", "Which is the best app to learn yoga?", NOTHING),
    ("Hotels in Rome", "Hotels of Rome", NOTHING),
    ("What eats sharks?", "What do sharks eat?", VETO),
    ("Who hired Steve Jobs?", "Who did Steve Jobs hire?", VETO),
    ("Who hired Steve Jobs?", "By whom was Steve Jobs hired?", NOTHING),
    ("Who was hired by Steve Jobs?", "Who did Steve Jobs hire?", NOTHING),
    ("Which company owns it?", "Which company is it owned by?", NOTHING),
    ("When can I eat after surgery?", "What can I eat after surgery?", VETO),
    ("Who has the most titles?", "Who wants the most titles?", VETO),
    ("Which country needs oil?", "Which country has oil?", VETO),
    ("Who needs to file taxes?", "Who has to file taxes?", NOTHING),
    ("Do I need travel insurance for Spain?", "Is travel insurance necessary when going to Spain?", NOTHING),
    ("How big is Mars compared to Venus?", "How big is Mars compared with Venus?", NOTHING),
    ("How far is Mars compared to Venus?", "How far is Mars compared by Venus?", VETO),
    ("Should I talk to the owner?", "Should I talk about the owner?", VETO),
    (
        "What is the difference between a serf and a slave?",
        "What was the difference between a serf and a slave?",
        NOTHING,
    ),
    ("When does school start?", "When did school first start?", VETO),
    ("Where was the cup originally held?", "Where is the cup held?", VETO),
    ("When was the first school opened?", "When did the first school open?", NOTHING),
    ("What is the price of a barrel?", "What was the price of a barrel?", VETO),
    ("Who is the king of Norway?", "Who was the king of Norway?", VETO),
    ("What to eat before a run?", "What do I eat before a run?", NOTHING),
    ("What papers needed for a passport?", "What papers do I need for a passport?", NOTHING),
    ("Who to help first?", "Who helps first?", VETO),
    ("Which papers bore readers?", "Which papers do readers bore?", VETO),
    ("How do I protect my roses from frost?", "How do I protect my roses against frost?", NOTHING),
    ("How do I link my card to the app?", "How do I link my card with the app?", NOTHING),
    ("Should I talk to the owner?", "Should I talk with the owner?", NOTHING),
    ("Compare tea to coffee for sleep", "Compare tea with coffee for sleep", NOTHING),
    ("What happens to my bonus if I quit?", "What happens with my bonus if I quit?", NOTHING),
    ("Is a vaccine for measles safe?", "Is a vaccine against measles safe?", NOTHING),
    ("What are alternatives to aspirin?", "What are alternatives for aspirin?", NOTHING),
    ("How do I replace a comma with a dot?", "How do I replace a comma by a dot?", NOTHING),
    ("Exercises for back pain", "Exercises with back pain", VETO),
    ("Who voted for the ban?", "Who voted against the ban?", VETO),
]


@pytest.mark.parametrize(("query", "cached", "expected"), ROWS)
def test_light_words(query: str, cached: str, expected: str) -> None:
    assert verdict("question", query, cached) == expected
