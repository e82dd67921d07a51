"""A phrase at the head of a question is moved to its end only where it could be of nobody and nothing else there."""

from __future__ import annotations

import pytest

from semcache.request.wording import canonical

APART = [
    ("With a fever, can I bathe my baby?", "Can I bathe my baby with a fever?"),
    ("How do I, with a broken leg, carry a hiker?", "How do I carry a hiker with a broken leg?"),
    ("How do I, as an admin, add a user to a workspace?", "How do I add a user to a workspace as an admin?"),
    ("Using a knife, how do I stop a man?", "How do I stop a man using a knife?"),
    ("During labor, how do I calm my dog?", "How do I calm my dog during labor?"),
    ("Without a ticket, can I bring my sister?", "Can I bring my sister without a ticket?"),
    ("About climate, how do I read a book?", "How do I read a book about climate?"),
    ("From Spain, can I order wine?", "Can I order wine from Spain?"),
    ("With a warranty, how do I buy a car?", "How do I buy a car with a warranty?"),
    ("From India, how do I hire a nurse?", "How do I hire a nurse from India?"),
    ("When drunk, how do I help a friend?", "How do I help a friend when drunk?"),
    ("As a guest, how do I invite someone to a channel?", "How do I invite someone to a channel as a guest?"),
]
SAME = [
    ("Without an oven, how do I make lasagne?", "How do I make lasagne without an oven?"),
    ("With a sprained wrist, can I still type?", "Can I still type with a sprained wrist?"),
    ("As a freelancer, how do I pay tax?", "How do I pay tax as a freelancer?"),
    ("As a beginner, what should I learn first?", "What should I learn first as a beginner?"),
    ("Without a visa, can I travel to Spain?", "Can I travel to Spain without a visa?"),
    ("If my baby has a fever, can I bathe him?", "Can I bathe him if my baby has a fever?"),
    ("After surgery, when can I drive?", "When can I drive after surgery?"),
    ("Using pandas, how do I read a file?", "How do I read a file using pandas?"),
    ("In Slack, how do I mute a channel?", "How do I mute a channel in Slack?"),
    ("During labor, should a woman eat?", "Should a woman eat during labor?"),
    ("By law, must a landlord provide heating?", "Must a landlord provide heating by law?"),
    ("With two kids, how do I budget?", "How do I budget with two kids?"),
]


@pytest.mark.parametrize(("one", "two"), APART)
def test_what_is_said_of_the_asker_is_not_read_of_another(one: str, two: str) -> None:
    assert canonical(one).text != canonical(two).text


@pytest.mark.parametrize(("one", "two"), SAME)
def test_a_phrase_of_the_whole_question_may_stand_anywhere(one: str, two: str) -> None:
    assert canonical(one).text == canonical(two).text
