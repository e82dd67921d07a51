"""Light edits in other languages than English: greetings, thanks, politeness and accents that were left out.

What differs by these alone was typed twice, whatever a model makes of the language. Knows phrases of some thirty
languages, which count only where a mark sets them off from the question. Invariant: symmetric; every other word stands
in both texts, in the same order, and a single accent, or one that may be an ending, still makes another word.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from semcache.request.text import READINGS, vocabulary
from semcache.request.wording.foreign import folded
from semcache.runtime.scoped_memo import scoped_cache

LONGEST = 2048  # characters; longer texts are no light edits of each other
_OPENING = (
    "hallo|hallo zusammen|guten (?:tag|morgen|abend)|grüß gott|servus|moin|grüezi|hi|hey|hello|bonjour|bonsoir|salut"
    "|hola|buen(?:os|as) (?:días|tardes|noches)|buenas|olá|oi|bom dia|boa (?:tarde|noite)|ciao|salve|buongiorno"
    "|buonasera|goede(?:morgen|middag|navond)|dag|hoi|dzień dobry|cześć|witam|hej|hejsan|god (?:dag|morgen|kveld|aften)"
    "|hei|moi|terve|hyvää päivää|dobrý den|ahoj|dobrý deň|üdvözlöm|szia|sziasztok|jó napot(?: kívánok)?"
    "|bună(?: ziua| seara| dimineața)?|salutare|merhaba|selam|iyi günler|γεια(?: σας| σου)?|καλημέρα|καλησπέρα"
    "|здравствуйте|привет|добрый (?:день|вечер)|доброе утро|доброго дня|добрий день|вітаю|привіт|здравейте|здравей"
    "|добър ден|zdravo|dobar dan|bok|pozdrav|مرحبا|مرحبًا|السلام عليكم|أهلا|صباح الخير|مساء الخير|שלום|היי|بوقت بخیر"
    "|سلام|درود|नमस्ते|नमस्कार|হ্যালো|নমস্কার|halo|hai|salam|selamat (?:pagi|siang|sore|malam)|assalamualaikum"
    "|xin chào|chào(?: bạn)?|habari|jambo|hujambo|bon dia|bona tarda|namaste|namaskar|salaam|tere|labas|labdien|dobro jutro"
)
_CLOSING = (
    "danke(?: schön| sehr| im voraus)?|vielen dank(?: im voraus)?|bitte|merci(?: beaucoup| d'avance)?"
    "|s'il (?:vous|te) pla[iî]t|svp|stp|(?:muchas )?gracias|por favor|(?:muito )?obrigad[oa]|grazie(?: mille)?"
    "|per (?:favore|piacere|cortesia)|(?:alvast )?bedankt|dank (?:je|u)(?: wel)?|alstublieft|alsjeblieft"
    "|dzięk(?:i|uję)(?: z góry| bardzo)?|proszę|tack(?: så mycket| på förhand)?|tak(?: på forhånd)?|på forhånd tak"
    "|takk(?: skal du ha| på forhånd)?|kiitos(?: paljon| etukäteen)?|děkuji(?: moc| předem)?|díky|prosím|ďakujem(?: pekne)?"
    "|köszönöm(?: szépen| előre is)?|köszi|mulțumesc(?: mult| anticipat)?|mersi|vă rog"
    "|teşekkürler|teşekkür ederim|sağol(?:un)?|lütfen|ευχαριστώ(?: πολύ)?|παρακαλώ|спасибо(?: большое| заранее)?"
    "|большое спасибо|пожалуйста|дякую(?: дуже)?|будь ласка|благодаря(?: ви)?|моля|hvala(?: unapred| puno)?|molim"
    "|شكرا(?: جزيلا| لك)?|شكرًا|من فضلك|لو سمحت|תודה(?: רבה)?|בבקשה|ممنون|متشکرم|مرسی|با تشکر|لطفا|धन्यवाद|शुक्रिया|कृपया"
    "|ধন্যবাদ|অনুগ্রহ করে|terima kasih|makasih|tolong|cảm ơn(?: bạn)?|asante(?: sana)?|tafadhali"
    "|(?:moltes )?gràcies|si us plau|sisplau|shukriya|dhanyavaad|shukran|thanks|thank you|please"
)
_MARKS = r"[\s,.!?:;¿¡،؟؛、。！？，।·]"
_OPENED = re.compile(rf"^{_MARKS}*(?:{_OPENING})\s*[,.!:،、，！]{_MARKS}*(?=\w)", re.IGNORECASE)
_CLOSED = re.compile(rf"(?<=\w)\s*[,.!?;،؟؛。！？，।]{_MARKS}*(?:{_CLOSING}){_MARKS}*$", re.IGNORECASE)
# Particles of politeness at the end of a Thai sentence, which ends without a mark.
_THAI = re.compile("(?<=[\u0e01-\u0e4e]{4})(?:นะ)?(?:ครับ|คะ|ค่ะ)$")
_ALIF = str.maketrans({"أ": "ا", "إ": "ا", "آ": "ا", "ي": "ی", "ك": "ک", "\u200c": " ", "\u0640": "", "ё": "е"})
_UMLAUTS = {"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"}
_UMLAUT = re.compile("[äöüøå]")
_WORD = re.compile(r"[^\s,.!?:;¿¡،؟؛、。！？，।·\"'«»„“”()\[\]-]+")
_TONED = re.compile("[\u1ea0-\u1ef9ơưăđ]")
_LEAST = 2  # accents left out from which somebody types without them
_ENDING = 4  # letters of a word whose accent at the end may be a tense: "compro", "compró"
_SPOKEN = vocabulary("perché está aquí così poiché là où già più també però allí nhé")
_CHANGED = re.compile(r"[\d#+*/=<>%$€£`_{}\\]")


class _EditedReading(NamedTuple):
    """The words without greetings and thanks; `plain` are they without accents, and `accents` how many have one."""

    words: tuple[str, ...]
    plain: tuple[str, ...]
    accents: int
    toned: bool


def lightly_edited(one: str, two: str) -> bool:
    """Return True if two texts differ only in what says nothing: politeness, marks, case, accents left out."""
    if max(len(one), len(two)) > LONGEST:
        return False
    left, right = _read(one), _read(two)
    if not left.words or len(left.words) != len(right.words) or _marks(one) != _marks(two):
        return False
    if left.words == right.words:
        return True
    if left.accents and right.accents:
        return False
    full, bare = (left, right) if left.accents else (right, left)
    if full.toned or full.accents < _LEAST:
        return False
    return all(
        written == typed or (typed in (plain, _spelled(written)) and not _may_be_tense(written))
        for written, plain, typed in zip(full.words, full.plain, bare.words, strict=True)
    )


def _marks(text: str) -> list[str]:
    return _CHANGED.findall(text)


def _may_be_tense(word: str) -> bool:
    return len(word) >= _ENDING and folded(word[-1]) != word[-1] and word.isalpha() and word not in _SPOKEN


def _spelled(word: str) -> str:
    """The word with its umlauts in two letters each, as keyboards without them have it."""
    return _UMLAUT.sub(lambda match: _UMLAUTS[match[0]], word)


@scoped_cache(maxsize=READINGS)
def _read(text: str) -> _EditedReading:
    plain = unicodedata.normalize("NFC", text).strip()
    if not plain.isupper():
        left = _THAI.sub("", _CLOSED.sub("", _OPENED.sub("", plain)))
        plain = left if _WORD.search(left) else plain
    words = tuple(_WORD.findall(plain.lower().translate(_ALIF)))
    bare = tuple([folded(word) for word in words])
    accents = sum([word != short for word, short in zip(words, bare, strict=True)])
    return _EditedReading(words, bare, accents, _TONED.search(plain.lower()) is not None)
