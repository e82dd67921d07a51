"""Prompts about different things must not share an answer; the same thing in other letters is the same thing."""

from __future__ import annotations

import pytest

from semcache.guards import GUARDS

ROWS = [
    ("What is the capital of France?", "What is the capital of Spain?", True),
    ("what is the capital of france", "what is the capital of spain", True),
    ("what is the capital of france", "What's France's capital?", False),
    ("What is the French capital?", "What is the capital of France?", False),
    ("Where is the Eiffel Tower?", "where is the eiffel tower", False),
    ("Who is Jon Smith?", "Who is John Smith?", True),
    ("How old is Marie Curie?", "How old is Pierre Curie?", True),
    ("How old is President Obama?", "How old is Obama?", False),
    ("Is the iPhone 15 waterproof?", "Is the iPhone 15 Pro waterproof?", True),
    ("Is the Galaxy S23 waterproof?", "Is the Galaxy S24 waterproof?", True),
    ("Reverse a list in Python", "Reverse a list in JavaScript", True),
    ("Reverse a list in javascript", "Reverse a list in JS", False),
    ("reverse a list in python", "reverse a list", True),
    ("How do I write C++ classes?", "How do I write C# classes?", True),
    ("How do I sort in C?", "How do I sort in R?", True),
    ("Weather facts about NYC", "Weather facts about New York City", False),
    ("What does the WHO do?", "What does the World Health Organization do?", False),
    ("What does the WHO do?", "What does the WTO do?", True),
    ("Is ML hard to learn?", "Is machine learning hard to learn?", False),
    ("Who leads the United States?", "Who leads the USA?", False),
    ("tell us about paris", "tell me about paris", False),
    ("tell us about paris", "tell us about rome", True),
    ("Translate 'good morning' into German", "Translate 'good night' into German", True),
    ('Translate "good morning" into German', "Translate 'good morning' into German", False),
    ("Translate hello into German", "Translate hello into French", True),
    ("Translate from German to French", "Translate from French to German", True),
    ("Flights from Boston to Denver", "Flights from Denver to Boston", True),
    ("Flights from Boston to Denver", "Flights to Denver from Boston", False),
    ("Flights from Boston to Denver", "Flights to Boston from Denver", True),
    ("Convert miles to kilometers", "Convert kilometers to miles", True),
    ("Is Python faster than Java?", "Is Java faster than Python?", True),
    ("Compare Python to Java", "Compare Java to Python", False),
    ("Difference between Python and Java", "Difference between Java and Python", False),
    ("What does os.path.join do?", "What does os.path.split do?", True),
    ("What does get_user() return?", "What does set_user() return?", True),
    ("Fix main.py", "Fix test.py", True),
    ("What does git log --oneline show?", "What does git log --graph show?", True),
    ("Read userName from the form", "Read userEmail from the form", True),
    ("Is Advil safe for children?", "Is ibuprofen safe for children?", False),
    ("Is paracetamol safe for children?", "Is ibuprofen safe for children?", True),
    ("is vitamin c good for colds", "is vitamin d good for colds", True),
    ("Does Lufthansa allow dogs?", "Does Ryanair allow dogs?", True),
    ("Do you ship with DHL?", "Do you ship with FedEx?", True),
    ("Do you ship to Canada?", "Do you ship?", True),
    ("Hello! How do I reset my password?", "How do I reset my password?", False),
    ("How do I reset my Password?", "how do i reset my password", False),
    ("HOW DO I RESET MY PASSWORD", "how do i reset my password", False),
    ("How Do I Reset My Password?", "How can I change a forgotten password?", False),
    ("Is my SSN safe with you?", "Is my social security number safe with you?", False),
    ("How do APIs work?", "How does an API work?", False),
    ("See https://example.com/a", "See https://example.com/b", True),
    ("Why is 5 \u00d7 3 equal to 15?", "Why is 5 times 3 equal to 15?", False),
    ("Where is \u00d6rebro?", "Where is \u00c4lmhult?", True),
    ("Deploy on k8s", "Deploy on Kubernetes", False),
    ("Deploy on Postgres", "Deploy on MySQL", True),
    ("Who discovered Saturn's rings?", "Who discovered the rings of Saturn?", False),
]


@pytest.mark.parametrize(("query", "cached", "expected"), ROWS)
def test_entities(query: str, cached: str, expected: bool) -> None:
    assert (GUARDS["entities"].conflict(query, cached) is not None) is expected
    assert (GUARDS["entities"].conflict(cached, query) is not None) is expected
