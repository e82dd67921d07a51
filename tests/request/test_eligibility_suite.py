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
    "Translate 'where is my order' to French",
    "Where is my appendix?",
    "What is my IP address used for?",
    "What is a stock price?",
    "What is an exchange rate?",
    "What is the weather like on Mars?",
    "What is the score of a perfect game in bowling?",
    "How do I make a git branch up to date with main?",
    "What is the latest common ancestor of humans and chimps?",
    "chicken stock",
    "air quality index",
    "What was the exchange rate from dollars to yen in 1985?",
    "Has the pound ever been worth more than three dollars?",
    "How does the fed raise interest rates?",
    "Why did the Fed raise rates in 1994?",
    "What's new in Python 3.12?",
    "When does the sun set in July in Iceland?",
    "What time is it in New York when it is noon in London?",
    "What are my options if my flight is cancelled?",
    "Can other people see my email address?",
    "Can I see who viewed my profile on WhatsApp?",
]
LIVE = [
    "EUR/USD spot rate now?",
    "Did the last pipeline run on main pass?",
    "Is the living room light still on?",
    "Is the gate locked?",
    "Has the 9:40 to York left yet?",
    "usd to inr",
    "convert 50 euros to dollars",
    "how much is 30 usd in cad?",
    "btc",
    "apple stock",
    "uv index",
    "air quality delhi",
    "pollen forecast",
    "moon phase",
    "snow in denver",
    "what time does the sun set",
    "did arsenal win?",
    "nba standings",
    "is slack having issues",
    "are there delays on the northern line",
    "what's on tv",
    "what movies are playing",
    "who is number one in the charts",
    "lottery results",
    "mortgage rates",
    "has the fed raised interest rates?",
    "any earthquakes near tokyo",
    "covid cases in india",
    "has gta 6 been released",
    "is the new iphone out yet?",
    "cheapest flights to rome",
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


@pytest.mark.parametrize(
    "text",
    [
        "Generate a random number in Java",
        "Write a SQL query to select a random row",
        "Write a function that returns a random color",
        "java random number from 1 to 100",
    ],
)
def test_a_program_that_draws_is_cached_like_any_other(text: str) -> None:
    assert not kinds(text).creative


@pytest.mark.parametrize("text", ["Give me a random number", "write a random poem", "random word please"])
def test_what_is_drawn_anew_each_time_is_not_cached(text: str) -> None:
    assert kinds(text).creative


@pytest.mark.parametrize("half", eligibility.HALVES)
def test_few_are_barred_wrongly_and_few_slip_through(half: str) -> None:
    facts = eligibility.measured(half)
    assert facts["precision"] >= 0.85
    assert facts["recall"] >= 0.75


@pytest.mark.parametrize(
    "text",
    ["Give me a professional bio template", "Give me a template for a cover letter", "write me an email template"],
)
def test_a_form_to_be_filled_in_is_cached_like_any_other(text: str) -> None:
    assert not kinds(text).creative
