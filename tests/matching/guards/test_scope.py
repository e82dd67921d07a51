"""A qualifier narrows a question: another value has another answer, and a missing one may have."""

from __future__ import annotations

import pytest

from semcache.matching.guards.qualifiers import EITHER, PHRASES, SINGLE
from tests.matching.guards.verdicts import DOUBT, NOTHING, VETO, verdict

ROWS = [
    ("How do I close a personal account?", "How do I close a business account?", VETO),
    ("How do I close a business account?", "How do I close my company account?", NOTHING),
    ("How do I close a business account?", "How do I close an account?", VETO),
    ("What do I need to open a business account?", "Which papers are asked for when opening an account?", DOUBT),
    ("What is the monthly price?", "What is the annual price?", VETO),
    ("What is the annual price?", "What is the yearly price?", NOTHING),
    ("My iPhone screen is dark but it rings", "My iPhone's screen is dark but it rings", NOTHING),
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
    ("Must the owner mend the roof?", "Has the landlord to mend a roof?", NOTHING),
    ("Must the owner mend the roof?", "Has the tenant to mend a roof?", VETO),
    ("Is a landlord to mend the roof?", "Is a homeowner to mend the roof?", VETO),
    ("Must my landlord mend the roof?", "What can a tenant do about a leaking roof?", NOTHING),
    ("What if my landlord is late?", "What if my tenant is late?", VETO),
    ("Can my employer read my mail?", "May the mail of employees be read?", NOTHING),
    ("My toddler ate soap", "Is soap bad for a small child?", NOTHING),
    ("My toddler ate soap", "My baby ate soap", VETO),
    ("How do I name our child?", "How is a baby named?", NOTHING),
    ("Is iron best taken in the evening?", "Is iron best taken at night?", NOTHING),
    ("Is parking free at night?", "Is parking free in the daytime?", VETO),
    ("Is parking free in the evening?", "Is parking free overnight?", VETO),
    ("Must a freelancer register?", "Must a contractor register?", NOTHING),
    ("Must a freelancer register?", "Must an employee register?", VETO),
    ("Can I see letters online, not on paper?", "How do I get digital letters?", NOTHING),
    ("Digital invoice, no paper copy?", "Is an electronic invoice enough?", NOTHING),
    ("There is no landline here", "There is no broadband here", VETO),
    ("The owner wants more rent", "I'm a landlord and want more rent", VETO),
    ("The landlord keeps my deposit", "My tenant wants the deposit", VETO),
    ("Is there a card without a monthly fee?", "Is there a card without an annual fee?", VETO),
    ("Is there a double charge on my card?", "Why was a single order charged twice?", NOTHING),
    ("What is a single room?", "What is a double room?", VETO),
    ("Can I get a single ticket?", "Can I get a family ticket?", VETO),
    ("What is the new card used for?", "What is the card used for?", NOTHING),
    ("Who sells used pianos?", "Who sells new pianos?", VETO),
    ("What are the rules for business trips?", "What are the rules for trips in a personal car?", NOTHING),
    ("Do hourly workers get overtime?", "Do salaried workers get overtime?", VETO),
    ("How long should I breastfeed a baby?", "How long should I breastfeed?", NOTHING),
    ("Can we homeschool our child?", "Can we homeschool?", NOTHING),
    ("Can I breastfeed a toddler?", "Can I breastfeed a newborn?", VETO),
    ("Can I bathe a baby?", "Can I bathe?", VETO),
    ("Can I homeschool a teenager?", "Can I homeschool?", VETO),
    ("Who clears the gutter, the landlord or the tenant?", "Who clears the gutter?", NOTHING),
    ("Is every positive integer a sum of four squares?", "Is every positive number a sum of four squares?", VETO),
    ("How do I test in C if text is a number?", "How do I test in C if text is an integer?", VETO),
    ("How do I test if a number is an integer?", "How do I see if a number is an integer?", NOTHING),
    ("What is the largest integer below 7.5?", "What is the largest whole number below 7.5?", NOTHING),
    ("Who may sue a landlord or a tenant?", "Who may sue?", VETO),
    ("Who clears the gutter for the tenant?", "Who clears the gutter?", VETO),
    ("Must the landlord or the tenant clear the gutter?", "Must we clear the gutter?", VETO),
    ("Who clears the gutter, the landlord or the council?", "Who clears the gutter?", DOUBT),
]


@pytest.mark.parametrize(("query", "cached", "expected"), ROWS)
def test_scope(query: str, cached: str, expected: str) -> None:
    assert verdict("scope", query, cached) == expected


def test_no_other_spelling_has_two_values_on_one_axis() -> None:
    for spelling, places in (SINGLE | PHRASES).items():
        axes = [axis for axis, _ in places]
        assert (len(axes) == len(set(axes))) == (spelling not in EITHER), spelling
