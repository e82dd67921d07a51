"""Prompts that are truly about this moment or their sender stay refused in wordings that look like harmless ones."""

from __future__ import annotations

import pytest

from semcache.request.kinds import is_creative, is_live, is_personal

LIVE = [
    "what's going on in Kyiv right now?",
    "What's going on in Sudan?",
    "What is happening in Parliament?",
    "what's going on with Boeing?",
    "What's happening downtown when I finish work tonight?",
    "what's the weather",
    "How many days until Christmas from today?",
    "Is Gmail down?",
    "Is there severe weather in Denver?",
    "What is the weather like in Oslo and is the climate summit still on today?",
    "Are flights grounded because of the weather?",
    "Was the cup match called off because of the weather?",
    "latest news about the wildfires",
    "What's the latest on the strike?",
    "What's the latest from Geneva?",
    "What is the latest version of Django?",
    "Who is the leader of the Labour party these days?",
    "How much do eggs cost these days?",
    "Which laptop is the best seller nowadays?",
    "What's the price of diesel in Poland at the moment?",
    "Which country tops the medal table right now?",
    "Who is currently the mayor of Lyon?",
    "Which currency is the strongest right now?",
    "Is the capital's airport open right now?",
    "If I buy dollars today, what rate do I get?",
    "If I go to the zoo today, will it be open?",
    "If I visit Porto next week, what will the weather be?",
    "I land in Lima tomorrow, is it raining there?",
    "I'm in Vienna tonight, what can I do?",
    "I'm off to Leeds tomorrow, which trains can I take?",
    "We are in Berlin this weekend. Where can we see a concert?",
    "My train leaves tomorrow morning, which platform do I go to?",
    "I missed the match yesterday, who won?",
    "I bought shares yesterday, what are they worth?",
    "Which concerts tonight can I still get into?",
    "Show me what is on tonight, what should I watch?",
    "Is anyone at the front desk?",
    "Are there any tables open on Monday?",
    "Are there any slots open now on Mondays?",
    "Is the payment server offline?",
    "What happened overnight in the Asian markets?",
    "Traffic in Seville",
    "give me an up-to-date price for copper",
    "Flight delays at Heathrow",
    'What does the press say about "Brexit" today?',
    "Translate today's headlines into French",
    "Write an email with today's exchange rate for my boss",
    "I have a picnic tomorrow, should I bring an umbrella?",
    "We fly to Oslo tomorrow. What should we pack?",
    "I need a plumber today, who can I call?",
    "I am in Rome today, is it a public holiday?",
    "I live in Bonn. Which pharmacies are on duty tonight?",
    "Yesterday I ordered a lamp, when does it ship?",
    "Should I take my umbrella tonight?",
    "How many dollars do I get for my euros today?",
    "How do I get to the stadium tonight?",
    "How can I watch the final tomorrow?",
    "How do I see the eclipse tonight?",
    "Where do I report for the flight tomorrow?",
    "Who won the tax vote this year?",
    "Correct me if I'm wrong: is the bank open today?",
]
PERSONAL = [
    "Why was my payment to Acme declined?",
    "Where are my invoices?",
    "Check whether my flight is on time",
    "How many days off do I have left?",
    "Cancel my subscription",
    "Is my account active?",
    "remind me to call mum at 5",
    "When does my subscription expire?",
    "How many days until my contract ends?",
    "Where is my parcel? How do I track it?",
    "Do I have enough credit left?",
    "How many tickets do I have?",
    "When will my parcel arrive if it left on Monday?",
    "If I already paid, where is my order?",
    "I want to see my invoices",
    "I want to change my flight to Tuesday",
    "Read my emails",
    "How much do I owe?",
    "How much am I charged?",
    "What limit do I have on my card?",
    "How many points do I have left?",
    "Order no. 48213 came broken, how do I get my money back?",
    "What messages do I have?",
    "Who is my account manager?",
    "Am I eligible?",
    "Am I covered?",
    "Has my refund been approved if I sent the form?",
    "I forgot my password. What is my email?",
    "Unless I paid, cancel my order",
    "When I log in, show me my orders",
    "What do I owe at the end of the month?",
    "Which grade did I get?",
    "How many of my invoices are unpaid?",
    "How much do I still owe on my loan at 5%?",
    "Which invoices do I have with 20% off?",
]
CREATIVE = [
    "tell me another one",
    "another one please",
    "And now another joke",
    "Write something new about my cat",
    "give me something different",
    "Could you tell me a story?",
    "generate a strong password",
    "Make up a story about a snail",
    "Please give me another version",
    "random password",
]


@pytest.mark.parametrize("text", LIVE)
def test_it_is_still_about_this_moment(text: str) -> None:
    assert is_live(text)


@pytest.mark.parametrize("text", PERSONAL)
def test_it_is_still_about_its_sender(text: str) -> None:
    assert is_personal(text)


@pytest.mark.parametrize("text", CREATIVE)
def test_it_still_wants_something_new(text: str) -> None:
    assert is_creative(text)
