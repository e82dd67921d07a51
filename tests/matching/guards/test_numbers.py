"""Prompts that differ in a quantity must not share an answer; one quantity spelt otherwise is one quantity."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from semcache.matching.guards import GUARDS, conflicts
from tests.matching.guards.verdicts import DOUBT, NOTHING, VETO, verdict

# Signs of fractions are read before any guard is asked.
SIGNS = [
    ("½ cup of butter in grams", "1/2 cup of butter in grams", False),
    ("½ cup of butter in grams", "half a cup of butter in grams", False),
    ("½ cup of butter in grams", "a half cup of butter in grams", False),
    ("½ cup of butter in grams", "⅓ cup of butter in grams", True),
    ("½ cup of butter in grams", "½ pint of butter in grams", True),
    ("½ cup of butter in grams", "1½ cups of butter in grams", True),
    ("¼ cup of butter in grams", "a quarter of a cup of butter in grams", False),
    ("¼ cup of butter in grams", "a quarter mile in metres", True),
    ("What do I pack for a fortnight's trip?", "What do I pack for a two-week trip?", False),
    ("What do I pack for a week's trip?", "What do I pack for a 7-day trip?", False),
    ("Is a week's notice enough?", "Is a month's notice enough?", True),
    ("Bake for 1½ hours", "Bake for 90 minutes", False),
    ("1⅓ cups of rice for how many?", "4/3 cups of rice for how many?", False),
]
ROWS = [
    (
        "the difference between the Alpha 5 and the Alpha 7",
        "the difference between the Alpha 7 and the Alpha 5",
        NOTHING,
    ),
    ("the difference between 7 and 5", "the difference between 5 and 7", VETO),
    ("force on 2 kg at 3 m/s\u00b2", "force on 2 kg at 3 m/s^2", NOTHING),
    ("force on 2 kg at 3 m/s\u00b2", "force on 2 kg at 3 m/s", VETO),
    ("How many litres are in a US gallon?", "1 US gallon in litres", NOTHING),
    ("How many litres are in a US gallon?", "2 US gallons in litres", VETO),
    ("Is java 1.5 GB of heap enough?", "Is java 15 GB of heap enough?", True),
    ("Is java 1.5 GB of heap enough?", "Is java 1,500 MB of heap enough?", False),
    ("Tax on 1.000.000,50 euros", "Tax on 100,000,050 euros", True),
    ("Tax on 1.000.000,50 euros", "Tax on 1,000,000.50 euros", False),
    ("A loan of USD 2.5m", "A loan of USD 2.5", True),
    ("A loan of USD 2.5m", "A loan of USD 25", True),
    ("A loan of USD 2.5m", "A loan of $2.5m", False),
    ("A loan of USD 2.5", "A loan of $2.50", False),
    ("A loan of EUR 30k", "A loan of $30k", True),
    ("A loan of EUR 30k", "A loan of EUR 31k", True),
    ("A loss of 3 in 100 miles", "A loss of 3% of miles", True),
    ("Bake with two eggs and half a cup of milk", "Bake with 1/2 cup of milk and 2 eggs", False),
    ("Bake with two eggs and half a cup of milk", "Bake with three eggs and half a cup of milk", True),
    ("A talk of two hours and a half", "A talk of 2.5 hours", False),
    ("A limit of 60 miles per hour", "A limit of 60 mph", False),
    ("A limit of 60 miles per hour", "A limit of 60 km per hour", True),
    ("A tax of twenty per cent", "A tax of 20%", False),
    ("A stop of a third of an hour", "A stop of 20 minutes", False),
    ("A stop of a third of an hour", "A stop of 30 minutes", True),
    ("Half a year's notice", "Six months' notice", False),
    ("A flat of 140 square metres", "A flat of 140 sqm", False),
    ("A flat of 140 square metres", "A flat of 140 m2", False),
    ("A flat of 140 square metres", "A flat of 140 sq ft", True),
    ("Gas of 22 MWh a year", "Gas of 22,000 kilowatt hours a year", False),
    ("Gas of 22 MWh a year", "Gas of 22 kWh a year", True),
    ("Opens fell from 34 to 21 percent", "Opens fell from 34% to 21%", False),
    ("Opens fell from 34 to 21 percent", "Opens fell from 34% to 31%", True),
    ("8 in 100 users crash", "8% of users crash", False),
    ("8 in 100 users crash", "18% of users crash", True),
    ("A table of 8M rows", "A table of 8 million rows", False),
    ("A table of 8M rows", "A table of 8 rows", True),
    ("A loan of EUR 30k", "A loan of 30,000 euros", False),
    ("A loan of EUR 30k", "A loan of USD 30k", True),
    ("What is a leap second for?", "What are leap seconds for?", False),
    ("Is a fuse of 300 mA enough?", "Is a pack of 300 mAh enough?", True),
    ("Is a fuse of 300 mA enough?", "Is a fuse of 0.3 amps enough?", False),
    ("Is a 2 amp charger fast?", "Is a 2000 mA charger fast?", False),
    ("Lamp with a 5 W draw", "Lamp with a 5 Wh draw", True),
    ("How many grams of syrup are 6 oz?", "How many grams of syrup are 6 fl oz?", True),
    ("How many grams of syrup are 6 fluid ounces?", "How many grams of syrup are 6 fl. oz.?", False),
    ("Is a shed of 90 ft legal?", "Is a shed of 90 sq ft legal?", True),
    ("Is a shed of 90 square feet legal?", "Is a shed of 90 sqft legal?", False),
    ("Is 5 mo. early for a first tooth?", "Is 5 yr. early for a first tooth?", True),
    ("Is 5 mo. early for a first tooth?", "Is 5 months early for a first tooth?", False),
    ("How long is a swim of 3 miles?", "How long is a swim of 3 nautical miles?", True),
    ("Swap rows one and two in pandas", "Swap rows 1 and 2 in pandas", False),
    ("Swap rows one and two in pandas", "Swap rows 1 and 3 in pandas", True),
    ("Our twins are nine, seven and four", "Our twins are 9, 7 and 4", False),
    ("Explain the 60/20/20 plan for wages", "Explain the 60-20-20 plan for wages", False),
    ("Explain the 60/20/20 plan for wages", "Explain the 70/20/10 plan for wages", True),
    ("Is 130/85 a normal pressure?", "Is a pressure of 130 over 85 normal?", False),
    ("Is 130/85 a normal pressure?", "Is 140/85 a normal pressure?", True),
    ("Show 24-hour time in the taskbar", "Show the time in the taskbar in 24h format", False),
    ("Show 24-hour time in the taskbar", "Show 12-hour time in the taskbar", True),
    ("Restart a k8s pod", "Restart a kubernetes pod", False),
    ("Insert a table in Excel 365", "Insert a table in Excel", False),
    ("Text her b4 lunch or after?", "Text her before lunch or after?", False),
    ("Service at 60 000 km needed?", "Service at 60,000 km needed?", False),
    ("Service at 60 000 km needed?", "Service at 90 000 km needed?", True),
    ("Mass of 1 l of petrol", "Mass of a litre of petrol", False),
    ("Mass of 2 l of petrol", "Mass of a litre of petrol", True),
    ("How many pints in a gallon?", "How many pints in a cup?", True),
    ("Bonus for more than 6 months", "Bonus for at least 7 months", False),
    ("Bonus for more than 6 months", "Bonus for at least 9 months", True),
    ("Refund with fewer than 3 days left", "Refund with at most 2 days left", False),
    ("Which of the two weighs more, lead or gold?", "Which weighs more, lead or gold?", False),
    ("Give me two weeks' notice rules", "Give me a fortnight of notice rules", False),
    ("Can he fail a second time?", "Can he fail a 2nd time?", False),
    ("How fast is ten metres a second?", "How fast is ten metres per second?", False),
    ("Round prices to the next 0.10", "Round prices to the next ten cents", False),
    ("Round prices to the next 0.10", "Round prices to the next five cents", True),
    ("Save ten grand", "Save $10,000", False),
    ("Save ten grand", "Save $20,000", True),
    ("A third of the eggs broke", "1/3 of the eggs broke", False),
    ("Aspirin for under-20s", "Aspirin for under 20", False),
    ("A 4 x 6 m room, how many tiles?", "A 4x6 m room, how many tiles?", False),
    ("A 4x6 m room, how many tiles?", "A 4x7 m room, how many tiles?", True),
    ("Start from zero in chess", "Start in chess", False),
    ("Convert 5 miles to km", "Convert 6 miles to km", True),
    ("Convert 5 miles to km", "Convert 5 miles to meters", True),
    ("How far is the moon in km?", "How far is the moon in miles?", True),
    ("Plan a 1 km run", "Plan a run of 1000 m", False),
    ("A film of 90 minutes", "A film of 1.5 hours", False),
    ("A film of 90 minutes", "A film of 1.6 hours", True),
    ("Is a 50% discount good?", "Is a half discount good?", False),
    ("Is a 50% discount good?", "Is a 15% discount good?", True),
    ("Is 50 enough?", "Is 50% enough?", True),
    ("Install Python 3.11", "Install Python 3.9", True),
    ("Install Python 3.1", "Install Python 3.10", True),
    ("Upgrade to Node v18.2.1", "Upgrade to Node 18.2.1", False),
    ("Upgrade to Django 4.2", "Upgrade to Django 4.2.0", False),
    ("What is 5+3?", "What is 5-3?", True),
    ("What is 12 * 4", "What is 12 times 4", False),
    ("What is 5 minus 3?", "What is 3 minus 5?", True),
    ("What is 3 plus 5?", "What is 5 plus 3?", False),
    ("What is 8 divided by 2", "What is 2 divided by 8", True),
    ("What is 20% of 50?", "What is 50% of 20?", True),
    ("Add 17 and 25", "Multiply 17 and 25", True),
    ("Solve 3x = 12", "Solve 3x = 15", True),
    ("A dozen eggs", "12 eggs", False),
    ("A dozen eggs", "two dozen eggs", True),
    ("Licence for twenty-five users", "Licence for 25 users", False),
    ("two hundred and fifty grams of flour in cups", "250 g of flour in cups", False),
    ("Sort 1,000,000 rows", "Sort 1 million rows", False),
    ("Bake for 1 1/2 hours", "Bake for one and a half hours", False),
    ("Bake for 1 1/2 hours", "Bake for 1/2 hour", True),
    ("Wait three quarters of an hour", "Wait 45 minutes", False),
    ("Drill a 3/4 inch hole", "Drill a 3/4 cm hole", True),
    ("Drill a 3/4 inch hole", "Drill a 0.75 inch hole", False),
    ("What is 3-1/2?", "What is 3.5?", True),
    ("Is the court open 24/7?", "Is the court open?", False),
    ("Sort 1,000 rows", "Sort 10,000 rows", True),
    ("Is 1.000,50 euros a lot?", "Is €1000.50 a lot?", False),
    ("I was charged $5", "I was charged 5 dollars", False),
    ("I was charged $5", "I was charged €5", True),
    ("I was charged $1.5m", "I was charged $1,500,000", False),
    ("Which one is best for travel?", "Which is best for travel?", False),
    ("Can I bring one bag?", "Can I bring two bags?", True),
    ("Can I bring 2 bags?", "Can I bring bags?", True),
    ("When did World War II end?", "When did World War 2 end?", False),
    ("When did the second world war end?", "When did World War 2 end?", False),
    ("When did the first world war end?", "When did the second world war end?", True),
    ("Is 100 C hot?", "Is 212 fahrenheit hot?", False),
    ("Is -5 degrees cold?", "Is 5 degrees cold?", True),
    ("Is 38°C a fever?", "Is 39 °C a fever?", True),
    ("Is ibuprofen 200 mg safe?", "Is ibuprofen 400 mg safe?", True),
    ("Is ibuprofen 200 mg safe?", "Is ibuprofen 0.2 g safe?", False),
    ("Is ibuprofen 200 mg safe?", "Is ibuprofen 200 ml safe?", True),
    ("Type 1 diabetes diet", "Type 2 diabetes diet", True),
    ("Where is order 12345?", "Where is order 12346?", True),
    ("Phones under $999", "Phones under $1000", True),
    ("Convert 1500 km to miles", "Convert 1501 km to miles", True),
    ("Convert 1500 km to miles", "Convert 1,500 kilometres to miles", False),
    ("Is 1 mcg of vitamin B12 enough?", "Is 2 mcg of vitamin B12 enough?", True),
    ("Is 500 mcg enough?", "Is 0.5 mg enough?", False),
    ("What is 2e-12 times 4?", "What is 3e-12 times 4?", True),
    ("Is 15.5% a good rate?", "Is 15.52% a good rate?", True),
    ("Is 0 C cold?", "Is 32 fahrenheit cold?", False),
    ("Parking for half an hour", "Parking for 30 minutes", False),
    ("Parking for an hour", "Parking for 60 minutes", False),
    ("Parking for an hour", "Parking for two hours", True),
    ("What is two thirds of 90?", "What is 2/3 of 90?", False),
    ("What is two thirds of 90?", "What is three quarters of 90?", True),
    ("What does it cost per month?", "What does it cost per year?", True),
    ("Top ten films of all time", "top 10 films of all time", False),
    ("Summarise chapter 2", "Summarise the second chapter", False),
    ("Process 1e3 items", "Process 1000 items", False),
    ("Process 1e3 items", "Process 1e4 items", True),
    ("Is support open 24/7?", "Is support always open?", False),
    ("Hotels from 50 to 100 dollars", "Hotels from 50 to 150 dollars", True),
    ("Take it twice a day", "Take it 2 times a day", False),
    ("Take it twice a day", "Take it three times a day", True),
    ("Symptoms of COVID-19", "Symptoms of covid", False),
    ("How far is 1 km in miles?", "How far is 1001 m in miles?", True),
    ("How far is 1 km in miles?", "How far is 1000 m in miles?", False),
    ("Is 98.6 fahrenheit a fever?", "Is 98.7 fahrenheit a fever?", True),
    ("Is 98.6 fahrenheit a fever?", "Is 37 celsius a fever?", False),
    ("How many days until Easter?", "How many weeks until Easter?", True),
    ("days until easter", "weeks until easter", True),
    ("How many days until Easter?", "How long is it until Easter in days?", False),
    ("how many weeks in a year", "weeks per yr", False),
    ("how many cups in a gallon", "how many pints in a gallon", True),
    ("What should I take in week 28, and for how many days?", "Pregnant in week 28: what may I take?", False),
    ("100 yuan in rubles", "100 yuan in pesos", True),
    ("Is a 7,500 NZD excess normal?", "Is an excess of 7500 dollars normal?", False),
    ("Is a 7,500 NZD excess normal?", "Is an excess of 7500 AUD normal?", True),
    ("Which GPU has 24 GB?", "Which GPU has 24000 MB?", False),
    ("Is error 404 bad?", "Is error 500 bad?", True),
    ("Round 3.14159 to two decimals", "Round 3.14159 to 2 decimals", False),
    ("How do I reset it?", "How can it be reset?", False),
    ("book a table for four at 8", "book a table for eight at 4", VETO),
    ("I put in $10 and he puts in $30, who gets what?", "I put in $30 and he puts in $10, who gets what?", VETO),
    ("Is 5 or 10 better?", "Is 10 or 5 better?", NOTHING),
    ("Which are both languages of Cyprus?", "Which are the two languages of Cyprus?", NOTHING),
    ("Who was the sixteenth president?", "Who was the 16th president?", NOTHING),
    ("Who was the sixteenth president?", "Who was the seventeenth president?", VETO),
    ("Can I withdraw from my 401k?", "Can I take money out of my 401(k)?", False),
    ("What is a 401k?", "What is 401,000?", True),
    ("Buy a pair of trees", "Buy two trees", False),
    ("Buy a pair of trees", "Buy three trees", True),
    ("Wait one and three quarter hours", "Wait 1.75 hours", False),
    ("Wait one and three quarter hours", "Wait 1.5 hours", True),
    ("Find the two-hundredth digit of pi", "Find the 200th digit of pi", False),
    ("Find the two-hundredth digit of pi", "Find the 300th digit of pi", True),
    ("Is the x64 build signed?", "Is the 64-bit build signed?", False),
    ("Is the x64 build signed?", "Is the x86 build signed?", True),
    ("Explain tides like I'm five", "Explain tides to a child", False),
    ("eli5 why tides rise", "Explain to a 10 year old why tides rise", False),
    ("Explain tides as if I were 5", "Explain tides to ten-year-olds", False),
    ("I feel like I'm five again, why?", "I feel like I'm six again, why?", True),
    ("I look like I'm 5 feet tall", "I look tall", True),
    ("Explain my 10 year old mortgage", "Explain my mortgage", True),
    ("A puzzle for a 5 year old", "A puzzle for a 9 year old", True),
    ("Explain how to give iron to a 3 year old", "Explain how to give iron to a child", True),
    ("Explain naps to a 3 year old", "Explain naps to a 9 year old", True),
    ("Explain tides to a 70 year old", "Explain tides", True),
    ("How do you multiply two matrices?", "How do you multiply matrices?", False),
    ("How do you multiply two matrices?", "How do you multiply three matrices?", True),
    ("What is the union of two sets?", "What is the union of sets?", False),
    ("What is the union of two sets?", "What is the union of four sets?", True),
    ("How long between two injections?", "How long between injections?", False),
    ("How long between two injections?", "How long between five injections?", True),
    ("How long between two weeks and a month?", "How long between weeks and a month?", True),
    ("Should I add two eggs?", "Should I add eggs?", True),
    ("How do I add two tables to a page?", "How do I add tables to a page?", True),
    ("Convert one currency to another", "How do you convert between two currencies?", False),
    ("Convert one currency into three others", "Convert between two currencies", True),
    ("Is a second-hand fridge safe?", "Is a used fridge safe?", False),
    ("Is a second-hand fridge safe?", "Is a third-hand fridge safe?", True),
    ("Why has the second hand stopped?", "Why has the hand stopped?", True),
    ("Is 18k gold soft?", "Is 18 carat gold soft?", False),
    ("Is 18k gold soft?", "Is 14 karat gold soft?", True),
    ("Is $18k of gold a lot?", "Is $18 of gold a lot?", True),
    ("A slogan of under six words", "A slogan, max 5 words", False),
    ("A slogan of under six words", "A slogan, max 7 words", True),
    ("I got the wrong one three times", "I got it wrong 3 times", False),
    ("Pay the dearest one first", "Pay the dearest first", False),
    ("I got the wrong one three times", "I got the wrong one four times", True),
    ("Set a two second delay", "Set a 4 second delay", True),
    ("Who is the twenty first one?", "Who is the 21st one?", False),
]


@pytest.mark.parametrize(("query", "cached", "expected"), ROWS)
def test_numbers(query: str, cached: str, expected: bool) -> None:
    assert verdict("numbers", query, cached) == (VETO if expected else NOTHING)


@pytest.mark.parametrize(("months", "expected"), [("a month", DOUBT), ("two months", VETO)])
def test_a_month_may_have_been_meant_by_thirty_days(months: str, expected: str) -> None:
    query = f"Can I return it within {months} of the purchase at the store?"
    assert verdict("numbers", query, "Until when may goods be brought back, 30 days after buying?") == expected


@given(st.integers(0, 10**9), st.integers(0, 10**9))
@example(999_999_999, 1_000_000_000)
@example(1_480_007, 1_480_007)
def test_other_integers_always_conflict(one: int, two: int) -> None:
    found = GUARDS["numbers"].conflict(f"Refund {one:,} points", f"Refund {two} points")
    assert (found is not None) is (one != two)


def test_the_finding_names_both_readings() -> None:
    found = GUARDS["numbers"].conflict("Ship 5 kg", "Ship 7 kg")
    assert found is not None
    assert found.guard == "numbers"
    assert "5 mass / 7 mass" in found.detail


@pytest.mark.parametrize(
    ("one", "two", "shown"),
    [
        ("Pay 1000000000", "Pay 1000000001", "1000000000 / 1000000001"),
        ("Pay 1234567.25", "Pay 1234567.5", "1234567.25 / 1234567.5"),
        ("Pay 1000000", "Pay 2000000", "1000000 / 2000000"),
    ],
)
def test_numbers_that_differ_are_shown_to_differ(one: str, two: str, shown: str) -> None:
    found = GUARDS["numbers"].conflict(one, two)
    assert found is not None
    assert found.detail == shown


@pytest.mark.parametrize("text", ["Is 6,043/3 above 2000?", "Is 20,000/10 right?", "Compare 1.2.3/4", "What is 1,5/2"])
def test_a_fraction_may_have_any_spelling_above_its_line(text: str) -> None:
    assert GUARDS["numbers"].conflict(text, text + "!") is None
    assert GUARDS["numbers"].conflict(text, "What is a ratio?") is not None


@pytest.mark.parametrize(("one", "two", "differ"), SIGNS)
def test_signs_of_fractions(one: str, two: str, differ: bool) -> None:
    for query, cached in ((one, two), (two, one)):
        assert any(conflict.veto for conflict in conflicts(query, cached, ["numbers"])) is differ


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        (f"What is 1e{'9' * 5000}?", f"What is 1e{'8' * 5000}?", True),
        (f"What is 1e{'9' * 5000}?", "What is 1e5?", False),
        (f"What is 1e-{'9' * 5000}?", "What is 1e-5?", False),
        (f"What is 1 x 10^{'0' * 5000}3?", "What is 1,000?", True),
        (f"What is a {'hundred ' * 2500}?", "What is a hundred?", False),
    ],
    ids=["huge", "hugeAgainstPlain", "tiny", "zeros", "hundreds"],
)
def test_numbers_with_more_digits_than_an_integer_may_have_are_read(one: str, two: str, same: bool) -> None:
    assert (GUARDS["numbers"].conflict(one, two) is None) is same


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        ("How likely is a sum of 9 or more with two dice?", "How likely is a sum over 9 with two dice?", VETO),
        ("How likely is a sum of 9 or higher?", "How likely is a sum of more than 9?", VETO),
        ("How likely is a sum of 9 or higher?", "How likely is a sum of at least 9?", NOTHING),
        ("How likely is a sum of 9 or lower?", "How likely is a sum of at most 9?", NOTHING),
        ("A blade of 17 cm maximum", "A blade of 17 cm minimum", VETO),
        ("A budget of 60 euros max", "A budget of at most 60 euros", NOTHING),
    ],
)
def test_a_bound_that_leaves_out_its_number_and_one_that_allows_it_are_two(one: str, two: str, expected: str) -> None:
    assert verdict("numbers", one, two) == expected
