"""Rules: what each edit makes of prompts, what it must leave alone, and that none fails on any text."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.train.synthesize.corpus_names import CorpusNames
from semcache.train.synthesize.edit_rule import EditRule
from semcache.train.synthesize.generate import KINDS, RULES

BY_NAME = {rule.name: rule for rule in RULES}
PROMPTS = [
    "How do I reset my PIN?",
    "What are the symptoms of Gout ?",
    "transfer $200 from savings to checking on march 3rd at 5pm",
    "Can I withdraw cash abroad without a fee if my card is blocked?",
    "Write a function to sort a list of tuples in Python 3.8",
    "Why was I charged twice for 3 kg of apples in 2022?",
    "I don't want to cancel my subscription before May 5, 2024.",
    "Which of the following is not a prime number: 2, 3 or 4?",
    "remove 'key' from dict_a with foo() and save to out.csv -v",
    "Is the buyer allowed to sue the seller?",
    "What is it?\nAnd for students?",
]

DAYS = ("Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def outcomes(name: str, text: str, tries: int = 60) -> set[str | None]:
    return {BY_NAME[name].edit(text, random.Random(seed)) for seed in range(tries)}


@pytest.mark.parametrize(
    ("name", "text", "edited"),
    [
        ("number.figure", "Give me 5 tips", {f"Give me {n} tips" for n in range(2, 15)} - {"Give me 5 tips"}),
        ("unit.other", "a run of 5 km", {"a run of 5 miles"}),
        ("date.weekday", "open on Monday?", {f"open on {day}?" for day in DAYS}),
        ("negation.removed", "Which plans don't include calls?", {"Which plans include calls?"}),
        ("negation.removed", "My card is not working", {"My card is working"}),
        ("negation.order", "Cancel my order", {f"{no} cancel my order" for no in ("Don't", "Do not", "Never")}),
        ("order.before-after", "foods to eat before surgery", {"foods to eat after surgery"}),
        ("direction.ends", "flights from Paris to Rome", {"flights from Rome to Paris"}),
        ("role.relation", "Can a landlord evict a tenant?", {"Can a tenant evict a landlord?"}),
        ("language-version.other", "sort in Python 2", {f"sort in Python {v}" for v in ("3", "3.8", "3.12")}),
        ("contraction.contract", "What is the limit?", {"What's the limit?"}),
        ("equal-quantity.unit", "wait 2 hours", {"wait 120 minutes"}),
        ("date-format.clock", "alarm at 5pm", {"alarm at 17:00", "alarm at 5:00 pm"}),
        ("date-format.day", "on March 5, 2024", {"on 5 March 2024"}),
        ("reordering.clause-last", "If I move, can I keep it?", {"Can I keep it if I move?"}),
        ("number-spelling.digits", "a trip of two days", {"a trip of 2 days"}),
        ("scope.removed", "How do I vote in Germany?", {"How do I vote?"}),
        ("indirect.noun", "Where is my card?", None),
    ],
)  # fmt: skip
def test_a_rule_makes_what_it_says(name: str, text: str, edited: set[str] | None) -> None:
    made = outcomes(name, text)
    assert None not in made
    if edited is not None:
        assert made <= edited


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("negation.removed", "I'm not sure how to pay"),
        ("negation.removed", "I don't know how to pay"),
        ("negation.removed", "Isn't it open on Sundays?"),
        ("negation.inserted", "I have not received it"),
        ("number.figure", "call 555-1234 or see http://x.org/12"),
        ("direction.ends", "the distance from Paris to Rome"),
        ("equal-quantity.unit", "he is 5 years old"),
        ("typo.once", "unsafe disabled never"),
        ("keywords.search", "How do I pay without a card?"),
        ("scope.removed", "Sort a pandas dataframe in python"),
        ("scope.added", "How do I vote in Germany?"),
        ("reordering.list", "the ratio of cats and dogs"),
        ("number-spelling.words", "give me the top 10"),
        ("reordering.question-first", "I sent money. Where is it?"),
        ("synonym.either", "order from Best Holiday Movies Ltd"),
        ("antonym.other", "How old is the universe?"),
        ("antonym.other", "he is 5 years old"),
        ("attribute.other", "in addition to West Bank, which areas are there"),
    ],
)
def test_a_rule_leaves_alone_what_it_would_spoil(name: str, text: str) -> None:
    assert outcomes(name, text) == {None}


def test_case_and_articles_follow_the_word() -> None:
    assert outcomes("entity.gazetteer", "an Italian dinner") >= {"a French dinner", "an Irish dinner"}
    assert outcomes("antonym.other", "Enable it") == {"Disable it"}
    assert outcomes("antonym.other", "ENABLE it") == {"DISABLE it"}


def test_kinds_are_many_and_never_of_both_labels() -> None:
    assert sum(KINDS.values()) >= 12
    assert len(KINDS) - sum(KINDS.values()) >= 12
    assert all(KINDS[rule.kind] is rule.same for rule in RULES)
    assert len({rule.name for rule in RULES}) == len(RULES)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_is_pure_and_fails_on_no_text(rule: EditRule) -> None:
    for text in (*PROMPTS, "", " ", "?", "A", "\n", "👍 ok?", "the the the", "a" * 700):
        for seed in range(3):
            new = rule.edit(text, random.Random(seed))
            assert new == rule.edit(text, random.Random(seed))
            assert new is None or isinstance(new, str)
            if rule.digits and not any(map(str.isdigit, text)):
                assert new is None


@given(text=st.text(max_size=80), seed=st.integers(0, 5))
def test_no_rule_fails_on_strange_text(text: str, seed: int) -> None:
    for rule in RULES:
        rule.edit(text, random.Random(seed))


def test_things_of_a_place_stand_for_each_other() -> None:
    seen = CorpusNames()
    for thing in ("Gout", "celiac disease", "Gouty arthritis"):
        seen.learn(f"What are the symptoms of {thing} ?")
    place = next(rule for rule in seen.rules() if rule.name == "entity.place")
    made = {place.edit("What are the symptoms of Gout ?", random.Random(seed)) for seed in range(30)}
    assert made - {None} == {"What are the symptoms of celiac disease ?"}
    assert place.edit("Who is at risk for Gout?", random.Random(0)) is None
