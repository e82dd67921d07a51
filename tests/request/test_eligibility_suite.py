"""Prompts about this moment or about their sender are barred, and general ones that look alike are not."""

from __future__ import annotations

import pytest

from eval import eligibility
from semcache.request.kinds import is_live, is_personal, kinds

GENERAL = [
    "tell me how to delete my account",
    "um how do I check my data usage",
    "How do I cancel an order I placed this morning?",
    "Hi team, could you tell me how I can change the email of my account? Thanks!",
    'Translate "Where is my order?" into German.',
    "Can my landlord keep my deposit?",
    "What can I cook tonight with eggs?",
    "Is there a way to see my old invoices?",
    "How would I reset my password now?",
]
LIVE = [
    "EUR/USD spot rate now?",
    "Did the last pipeline run on main pass?",
    "Is the living room light still on?",
    "Is the gate locked?",
    "Has the 9:40 to York left yet?",
]
PERSONAL = [
    "Show unread messages in my inbox",
    "Any update on my case?",
    "Have I been charged twice?",
    "Has anyone replied to my comment?",
    "Is my appointment on the 4th or the 5th?",
]


@pytest.mark.parametrize("text", GENERAL)
def test_a_general_question_is_cached_whatever_it_mentions(text: str) -> None:
    assert not kinds(text).live
    assert not kinds(text).personal


@pytest.mark.parametrize("text", LIVE)
def test_a_question_about_this_moment_is_not_cached(text: str) -> None:
    assert is_live(text)


@pytest.mark.parametrize("text", PERSONAL)
def test_a_question_about_the_senders_records_is_not_cached(text: str) -> None:
    assert is_personal(text)


@pytest.mark.parametrize("half", eligibility.HALVES)
def test_few_are_barred_wrongly_and_few_slip_through(half: str) -> None:
    facts = eligibility.measured(half)
    assert facts["precision"] >= 0.85
    assert facts["recall"] >= 0.75
