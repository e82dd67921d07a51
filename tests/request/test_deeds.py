"""A deed that is wished for, in the passive or named by a noun is asked for as the way to do it."""

from __future__ import annotations

import pytest

from semcache.request.wording import canonical

SAME = [
    ("I need to cancel a booking that was paid by voucher", "How do I cancel a booking that was paid by voucher?"),
    ("I'm trying to install a printer driver on Linux.", "How do I install a printer driver on Linux?"),
    ("I need to remove rust from a bike chain. How?", "How do I remove rust from a bike chain?"),
    ("I need to cancel a booking. How do I do that?", "How do I cancel a booking?"),
    ("I want to reset a phone, how can I do it", "How do I reset a phone?"),
    ("trying to rename a table in MySQL", "How do I rename a table in MySQL?"),
    ("We want to upload a logo", "How do I upload a logo?"),
    ("How can a standing order be cancelled?", "How can I cancel a standing order?"),
    ("Can archived chats be restored?", "Can I restore archived chats?"),
    ("Can bread dough be frozen after it has risen?", "Can I freeze bread dough after it has risen?"),
    ("activation of a gift card", "How do I activate a gift card?"),
    ("What is the procedure for the renewal of a permit?", "How do I renew a permit?"),
    ("What are the steps for the resetting of a meter?", "How do I reset a meter?"),
    ("How does the exchange of a ticket work?", "How do I exchange a ticket?"),
    ("Can cooked rice be frozen?", "Can I freeze cooked rice?"),
    ("Can shoes be returned after 30 days?", "Can I return shoes after 30 days?"),
    ("Can a column be renamed in MySQL?", "Can I rename a column in MySQL?"),
    ("Can soup be reheated in a microwave?", "Can I reheat soup in a microwave?"),
    ("How can a booking be changed?", "How do I change a booking?"),
    ("How can a file be recovered in Windows?", "How do I recover a file in Windows?"),
    ("Can photos be exported to a USB stick?", "Can I export photos to a USB stick?"),
]
APART = [
    ("I want to cancel my order", "How do I cancel my order?"),  # it may be an order to do it
    ("I want to change my flight to Tuesday", "How do I change my flight to Tuesday?"),
    ("I need to return it because it is broken", "How do I return it because it is broken?"),
    ("I want to buy a phone", "How do I buy a phone?"),
    ("I want to lose weight fast", "How do I lose weight fast?"),
    ("I want to hang a man", "How do I hang a man?"),
    ("Can I be tracked by an app?", "Can I track an app?"),
    ("Can a phone be tracked?", "Can I track a phone?"),
    ("Can charges be dropped?", "Can I drop charges?"),
    ("Can my account be closed?", "Can I close my account?"),
    ("Can a file be deleted by a guest?", "Can I delete a file by a guest?"),
    ("Can a person be moved?", "Can I move a person?"),
    ("How can a file not be deleted?", "How do I not delete a file?"),
    ("the creation of the world", "How do I create the world?"),
    ("return of the Jedi", "How do I return the Jedi?"),
    ("the cancellation of a booking is free", "How do I cancel a booking is free"),
    ("cancellation of an order by the seller", "How do I cancel an order by the seller?"),
    ("How does the conversion of light to sugar work?", "How do I convert light to sugar?"),
    ("Can a flight be canceled due to wind?", "Can I cancel a flight due to wind?"),
    ("Can a bank account be frozen without warning?", "Can I freeze a bank account without warning?"),
    ("Can a lease be changed after signing?", "Can I change a lease after signing?"),
    ("Can a gym contract be extended automatically?", "Can I extend a gym contract automatically?"),
    ("Can an email account be deactivated?", "Can I deactivate an email account?"),
    ("Can a salary be reduced?", "Can I reduce a salary?"),
    ("Can apps be installed without permission?", "Can I install apps without permission?"),
    ("Can a document be edited remotely?", "Can I edit a document remotely?"),
    ("How can a pension be frozen?", "How do I freeze a pension?"),
    ("How can a card be frozen?", "How do I freeze a card?"),
    ("How can photos be downloaded without consent?", "How do I download photos without consent?"),
    ("Can an atom be split?", "Can I split an atom?"),
    ("Can a phone screen be repaired?", "Can I repair a phone screen?"),
    ("Can a court date be rescheduled?", "Can I reschedule a court date?"),
]


@pytest.mark.parametrize(("one", "two"), SAME)
def test_a_deed_is_asked_for_in_other_words(one: str, two: str) -> None:
    assert canonical(one).text == canonical(two).text


@pytest.mark.parametrize(("one", "two"), APART)
def test_what_is_no_question_of_how_to_stays_apart(one: str, two: str) -> None:
    assert canonical(one).text != canonical(two).text


@pytest.mark.parametrize("text", sorted({text for pair in SAME + APART for text in pair}))
def test_the_wording_of_a_wording_is_itself(text: str) -> None:
    wording = canonical(text).text
    assert canonical(wording).text == wording
