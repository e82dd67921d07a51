"""Of two things beside each other the first may be the left one, the first key or the first step."""

from __future__ import annotations

import pytest

from semcache.request.wording import canonical

APART = [
    ("What is the Cartesian product of A and B?", "What is the Cartesian product of B and A?"),
    ("What is the tensor product of V and W?", "What is the tensor product of W and V?"),
    ("What is the bearing between London and Paris?", "What is the bearing between Paris and London?"),
    ("What is the cross entropy between p and q?", "What is the cross entropy between q and p?"),
    ("What is the exchange between dollars and euros?", "What is the exchange between euros and dollars?"),
    ("How do I see the diff between main and dev in git?", "How do I see the diff between dev and main in git?"),
    ("Find the difference between list1 and list2 in Python", "Find the difference between list2 and list1 in Python"),
    (
        "How do I get the difference between df1 and df2 in pandas?",
        "How do I get the difference between df2 and df1 in pandas?",
    ),
    ("How do I merge dict1 and dict2 in Python?", "How do I merge dict2 and dict1 in Python?"),
    ("How do I merge main and develop in git?", "How do I merge develop and main in git?"),
    ("How do I multiply X and Y in numpy?", "How do I multiply Y and X in numpy?"),
    ("How do I sort rows by city and name in pandas?", "How do I sort rows by name and city in pandas?"),
    ("How do I sort files by date and size?", "How do I sort files by size and date?"),
    (
        "How do I create an index on name and city in Postgres?",
        "How do I create an index on city and name in Postgres?",
    ),
    ("How do I create a composite index on email and date?", "How do I create a composite index on date and email?"),
    ("How do I group sales by month and region in pandas?", "How do I group sales by region and month in pandas?"),
    ("How do I zip names and ages in Python?", "How do I zip ages and names in Python?"),
    ("How do I partition a table by month and country?", "How do I partition a table by country and month?"),
    ("How do I plot height and weight in matplotlib?", "How do I plot weight and height in matplotlib?"),
    ("Should I apply toner, serum and moisturizer?", "Should I apply moisturizer, serum and toner?"),
    ("How do I layer retinol and moisturizer?", "How do I layer moisturizer and retinol?"),
    ("What is the transfer between checking and savings?", "What is the transfer between savings and checking?"),
]
SAME = [
    ("What is the difference between python2 and python3?", "What is the difference between python3 and python2?"),
    ("Explain the difference between a list and a tuple", "Explain the difference between a tuple and a list"),
    ("What sort of food do cats and dogs eat?", "What sort of food do dogs and cats eat?"),
    ("What is the product of x and y?", "What is the product of y and x?"),
    ("How do I mix vinegar and baking soda?", "How do I mix baking soda and vinegar?"),
    ("Can I combine ibuprofen and alcohol?", "Can I combine alcohol and ibuprofen?"),
    ("What is the distance between London and Paris?", "What is the distance between Paris and London?"),
    ("What is the intersection of A and B?", "What is the intersection of B and A?"),
]


@pytest.mark.parametrize(("one", "two"), APART)
def test_what_is_sorted_multiplied_or_merged_in_another_order_is_another_question(one: str, two: str) -> None:
    assert canonical(one).text != canonical(two).text


@pytest.mark.parametrize(("one", "two"), SAME)
def test_what_is_asked_of_two_things_alike_is_one_question_in_any_order(one: str, two: str) -> None:
    assert canonical(one).text == canonical(two).text
