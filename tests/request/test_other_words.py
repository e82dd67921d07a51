"""Prompts in other words that ask for the same, each beside prompts that look as alike and ask for another thing."""

from __future__ import annotations

import pytest

from semcache.request.wording import canonical

SAME = [
    ("Where can I find the VIN of a trailer", "where do I find the VIN of a trailer"),
    ("where to find the VIN of a trailer", "where can you find the VIN of a trailer"),
    ("where could I buy stamps", "where to buy stamps"),
    ("What's entropy's meaning?", "What is the meaning of entropy"),
    ("what is inflation's definition", "define inflation"),
    ("I have 5 min. for a talk, what do I say", "I have 5 minutes for a talk, what do I say"),
    ("wait 30 sec. then stir", "wait 30 seconds then stir"),
    ("can I do it in 5 min.?", "can I do it in 5 minutes?"),
    ("What documents do I need to open a bank account", "What documents are needed to open a bank account"),
    ("which documents are required for a visa", "what documents do I need for a visa"),
    ("how do I get from Rome to Milan", "how do I get to Milan from Rome"),
    ("how do I sort a list in order to find duplicates", "how do I sort a list to find duplicates"),
    ("which exams must I take in order to become a pilot", "which exams must I take to become a pilot"),
    ("dont know how to cancel a booking", "how do I cancel a booking"),
    ("Can you please help me with how to cancel a booking", "how do I cancel a booking"),
    ("I need help on how to cancel a booking", "how do I cancel a booking"),
    ("help with how to cancel a booking", "how to cancel a booking"),
    ("In order to pass the exam, what should I do", "To pass the exam, what should I do"),
    ("how do I go to work from home by bus", "how do I go from home to work by bus"),
    ("how long does it take to drive to Paris from Lyon", "how long does it take to drive from Lyon to Paris"),
    ("distance to Boston from New York", "distance from New York to Boston"),
    ("can u explain vectors", "can you explain vectors"),
    ("how do i do my home work faster", "how do i do my homework faster"),
    ("what is paper work", "what is paperwork"),
    ("how do I do house work", "how do I do housework"),
    ("how do I write a cheque", "how do I write a check"),
    ("how many feet are in a metre", "how many feet are in a meter"),
    ("is a training programme worth it", "is a training program worth it"),
    ("2*x + 3 = 5, what is x", "2x + 3 = 5, what is x"),
    ("simplify 1/2 * x", "simplify 1/2 x"),
    ("is 20 C warm for a pool", "is 20 degrees celsius warm for a pool"),
    ("when does my work place close", "when does my workplace close"),
    ("cancellation of a gym membership", "how do I cancel a gym membership"),
    ("what is the process for renewal of a passport", "how do I renew a passport"),
    ("how does the return of an item work", "how do I return an item"),
    ("how high is Mount Elbrus", "what is the height of Mount Elbrus"),
    ("how does one become a notary", "how do I become a notary"),
]
APART = [
    ("name for a cat", "what is a cat called"),
    ("title for a poem", "what is the title of a poem"),
    ("how do I thank a vet", "how do I thank a veterinarian"),
    ("is the vet eligible for a VA loan", "is the veterinarian eligible for a VA loan"),
    ("what forms do I need to sign", "what forms are needed to sign"),
    ("what is the min. age", "what is the minutes age"),
    ("what do I need in order to pass", "what do I need to pass"),
    ("what do people stop in order to smoke", "what do people stop to smoke"),
    ("how do I get to know people from work", "how do I get from work to know people"),
    ("the vectors u and v", "the vectors you and v"),
    ("vectors u and v are orthogonal, what is u · v", "vectors you and v are orthogonal, what is you · v"),
    ("how do I get from Rome to Milan", "how do I get from Milan to Rome"),
    ("how do I get to sleep from anxiety", "how do I get from anxiety to sleep"),
    ("1/2x", "1/2 x"),
    ("What is the derivative of 1/2x", "What is the derivative of 1/2 x"),
    ("simplify 1/2*x", "simplify 1/2x"),
    ("What is a metre?", "What is a meter?"),
    ("how do I write a programme", "how do I write a program"),
    ("what is a cheque", "what is a check"),
    ("how do I make paper work", "how do I make paperwork"),
    ("how does home work", "how does homework"),
    ("how does house work", "how does housework"),
    ("how does fire work", "how does firework"),
    ("how do I do light house cleaning", "how do I do lighthouse cleaning"),
    ("does the sun burn my skin", "does the sunburn my skin"),
    ("what does 20C mean on a lipo battery", "what does 20 degrees celsius mean on a lipo battery"),
    ("is a capacitor of 10 F big", "is a capacitor of 10 °F big"),
    ("what is Loom", "what is loom"),
    ("how do I use Sentry", "how do I use sentry"),
    ("what is Snowflake", "what is snowflake"),
    ("is the sea at 20 C warm", "is the sea at 20 F warm"),
    ("activation of an enzyme", "how do I activate an enzyme"),
    ("insertion of a gene", "how do I insert a gene"),
    ("closure of a school", "how do I close a school"),
    ("replacement of teeth in sharks", "how do I replace teeth in sharks"),
    ("how does the transfer of heat work", "how do I transfer heat"),
    ("how does the exchange of gases work", "how do I exchange gases"),
    ("how high was the pilot", "what was the height of the pilot"),
    ("how tall is the driver", "how high is the driver"),
    ("how is it possible to see the past", "how do I see the past"),
    ("how can one die", "how do I die"),
    ("how does one catch malaria", "how do I catch malaria"),
    ("make a table with names and ages", "make a table with ages and names"),
]


@pytest.mark.parametrize(("one", "two"), SAME)
def test_what_is_asked_for_in_other_words_is_served_from_the_first_answer(one: str, two: str) -> None:
    assert canonical(one).text == canonical(two).text


@pytest.mark.parametrize(("one", "two"), APART)
def test_what_looks_alike_and_asks_for_another_thing_is_not_served(one: str, two: str) -> None:
    assert canonical(one).text != canonical(two).text


@pytest.mark.parametrize("text", sorted({text for pair in SAME + APART for text in pair}))
def test_the_wording_of_a_wording_is_itself(text: str) -> None:
    wording = canonical(text).text
    assert canonical(wording).text == wording
