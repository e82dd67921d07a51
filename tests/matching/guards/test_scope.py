"""A qualifier narrows a question: another value has another answer, and a missing one may have."""

from __future__ import annotations

import pytest

from semcache.matching.guards.qualifiers import PHRASES, SINGLE
from tests.matching.guards.verdicts import DOUBT, NOTHING, VETO, verdict

ROWS = [
    ("How do I close a personal account?", "How do I close a business account?", VETO),
    ("How do I close a business account?", "How do I close my company account?", NOTHING),
    ("How do I close a business account?", "How do I close an account?", VETO),
    ("What do I need to open a business account?", "Which papers are asked for when opening an account?", DOUBT),
    ("What is the monthly price?", "What is the annual price?", VETO),
    ("What is the annual price?", "What is the yearly price?", NOTHING),
    ("What does it cost per month?", "What is the monthly cost?", NOTHING),
    ("Is domestic shipping free?", "Is international shipping free?", VETO),
    ("Is overseas shipping free?", "Is international shipping free?", NOTHING),
    ("Can I keep my number on a prepaid plan?", "Can I keep my number on a postpaid plan?", VETO),
    ("Can I keep my number on pay as you go?", "Can I keep my number on pay monthly?", VETO),
    ("Can I keep my number on pay-as-you-go?", "Can I keep my number on a prepaid plan?", NOTHING),
    ("How much is a child ticket?", "How much is an adult ticket?", VETO),
    ("How much is a kid's ticket?", "How much is a child's ticket?", NOTHING),
    ("Where do I get the beta version?", "Where do I get the stable version?", VETO),
    ("What is in the basic plan?", "What is in the premium plan?", VETO),
    ("Is there a discount for students?", "Is there a discount for seniors?", VETO),
    ("Is there a discount for students?", "Is there a student discount?", NOTHING),
    ("Is there a discount for students?", "Is there a discount?", VETO),
    ("How do I clear the cache on Android?", "How do I clear the cache on an iPhone?", VETO),
    ("How do I clear the cache on iOS?", "How do I clear the cache on an iPhone?", NOTHING),
    ("Can I return it in store?", "Can I return it by post?", VETO),
    ("Can I buy a used car?", "Can I buy a second-hand car?", NOTHING),
    ("Can I buy a refurbished phone?", "Can I buy a second-hand phone?", VETO),
    ("How do I open a joint account?", "How do I open a savings account?", VETO),
    ("Is there off-peak pricing?", "Is there peak pricing?", VETO),
    ("Is there next-day delivery?", "Is there same-day delivery?", VETO),
    ("Is parking free at weekends?", "Is parking free on weekdays?", VETO),
    ("Is it available part-time?", "Is it available full time?", VETO),
    ("What are the rights of a landlord?", "What are the rights of a tenant?", VETO),
    ("What are the rights of landlords and tenants?", "What are the rights of a tenant?", VETO),
    ("How do I reset my password?", "How can I reset my password?", NOTHING),
    ("Can I pay by credit card?", "Can I pay by debit card?", VETO),
    ("", "premium", VETO),
    ("Is aspirin safe during pregnancy?", "Is aspirin safe when pregnant?", NOTHING),
    ("Is the job remote?", "Is the job on-site?", VETO),
    ("Can I work remotely?", "Can I work from home?", NOTHING),
    ("How do I insure a new car?", "How do I insure a second-hand car?", VETO),
    ("Which mouse suits lefties?", "Which mouse suits right-handed people?", VETO),
    ("What is a primary key?", "What is a foreign key?", VETO),
    ("Do hourly workers get overtime?", "Do salaried workers get overtime?", VETO),
]


@pytest.mark.parametrize(("query", "cached", "expected"), ROWS)
def test_scope(query: str, cached: str, expected: str) -> None:
    assert verdict("scope", query, cached) == expected


def test_no_spelling_has_two_values_on_one_axis() -> None:
    for spelling, places in (SINGLE | PHRASES).items():
        axes = [axis for axis, _ in places]
        assert len(axes) == len(set(axes)), spelling
