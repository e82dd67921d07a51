"""Texts that differ in endings alone are told apart by tense, participle, gerund or a plural of another sense."""

from __future__ import annotations

import pytest

from tests.matching.guards.verdicts import NOTHING, VETO, verdict

APART = [
    ("Who runs the museum?", "Who ran the museum?"),
    ("Which airlines serve Oslo?", "Which airlines served Oslo?"),
    ("Which firm digs the canal?", "Which firm dug the canal?"),
    ("Which banks are closing?", "Which banks closed?"),
    ("What makes bread rise?", "What made the bread rise?"),
    ("Who used to own the hotel?", "Who owns the hotel?"),
    ("Why do workers strike?", "Why did the workers strike?"),
    ("Why do volcanoes erupt?", "Why did the volcano erupt?"),
    ("What happens to my pension if I resign?", "What happened to my pension after I resigned?"),
    ("What does the vendor do with our data?", "What has the vendor done with our data?"),
    ("What is the mayor doing about rats?", "What did the mayor do about rats?"),
    ("Are prices falling?", "Have prices fallen?"),
    ("My car is being towed. Who pays?", "My car has been towed. Who pays?"),
    ("My dog is eating grapes. What should I do?", "My dog ate grapes. What should I do?"),
    ("My rug is getting wet. What should I do?", "My rug got wet. What should I do?"),
    ("Why is my son so bored?", "Why is my son so boring?"),
    ("Which economies are developed?", "Which economies are developing?"),
    ("Why did he stop to drink?", "Why did he stop drinking?"),
    ("They went on to study law", "They went on studying law"),
    ("How do I remember to lock it?", "How do I remember locking it?"),
    ("How do I recycle glass?", "How do I recycle glasses?"),
    ("What is a spectacle?", "What are spectacles?"),
    ("What are damages in law?", "What is damage in law?"),
    ("Was the theatre rebuilt?", "Is the theatre being rebuilt?"),
    ("Who hosts the fair?", "Who hosted the fair?"),
    ("Who's running the shop?", "Who ran the shop?"),
    ("List the countries that use the franc", "List the countries that used the franc"),
    ("Can you tell me why banks fail?", "Can you tell me why the banks failed?"),
    ("I'm getting married. What changes for tax?", "I got married. What changes for tax?"),
    ("How do I dye cloth?", "How do I dye clothes?"),
    ("What do I say to a friend whose mother died?", "What do I say to a friend whose mother is dying?"),
    ("How do I feed a cat that is losing weight?", "How do I feed a cat that has lost weight?"),
    ("How do I tell them that I'm dropping out?", "How do I tell them that I dropped out?"),
    ("What gift for a pair that is getting divorced?", "What gift for a pair that got divorced?"),
    ("What do I do with milk that is going off?", "What do I do with milk that has gone off?"),
    ("What do I tell my boss when I'm quitting?", "What do I tell my boss when I've quit?"),
    ("I'm losing my job. What should I do?", "I've lost my job. What should I do?"),
    ("Can a tenant who is leaving get it back?", "Can a tenant who left get it back?"),
    ("Tell me what the capital of Germany was", "What is the capital of Germany?"),
    ("tell me what happened to Pluto", "what happens to Pluto"),
    ("Can you tell me who was the king of Spain?", "Who is the king of Spain?"),
    ("my contract expired, can I renew", "can I renew my contract? it is about to expire"),
    ("We sold the house, how is it taxed?", "We are going to sell the house, how is it taxed?"),
    ("My son was bullied at school. Whom do I call?", "My son was bullying at school. Whom do I call?"),
    ("my brother is being accused, must he come", "my brother is accusing, must he come"),
]
ALIKE = [
    ("How does frost damage pipes?", "How frost damages pipes"),
    ("Can I sue for damage to my car?", "Can I sue for damages to my car?"),
    ("I lost my card", "I've lost my card"),
    ("My screen cracked", "My screen is cracked"),
    ("My flight was cancelled. What now?", "My flight has been cancelled. What now?"),
    ("Who painted the ceiling?", "Who was it that painted the ceiling?"),
    ("How did the strike start?", "How was the strike started?"),
    ("The app crashes", "The app keeps crashing"),
    ("The app crashed", "The app is crashing"),
    ("My engine makes a strange noise", "My engine made a strange noise"),
    ("I get an error", "I got an error"),
    ("I get headaches after coffee", "I'm getting headaches after coffee"),
    ("My tomatoes turned black", "My tomatoes are turning black"),
    ("How do I move a file if the disk is full?", "How do I move a file if the disk was full?"),
    ("The bell rings", "The bell is ringing"),
    ("How do I train a dog?", "How do I train dogs?"),
    ("What are the benefits of an apple?", "What are the benefits of apples?"),
    ("What should I do if I lose my keys?", "What should I do if I lost my keys?"),
    ("What should I do when I miss my train?", "What should I do when I missed my train?"),
    ("Who wins the battle of Hastings?", "Who won the battle of Hastings?"),
    ("Who plays Batman in it?", "Who played Batman in it?"),
    ("Who kills the king in the play?", "Who killed the king in the play?"),
    ("What are your experiences travelling alone?", "What have been your experiences travelling alone?"),
    ("I tried to restart it", "I tried restarting it"),
    ("My printer stopped to work", "My printer stopped working"),
    ("Tips for studying", "Tips to study"),
    ("My arm hurts", "My arms hurt"),
    ("How do I polish a glass?", "How do I polish glasses?"),
    ("How do I clean a red wine glass?", "How do I clean red wine glasses?"),
    ("What is a savings account?", "What is a saving account?"),
    ("What is goods and service tax?", "What is good and service tax?"),
    ("What if my laptop freezes?", "What if my laptop froze?"),
    ("How do I stop a tap that drips?", "How do I stop a tap that is dripping?"),
    ("How do I calm a customer who complains?", "How do I calm a customer who complained?"),
    ("What can I do when the app is losing its connection?", "What can I do when the app lost its connection?"),
    ("What do I say to a friend whose mother died?", "What do I say to a friend whose mother has died?"),
    ("What happens when a patent expires?", "What happens when a patent has expired?"),
    ("What do I do if my passport expired?", "What do I do if my passport is expired?"),
    ("How do I leave a group I am an admin of?", "How can I leave a group I'm an admin of?"),
    ("Tell me what the capital of Germany is", "What is the capital of Germany?"),
    ("tell me what happened to Pluto", "what happened to Pluto"),
    ("I am buying a car, what should I check?", "I am about to buy a car, what should I check?"),
    ("My lease is about to expire, what now?", "My lease is expiring, what now?"),
    ("My son was bullied at school. Whom do I call?", "My son got bullied at school. Whom do I call?"),
    ("my boss is firing me, can he", "my boss fires me, can he"),
]


@pytest.mark.parametrize(("query", "cached"), APART)
def test_an_ending_asks_for_something_else(query: str, cached: str) -> None:
    assert verdict("question", query, cached) == VETO


@pytest.mark.parametrize(("query", "cached"), ALIKE)
def test_an_ending_says_the_same(query: str, cached: str) -> None:
    assert verdict("question", query, cached) == NOTHING
