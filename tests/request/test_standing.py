"""What holds on any day is cached like any other question; what is of this day is not."""

from __future__ import annotations

import pytest

from semcache.request.kinds import is_historical, is_live, is_standing
from semcache.request.prompt_volatility import is_relative

HOLDS = [
    "What time does the museum open?",
    "When is the library open?",
    "How late is the bar open?",
    "Until what time is the bar open?",
    "Hi, what time do you close?",
    "So when do you close on a Sunday?",
    "Which days are you closed?",
    "When does the library close in August?",
    "What time can guests check out at the latest?",
    "What's the earliest I can check in?",
    "When is breakfast?",
    "What time is dinner served?",
    "When does happy hour start?",
    "When do the clocks go back?",
    "When is the rainy season in Thailand?",
    "Is the pharmacy open on Sunday mornings?",
    "How long does shipping take to Austria?",
    "Is the beta open to everybody?",
    "Is the tower visible from Montmartre?",
    "At 12:00 in London, what's the time in Tokyo?",
    "How many days until Christmas from December 1?",
    "Is the castle open to the public?",
    "Is the garden open all year round?",
    "Does the shop close for lunch?",
    "Does the price include breakfast?",
    "Is tax included in the price?",
    "How much is parking?",
    "How much does a day pass cost?",
    "What is the price of a haircut?",
    "What's the cost of next-day delivery?",
    "Could you tell me what you charge? What do you charge for a boiler service?",
    "Is there a charge for parking?",
    "How often does the shuttle run?",
    "what timezone is denver in",
    "Is the pool open in winter?",
    "What is the closing time of the reception?",
    "closing time on Saturday",
    "On which day of the month is the rent due?",
    "What's the latest time I can arrive at the hotel?",
    "By how many hours is Sydney ahead of London in July?",
    "What's the GDP of Norway?",
    "What's the temperature of the sea in Nice in May?",
    "How is the gold price fixed?",
    "What is the time difference between London and Tokyo?",
]
OF_THE_DAY = [
    "What time do you close tonight?",
    "What is the closing time tonight?",
    "What is the start time of the match?",
    "Is the pool open this winter?",
    "Which day of the week is it?",
    "What day of the week is the meeting?",
    "When does the pool open tomorrow?",
    "Is the museum open?",
    "How late is the train?",
    "How late is the 5:40?",
    "What time does the match start?",
    "What time does the show open?",
    "When does the train from Leeds arrive?",
    "When will the office open again?",
    "When does the ski season open this winter?",
    "Is the park open yet?",
    "How much is gold?",
    "What is the flight price including bags from Boston to Miami?",
    "Bitcoin price including fees",
    "How much is a share of Tesla?",
    "What's the price of a barrel of Brent?",
    "How much is a flight to Paris?",
    "How much is the pound in dollars?",
    "What is the mortgage rate?",
    "What is the current fee?",
    "What time is it in Tokyo?",
    "When is the next train to Leeds?",
    "Which roads are closed?",
    "When does the sun set?",
]


@pytest.mark.parametrize("text", HOLDS)
def test_what_holds_on_any_day_is_not_of_this_moment(text: str) -> None:
    assert is_standing(text)
    assert not is_live(text)


@pytest.mark.parametrize("text", OF_THE_DAY)
def test_what_changes_by_the_day_is_not_taken_to_hold(text: str) -> None:
    assert not is_standing(text) or is_live(text)


@pytest.mark.parametrize("text", ["Is the museum open?", "Are you open today?", "How late is the train?"])
def test_what_is_open_at_this_moment_stays_of_this_moment(text: str) -> None:
    assert is_live(text)


def test_a_year_that_is_named_is_history_and_a_market_is_not() -> None:
    assert is_historical("Who won the war in 1815?")
    assert is_historical("On which date did the Berlin Wall fall?")
    assert not is_historical("When did the market close?")


@pytest.mark.parametrize(
    "text",
    [
        "What's the time in New York when it is 12 pm in London?",
        "If it is 3 pm in Tokyo, what time is it in Paris?",
        "When it's noon in LA what time is it in NY?",
        "What was the price of gold in 1980?",
        "What was the exchange rate of the dollar to the yen in 2008?",
        "Get the current time in milliseconds in Java",
        "mysql function for today's date",
        "I have an interview next week for a junior role. What questions are they likely to ask?",
    ],
)
def test_a_told_time_of_another_place_and_a_year_that_has_passed_are_of_any_moment(text: str) -> None:
    assert not is_live(text)


@pytest.mark.parametrize(
    "text",
    [
        "What is the price of gold now compared to what it was in 1980?",
        "What time is it in Paris?",
        "When I fly to Paris, what time is it in London now?",
        "What is the price of bitcoin?",
        "What's the current time in Java, Indonesia?",
    ],
)
def test_a_price_of_now_beside_an_old_one_is_of_this_moment(text: str) -> None:
    assert is_live(text)


@pytest.mark.parametrize(
    "text",
    [
        "How many days until a SEPA payment shows up?",
        "mysql function for today's date",
        "python today's date as string",
    ],
)
def test_what_takes_days_and_dates_of_a_program_are_kept(text: str) -> None:
    assert not is_relative(text)


@pytest.mark.parametrize(
    "text", ["How many days until Christmas?", "How long until the World Cup starts?", "today's date"]
)
def test_what_counts_from_today_is_not_kept(text: str) -> None:
    assert is_relative(text)
