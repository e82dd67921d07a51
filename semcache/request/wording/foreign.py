"""Pairs of texts that a model of English does not read: another language, or a difference in words that English lacks.

Told by scripts, by function words of some thirty languages, and by the share of words that no English dictionary has.
Words that both texts share in another script are as good as a name. Invariant: symmetric; a foreign name, an accented
word or jargon between English words makes no text foreign.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from typing import NamedTuple

from semcache.request.text import READINGS, vocabulary
from semcache.request.wording import misspelt
from semcache.request.wording.english import FUNCTION_WORDS
from semcache.runtime.scoped_memo import scoped_cache

_TOKEN = re.compile(r"[^\W\d_]+(?:[\u0300-\u036f]+[^\W\d_]*)*")
_CONTRACTED = re.compile(r"n't\b", re.IGNORECASE)
_WRITTEN = re.compile(r"\S+")
_CODE = re.compile(r"[\d_@/\\<>{}=]|[a-z][A-Z]|\w\.\w")
_LATIN = re.compile("[a-z\u00c0-\u024f\u1e00-\u1eff]", re.IGNORECASE)
# Letters with a stroke and ligatures, which do not fall apart into a letter and an accent.
_STROKES = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ı": "i", "ß": "ss", "æ": "ae", "œ": "oe", "þ": "th", "ё": "е"}
)
_ACCENT = re.compile("[\u0300-\u036f]")
_SHORTEST = 3  # letters of a word that a dictionary would have
_OTHER_SCRIPT = 8  # share of the letters, as one in so many, from which a text in two scripts is foreign
_FRAMED = 3  # share of the words, as one in so many, that are function words of English where a text is English
_FOREIGN_WORDS = (
    vocabulary(
        """
    der das und ist wie ein eine einen einem einer nicht den dem ich wir sie mit auf von zum zur warum wann welche
    welcher welches kann mein meine meinen meinem meiner für bei wird wer gibt ihr sich oder muss können vom beim aus
    nach wurde hat soll sollte wieviel wieso man noch wo im zu mir uns
    le la les une est et que qui quoi comment pourquoi dans sur avec je tu nous vous ce cette ces quel quelle quels
    quelles mon ma mes combien sont il elle où quand aux du au ou ne pas de des mettre puis ai qu
    el los las es y como para con qué cómo cuál cuáles dónde del en mi su cuánto cuánta cuántos cuándo puedo hay está
    quién quiénes quien una unos al lo donde cuando cuanto cual fue hago
    il gli che di e come perché dove sono della nel nella quanto quanta quale qual è mio mia posso quando cosa cos dell
    delle dei degli chi era sul sulla alla
    uma é não qual onde em do da dos das meu minha faço quem você são na pelo pela por os um eu
    het een ik niet hoe wat waar mijn zijn welke wanneer wie waarom hoeveel kun je moet naar wordt voor aan op uit van
    jest się czy gdzie kiedy dlaczego kto ile mogę mój moje moja dla przez jak co nie jaki jaka jakie które który z ze
    och att det som är hur vad på av jag inte när varför vilka vilken vilket mitt min mina vem ett med hos från till
    hvordan hvad hvor hvornår hvorfor hvem hvilke hvilken ikke af jeg mit til og er det en hva når hvilken mine fra
    miten mikä mitä missä milloin miksi kuka mitkä onko ovat että ja ei paljonko kauanko mistä pitääkö oli minun
    jak kdo kde kdy proč kolik které který která jsem mohu můj svůj svou je si se pro ako čo kto kedy prečo koľko ktoré
    sú môžem svoj bol bola že
    hogyan mi hol mikor miért ki milyen mennyi az egy és nem hogy mennyibe mely volt kell lehet vagy
    cum ce unde când cine cât câte care este sunt și nu pentru din meu mea îmi despre decât trebuie fost va cui
    nasıl ne nerede neden zaman kim kaç hangi bir ve için mi mı mu mü ile kadar nedir kimdir neresidir daha nereden
    kako šta što gde gdje kada zašto ko tko koliko koji koja koje je li da na se za mogu moj svom od ima nije
    apa bagaimana berapa di mana kapan mengapa kenapa siapa yang dan untuk dari ke itu saya apakah cara tidak adalah
    dengan macam nak bila boleh dalam daripada akan
    là gì làm sao thế nào bao nhiêu ở đâu tại khi của và có không tôi cho để
    jinsi ya kwa ni nini nani wapi lini gani ngapi na wa je yangu langu wangu
    com què quan qui quant quins quines els amb és són puc per el meu
    kaise kya hai hain kab kahan kyun kyu kaun kitna kitne kitni mera mere meri nahi ka ki ke ko aur liye hota hoti karu
    kare karo kisne tha thi se mein
    ezay feen emta meen leh eh kam fel elly men el mesh ana
    kaip kas kur kada kodėl kiek ir yra kā kur kad kāpēc kes kus kuidas miks palju ja on si kje zakaj kdaj
    ano paano saan bakit sino kailan ang ng mga sa
    """
    )
    - FUNCTION_WORDS
)
# Words of English, or of its names, that are function words elsewhere: they tell nothing.
_SHARED = vocabulary(
    """
    die war man also am as in an on no a i so to do at me hat bin gut par pour plus son ten men era dos mas come per hoe
    min mine fur sans per van kit si mi op au des sur eh ya com kit se ma mes das hay lo pas men ni var mana mu pro dell
    we her kind over door mag is of en wa ana apa ki one ko ng sa mg ja nah ma il al er od ha ne ve ki kas
    """
)
_FUNCTION = _FOREIGN_WORDS - _SHARED
_SHORT = frozenset(("a", "an", "do", "in", "me", "no", "so", "was"))


# One of these alone may be part of a name, or an abbreviation: "rio de janeiro", "IST to CET".
_PARTICLES = vocabulary(
    "de la le les el los las del di da du dos von van der den un une y au aux ist est mit aus das com des em os um til"
    " kim och je dan sie que che della santa mis mes si ki ke"
)


class _ForeignReading(NamedTuple):
    """`words` are the Latin words, folded; `strange` are those of no dictionary, and `others` words of other scripts.

    `english` and `foreign` are how many function words there are of each, `named` how many words are rather names;
    `accented`: a strange word has letters that English lacks. `particles` are foreign words that names have, too.
    """

    words: tuple[str, ...]
    strange: frozenset[str]
    accented: bool
    named: int
    others: tuple[str, ...]
    english: int
    foreign: int
    particles: int
    latin_letters: int
    other_letters: int


def unread(one: str, two: str) -> bool:
    """Return True if what a model of English makes of these two texts is no evidence that they mean the same."""
    left, right = _read(one), _read(two)
    shared = bool(left.others) and left.others == right.others
    if _is_foreign(left, shared=shared) or _is_foreign(right, shared=shared):
        return True
    if not (left.strange and right.strange) or (_framed(left) and _framed(right)):
        return False
    ours, theirs = Counter(left.words), Counter(right.words)
    return _strange(ours - theirs, left) and _strange(theirs - ours, right)


def folded(text: str) -> str:
    """The text in lower case and without the accents of Latin, Greek and Cyrillic letters."""
    plain = text.lower().translate(_STROKES)
    if plain.isascii():
        return plain
    return unicodedata.normalize("NFC", _ACCENT.sub("", unicodedata.normalize("NFD", plain)))


def _is_foreign(text: _ForeignReading, *, shared: bool) -> bool:
    if text.other_letters and not (shared and text.english):
        letters = text.latin_letters + text.other_letters
        if text.other_letters * _OTHER_SCRIPT > letters:
            return True
    count = len(text.words) - text.named
    if text.foreign and text.foreign >= text.english:
        return (
            text.foreign > text.particles
            or text.foreign > 1
            or 2 * text.foreign >= count
            or 2 * (text.foreign + len(text.strange)) > count
        )
    if text.accented and not text.english and 5 * len(text.strange) >= 2 * count:
        return True
    return 2 * len(text.strange) > count and not _framed(text)


def _framed(text: _ForeignReading) -> bool:
    """Return True for a text with enough function words of English to be English."""
    return text.english > text.foreign and text.english * _FRAMED >= len(text.words)


def _strange(differing: Counter[str], text: _ForeignReading) -> bool:
    """Return True if most of the words that one text has to itself are none of English."""
    return 2 * sum([word in text.strange for word in differing]) > len(differing)


@scoped_cache(maxsize=READINGS)
def _read(text: str) -> _ForeignReading:
    words: list[str] = []
    strange: set[str] = set()
    others: list[str] = []
    english = foreign = particles = latin = other = names = 0
    accented = False
    shouted = text.isupper()
    known = misspelt.dictionary()
    for match in _WRITTEN.finditer(_CONTRACTED.sub(" not", text.replace("\u2019", "'"))):
        chunk = match[0]
        opening = match.start() == 0
        for token in _TOKEN.findall(chunk):
            if not _LATIN.match(token):
                others.append(token.lower())
                other += len(token)
                continue
            latin += len(token)
            low = token.lower()
            plain = folded(token)
            if token.isupper() and len(token) > 1 and not shouted:
                names += 1
            elif low in FUNCTION_WORDS:
                # The shortest are words of many languages.
                english += low not in _SHORT
            elif low in _FUNCTION or (low != plain and plain in _FUNCTION):
                foreign += 1
                particles += low in _PARTICLES
            elif token[0].isupper() and not (opening or shouted):
                names += 1
            elif len(plain) >= _SHORTEST and plain not in known and not _CODE.search(chunk):
                strange.add(plain)
                accented = accented or not low.isascii()
            words.append(plain)
    return _ForeignReading(
        tuple(words), frozenset(strange), accented, names, tuple(others), english, foreign, particles, latin, other
    )
