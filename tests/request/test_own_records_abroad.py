"""Whoever asks for records of their own in another language is answered from these, not from another person's."""

from __future__ import annotations

import pytest

from semcache.request.kinds import kinds, own_records_abroad
from semcache.request.kinds.patterns import words_of
from semcache.request.secrets import fold

OF_THE_SENDER = [
    "Was ist meine Kundennummer?",
    "Ich möchte meinen Kontostand wissen.",
    "Wissen Sie, wo mein Paket ist?",
    "Wurde mein Urlaub genehmigt?",
    "Wie viele Urlaubstage habe ich noch?",
    "Sag mir bitte meinen Kontostand.",
    "Quel est mon numéro de client ?",
    "Je voudrais connaître le solde de mon compte.",
    "Ma demande de congé a-t-elle été acceptée ?",
    "¿Cuál es mi saldo?",
    "¿Ha llegado mi paquete?",
    "¿Cuántos días de vacaciones me quedan?",
    "Vorrei sapere il mio saldo.",
    "Il mio ordine è stato spedito?",
    "Qual é o meu saldo?",
    "Minha encomenda já foi enviada?",
    "Wat is mijn klantnummer?",
    "Is mijn aanvraag goedgekeurd?",
    "Jaki jest mój stan konta?",
]


@pytest.mark.parametrize("text", OF_THE_SENDER)
def test_a_record_of_the_senders_own_is_personal(text: str) -> None:
    assert kinds(text).personal


@pytest.mark.parametrize(
    "text",
    [
        "Wie kann ich meinen Kontostand erfahren?",
        "Wo finde ich meine Kundennummer?",
        "Warum ist meine Karte gesperrt?",
        "Was ist eine Kundennummer?",
        "Ist meine Katze zu dick?",
        "Comment connaître le solde de mon compte ?",
        "Mon propriétaire peut-il augmenter le loyer ?",
        "¿Cómo puedo saber mi saldo?",
        "¿Qué hago si mi paquete se pierde?",
        "Come posso sapere il mio saldo?",
        "Como faço para alterar meu plano?",
        "Waar vind ik mijn klantnummer?",
        "Ist mein Ticket übertragbar?",
        "Ist mein Vertrag ohne Unterschrift gültig?",
        "Il mio conto è pignorabile?",
        "Is mijn contract geldig zonder handtekening?",
        "Wie ist das Wetter in Rom im Mai?",
        "Wie wird das Wetter vorhergesagt?",
        "Quel temps fait-il à Paris en mai ?",
    ],
)
def test_a_way_a_reason_and_a_climate_are_everybodys(text: str) -> None:
    found = kinds(text)
    assert not found.personal
    assert not found.live


@pytest.mark.parametrize(
    "text",
    ["Was kostet Bitcoin gerade?", "Est-ce qu'il pleut à Lyon ?", "¿Está lloviendo en Sevilla?", "Regent het in Gent?"],
)
def test_what_changes_by_the_hour_is_live(text: str) -> None:
    assert kinds(text).live


@pytest.mark.parametrize("text", OF_THE_SENDER)
def test_a_pattern_is_tried_wherever_it_would_match(text: str) -> None:
    folded = fold(text)
    rules = own_records_abroad._RECORDS
    assert any(pattern.search(folded) for _, pattern in rules._rules)
    assert rules.match(folded, words_of(folded))
