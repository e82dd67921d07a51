"""What says nothing is left out of prompts in other languages than English, and nothing that says something."""

from __future__ import annotations

import pytest

from semcache import AsyncSemanticCache
from semcache.request.wording import ALL, Edit, canonical

SAME = [
    ("Wie setze ich mein Passwort zurück?", "hallo, wie setze ich mein passwort zurück? Vielen Dank!"),
    ("Wie kann man eine Datei löschen", "Wie könnte ich eine Datei löschen?"),
    ("Wieso ist der Himmel blau?", "warum ist der himmel blau"),
    ("Quelle est la capitale du Canada ?", "Bonjour, c'est quoi la capitale du Canada s'il vous plaît ?"),
    ("Comment puis-je changer mon mot de passe ?", "comment changer mon mot de passe"),
    ("¿Cuál es la capital de Perú?", "hola, cual es la capital de Perú? gracias"),
    ("¿Cómo puedo cambiar mi contraseña?", "Como se puede cambiar mi contraseña"),
    ("Qual è la capitale dell'Australia?", "Ciao! qual'è la capitale dell'Australia, per favore?"),
    ("Come posso cancellare il mio account?", "Come si fa a cancellare il mio account? Grazie mille"),
    ("Como faço para redefinir minha senha?", "Olá, como posso redefinir minha senha? Obrigado!"),
    ("Wat is de hoofdstad van Polen?", "hoi, wat is de hoofdstad van polen? alvast bedankt"),
    ("Как сбросить пароль?", "Здравствуйте, подскажите, как можно сбросить пароль? Спасибо!"),
    ("Was kostet der Versand?", "wie viel kostet der versand"),
    (
        "Erkläre mir den Unterschied zwischen Miete und Pacht.",
        "erkläre mir bitte den unterschied zwischen miete und pacht",
    ),
    ("Où est le musée d'Orsay ?", "où se trouve le musée d'orsay"),
    ("Quando apre il negozio?", "Potresti dirmi quando apre il negozio?"),
    ("¿Cuánto tarda el envío a Canarias?", "hola, cuanto tarda el envio a canarias"),
    ("Jak mogę zwrócić buty?", "dzień dobry, jak można zwrócić buty?"),
    ("كيف يمكنني تغيير كلمة المرور؟", "مرحبا، كيف يمكنني تغيير كلمة المرور؟ شكرا"),
    ("मैं अपना पासवर्ड कैसे बदलूँ?", "नमस्ते, मैं अपना पासवर्ड कैसे बदलूँ? धन्यवाद"),
    ("Wie kann man ein Konto löschen?", "Wie kann ich ein Konto löschen?"),
    ("Comment peut-on réserver une table ?", "Comment réserver une table ?"),
    ("Come si può cambiare la password?", "Come posso cambiare la password?"),
    ("Hoe kun je een foto kopiëren?", "Hoe kan ik een foto kopiëren?"),
    ("Как можно отменить заказ?", "Как мне отменить заказ?"),
    ("法国的首都是哪里？", "您好，请问法国的首都是哪里呢"),
    ("フランスの首都はどこですか？", "すみません、フランスの首都はどこ"),
    ("비밀번호를 어떻게 바꾸나요?", "안녕하세요, 비밀번호를 어떻게 바꾸나요? 감사합니다"),
]
OTHERS = [
    ("Wie schalte ich das Licht ein?", "Wie schalte ich das Licht aus?"),
    ("Wie alt sind Sie?", "Wie alt sind sie?"),
    ("Das ist eine Frage", "Das ist"),
    ("Comment puis-je ouvrir un compte ?", "Comment puis-je fermer un compte ?"),
    ("¿Cómo puedo abrir la puerta?", "¿Puedo abrir la puerta?"),
    ("¿Por qué no funciona?", "¿Por qué funciona?"),
    ("Come si dice grazie in inglese?", "Come si dice per favore in inglese?"),
    ("人民币兑欧元汇率怎么算", "欧元兑人民币汇率怎么算"),
    ("Danke", "Hallo"),
    ("Wie kann man abhängig werden?", "Wie kann ich abhängig werden?"),
    ("Wie kann man an einer Erkältung sterben?", "Wie kann ich an einer Erkältung sterben?"),
    ("Comment peut-on attraper la grippe ?", "Comment attraper la grippe ?"),
    ("¿Cómo se puede morir de frío?", "¿Cómo puedo morir de frío?"),
    ("Come si può perdere la vista?", "Come posso perdere la vista?"),
    ("Hoe kun je verslaafd raken?", "Hoe kan ik verslaafd raken?"),
    ("Как можно заразиться гриппом?", "Как мне заразиться гриппом?"),
    ("Jak można stracić prawo jazdy?", "Jak mogę stracić prawo jazdy?"),
]


@pytest.mark.parametrize(("one", "two"), SAME)
def test_what_says_nothing_makes_no_other_prompt(one: str, two: str) -> None:
    assert canonical(one).text == canonical(two).text


@pytest.mark.parametrize(("one", "two"), OTHERS)
def test_another_question_stays_another(one: str, two: str) -> None:
    assert canonical(one).text != canonical(two).text


@pytest.mark.parametrize("text", [text for pair in SAME + OTHERS for text in pair])
def test_a_wording_is_its_own_wording(text: str) -> None:
    wording = canonical(text)
    assert canonical(wording.text).text == wording.text
    assert bool(wording.edits) == (wording.text != text)


def test_each_kind_of_edit_can_be_switched_off() -> None:
    text = "Hola, ¿cómo puedo cambiar mi contraseña?"
    assert canonical(text, ALL - {Edit.FILLER}).text.startswith("hola")
    assert "puedo" in canonical(text, ALL - {Edit.FRAME}).text
    assert "¿" in canonical(text, frozenset({Edit.FILLER})).text


async def test_a_greeting_costs_no_hit_in_any_of_them() -> None:
    async with await AsyncSemanticCache.open("memory://") as cache:
        for kept, asked in SAME:
            found = await cache.lookup(kept, tenant=kept)
            assert found.answer is None
            await cache.record(found, f"Answer to {kept}")
            again = await cache.lookup(asked, tenant=kept)
            assert again.answer == f"Answer to {kept}", (kept, asked, again.reason)
