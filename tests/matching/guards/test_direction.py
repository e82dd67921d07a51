"""The same words the other way round ask something else; a moved phrase or a list in another order does not."""

from __future__ import annotations

import pytest

from tests.matching.guards.verdicts import DOUBT, NOTHING, VETO, verdict

ROWS = [
    ("Translate from German to French", "Translate from French to German", VETO),
    ("Flights from Boston to Denver", "Flights from Denver to Boston", VETO),
    ("Flights from Boston to Denver", "Flights to Denver from Boston", NOTHING),
    ("Flights from Boston to Denver", "Flights to Boston from Denver", VETO),
    ("How long does a transfer from China take?", "How long does a transfer to China take?", VETO),
    ("How long until transfers from Europe arrive?", "How long does it take for a transfer from Europe?", NOTHING),
    ("Move money from savings to my current account", "Move money from my current account to savings", VETO),
    ("Can I switch from my old phone to a new one?", "Can I change to a new phone from my old one?", NOTHING),
    ("Can I top up via Apple Pay?", "Can I use Apple Pay to top up?", NOTHING),
    ("Convert miles to kilometers", "Convert kilometers to miles", VETO),
    ("Is Python faster than Java?", "Is Java faster than Python?", VETO),
    ("Is Python faster than Java?", "Is Java slower than Python?", NOTHING),
    ("Is R better than Python for statistics?", "Is Python a better choice than R for doing statistics?", VETO),
    ("Is R better than Python for statistics?", "Is R a better choice than Python for statistics?", NOTHING),
    ("Compare Python to Java", "Compare Java to Python", NOTHING),
    ("Difference between Python and Java", "Difference between Java and Python", NOTHING),
    ("How far is Leeds from York?", "How far is York from Leeds?", NOTHING),
    ("Why do cats chase mice?", "Why do mice chase cats?", VETO),
    ("Does the landlord owe the tenant money?", "Does the tenant owe the landlord money?", VETO),
    ("Can my employer sue my insurer?", "Can my insurer sue my employer?", VETO),
    ("Is a square a rectangle?", "Is a rectangle a square?", DOUBT),
    ("Where can I buy bread and milk?", "Where can I buy milk and bread?", NOTHING),
    ("Who likes tea, coffee and milk?", "Who likes milk, coffee and tea?", NOTHING),
    ("Am I required to declare family gifts?", "Do I have to declare gifts from family?", NOTHING),
    ("How much does a call to family cost?", "How much does a call from family cost?", VETO),
    ("In Leeds, where is the library?", "Where is the library in Leeds?", NOTHING),
    ("What is the capital of France?", "What is France's capital?", NOTHING),
    ("Reset the password of my account", "Reset my account password", NOTHING),
    ("The red car hit the blue van", "The blue car hit the red van", VETO),
    ("He was born in Oslo in 1947", "He was born in 1947 in Oslo", NOTHING),
    ("Pay by card or by cheque?", "Pay by cheque or by card?", NOTHING),
    ("", "from to than", NOTHING),
    ("How do I convert Word to a PDF?", "What's the way to convert PDF files to Word?", VETO),
    ("string to int in java", "How to convert an integer to a string in Java", VETO),
    ("How do I turn a PDF into Word?", "convert pdf to a word document", NOTHING),
    ("How do I get my boyfriend to propose to me?", "How can I propose to my boyfriend?", VETO),
    ("Is Turkish similar to Azerbaijani?", "Is Azerbaijani similar to Turkish?", NOTHING),
    ("Flights from Madrid to Rome tomorrow", "tomorrow's planes to Rome leaving Madrid", NOTHING),
    ("Does light travel from the eye to the object?", "Does light travel from the object to the eye?", VETO),
    ("Clean it top to bottom or bottom to top?", "Clean it bottom to top or top to bottom?", NOTHING),
    ("Can I send money online to my bank?", "Can I send money to my bank online?", NOTHING),
    ("Transfer money from India to the UK cheaply", "Transfer money from the UK to India cheaply", VETO),
    ("Why is he angry when I meet my friends?", "Why is he angry when I meet his friends?", VETO),
    ("How do I clean my oven?", "How do I clean our oven?", NOTHING),
    ("How do I clean my oven?", "How do you clean your oven and your hob?", NOTHING),
    ("Do I need a visa as a citizen of Peru?", "As a citizen of Peru, do I need a visa?", NOTHING),
    ("Can I claim benefits if I quit my job?", "If I quit my job, can I claim benefits?", NOTHING),
    ("Why does my brother sulk when I meet my friends?", "Why does my brother sulk when I meet his friends?", VETO),
    (
        "The plan was drafted in Oslo by Ann Berg and signed in Rome by Otto Lund",
        "The plan was signed in Rome by Ann Berg, having been drafted in Oslo by Otto Lund",
        DOUBT,
    ),
    (
        "We met in May at the old mill in Ghent with friends",
        "In May we met with friends at the old mill in Ghent",
        NOTHING,
    ),
    ("Can my employer sue me?", "Can I sue my employer?", VETO),
    ("Who can sue me?", "Who can I sue?", VETO),
    ("What happens if my neighbour sues me?", "What happens if I sue my neighbour?", VETO),
    ("Show me how to tie a tie", "How do I show a friend how to tie a tie?", NOTHING),
    ("Can you help me book a flight?", "How do I book a flight?", NOTHING),
    ("How do I ask my doctor to call me?", "How can I get my doctor to call me?", NOTHING),
    ("What questions should I ask in an interview?", "What questions will I be asked in an interview?", VETO),
    ("Can a Canadian work in America?", "Can an American work in Canada?", VETO),
    ("In Portugal, do Spanish doctors need a permit?", "Do Portuguese doctors need a permit in Spain?", VETO),
    ("Can French citizens own land in Spain?", "Can Spanish citizens own land in France?", VETO),
    ("Do Americans need a visa for Japan?", "Do US citizens need a visa for Japan?", NOTHING),
    ("Tell us if a German can work in Peru", "Can a German work in Peru?", NOTHING),
    (
        "How are Canadian universities viewed by employers in the US?",
        "Does a degree from Canada carry weight with American companies?",
        NOTHING,
    ),
    # "Your own" and "if your" are said of anybody; another "your" may be the one who is asked.
    ("Can I cut my own hair?", "Can you cut your own hair?", NOTHING),
    ("How do I know if my cat is deaf?", "how do you know if your cat is deaf", NOTHING),
    ("Where is my office?", "Where is your office?", VETO),
    ("How do I get started with pottery?", "How do I start pottery?", NOTHING),
    ("Why am I being charged duty?", "Why am I charged duty?", NOTHING),
    ("Why did I charge the shop?", "Why was I charged by the shop?", VETO),
    ("Should I move from Python 2 to Python 3?", "Should I move from Python 2 to 3?", NOTHING),
    ("Should I move from Python to Ruby?", "Should I move from Ruby to Python?", VETO),
]


@pytest.mark.parametrize(("query", "cached", "expected"), ROWS)
def test_direction(query: str, cached: str, expected: str) -> None:
    assert verdict("direction", query, cached) == expected
