"""All is not some, at least is not at most, the cheapest is not the fastest."""

from __future__ import annotations

import pytest

from tests.matching.guards.verdicts import DOUBT, NOTHING, VETO, verdict

ROWS = [
    ("Suggest a name for a ferret", "Suggest some names for a ferret", VETO),
    ("Suggest a few names for a ferret", "Suggest some names for a ferret", NOTHING),
    ("Why do all owls not migrate?", "Why do not all owls migrate?", VETO),
    ("Why don't all owls migrate?", "Why do not all owls migrate?", NOTHING),
    ("Can I combine several vouchers?", "Can I combine a single voucher?", VETO),
    ("Does one licence cover one laptop?", "Does one licence cover multiple laptops?", VETO),
    ("How can one learn to juggle?", "How can someone learn to juggle?", NOTHING),
    ("Can I keep the phone even if I cancel?", "Can I keep the phone only if I cancel?", VETO),
    ("Give me a title for each of the five chapters", "Give me one title for all five chapters", VETO),
    ("Write one caption for both photos", "Write a caption for each photo", VETO),
    ("How much do the tickets cost in total?", "How much do the tickets cost each?", VETO),
    ("How much do they weigh altogether?", "How much do they weigh individually?", VETO),
    ("What is the fee per person?", "What is the fee for each person?", NOTHING),
    ("Use one style for all headings", "Use the same style for each heading", NOTHING),
    ("Use a single password for all of my accounts", "Use one password for every account", NOTHING),
    ("List the parts of each one, all together", "List the parts of each one", NOTHING),
    ("Is the ferry always full?", "Is the ferry full?", NOTHING),
    ("Is the ferry always full?", "Is the ferry sometimes full?", VETO),
    ("Move the review to June 2nd", "Move the review to June 2nd or later", VETO),
    ("Move the review to June 2nd or earlier", "Move the review to June 2nd or later", VETO),
    # Each bounds another thing.
    (
        "Git: a video over 100 MB two commits ago blocks the push, how do I drop it and keep later work?",
        "Strip an old movie from my unpushed repository history (GitHub limit: at most 100 MB) without losing changes",
        DOUBT,
    ),
    ("Which planet is nearest to Mars?", "Which planet is closest to Mars?", NOTHING),
    ("A soup in < 20 min", "A soup in under 20 minutes", DOUBT),
    ("A soup in 20 min or more", "A soup in 20 min or less", VETO),
    ("Is a proton larger than a neutron?", "Is a neutron smaller than a proton?", NOTHING),
    ("Can I park over an hour?", "Can I park under an hour?", VETO),
    ("It prints the same line over and over", "It prints one line below 10 lines", DOUBT),
    ("What is the tallest building in Chicago?", "Which building in Chicago is the highest?", NOTHING),
    ("What is the tallest mountain in Africa?", "What is the highest mountain in Africa?", NOTHING),
    ("What is the tallest mountain of Hawaii?", "What is the highest mountain of Hawaii?", VETO),
    ("What is the tallest tower in Dubai?", "What is the lowest tower in Dubai?", VETO),
    ("Can I return all items?", "Can I return some items?", VETO),
    ("Can I return all items?", "Can I return every item?", NOTHING),
    ("Can I return all of my items?", "Can I return my items?", NOTHING),
    ("Do most shops open on Sunday?", "Do all shops open on Sunday?", VETO),
    ("Are there any fees?", "Are there some fees?", NOTHING),
    ("Are many seats free?", "Are few seats free?", VETO),
    ("Can I take at least 2 bags?", "Can I take at most 2 bags?", VETO),
    ("Can I take at most 2 bags?", "Can I take up to 2 bags?", NOTHING),
    ("Is it a minimum of 3 nights?", "Must I stay at least 3 nights?", NOTHING),
    ("Is delivery free for orders over £50?", "Is delivery free for orders under £50?", VETO),
    ("Is delivery free for orders over £50?", "Is delivery free for orders of more than £50?", NOTHING),
    ("Is delivery free for orders over £50?", "Is delivery free for orders of £50?", DOUBT),
    ("Can drivers aged 25 or over hire a van?", "Can drivers aged 25 or under hire a van?", VETO),
    ("No more than 3 devices?", "No less than 3 devices?", VETO),
    ("Is the offer only for new customers?", "Is the offer for new customers?", VETO),
    ("Is the offer only for new customers?", "Do long-standing subscribers also get the offer?", DOUBT),
    ("What is your cheapest laptop?", "What is your fastest laptop?", VETO),
    ("What is your cheapest laptop?", "What is your most expensive laptop?", VETO),
    ("What is your cheapest laptop?", "What is your least expensive laptop?", NOTHING),
    ("Which is the largest lake?", "Which is the biggest lake?", NOTHING),
    ("What is the easiest way to learn chess?", "What is the best method of studying chess?", DOUBT),
    ("Is it always free?", "Is it sometimes free?", VETO),
    ("Is it usually free?", "Is it normally free?", NOTHING),
    ("How do I reset my password?", "How can I reset my password?", NOTHING),
    ("Is the shop above the bank?", "Is the shop below the bank?", NOTHING),
    ("all", "some", NOTHING),
    ("Is maths harder, or is that just a stereotype?", "Is maths harder, or is that only a stereotype?", NOTHING),
    ("Can I return shoes within 30 days?", "Can I return shoes after 30 days?", VETO),
    ("Can I return shoes after thirty days?", "Can I still return shoes 30 days later?", NOTHING),
    ("Can I return shoes after more than 30 days?", "Can I return shoes after 30 days?", DOUBT),
    ("Which phones have often overheated?", "Which phones have never overheated?", VETO),
    ("Can I drive with only one eye?", "Can I drive with one eye?", NOTHING),
    ("Can I cook with only 2 pans?", "Can I cook with 2 pans?", NOTHING),
    ("Can I drive only one car?", "Can I drive one car?", VETO),
    ("Can I cook with only butter?", "Can I cook with butter?", VETO),
    ("Explain each part of it", "Explain it part by part", NOTHING),
    ("Explain each part of it", "Explain some part of it", VETO),
    ("Paint all of the wall", "Paint part of the wall", VETO),
]


@pytest.mark.parametrize(("query", "cached", "expected"), ROWS)
def test_quantifiers(query: str, cached: str, expected: str) -> None:
    assert verdict("quantifiers", query, cached) == expected
