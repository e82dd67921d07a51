"""Prompts about the moment or the sender's records in other languages than English, and how things stand in English.

Who asks for the weather or for an own order must not be served what another day or another sender was told.
"""

from __future__ import annotations

import pytest

from semcache.request.eligibility import is_live, is_personal
from semcache.request.kinds import by_language, own_records_abroad
from semcache.request.kinds.patterns import words_of
from semcache.request.secrets import fold

OF_THE_MOMENT = [
    "Wie wird das Wetter morgen?", "Wie spät ist es?", "Wer spielt heute?", "Quelle heure est-il ?",
    "Quel temps fera-t-il demain ?", "Quel est le cours du dollar ?", "¿Qué tiempo hace en Lima?", "¿Llueve hoy?",
    "¿Cuál es la cotización del peso?", "Che tempo fa a Bari?", "Il treno per Bari è in ritardo?", "Che ore sono?",
    "Qual é a cotação do dólar?", "Que horas são em Tóquio?", "Is er file op de A2?", "Hoe laat is het?",
    "Jaka jest pogoda w Gdańsku?", "Która jest godzina?", "Какой сейчас курс евро?", "Какая погода в Риге?",
    "今天天气怎么样", "现在几点", "今日の天気は", "今何時ですか", "오늘 날씨", "지금 몇 시예요",
    "Any earthquakes in Japan?", "Are there any flood warnings in Kansas?", "How is the surf at Bondi?",
    "Who is on stage?", "How many tickets are left for the concert?", "What is the price of a barrel of oil?",
]  # fmt: skip
OF_THE_SENDER = [
    "Wann läuft mein Vertrag ab?", "Wie hoch ist mein Kontostand?", "Où est ma commande ?", "Quand arrive mon colis ?",
    "¿Cuánto debo en mi tarjeta?", "Cuando llega mi pedido", "Quando scade il mio abbonamento?", "Dov'è il mio pacco?",
    "Onde está o meu pedido?", "Waar blijft mijn pakket?", "Gdzie jest moja paczka?", "Где моя посылка?",
    "我的快递到哪了", "私の荷物はどこですか", "내 택배 어디 있어요", "What is on my shopping list?",
    "Which devices are signed in to my account?", "Has my package cleared customs?", "Has my order left?",
    "When did I last water the plants?", "What is the name of my dentist?",
]  # fmt: skip
OF_ANY = [
    "Was heißt heute auf Polnisch?", "Guten Morgen, wie kündige ich meinen Vertrag?",
    "Wie funktioniert ein Wechselkurs?",
    "Comment annuler ma commande ?", "Où puis-je suivre mon colis ?", "¿Qué es el cambio climático?",
    "¿Cómo pago mi tarjeta?", "Come funziona il cambio automatico?", "Hoe werkt het weer?", "Jak działa kurs walutowy?",
    "Что такое погода?", "Как отследить посылку?", "为什么天气会变", "怎么取消我的订单", "天気予報はどう作られますか",
    "How is snow made?", "What are earthquake warnings?", "How old is my account before I can post?",
    "If a hall has 200 seats and 45 are sold, how many seats are left?", "What should be on my packing list?",
]  # fmt: skip


@pytest.mark.parametrize("text", OF_THE_MOMENT)
def test_a_question_of_the_moment_is_not_served_on_another_day(text: str) -> None:
    assert is_live(text)


@pytest.mark.parametrize("text", OF_THE_SENDER)
def test_a_question_for_own_records_is_not_served_to_another_sender(text: str) -> None:
    assert is_personal(text)


@pytest.mark.parametrize("text", OF_ANY)
def test_what_is_the_same_for_everybody_on_any_day_is_cached(text: str) -> None:
    assert not is_live(text)
    assert not is_personal(text)


@pytest.mark.parametrize("text", OF_THE_MOMENT + OF_THE_SENDER)
def test_a_pattern_is_tried_wherever_it_would_match(text: str) -> None:
    folded = fold(text)
    for rules in (by_language._MOMENT, by_language._OWN, own_records_abroad._RECORDS):
        found = any(pattern.search(folded) for _, pattern in rules._rules)
        assert rules.match(folded, words_of(folded)) == found
