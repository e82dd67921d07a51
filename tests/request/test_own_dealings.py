"""What the sender did, is part of or waits for is personal, in whichever words; what happens to anybody is not."""

from __future__ import annotations

import pytest

from semcache.request.eligibility import is_personal


@pytest.mark.parametrize(
    "text",
    [
        "Why did my last backup fail?",
        "Which courier has my parcel?",
        "Who else is on my team?",
        "Are my servers in eu-west?",
        "is parking included in my booking",
        "did the insurer reimburse us yet",
        "has the cashback been credited to me",
        "what is in section 2 of the contract I uploaded",
        "how many points am I short of gold status",
        "is the alarm on at mine",
        "where is pallet 12 of ours",
        "what's the status of claim 77-2031",
        "The refund for the kettle still hasn't reached my card.",
        "Welches Paket habe ich gebucht?",
        "Combien de jours de repos j'ai pris cette année ?",
        "cuánto debo",
        "che abbonamento ho attivo",
        "quem é o meu consultor",
        "welk tarief heb ik",
        "kto jest moim doradcą",
    ],
)
def test_dealings_of_ones_own_are_personal(text: str) -> None:
    assert is_personal(text)


@pytest.mark.parametrize(
    "text",
    [
        "Why do backups fail?",
        "Which couriers deliver on Sundays?",
        "Is parking included in most hotel bookings?",
        "How do I delete the file I uploaded?",
        "My payment did not go through because the app reverted it",
        "Is a friend of mine liable for what I borrowed from him?",
        "What is the status code 404?",
        "How many points do you need for gold status?",
        "Welche Pakete gibt es?",
        "cuánto debo ahorrar para jubilarme",
        "Combien de jours de repos faut-il prendre ?",
    ],
)
def test_what_happens_to_anybody_is_not(text: str) -> None:
    assert not is_personal(text)
