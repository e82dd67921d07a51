"""Who wants a list in one order is not served it in another."""

from __future__ import annotations

import pytest

from semcache.matching.guards import GUARDS, conflicts, listing, unless_vetoed

OTHERS = [
    ("List the parcels, heaviest first.", "Which parcels are there? Put the lightest first."),
    ("Sort these towns from largest to smallest", "Order the towns below from the smallest to the largest"),
    ("files in /var by size, descending", "the files in /var by size, smallest on top"),
    ("Ideas for a gift, cheapest first please", "Gift ideas, please, from the dearest to the cheapest"),
    ("Our orders with the newest at the top", "Our orders, the oldest first"),
    ("A packing list sorted by category", "Write a packing list, arranged by weight"),
    ("Routes to Ghent, the fastest first", "Routes to Ghent from the slowest to the fastest"),
    ("Ten laptops with the lightest last", "Ten laptops with the lightest first"),
    ("Sort the rows by city and name", "Sort the rows by name and city"),
    ("Guests sorted by age, then by table", "Guests sorted by table, then age"),
    ("Rank the teams by wins and goals", "Rank the teams by goals and wins"),
    ("Order the list by age", "Order the list by size"),
]
SAME = [
    ("List the parcels, heaviest first.", "parcels in descending order of weight"),
    ("Our orders, the oldest first", "Our orders, the largest first"),
    ("Gift ideas, the least expensive first", "Gift ideas, cheapest first"),
    ("Sort by price", "ordered by cost"),
    ("Routes to Ghent, the fastest first", "Routes to Ghent, the one with the shortest time first"),
    ("What are the best first dates?", "What are the worst first dates?"),
    ("Sort the list by surname", "Sort the list of names by family"),
    ("Sort the rows by city and then by name", "How do I sort rows by city and name?"),
    ("Sort the rows by city", "Sort the rows by city and name"),
    ("This is by far the best order by mail", "order by mail"),
    ("Sort the list", "Sort the list with the largest first"),
]


@pytest.mark.parametrize(("one", "two"), OTHERS)
def test_another_order_is_found_whatever_the_words_around_it(one: str, two: str) -> None:
    for query, cached in ((one, two), (two, one)):
        found = listing.compare(query, cached)
        assert found is not None
        assert found.veto
        assert not found.arguable
        assert unless_vetoed(query, cached, GUARDS) is None


@pytest.mark.parametrize(("one", "two"), SAME)
def test_one_order_in_other_words_and_two_axes_are_no_finding(one: str, two: str) -> None:
    assert listing.compare(one, two) is None
    assert listing.compare(two, one) is None


def test_one_quantity_that_differs_is_told_apart_in_other_words_too() -> None:
    one = "My laptop is slow. Which command ends each process named chrome that takes over 1 GB of memory?"
    two = "On Windows, kill all of the processes called chrome as soon as they occupy more than 1 MB, in a single line."
    assert any(found.veto and not found.arguable for found in conflicts(one, two, GUARDS))
    other = two.replace("1 MB", "1 GB")
    assert not any(found.veto and not found.arguable for found in conflicts(one, other, GUARDS))
