"""Light edits in other languages than English: greetings, thanks, politeness, accents left out, a "why" that moved.

What differs by these alone was typed twice, whatever a model makes of the language. Knows phrases of some thirty
languages, which count only where a mark sets them off from the question. Invariant: symmetric; every other word stands
in both texts, in the same order, and a single accent, or one that may be an ending, still makes another word.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from semcache.request.text import READINGS, vocabulary
from semcache.request.wording.courtesies import CLOSINGS, GREETINGS
from semcache.request.wording.foreign import folded
from semcache.runtime.scoped_memo import scoped_cache

LONGEST = 2048  # characters; longer texts are no light edits of each other
_MARKS = r"[\s,.!?:;¿¡،؟؛、。！？，।·]"
_OPENED = re.compile(rf"^{_MARKS}*(?:{GREETINGS})\s*[,.!:،、，！]{_MARKS}*(?=\w)", re.IGNORECASE)
_THANKED = re.compile(rf"(?<=\w)\s*[.!?؟。！？।]{_MARKS}*(?:{CLOSINGS}){_MARKS}*$", re.IGNORECASE)
_CLOSED = re.compile(rf"(?<=\w)\s*[,;،؛，]{_MARKS}*(?:{CLOSINGS}){_MARKS}*$", re.IGNORECASE)
# Letters that are written in two ways.
_ALIKE = str.maketrans(
    {"أ": "ا", "إ": "ا", "آ": "ا", "ي": "ی", "ك": "ک", "\u200c": " ", "\u0640": "", "İ": "i", "ё": "е"}
)
_UMLAUTS = {"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"}
_UMLAUT = re.compile("[äöüøå]")
_WORD = re.compile(r"[^\s,.!?:;¿¡،؟؛、。！？，।·\"'«»„“”()\[\]-]+")
_TONED = re.compile("[\u1ea0-\u1ef9ơư]")
_LEAST = 2  # accents left out from which somebody types without them
_THAI = re.compile("[\u0e01-\u0e4e]")
# Particles of politeness at the end of a Thai sentence, and the greeting that opens one, without a mark.
_THAI_POLITENESS = re.compile("^สวัสดี(?:ครับ|ค่ะ)?\\s*|(?<=[\u0e01-\u0e4e]{4})(?:นะ)?(?:ครับ|คะ|ค่ะ)(?=[\\s?!.]*$)")
# Letters of no Romance language: there an accent at the end is no tense.
_OTHER_LETTERS = re.compile("[čšžřěůďťňľĺŕąęłńśźżćđőűăâîșțşţğıåäöøæß]")
_CLITIC = re.compile(r"(?<=\w)-(?:t-)?(?:ils?|elles?)(?!\w)")
# Question adverbs of languages in which they stand before the subject or behind it.
_MOVING = vocabulary(
    """
    क्यों कब 왜 언제 কেন কখন neden niçin почему когда чому коли защо кога γιατί πότε لماذا متى چرا למה מדוע מתי kyun
    kyu kab
    """
)
_MOVING_UNSPACED = re.compile("为什么|為什麼|什么时候|什麼時候|なぜ|いつ")
_WHAT_IS = re.compile("^什[么麼]是(.{2,})$")
_KOREAN_WHAT = re.compile("(?:무엇인가요|뭐예요|뭐에요|뭔가요|무엇입니까|뭐죠)$")
# Of these the greeting or the thanks may be what is to be said or translated.
_SAYING = re.compile(
    r"(?<!\w)(?:sag(?:t|en|e)(?!\w)|hei(?:ß|ss)t|bedeut|überset|schreib|dit-on|dire(?!\w)|signifi|tradu|écri|dice|decir"
    r"|scriv|parola|palabra|palavra|diz(?!\w)|dizer|escr|zeg|betekent|vertaal|schrijf|säger|betyder|skriv|siger"
    r"|sanotaan|kirjoit|napi[sšś]|mówi|znacz|přelož|znamen|hogyan mondj|jelent|spune|înseamnă|denir|demek|сказ|говор"
    r"|знач|озна|перев|прев|слов|пиш|λέ(?:με|ει|νε)|σημαίν|katakan|artinya|bilang|nghĩa|dịch|say(?:s|ing)?(?!\w)|means?(?!\w)"
    r"|translat)|[说說訳뜻]|翻译|翻譯|意思|意味|말하|번역|แปล|معنى|معنی|ترجم|تقول|כותבים|אומרים|מתרגמ|पर्थ|अर्थ|अनुवाद|মানে|অনুবাদ",
    re.IGNORECASE,
)
_ENDING = 4  # letters of a word whose accent at the end may be a tense: "compro", "compró"
_SPOKEN = vocabulary("perché está aquí così poiché là où già più també però allí nhé")
_CHANGED = re.compile(r"[\d#+*/=<>%$€£`_{}\\]")


class _EditedReading(NamedTuple):
    """The words without greetings and thanks; `plain` are they without accents, which `accents` letters have.

    `moved` is the question adverb, which is left out of the words; `tenses`: an accent at the end may be a tense.
    """

    words: tuple[str, ...]
    plain: tuple[str, ...]
    accents: int
    toned: bool
    moved: str
    tenses: bool


def lightly_edited(one: str, two: str) -> bool:
    """Return True if two texts differ only in what says nothing: politeness, marks, case, accents left out."""
    if max(len(one), len(two)) > LONGEST:
        return False
    left, right = _read(one), _read(two)
    if not left.words or len(left.words) != len(right.words) or left.moved != right.moved:
        return False
    if _CHANGED.findall(one) != _CHANGED.findall(two):
        return False
    if left.words == right.words:
        return True
    if left.accents and right.accents:
        return False
    full, bare = (left, right) if left.accents else (right, left)
    if full.toned or full.accents < _LEAST:
        return False
    return all(
        written == typed or (typed in (plain, _spelled(written)) and not (full.tenses and _may_be_tense(written)))
        for written, plain, typed in zip(full.words, full.plain, bare.words, strict=True)
    )


def _may_be_tense(word: str) -> bool:
    return len(word) >= _ENDING and folded(word[-1]) != word[-1] and word.isalpha() and word not in _SPOKEN


def _spelled(word: str) -> str:
    """The word with its umlauts in two letters each, as keyboards without them have it."""
    return _UMLAUT.sub(lambda match: _UMLAUTS[match[0]], word)


def without_politeness(text: str) -> str:
    """A Thai text without its greeting and the particles that end it; any other as it is."""
    return _THAI_POLITENESS.sub("", text) if _THAI.search(text) else text


@scoped_cache(maxsize=READINGS)
def _read(text: str) -> _EditedReading:
    plain = unicodedata.normalize("NFC", text).strip()
    if not plain.isupper():
        left = _THANKED.sub("", plain)
        if not _SAYING.search(plain):
            left = without_politeness(_CLOSED.sub("", _OPENED.sub("", left)))
        plain = left if _WORD.search(left) else plain
    plain = _CLITIC.sub("", plain.translate(_ALIKE).lower())
    words, moved = _WORD.findall(plain), ""
    if len(words) == 1 and not plain.isascii():
        plain, moved = _unspaced(words[0])
        words = [plain]
    elif len(moving := [word for word in words if word in _MOVING]) == 1:
        moved = moving[0]
        words.remove(moved)
    words[-1:] = [_KOREAN_WHAT.sub("무엇인가요", word) for word in words[-1:]]
    bare = tuple([folded(word) for word in words])
    accents = sum([a != b for word, short in zip(words, bare, strict=True) for a, b in zip(word, short, strict=False)])
    toned, tenses = _TONED.search(plain) is not None, _OTHER_LETTERS.search(plain) is None
    return _EditedReading(tuple(words), bare, accents, toned, moved, tenses)


def _unspaced(text: str) -> tuple[str, str]:
    """A text without blanks less the one question adverb that it has, and that; what something is in one form."""
    text = _WHAT_IS.sub(r"\1是什么", text)
    found = _MOVING_UNSPACED.findall(text)
    return (_MOVING_UNSPACED.sub("", text), found[0]) if len(found) == 1 else (text, "")
