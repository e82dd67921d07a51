"""What must never be looked up or kept, and what must stay cacheable although it looks alike."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.config.packs import Category
from semcache.request.eligibility import ineligible, is_creative, is_live, is_personal, semantic_eligible
from semcache.request.secrets import has_secret
from semcache.types import Endpoint, Request, Scope, Traits, Why

PERSONAL = """
what grade did I get?|did I pay my bill?|who is my manager?|when was I last charged?|which plan am I on?
what's my shipping address?|did my transfer go through?|track package 1Z999AA10123456784
where is my order|What's the status of my order?|my account balance please|show me my invoices|Where is my package?
what are my test results|summarize our contract|do I have any unread messages|How much do I owe?
When is my appointment?|track my package|has my refund been processed?|what is my name?|what's on my calendar
Is my subscription still active?|cancel my order|order #12345 has not arrived|how much did I spend on food
my order status|track order 48213|where did I park|what plan am I on|what's my ip
can I see my last invoice|what did I say earlier|Which meetings do we have with our contacts?
"""
WITH_OTHERS = """
When does our policy expire?|What is our policy number?|Is our home insurance policy still active?|Show our invoices
What's the status of our claim?|What is our account balance?|Who is our account manager?|What's our plan?
What are our loan terms on the contract?|Where is our order?|Which of our claims are due?
Why was my payment to Acme declined yesterday?|Why was my last payment declined?|Why was my claim rejected?
"""
OF_ALL = """
What is our policy on maternity leave?|our refund policy|who is our data protection officer|Where is our head office?
What are our password rules?|Tell me our data retention policy|What's our process for contract approval?
What is our SLA for tickets?|When are our office hours?|What is our travel allowance?|Who is our head of data?
Why was my payment declined?|Why has my card payment been rejected?
"""
GENERAL = """
how do I reset my password|my dog is sick what can I do|How can I track my order?|what is an invoice?
What should I do if my card is stolen?|Why is my code slow?|how do i cancel my subscription|Can I return my order?
how to improve my credit score|What is a contract?|What is the best way to clean my laptop?
do I have to pay tax on gifts?|what do I have to do in Git|What do I say to my mother-in-law?|remind me what a mole is
Do I need a visa for Japan?|how do I check my account balance|My phone won't turn on
why does my loop never end|What is the refund policy?|Do I have the right to refuse overtime?
is it safe to eat my leftovers after 3 days|I want to change my email address. How?
Could you tell me how to close my account?
I forgot my PIN, how can I get into my account?|I'd like to cancel my subscription. What are the steps?
I want to change the phone number on my account|What options do I have if my train is late?
How often do I have to renew my passport?|After how many days does my PIN expire?
Can banks legally read my messages?|Is my boss allowed to open my emails?|Do I have enough time to change planes?
Where is my data usage shown?|When will my puppy stop biting?|If I cancel my contract early, what does it cost?
Will my files be deleted if I close a profile?|Employer wants to check my emails, is there a law?
How can my wife see my bank account?|Who is my aunt's daughter's son to me?
Which lock do I have changed first?|My order never came; who do I complain to?
"""
LIVE = """
what's the temperature outside?|what's trending on twitter|how cold is it outside
what time is it|What's the weather in Paris?|who is the current president of France|latest news|price of bitcoin
What is Apple's stock price?|is it raining in London|what's happening in Ukraine right now|is GitHub down?
What are today's headlines|who is winning the game|traffic on the M25|USD EUR exchange rate|restaurants near me
what is the latest version of Python|will it rain tomorrow|what day is it today|weather|who won the game last night
What is the current inflation rate?|hows the traffic|any delays on the red line?|flight BA117 status|is the pool open
How do I cancel my ticket for tonight?|How can I watch the game this weekend?|How do I claim tax at current rates?
weather paris|time in tokyo|how many days until Christmas?|days until easter|eur usd rate|who won the game
premier league table|top news|when is sunset
surf conditions at bondi|Powerball numbers|How busy is the gym?|are the trains running|pollen count in Munich
"""
TIMELESS = """
Can you catch a cold from cold weather?|How does a car start in very cold weather?
What is the weather like in Iceland in July?|How is the price of gold determined?|what is trending analysis?
what is the capital of France|how does a stock market work|How do weather forecasts work?|What causes traffic?
who was the first president|how are exchange rates determined|explain real-time operating systems|What is a live wire?
How do I sort a list?|what is the time complexity of quicksort|how to increase traffic to my website
What's the difference between now and then?|What is a leap day?|net present value of these flows
How was the weather in London in 1976?
How do I claim for a flight delay on my travel insurance?|How do I cancel an order I placed this morning?
How do I get the latest version of the app?|How long is the application window open?
python get today's date|how do you say yesterday in French|what is tomorrow in spanish|is a closed set open?
How many days until someone dies of thirst?
What's going on chemically when bread browns?|Every spring the river floods. What is happening?
climate or weather: which is which|Why does my car start badly in cold weather?|Did Caesar lose because of the weather?
What's the latest I can apply?|Move Node to the latest version|How do I keep a fork up to date?
Which city is the capital of Nigeria these days?|Why do people knit these days?|Which planets count as dwarfs now?
If I quit next week, what happens to unused leave?|Can I stay until Sunday if I pay today?
Had a filling yesterday, what can I eat?|I broke a toe last night. Should I see a doctor?
Driving in Spain next month. Do I need an extra permit?|Someone took my bag this morning, what do I do now?
grammar check: we was late yesterday|Make this formal: 'We can't come today, sorry.'
Are any bakeries open in Bonn on Sundays?|Is the map usable offline?|Is anyone at the club allowed to vote?
Write an email saying that I am ill today|How do I let traffic in?|What compensation is due for a flight delay?
Are dogs welcome overnight in the rooms?|Up to what time is it possible to check in?
I forgot my umbrella on the tram this morning, how do I get it back?|Where do I report a theft from yesterday?
I sent 900 euros yesterday to a seller and he has gone. How do I get it back?|How do I reset the oven tonight?
My boss won't pay for last month. What can a worker do about that, is that legal?
I borrow 900 dollars at 7% for a year. What do I owe?|Which proof of address should I bring to a bank?
How much pension can I pay in tax-free this year?|What is the minimum wage in Wales at the moment?
How do I fix a typo in the form I sent last night?|how to stretch a hamstring, currently injured
Is the Louvre open on Mondays?|is a closed door safer than an open one|What does today() do in Excel?
"""
CREATIVE = """
write a poem about autumn|Tell me a joke|brainstorm names for a cafe|give me another one|surprise me
write a plot for a heist film|poem about rain|joke please|fun fact|write a birthday message for mom
compose a short story about a dragon|write a tweet about our launch|pick a random number|regenerate|another one
Please write me, in four lines plus a punchline, a limerick|Please write a children's short story of 90 words
Do me a haiku|write for my gran a birthday poem|I'd like a limerick about Rome|About the sea, a haiku please
Could you please write a birthday wish for my gran?|Put together a short poem on tea
Write, for a child of six, two riddles
write me a song|suggest 5 ideas for a birthday party|Give me a random fact|try again|flip a coin
"""
PLAIN = """
write a function that reverses a string|who wrote the poem Ozymandias|what is a haiku|generate a SQL query for users
write a regex for emails|explain the story of Job|How do I write a cover letter?|what is a random variable
how do I generate a random number in Python|summarize this article|Write a unit test for this class
give me the names of the planets|tell me the story of the French revolution
Tell me how many verses the Iliad has|Which parts make up the Dune story?|Tell me about how the haiku came to Europe
could you tell me what kind of poem a sonnet is|Can you give me the letters of the Greek alphabet?
My phone gives wrong letters when I type|how do you copy one sheet into another one|Can I swap this for another one?
What makes one rock granite and another one basalt?|Is Rust a compiled language or something different?
Does "pants" mean something different in London?|Tell me the story in brief: The Trial by Kafka
Could you tell me the password for a new router?|Write up a password policy for staff
random password of 12 characters vs a passphrase: which is better|I have a drill and want another one that is lighter
I'd like a poem by Goethe to read first|Do you know a poem by Heine?|I need a joke book for a child|How about poetry?
write to a file in a loop until a story point is done|write in SQL a query that counts poems
Give me a summary of the plot of Hamlet|give me the characters in Emma
"""
SECRET = """
DB_PASSWORD=correct_horse_battery
my password is hunter2|sk-proj-abcdefghijklmnop1234|card 4111 1111 1111 1111|AKIAIOSFODNN7EXAMPLE
GB82 WEST 1234 5698 7654 32|-----BEGIN RSA PRIVATE KEY-----|eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.SflKxwRJSMeKKF2QT4
api_key = abcd1234efgh|postgres://bob:hunter2@db/x|my ssn is 123-45-6789|Password: Tr0ub4dor
ghp_abcdefghijklmnopqrstuvwxyz0123|Authorization: Bearer abcdefghijklmnopqrstuvwx|5500-0000-0000-0004
"""
HARMLESS = """
db.connect(password=get_password)|PASSWORD=MY_VAR_NAME
my password is not working|how do I reset my password|what is an api key|1234 5678 9012 3456|call 020 7946 0958
the password is case sensitive|my pin is blocked|2024-01-05 12:00:00|What is 4111111111111112?
is my password: strong?|password is wrong|sk-learn tutorial|pi is 3.14159265358979323846|GB83 WEST 1234 5698 7654 32
"""


def lines(table: str) -> list[str]:
    return [text for text in table.replace("\n", "|").split("|") if text]


def request(text: str = "What is a cache?", **traits: Any) -> Request:
    scope = traits.pop("scope", Scope())
    return Request(Endpoint.CHAT, "gpt-x", {}, text, b"", traits=Traits(**traits), scope=scope)


@pytest.mark.parametrize("text", [*lines(PERSONAL), *lines(WITH_OTHERS)])
def test_what_depends_on_the_asker_is_personal(text: str) -> None:
    assert ineligible(request(text), Category(name="x")) is Why.PERSONAL


@pytest.mark.parametrize("text", [*lines(GENERAL), *lines(OF_ALL)])
def test_saying_my_is_not_personal(text: str) -> None:
    assert not is_personal(text)
    assert ineligible(request(text), Category(name="x")) is None


@pytest.mark.parametrize("text", lines(LIVE))
def test_what_depends_on_the_moment_is_live(text: str) -> None:
    assert ineligible(request(text), Category(name="x")) is Why.LIVE


@pytest.mark.parametrize("text", lines(TIMELESS))
def test_what_is_true_tomorrow_is_not_live(text: str) -> None:
    assert not is_live(text)
    assert ineligible(request(text), Category(name="x")) is None


@pytest.mark.parametrize("text", lines(CREATIVE))
def test_what_should_be_new_each_time_is_creative(text: str) -> None:
    assert ineligible(request(text), Category(name="x")) is Why.CREATIVE


@pytest.mark.parametrize("text", lines(PLAIN))
def test_writing_that_serves_everybody_is_not_creative(text: str) -> None:
    assert not is_creative(text)


@pytest.mark.parametrize("text", lines(SECRET))
def test_secrets_are_neither_looked_up_nor_kept(text: str) -> None:
    assert ineligible(request(f"Please check this: {text}"), Category(name="x")) is Why.SECRET


@pytest.mark.parametrize("text", lines(HARMLESS))
def test_speaking_of_secrets_reveals_none(text: str) -> None:
    assert not has_secret(text)


def test_the_pack_may_allow_personal_live_and_creative_prompts() -> None:
    for text, field in (("where is my order", "personal"), ("what time is it", "live"), ("tell me a joke", "creative")):
        assert ineligible(request(text), Category(name="x")) is not None
        assert ineligible(request(text), Category(name="x", **{field: True})) is None


def test_a_scope_of_one_user_may_hold_personal_answers() -> None:
    assert ineligible(request("where is my order", scope=Scope(user="ann")), Category(name="x")) is None


def test_typographic_apostrophes_hide_nothing() -> None:
    assert ineligible(request("What\u2019s the status of my order?"), Category(name="x")) is Why.PERSONAL


def test_the_first_reason_wins() -> None:
    everything = request(
        "my password is hunter2, where is my order today, tell me a joke", temperature=1.5, stateful=True
    )
    assert ineligible(everything, Category(name="x", cache=False)) is Why.DISABLED
    assert ineligible(everything, Category(name="x")) is Why.STATEFUL
    hot = request("my password is hunter2", temperature=1.5)
    assert ineligible(hot, Category(name="x")) is Why.TEMPERATURE
    assert ineligible(hot, Category(name="x", max_temperature=2.0)) is Why.SECRET


@pytest.mark.parametrize(("temperature", "expected"), [(None, None), (0.0, None), (0.7, None), (0.71, Why.TEMPERATURE)])
def test_temperature_is_bounded_by_the_category(temperature: float | None, expected: Why | None) -> None:
    assert ineligible(request(temperature=temperature), Category(name="x", max_temperature=0.7)) is expected


def test_exact_only() -> None:
    category = Category(name="x", max_chars=20)
    assert semantic_eligible(request("What is a cache?"), category) is None
    assert semantic_eligible(request("And her?"), category) is None
    assert semantic_eligible(request(""), category) is Why.EXACT_ONLY
    assert semantic_eligible(request(" ?! "), category) is Why.EXACT_ONLY
    assert semantic_eligible(request("x" * 21), category) is Why.EXACT_ONLY
    assert semantic_eligible(request(last_role="tool"), category) is Why.EXACT_ONLY
    assert semantic_eligible(request(multimodal=True), category) is Why.EXACT_ONLY
    assert semantic_eligible(request(), Category(name="x", semantic=False)) is Why.EXACT_ONLY


@given(st.text(max_size=300))
def test_no_text_breaks_it(text: str) -> None:
    ineligible(request(text), Category(name="x"))
    semantic_eligible(request(text), Category(name="x"))


@pytest.mark.parametrize(
    "text", ["a" * 50_000, "my " * 20_000, "4 " * 20_000, "write a " * 8_000, "is " * 15_000, "eyJa." * 9_000]
)
def test_hostile_length_stays_linear(text: str) -> None:
    ineligible(request(text), Category(name="x"))


@pytest.mark.parametrize("max_chars", [1000, 1_000_000])
@pytest.mark.parametrize(
    "text",
    [
        "weather now " * 60_000,
        "traffic on now " * 50_000,
        "what time" + " " * 50_000 + "x",
        "weather" + " " * 50_000 + "x",
        "is a down" + " " * 50_000 + "x",
        "again" + "!" * 50_000 + "x",
        "order number" + " " * 50_000 + "x123",
        "has " + "a " * 50_000 + "my",
        "what is the code of my " * 20_000,
        "booking code " + "a-1" * 30_000,
    ],
)
def test_no_text_keeps_the_event_loop_for_minutes(text: str, max_chars: int) -> None:
    ineligible(request(text), Category(name="x", max_chars=max_chars))


LONG = "The report goes on about many a thing. " * 500


@pytest.mark.parametrize(
    ("question", "why"),
    [
        ("What is the weather in Paris today?", Why.LIVE),
        ("Where is my order?", Why.PERSONAL),
        ("Tell me a joke.", Why.CREATIVE),
    ],
)
def test_what_a_long_document_is_about_is_asked_before_or_after_it(question: str, why: Why) -> None:
    assert ineligible(request(f"{question} {LONG}"), Category(name="x")) is why
    assert ineligible(request(f"{LONG} {question}"), Category(name="x")) is why
    assert ineligible(request(f"{LONG} {question} {LONG}"), Category(name="x")) is None


def test_what_may_be_sought_by_meaning_is_read_from_end_to_end() -> None:
    text = f"{LONG} What is the weather in Paris today? {LONG}"
    assert ineligible(request(text), Category(name="x", max_chars=len(text))) is Why.LIVE


def test_a_secret_is_found_anywhere_in_a_long_document() -> None:
    assert ineligible(request(f"{LONG} my password is hunter2 {LONG}"), Category(name="x")) is Why.SECRET


@pytest.mark.parametrize(
    ("text", "personal"),
    [
        ("Does deleting the app also delete my account?", False),
        ("Does billing show my last payment?", True),
        ("Will my subscription be cancelled if I delete my account?", False),
        ("Is my subscription cancelled?", True),
        ("What's the penalty if my tax return is late?", False),
        ("What's prohibited in my hand luggage?", False),
        ("What is the fee on my account?", True),
        ("What's the status of my tax return?", True),
    ],
)
def test_rules_for_anybody_are_not_personal_though_they_name_what_is_mine(text: str, personal: bool) -> None:
    assert is_personal(text) is personal
