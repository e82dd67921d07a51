"""Each pattern is tried where its words stand, and what was read of a text is remembered unless it is a secret."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from semcache.request import kinds
from semcache.request.kinds import creative, live, personal, under_way
from semcache.request.kinds.patterns import words_of
from semcache.request.secrets import fold

_RULES = [*personal._PERSONAL._rules, *live._LIVE._rules, *creative._CREATIVE._rules, *under_way._UNDER_WAY._rules]

_EXAMPLES = settings.default.max_examples // 5  # there are many patterns


def _compiled(pattern: re.Pattern[str]) -> re.Pattern[str]:
    """The pattern as hypothesis takes it: compiled now."""
    return re.compile(pattern.pattern, pattern.flags)


@pytest.mark.hypothesis
@pytest.mark.parametrize(("words", "pattern"), _RULES, ids=range(len(_RULES)))
def test_what_a_pattern_matches_holds_one_of_the_words_beside_it(
    words: frozenset[str], pattern: re.Pattern[str]
) -> None:
    @given(st.from_regex(_compiled(pattern)))
    @settings(max_examples=_EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    def check(text: str) -> None:
        folded = fold(text)
        if pattern.search(folded):
            assert not words.isdisjoint(words_of(folded))

    check()


@given(st.from_regex(_compiled(personal._OWN_RECORD)))
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_record_is_looked_for_only_where_an_owner_names_one(text: str) -> None:
    folded = fold(text)
    bag = words_of(folded)
    if personal._OWN_RECORD.search(folded):
        assert bag & personal._OWNERS
        assert bag & personal._RECORDS


def test_the_memo_answers_alike_and_keeps_no_secret() -> None:
    kinds._remembered.cache_clear()
    for _ in range(2):
        assert kinds.kinds("my password is hunter2").secret
        assert kinds.kinds("x" * 9000 + " today").live
        assert kinds._remembered.cache_info().currsize == 0
    for _ in range(2):
        assert kinds.kinds("where is my order") == (False, True, False, False)
        assert kinds._remembered.cache_info().currsize == 1


NOT_PERSONAL = [
    "Am I allowed to cancel my gym contract early when I move?",
    "What time is check in and can I leave my luggage at the hotel before that?",
    'I need a TypeScript type for {"id": 7, "tags": ["a"]}, which is what our API returns.',
    "If I put 200 a month into a fund with 6% yearly return, what do I have after 15 years?",
    "is my card charged when i place an order or when it ships",
    "wher can i find my ordr history",
    "How long do you keep my data after I cancel?",
    "How long does a refund take to show up on my card?",
    "I sent the shoes back but I see nothing on my bank account. How long does a refund take?",
    "I paid a cheque in and see the amount on my account. How long does it take for a cheque to clear?",
    "How long before payday do I need to update my bank details?",
    "by when do i have to give hr my new bank details",
    "When is my card charged for a pre-order?",
    "I had to give my card number. Will I be charged automatically when the free trial ends?",
    "can the airline change my seat after i paid",
    "where is my data after docker compose down",
    "where are my changes after git stash",
    "why does my document stay stuck in the print queue",
    "What proof do we have that the Big Bang happened?",
    "What evidence do we have that dinosaurs had feathers?",
    "can i see my notes while presenting",
    "Where am I not allowed to fly my drone?",
    "why do i have to change my password every 90 days",
    "My next flight is eight hours long. Where is the best place to sit on a plane?",
    "Will I still get my salary during maternity leave?",
    "Please help me write an email to update my bank details.",
    "My flight was five hours late. Am I eligible for compensation under EU law?",
    "What am I owed when my plane leaves four hours late?",
    "What do I get if my parcel is lost?",
    "How much can I claim if my train is late?",
]
PERSONAL = [
    "Check in my calendar if I am free on Friday",
    "check in the app whether my order has shipped",
    "What do I have in two weeks?",
    "How long does my refund take?",
    "How long does a refund take for order 48213?",
    "How long does a refund take? Where is my refund?",
    "How do I cancel an order? Is my package lost?",
    "When is my card charged?",
    "When is my account billed this month?",
    "When does my card arrive?",
    "Have I been charged for the trial?",
    "Am I eligible for compensation?",
    "Why was I charged twice?",
    "Why was my payment of 50 euros declined?",
    "can the shop find my order",
    "can the bank tell me my balance",
    "can i see my notes",
    "can i see my last invoice in the app",
    "Where is my data?",
    "where are my files",
    "where are my receipts",
    "export all my data",
    "will my pre order arrive on release day",
    "Tracking hasn't updated in five days, is my package lost?",
    "What proof do we have that our invoice was paid?",
    "What evidence do I have?",
    "Where am I?",
    "What is my seat on the next flight?",
    "My next flight is eight hours long. Which seat do I have?",
    "What am I owed now that my flight was cancelled?",
    "What am I owed if my order 48213 is late?",
    "What do I get when my flight was cancelled yesterday?",
    "How much do I get back if my claim has been accepted?",
]


@pytest.mark.parametrize("text", NOT_PERSONAL)
def test_a_rule_or_a_way_is_not_personal_though_it_is_about_what_is_mine(text: str) -> None:
    assert not kinds.is_personal(text)


@pytest.mark.parametrize("text", PERSONAL)
def test_what_only_the_senders_records_tell_is_personal(text: str) -> None:
    assert kinds.is_personal(text)


NOT_CREATIVE = [
    "What should I tell the post office?",
    "Write a user story for an admin who exports the audit log",
    "I need two user stories for a wishlist",
    "My friend asked me to give a speech at her wedding. Can you give me tips to stay calm?",
    "how long does it take to write a novel",
    "What should I write in a birthday card?",
    "What would be a good way to come up with a plot?",
    "I've had a story in my head for years. How do you write a novel from start to finish?",
    "I'd like to write her a poem. I've never done it. How do you write a good poem, and does it have to rhyme?",
    "I have used one password for years. How do I make a strong password?",
    "My boyfriend wants to surprise me with a ring. How do you measure ring size at home?",
    "I've decided to leave. What should I write in a resignation letter?",
    "Whenever I ask an assistant to write a poem, it is dull. How do you write a good prompt?",
]
CREATIVE = [
    "Write a short story about a user",
    "I want you to give a speech about love",
    "Give a toast at my brother's wedding",
    "I have to give a speech at a wedding. Write it for me",
    "My gran turns 90. Write a poem for her.",
    "My gran turns 90. Could you write a poem?",
    "Write a poem about my gran. How long should it be?",
    "Please write me a story. How do you like dragons?",
    "I need you to write a story about a dragon. How long can it be?",
    "I like cats. Give me ten names for a kitten.",
    "Tell me a joke. How do you do it?",
]


@pytest.mark.parametrize("text", NOT_CREATIVE)
def test_how_a_work_is_made_is_asked_for_knowledge(text: str) -> None:
    assert not kinds.is_creative(text)


@pytest.mark.parametrize("text", CREATIVE)
def test_a_work_that_is_asked_for_is_new_each_time_whatever_is_told_or_asked_beside_it(text: str) -> None:
    assert kinds.is_creative(text)
