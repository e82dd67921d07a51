"""Prompts about different things must not share an answer; the same thing in other letters is the same thing."""

from __future__ import annotations

import pytest

from tests.matching.guards.verdicts import DOUBT, NOTHING, VETO, verdict

ROWS = [
    ("What is the capital of France?", "What is the capital of Spain?", VETO),
    ("what is the capital of france", "what is the capital of spain", VETO),
    ("what is the capital of france", "What's France's capital?", NOTHING),
    ("What is the French capital?", "What is the capital of France?", NOTHING),
    ("Where is the Eiffel Tower?", "where is the eiffel tower", NOTHING),
    ("Who is Jon Smith?", "Who is John Smith?", VETO),
    ("How old is Marie Curie?", "How old is Pierre Curie?", VETO),
    ("How old is President Obama?", "How old is Obama?", NOTHING),
    ("Is the iPhone 15 waterproof?", "Is the iPhone 15 Pro waterproof?", VETO),
    ("Is the Galaxy S23 waterproof?", "Is the Galaxy S24 waterproof?", VETO),
    ("Reverse a list in Python", "Reverse a list in JavaScript", VETO),
    ("Reverse a list in javascript", "Reverse a list in JS", NOTHING),
    ("reverse a list in python", "reverse a list", VETO),
    ("How do I sort in C?", "How do I sort in R?", VETO),
    ("Weather facts about NYC", "Weather facts about New York City", NOTHING),
    ("What does the WHO do?", "What does the World Health Organization do?", NOTHING),
    ("What does the WHO do?", "What does the WTO do?", VETO),
    ("Is ML hard to learn?", "Is machine learning hard to learn?", NOTHING),
    ("Who leads the United States?", "Who leads the USA?", NOTHING),
    ("tell us about paris", "tell me about paris", NOTHING),
    ("tell us about paris", "tell us about rome", VETO),
    ('Translate "good morning" into German', "Translate 'good morning' into German", NOTHING),
    ("Translate hello into German", "Translate hello into French", VETO),
    ("Flights from Boston to Denver", "Flights to Denver from Boston", NOTHING),
    ("Compare Python to Java", "Compare Java to Python", NOTHING),
    ("Difference between Python and Java", "Difference between Java and Python", NOTHING),
    ("Is Advil safe for children?", "Is ibuprofen safe for children?", NOTHING),
    ("Is paracetamol safe for children?", "Is ibuprofen safe for children?", VETO),
    ("Does Lufthansa allow dogs?", "Does Ryanair allow dogs?", VETO),
    ("Do you ship with DHL?", "Do you ship with FedEx?", VETO),
    ("Do you ship to Canada?", "Do you ship?", VETO),
    ("Hello! How do I reset my password?", "How do I reset my password?", NOTHING),
    ("How do I reset my Password?", "how do i reset my password", NOTHING),
    ("HOW DO I RESET MY PASSWORD", "how do i reset my password", NOTHING),
    ("How Do I Reset My Password?", "How can I change a forgotten password?", NOTHING),
    ("Is my SSN safe with you?", "Is my social security number safe with you?", NOTHING),
    ("How do APIs work?", "How does an API work?", NOTHING),
    ("Why is 5 × 3 equal to 15?", "Why is 5 times 3 equal to 15?", NOTHING),
    ("Where is Örebro?", "Where is Älmhult?", VETO),
    ("Deploy on k8s", "Deploy on Kubernetes", NOTHING),
    ("Deploy on Postgres", "Deploy on MySQL", VETO),
    ("Who discovered Saturn's rings?", "Who discovered the rings of Saturn?", NOTHING),
    ("Who are you voting for as US president?", "Who will you choose in the presidential election, and why?", DOUBT),
    ("What do people think of Hillary Clinton?", "How do people feel about Hilary Clinton?", DOUBT),
    ("Where is Austria?", "Where is Australia?", VETO),
    ("Does Etsy have an API?", "Does Etsy have an api?", NOTHING),
    ("Is there a branch in Leeds?", "Is there a branch in London?", VETO),
    ("Is there a branch in Leeds?", "Is there a branch?", VETO),
    ("Do you sell gift cards for Argos?", "Do you sell gift cards for Boots?", VETO),
    ("Is a 1 GB plan enough?", "Is a 1000 MB plan enough?", NOTHING),
    ("Revenue in March 2023", "Revenue in Mar 2023", NOTHING),
    ("Are top-ups instant?", "Is topping up instant?", NOTHING),
    ("What is the capital of Niger?", "What is the capital of Nigeria?", VETO),
    ("How do I update SaltStack?", "how do i update salt stack", NOTHING),
]


@pytest.mark.parametrize(("query", "cached", "expected"), ROWS)
def test_entities(query: str, cached: str, expected: str) -> None:
    assert verdict("entities", query, cached) == expected
