"""Ages, verses, ratios, steps and names that look like decades, times of day, ranges and words keep their wordings."""

from __future__ import annotations

import pytest

from semcache.matching.guards import GUARDS, conflicts
from semcache.request.wording import canonical

APART = [
    # Degrees and ages are no decades.
    ("What should I wear in the 60s?", "What should I wear in the 1960s?"),
    ("How do I dress a baby in the 50s?", "How do I dress a baby in the 1950s?"),
    ("What is a normal diastolic in the 70s?", "What is a normal diastolic in the 1970s?"),
    ("Is running safe in the 80s?", "Is running safe in the 1980s?"),
    ("What do I plant when nights are in the 40s?", "What do I plant when nights are in the 1940s?"),
    # Verses, ratios and places in a recording are no times of day.
    ("What does John 13:34 say?", "What does John 1:34 pm say?"),
    ("Is 20:15 a good ratio?", "Is 8:15 pm a good ratio?"),
    ("What happens at 13:34 in the video?", "What happens at 1:34 pm in the video?"),
    ("Explain Luke 15:20", "Explain Luke 3:20 pm"),
    ("What is meant by psalm 22:16?", "What is meant by psalm 10:16 pm?"),
    # From one number to the other is no range.
    ("How do I scale up 1 to 3 replicas?", "How do I scale up 1-3 replicas?"),
    ("How do I upgrade 2 to 4 cores?", "How do I upgrade 2-4 cores?"),
    ("Is it wise to increase 5 to 10 percent?", "Is it wise to increase 5-10 percent?"),
    ("How do I mix in a ratio of 2 to 3 parts?", "How do I mix in a ratio of 2-3 parts?"),
    ("What are 3 to 5 odds in betting?", "What are 3-5 odds in betting?"),
    ("How do I resize 2 to 4 columns?", "How do I resize 2-4 columns?"),
    # Initialisms of several readings.
    ("What are the best SF novels?", "What are the best San Francisco novels?"),
    ("What is AR in accounting?", "What is augmented reality in accounting?"),
    ("What is CV in machine learning?", "What is curriculum vitae in machine learning?"),
    ("What does BP own?", "What does blood pressure own?"),
    ("Where can I see the doc?", "Where can I see the doctor?"),
    ("How do I update my doc?", "How do I update my doctor?"),
    ("Is DB reliable?", "Is database reliable?"),
    ("What is DBS?", "What is databases?"),
    # A level is no height, and a megamolar no millimeter.
    ("How high is inflation?", "What is the height of inflation?"),
    ("How high is the risk of rain?", "What is the height of the risk of rain?"),
    ("Is 5 MM a lot?", "Is 5 mm a lot?"),
]
NAMES = [
    ("How much Selenium do I need?", "How much selenium do I need?"),
    ("What is in the Galaxy?", "What is in the galaxy?"),
    ("How do I clean my Surface?", "How do I clean my surface?"),
    ("How do I install Wine?", "How do I install wine?"),
    ("Where can I buy a Switch?", "Where can I buy a switch?"),
    ("How do I use Bamboo?", "How do I use bamboo?"),
    ("How do I fix Airflow?", "How do I fix airflow?"),
    ("How do I polish Chrome?", "How do I polish chrome?"),
]
SAME = [
    ("What music was popular in the 80s?", "What music was popular in the 1980s?"),
    ("What did people wear in the 60s?", "What did people wear in the 1960s?"),
    ("How do I dress like the '70s?", "How do I dress like the 1970s?"),
    ("Best films of the 90s", "Best films of the 1990s"),
    ("How do I set an alarm at 17:30?", "How do I set an alarm at 5:30 pm?"),
    ("What time is 13:00?", "What time is 1 pm?"),
    ("Is the shop open until 20:00?", "Is the shop open until 8 pm?"),
    ("How do I sleep 7 to 9 hours?", "How do I sleep 7-9 hours?"),
    ("Is 3 to 5 days enough for Rome?", "Is 3-5 days enough for Rome?"),
    ("How do I call my doc?", "How do I call my doctor?"),
    ("How high is Everest?", "What is the height of Everest?"),
    ("Is 5 mm a lot?", "Is 5 millimeters a lot?"),
    ("how much selenium do i need", "How much selenium do I need?"),
]


@pytest.mark.parametrize(("one", "two"), APART)
def test_another_reading_is_another_wording(one: str, two: str) -> None:
    assert canonical(one).text != canonical(two).text


@pytest.mark.parametrize(("one", "two"), NAMES)
def test_name_of_a_product_is_no_common_word(one: str, two: str) -> None:
    assert canonical(one).text != canonical(two).text
    assert conflicts(one, two, GUARDS)


@pytest.mark.parametrize(("one", "two"), SAME)
def test_plain_reading_is_one_wording(one: str, two: str) -> None:
    assert canonical(one).text == canonical(two).text
