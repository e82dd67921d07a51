"""Who, when, where, why and how many are answered by different things; "how" and "where can I" often are not."""

from __future__ import annotations

import pytest

from tests.matching.guards.verdicts import DOUBT, NOTHING, VETO, verdict

ROWS = [
    ("What is a mutex?", "What is a mutex? When should I use one?", VETO),
    ("How can I cancel my plan?", "How do I cancel my plan? Is this a good question?", VETO),
    ("How do I cancel my plan", "Will I get a refund? How do I cancel my plan?", VETO),
    ("How do I cancel my plan?", "Hi, how are you? How do I cancel my plan? Any ideas?", NOTHING),
    ("How do I cancel my plan?", "Can you help me? How can I cancel my plan?", DOUBT),
    ("How do I cancel my plan?", "I bought it in May. How do I cancel my plan?", NOTHING),
    ("Is it up? Since when?", "Since when? Is it up?", DOUBT),
    ("Who founded the company?", "When was the company founded?", VETO),
    ("Who founded the company?", "Which person founded the company?", NOTHING),
    ("When was the company founded?", "In what year was the company founded?", NOTHING),
    ("Where was the company founded?", "In which city was the company founded?", NOTHING),
    ("Where was the company founded?", "When was the company founded?", VETO),
    ("Who won the World Cup in 2014?", "Which country won the 2014 World Cup?", NOTHING),
    ("Why did the delivery fail?", "What is the reason the delivery failed?", NOTHING),
    ("Why was it cancelled?", "How come it was cancelled?", NOTHING),
    ("When are libraries open?", "Why are libraries open?", VETO),
    ("How many bags may I take?", "How often may I take bags?", DOUBT),
    ("How many bags may I take?", "Why may I take bags?", VETO),
    ("How much is a ticket?", "What does a ticket cost?", NOTHING),
    ("How much is a ticket?", "What is the price of a ticket?", NOTHING),
    ("How much is a ticket?", "Where is a ticket sold?", VETO),
    ("How long does delivery take?", "When will the delivery come?", NOTHING),
    ("How long does delivery take?", "How much does delivery cost?", DOUBT),
    ("How do I order a card?", "When can I order a card?", VETO),
    ("How do I order a card?", "Why do I order a card?", VETO),
    ("How do I order a card?", "Where do I order a card?", NOTHING),
    ("Where did Napoleon die?", "How did Napoleon die?", VETO),
    ("How is soap made?", "Where is soap made?", VETO),
    ("Where can you buy stamps?", "How can you buy stamps?", NOTHING),
    ("Where to vote", "How to vote", NOTHING),
    ("How do I find my PIN?", "Where can I find my PIN?", NOTHING),
    ("Can I order a card?", "How do I order a card?", DOUBT),
    ("What is a mortgage?", "How do I get a mortgage?", VETO),
    ("What is a mortgage?", "How do people usually repay a big mortgage early?", DOUBT),
    ("What is the best way to order a card?", "How do I order a card?", NOTHING),
    ("I want to order a card", "How do I order a card?", NOTHING),
    ("When I pay by card, why is there a fee?", "Why is there a fee when I pay by card?", NOTHING),
    ("Tell me how to order a card", "How do I order a card?", NOTHING),
    ("", "Why?", NOTHING),
    ("Should I tell my friend about the party?", "How do I tell my friend about the party?", VETO),
    ("How was the pyramid built?", "Why was the pyramid built?", VETO),
    ("How must vaccines be kept cold?", "Why must vaccines be kept cold?", VETO),
    ("Is Turkey eaten at Christmas?", "Where is turkey eaten at Christmas?", VETO),
    ("Is Turkey eaten at Christmas?", "When is turkey eaten at Christmas?", VETO),
    ("Can you eat potato skins?", "Eat potato skins.", VETO),
    ("Should I tell my boss I'm pregnant?", "Tell my boss I'm pregnant.", VETO),
    ("Would you rather fly or be invisible?", "Rather fly or be invisible.", VETO),
    ("Do I need to know French to work in Quebec?", "I need to know French to work in Quebec.", VETO),
    ("Would you like tea?", "Would I like tea?", VETO),
    ("Are you allergic to nuts?", "Am I allergic to nuts?", VETO),
    ("Do you need a visa for Turkey?", "Do I need a visa for Turkey?", NOTHING),
    ("Can you list the planets?", "List the planets.", NOTHING),
    ("Could you please write a poem?", "Please write a poem.", NOTHING),
    ("Can you make it shorter?", "Make it shorter.", NOTHING),
    ("Can you reset my password?", "Reset my password.", NOTHING),
    ("Can I get a list of holidays?", "Get a list of holidays.", NOTHING),
    ("Do you know why cats purr?", "Why do cats purr?", NOTHING),
    ("Could anyone tell me where the shop opens?", "Why does the shop open?", VETO),
]


@pytest.mark.parametrize(("query", "cached", "expected"), ROWS)
def test_question(query: str, cached: str, expected: str) -> None:
    assert verdict("question", query, cached) == expected
