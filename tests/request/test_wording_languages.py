"""The language of a prompt, as packs name it: whose kinds of edits apply."""

from __future__ import annotations

from typing import get_args

import pytest

from semcache.config.pack_schema import WordingLanguage
from semcache.request.wording import language_code
from semcache.request.wording.told_language import CODES, ENGLISH, OTHER

TOLD = {
    "en": "How do I change my password?",
    "de": "Wie kann ich mein Passwort ändern?",
    "fr": "Comment puis-je changer mon mot de passe ?",
    "es": "¿Cómo puedo cambiar mi contraseña?",
    "it": "Come posso cambiare la mia password?",
    "pt": "Como posso alterar a minha senha?",
    "nl": "Hoe kan ik mijn wachtwoord wijzigen?",
    "pl": "Jak mogę zmienić moje hasło?",
    "ru": "Как я могу изменить мой пароль?",
    "ar": "كيف يمكنني تغيير كلمة المرور الخاصة بي؟",
    "hi": "मैं अपना पासवर्ड कैसे बदल सकता हूँ?",
    "zh": "我怎么修改密码?",
    "ja": "パスワードを変更するにはどうすればいいですか",
    "ko": "비밀번호를 어떻게 변경하나요?",
    "other": "Πώς αλλάζω τον κωδικό μου;",
}


@pytest.mark.parametrize("code", TOLD)
def test_a_question_has_the_code_of_its_language(code: str) -> None:
    assert language_code(TOLD[code]) == code


@pytest.mark.parametrize("text", ["vpn setup", "", "42", "it\u2019s broken, what do I do?"])
def test_what_tells_no_language_is_read_as_english(text: str) -> None:
    assert language_code(text) == ENGLISH


def test_packs_may_name_every_language_that_is_told() -> None:
    assert {ENGLISH, *CODES.values(), OTHER} == set(get_args(WordingLanguage)) == set(TOLD)
