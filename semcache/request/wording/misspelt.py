"""Misspelt words and the one frequent word that each can stand for.

Words and frequencies are those of symspellpy (MIT), loaded on first use or by `warm`. `known_names.txt` beside this
file holds the names that no dictionary has (those of Faker's provider lists, MIT, and of BERT's uncased vocabulary,
Apache-2.0, that would be corrected otherwise), and `known_words.txt` rare words of Webster's second dictionary (public
domain); `python -m eval.known_names` writes both.
Invariant: a word of the dictionary, an inflected form of one, a term and a name are never corrected.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from semcache.request.text import vocabulary
from semcache.request.wording.abbreviations import ABBREVIATIONS
from semcache.request.wording.british import AMERICAN
from semcache.request.wording.contractions import CONTRACTIONS
from semcache.request.wording.english import FUNCTION_WORDS
from semcache.request.wording.protected import STYLED
from semcache.request.wording.slips import MODERN, PRACTICAL, STYLIZED, USUAL
from semcache.request.wording.terms import TERMS, is_another_form
from semcache.runtime.scoped_memo import scoped_cache

if TYPE_CHECKING:
    from symspellpy import SymSpell

_CANDIDATES = 26_000  # words frequent enough to be what somebody meant
_FAR_SHORTEST = 5  # letters of a word that two slips may have been made in
_COMMON = 1_800_000  # occurrences of a word that an unlikely slip may lead to
_FAR_CANDIDATES = 8_000  # words that two slips may lead to
_SHORTEST = 4
_LONG = 8
_UNLIKELY = 0.2
_RATIO = 4  # how much likelier the correction is than any other as near
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
_REPEATED = re.compile(r"(.)\1+", re.DOTALL)
_THRICE = re.compile(r"(.)\1\1+")
_RARE_SHORTEST = 6
_RAREST = 30_000  # occurrences of the rarest word that a likely slip may lead to
_NAMED = 1_000_000  # occurrences of a name that a word in capitals may be a slip of
_NAME_SHORTEST = 7
_SWAPPED = 4
_SURE = 40_000_000  # occurrences of a word that a word of four letters may stand for
_VOWELS = frozenset("aeiouy")
_PREFIXES = ("un", "re", "non", "pre", "sub", "over", "multi", "anti")

_PLAIN = 3
# Countries, known by name: a word in capitals may be a slip of one, and so may a short word.
PLACES = vocabulary(
    """
    afghanistan albania algeria angola argentina armenia australia austria azerbaijan bangladesh belgium bolivia brazil
    bulgaria cambodia cameroon canada chile colombia croatia cuba cyprus denmark ecuador egypt estonia ethiopia finland
    france germany greece guatemala hungary iceland india indonesia ireland israel italy jamaica japan jordan kazakhstan
    kenya kuwait latvia lebanon libya lithuania luxembourg madagascar malaysia malta mexico moldova mongolia morocco
    mozambique myanmar namibia nepal netherlands nicaragua nigeria norway pakistan panama paraguay peru philippines
    poland
    portugal romania russia scotland senegal serbia singapore slovakia slovenia somalia spain sudan sweden switzerland
    german french spanish italian english japanese chinese russian portuguese swedish norwegian danish finnish
    polish dutch greek
    turkish arabic hebrew hindi korean vietnamese indonesian american british canadian australian mexican african
    european
    january february march april june july august september october november december monday tuesday wednesday
    thursday friday
    saturday sunday
    syria taiwan tanzania thailand tunisia turkey uganda ukraine uruguay uzbekistan venezuela vietnam wales yemen zambia
    zimbabwe europe africa america antarctica california florida london paris berlin madrid barcelona amsterdam brussels
    """
)
# Given names that a longer name may be another form of: "Alexandre".
_GIVEN = vocabulary(
    """
    alexander alexandra christian christina christine christopher catherine constantine elizabeth frederick francisco
    nathaniel sebastian stephanie valentine valentino gabrielle leonardo alessandro jefferson washington anderson
    richardson robertson nicholson sutherland cumberland wellington
    """
)
_LONG_NAME = 9
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_SOUNDS = {"c": "sk", "k": "c", "s": "cz", "z": "s", "g": "j", "f": "v", "v": "f", "t": "d", "y": "i", "i": "y"}
# The keys beside each, and letters that sound alike.
_BESIDE = {
    key: "".join(
        [
            *(row[max(0, at - 1) : at] + row[at + 1 : at + 2]),
            *(other[max(0, at - 1) : at + 2] for other in _ROWS if abs(_ROWS.index(other) - line) == 1),
        ]
    )
    + {"c": "sk", "k": "c", "s": "cz", "z": "s", "g": "j", "f": "v", "v": "f", "t": "d", "y": "i", "i": "y"}.get(
        key, ""
    )
    for line, row in enumerate(_ROWS)
    for at, key in enumerate(row)
}


class _Speller(NamedTuple):
    """Words that stand, how often they occur, and the frequent words within one and two slips of a word."""

    known: frozenset[str]
    counts: dict[str, int]
    doubled: dict[str, str]
    near: SymSpell
    far: SymSpell


def warm() -> None:
    """Load the dictionary, which the first correction would otherwise wait for."""
    _speller()


def dictionary() -> frozenset[str]:
    """The words that stand, in lower case, names among them."""
    return _speller().known


def frequencies() -> dict[str, int]:
    """How often words occur, the most frequent first."""
    return _speller().counts


def candidates(word: str) -> dict[str, int]:
    """The frequent words within two slips of a word in lower case, one slip in a short one, by how many they are."""
    from symspellpy import Verbosity

    speller = _speller()
    found = {item.term: item.distance for item in speller.near.lookup(word, Verbosity.ALL, max_edit_distance=1)}
    if len(word) >= _FAR_SHORTEST:
        for item in speller.far.lookup(word, Verbosity.ALL, max_edit_distance=2):
            found.setdefault(item.term, item.distance)
    return found


def slips_between(one: str, two: str) -> int:
    """The edits between two words, a change of places for one; more than two count as three."""
    from semcache.request.wording import word_distances

    found = word_distances.between(one, two, 2)
    return 3 if found < 0 else found


def is_word(word: str) -> bool:
    """Return True if a word in lower case stands in the dictionary, as itself or as an inflected form, or is a name."""
    known = _speller().known
    if word in known or (word.endswith("s") and word[:-1] in known):
        return True
    for ending in ("ed", "ing", "er"):
        stem = word.removesuffix(ending)
        # "occured" is no form of "occur", for "occurred" is one.
        if stem != word and len(stem) > 2 and stem + stem[-1] + ending not in known:
            return stem in known or stem + "e" in known
    if word.endswith("ly") and len(word) > 6 and word[:-2] in known:
        return True
    return any(
        word.startswith(prefix) and len(word) > len(prefix) + 4 and word[len(prefix) :] in known for prefix in _PREFIXES
    )


@scoped_cache(maxsize=32_768)
def correction(word: str) -> str | None:
    """The one frequent word that a word in lower case is a slip of; None for a word, a name, and where several are."""
    if (usual := USUAL.get(word)) is not None:
        return usual
    if not _SHORTEST <= len(word) <= 24 or not word.isascii() or not word.isalpha() or is_word(word):
        return None
    if _THRICE.search(word):
        return _drawn_out(word)
    if _VOWELS.isdisjoint(word) and len(word) < 5:
        return None
    speller = _speller()
    if word.endswith("ys") and (plain := word[:-2] + "ies") in speller.counts:
        return plain
    if word.endswith("os") and (plain := word[:-1] + "es") in speller.counts:
        return plain
    doubled = speller.doubled.get(_single(word))
    if doubled is not None and doubled[0] == word[0] and len(word) > _SHORTEST and not _inflected(word, doubled):
        return AMERICAN.get(doubled, doubled)
    right = (
        _clear(word, speller.near, 1)
        or (_rare(word, speller.counts) if len(word) >= _RARE_SHORTEST else None)
        or (_clear(word, speller.far, 2) if len(word) >= _LONG else None)
    )
    return None if right is None or is_another_form(word, right) else right


def _doubled(counts: dict[str, int]) -> dict[str, str]:
    """Words by what they are without doubled letters, where one word alone is meant."""
    found: dict[str, str] = {}
    for word, count in counts.items():
        single = _single(word)
        other = found.get(single)
        if other is None:
            found[single] = word if count >= _RAREST else ""
        elif other and count * _RATIO > counts[other]:
            found[single] = ""
    return {single: word for single, word in found.items() if word and len(word) > _SHORTEST}


def _drawn_out(word: str) -> str | None:
    """The word of which letters were repeated, as in "sooo" and "pleeease"; None where there is none."""
    for times in (r"\1", r"\1\1"):
        if (plain := _THRICE.sub(times, word)) in _speller().known:
            return plain
    return None


def _rare(word: str, counts: dict[str, int]) -> str | None:
    """The rarer word that one likely slip leads from; None where it is not the only one or not far likelier."""
    near = {word[:at] + word[at + 1 :] for at in range(1, len(word))}
    near |= {word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in range(len(word) - 1)}
    near |= {word[:at] + letter + word[at:] for at in range(1, len(word) + 1) for letter in _ALPHABET}
    near |= {
        word[:at] + letter + word[at + 1 :] for at in range(1, len(word)) if word[at] in _VOWELS for letter in _VOWELS
    }
    found = sorted(
        (
            (counts[term] * likeliness, term)
            for term in near & counts.keys()
            if (likeliness := slip_likeliness(word, term)) > 1
        ),
        reverse=True,
    )
    if not found or counts[found[0][1]] < _RAREST or _inflected(word, found[0][1]):
        return None
    if len(found) > 1 and found[0][0] < found[1][0] * (2 if _stem(found[0][1]) == _stem(found[1][1]) else _RATIO):
        return None
    best = found[0][1]
    return AMERICAN.get(best, best)


def _clear(word: str, speller: SymSpell, distance: int) -> str | None:
    """The candidate at this distance that is far likelier than the others; None without one."""
    from symspellpy import Verbosity

    found = sorted(
        (-item.count * slip_likeliness(word, item.term), item.term, item.count)
        for item in speller.lookup(word, Verbosity.ALL, max_edit_distance=distance)
        if item.distance == distance and (item.term[0] == word[0] or item.term[:2] == word[1::-1])
    )
    if not found:
        return None
    score, best, count = found[0]
    likeliness = slip_likeliness(word, best)
    place = best in PLACES and likeliness > 1 and len(word) > _SHORTEST
    if likeliness < (_PLAIN if distance > 1 else 1) or (count < _needed(word, likeliness) and not place):
        return None
    if (
        len(word) <= _SHORTEST + (likeliness < _PLAIN)
        and not place
        and count < (_SURE // 8 if likeliness == 4 else _SURE)
    ):
        return None
    if len(found) > 1:
        rival = found[1][2] * (slip_likeliness(word, found[1][1]) or _UNLIKELY)
        if -score < rival * (2 if _stem(best) == _stem(found[1][1]) else _RATIO):
            return None
    return None if _inflected(word, best) else best


def _needed(word: str, likeliness: int) -> int:
    """How often a word must occur for a slip as likely as this, in a word as long, to lead to it."""
    return 0 if likeliness >= _PLAIN else _COMMON // 6 if likeliness > 1 and len(word) >= _LONG else _COMMON


def may_be_no_name(word: str, right: str) -> bool:
    """Return True if a word with a capital is rather a slip of `right` than a name: a country, or a long word."""
    if right in PLACES or word in USUAL:
        return True
    if len(word) >= _LONG_NAME:
        return right not in _GIVEN and right not in MODERN
    likeliness, count = slip_likeliness(word, right), _speller().counts.get(right, 0)
    if len(word) == _NAME_SHORTEST - 1:
        return likeliness == _SWAPPED and count >= 10 * _NAMED
    return len(word) >= _NAME_SHORTEST and likeliness >= _PLAIN and count >= _NAMED


def slip_likeliness(word: str, term: str) -> int:
    """How likely the slip is that leads from a term to a word; 0 for one that rather makes another word.

    Letters swapped or doubled and a vowel for a vowel are likely, a letter left out less, a key beside the right one
    least. A slip in the last letter is as likely another ending.
    """
    if len(word) == len(term):
        pairs = [(one, two) for one, two in zip(word, term, strict=True) if one != two]
        if sorted(word) == sorted(term):
            return 4
        if word[-1] != term[-1]:
            return 0
        if all(one in _VOWELS and two in _VOWELS for one, two in pairs):
            return _PLAIN
        return int(all(two in _BESIDE.get(one, "") for one, two in pairs))
    longer, shorter = (word, term) if len(word) > len(term) else (term, word)
    if _single(longer) == _single(shorter):
        return 6
    if word == term + "e":
        return 2
    if word[-1] != term[-1]:
        return 0
    if len(term) > len(word):
        return 2
    at = next(at for at, (one, two) in enumerate(zip(longer, shorter + " ", strict=False)) if one != two)
    if longer[at] in _VOWELS and len(longer) > _LONG:
        return 2
    around = longer[at - 1 : at] + longer[at + 1 : at + 2]
    return int(any(key in _BESIDE.get(longer[at], "") for key in around))


def _single(word: str) -> str:
    return _REPEATED.sub(r"\1", word)


def _stem(term: str) -> str:
    for ending in ("ing", "ed", "es", "s", "d"):
        if term.endswith(ending):
            return term[: -len(ending)]
    return term


def _inflected(word: str, term: str) -> bool:
    """Return True if an ending alone is all the difference, as between a plural and its singular."""
    return word in (term + "s", term + "d", term + "n", term + "a") or term == word + "s"


@lru_cache(maxsize=1)
def _speller() -> _Speller:
    from symspellpy import SymSpell

    from semcache.request.wording import word_distances

    lines = (
        files("symspellpy").joinpath("frequency_dictionary_en_82_765.txt").read_text(encoding="utf-8-sig").split("\n")
    )
    near, far = (
        SymSpell(max_dictionary_edit_distance=most, prefix_length=7, distance_comparer=word_distances.comparer())
        for most in (1, 2)
    )
    words: dict[str, int] = {}
    for line in lines:
        term, _, count = line.partition(" ")
        if not term:
            continue
        words[term] = int(count)
        at = len(words)
        spelt = AMERICAN.get(term, term)
        if at > _CANDIDATES or len(term) < _SHORTEST or not term.isalpha() or spelt != term:
            if spelt != term and at <= _CANDIDATES:
                near.create_dictionary_entry(spelt, int(count))
            continue
        near.create_dictionary_entry(term, int(count))
        if at <= _FAR_CANDIDATES and len(term) >= _LONG - 1:
            far.create_dictionary_entry(term, int(count))
    for term in MODERN:
        if len(term) >= _LONG - 1:
            near.create_dictionary_entry(term, _COMMON)
    room = files("semcache.request.wording")
    names, rare = (
        room.joinpath(f"known_{kind}.txt").read_text(encoding="utf-8").split() for kind in ("names", "words")
    )
    plain = frozenset().union(
        words,
        names,
        rare,
        MODERN,
        PRACTICAL,
        STYLIZED,
        TERMS,
        STYLED,
        AMERICAN,
        AMERICAN.values(),
        CONTRACTIONS,
        ABBREVIATIONS,
        FUNCTION_WORDS,
    )
    return _Speller(plain, words, _doubled(words), near, far)
