"""The language of a prompt as the canonical wording takes it, by the code that packs name it by.

Invariant: a text whose wording is made by the rules of English is "en", and one of no language known here "other".
"""

from __future__ import annotations

from semcache.request.wording.cues import bag_of
from semcache.request.wording.english import is_english
from semcache.request.wording.other_languages import language_of

ENGLISH, OTHER = "en", "other"
CODES = {
    "German": "de",
    "French": "fr",
    "Spanish": "es",
    "Italian": "it",
    "Portuguese": "pt",
    "Dutch": "nl",
    "Polish": "pl",
    "Russian": "ru",
    "Arabic": "ar",
    "Hindi": "hi",
    "Chinese": "zh",
    "Japanese": "ja",
    "Korean": "ko",
}


def language_code(text: str) -> str:
    """The ISO 639-1 code of the language of a text, or "other".

    A few words that tell no language, such as "vpn setup", are read as English.

    >>> language_code("Wie kann ich mein Passwort ändern?")
    'de'
    """
    words = bag_of(text.replace("\u2019", "'"))
    if is_english(text, words) is not False:
        return ENGLISH
    language = language_of(text, words)
    return OTHER if language is None else CODES[language.name]
