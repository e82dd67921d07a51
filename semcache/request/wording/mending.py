"""The mending of slips and text-speak: the words that they probably stand for, where likeness alone compares texts.

Bolder than the canonical wording: a wrong guess makes two texts less or more alike, and is never served as an equal
wording. A word that no dictionary has is read as the frequent one that it is likeliest to be a slip of, between the
words beside it: a noisy channel (Kernighan, Church and Gale 1990) with the frequencies of symspellpy (MIT).
Invariant: words that are not rare, names, numbers, code and what is quoted stay, but for a few words that are known for
standing in each other's place; a text in another language than English stays as it is.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from importlib.resources import files
from itertools import islice, repeat
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from semcache.request.text import vocabulary
from semcache.request.wording import misspelt, text_speak
from semcache.request.wording.british import AMERICAN
from semcache.request.wording.cues import bag_of
from semcache.request.wording.english import is_english
from semcache.request.wording.protected import held, restored
from semcache.request.wording.slips import MODERN, PRACTICAL, STYLIZED, USUAL
from semcache.request.wording.terms import TERMS, is_another_form
from semcache.request.wording.text_speak import SPOKEN
from semcache.runtime.scoped_memo import scoped_cache

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

LONGEST = 4096  # characters; longer texts stay as they are
_WORD = re.compile(r"((?<![\w'.@/-])[^\W\d_]+(?:'[^\W\d_]+)*(?![\w@/]|\.\w|'\w))")
_SENTENCE = re.compile(r"[.?!:]\"?\s+$|\n\s*$")
# Words that stand in each other's place, told by the words around them alone.
_CONFUSED = dict(
    pair.split("=")
    for pair in (
        *("dose=does", "form=from", "fro=for", "trail=trial", "whine=wine", "noble=nobel", "rest=reset", "sings=signs"),
        *("loose=lose", "debt=debit", "affects=effects", "cn=can", "gt=get", "rwo=row", "jbo=job", "tpo=top"),
        "doi=do i",
    )
)
_ABOUT_WORDS = vocabulary(
    "word words spell spelt spelled spelling mean means meaning grammar difference vs versus or correct"
)
_CLEARLY = 5.0  # log-odds by which the words around must prefer another word
_SHORTEST = 4
_ENDINGS = ("s", "es", "ed", "d", "ing", "er", "ers", "est", "ly", "able", "less", "ness")
_RARE = 100_000  # occurrences of a word of the dictionary that may be a slip
_FORMS = 15  # times that a word occurs for each time that one of its forms does, where those are not counted
_MARGIN = 4.0  # log-odds by which another word must be likelier than a word that is written
_COMMON = -9.5  # log-probability, with that margin, from which no word is taken for a slip
_TOGETHER, _RUN_ON = 1_000_000, -3.0  # occurrences side by side of two words that run together, and its log-probability
_PREFIXES = ("un", "re", "non", "pre", "sub", "over", "multi", "anti", "mis", "dis", "co", "de", "micro", "e")
_LISTED = MODERN | PRACTICAL | STYLIZED | TERMS | frozenset(AMERICAN)
_FAR = 6  # letters of a word that two slips may have been made in
_COUNTED = 30_000  # most frequent words whose neighbours are known
_SLIP = {6: -2.0, 4: -2.5, 3: -4.0, 2: -4.5, 1: -7.0, 0: -8.0}  # log-probability, by how likely such a slip is
_TWICE, _NO_END, _EASED = -5.0, -4.5, 1.5  # of a second slip, of an "e" left off the end, and more in a long word
_LONG = 8  # letters of a word in which any slip is about as likely
_STRANGE = -17.5  # log-probability that a word that nobody knows is meant as it stands
_LONGER = 0.7  # by which that falls with each letter of a long word
_CONTEXT = 0.6  # of the probability of a word is that behind the word before it


class _Pairs(NamedTuple):
    """How often words stand side by side: `keys`, sorted, number the first word and the second, by frequency."""

    numbers: dict[str, int]
    keys: NDArray[np.int64]
    counts: NDArray[np.float32]

    def often(self, one: str, two: str) -> float:
        """How often `one` stands before `two`."""
        first, second = self.numbers.get(one), self.numbers.get(two)
        if first is None or second is None:
            return 0.0
        key = first * _COUNTED + second
        place = int(np.searchsorted(self.keys, key))
        return float(self.counts[place]) if place < len(self.keys) and self.keys[place] == key else 0.0


def warm() -> None:
    """Load the dictionaries, which the first slip would otherwise wait for."""
    misspelt.warm()
    _pairs()


@scoped_cache(maxsize=8192)
def mended(text: str) -> str:
    """The text with its slips and text-speak read as words.

    >>> mended("wat is teh captial of austrlia")
    'what is the capital of australia'
    """
    return mended_with(text, ())


@scoped_cache(maxsize=4096)
def mended_with(text: str, known_as: tuple[tuple[str, str], ...]) -> str:
    """The same, where it is known what some words in lower case stand for; one that stands for itself stays."""
    if len(text) > LONGEST or not text.strip():
        return text
    known = misspelt.dictionary()
    words = bag_of(text)
    frequencies = misspelt.frequencies()
    if not (known_as or text_speak.is_chatty(text)) and not any(
        word not in known or word in SPOKEN or word in _CONFUSED or frequencies.get(word, _RARE) < _RARE
        for word in words
    ):
        return text
    held_out = held(text)
    if held_out is None:
        return text
    body, spans = held_out
    english = is_english(body, bag_of(body))
    if english is False or (english is None and 2 * sum(map(known.__contains__, words)) < len(words)):
        return text
    pieces, given = _WORD.split(text_speak.spelled_out(body)), dict(known_as)
    for at in range(1, len(pieces), 2):
        low = pieces[at].lower()
        guess = given.get(low) or _read(pieces, at)
        if guess is not None and guess != low:
            pieces[at] = guess.capitalize() if pieces[at][0].isupper() else guess
    return restored("".join(pieces), spans)


def _read(pieces: Sequence[str], at: int) -> str | None:
    """The word that is probably meant at this place, None where it stays."""
    word = pieces[at]
    low = word.lower()
    if pieces[at - 1][-1:] == "-" or pieces[at + 1][:1] == "-":
        return None
    if word != low:
        opens = (at == 1 and not pieces[0].strip()) or _SENTENCE.search(pieces[at - 1]) is not None
        if not opens or word[1:] != low[1:]:
            return _slip_of_name(low) if word[1:] == low[1:] else None
    if (said := SPOKEN.get(low)) is not None:
        return said
    before = pieces[at - 2].lower() if at > 1 and pieces[at - 1] == " " else ""
    after = pieces[at + 2].lower() if at + 2 < len(pieces) and pieces[at + 1] == " " else ""
    if (other := _CONFUSED.get(low)) is not None:
        clearly = _fit(other, before, after) - _fit(low, before, after) > _CLEARLY
        return other if clearly and _ABOUT_WORDS.isdisjoint(bag_of(" ".join(pieces))) else None
    if (usual := USUAL.get(low)) is not None:
        return usual
    if len(low) < _SHORTEST or not low.isascii() or "'" in low:
        return None
    return _guessed(low, before, after) or (misspelt.correction(low) if len(low) >= _FAR else None)


def _slip_of_name(low: str) -> str | None:
    """The word that a word with a capital, given without it, is a slip of beyond doubt; None for what may be a name."""
    right = misspelt.correction(low)
    return right if right is not None and misspelt.may_be_no_name(low, right) else None


def _meant(word: str) -> float:
    """The log-probability, on the safe side, that a word is meant as it stands; that of a name is 0."""
    frequencies, known = misspelt.frequencies(), misspelt.dictionary()
    if word in known and (word in _LISTED or frequencies.get(word, _RARE) >= _RARE):
        return 0.0
    counts = [frequencies.get(word, 0)]
    for ending in _ENDINGS:
        stem = word.removesuffix(ending)
        if stem != word and len(stem) > 2 + (ending in ("ed", "d", "er", "es")):
            forms = (stem, stem + "e", stem[:-1] if stem[-1] == stem[-2] else stem)
            if any(form in known and form not in frequencies for form in forms):
                return 0.0
            counts += [frequencies.get(form, 0) // _FORMS for form in forms]
    counts += [
        frequencies.get(word[len(prefix) :], 0) // _FORMS
        for prefix in _PREFIXES
        if word.startswith(prefix) and len(word) > len(prefix) + 4
    ]
    most = max(counts)
    strange = _STRANGE - _LONGER * max(0, len(word) - _FAR)
    return max(strange, math.log(most / _total()) + _MARGIN) if most else strange


def _guessed(word: str, before: str, after: str) -> str | None:
    """The likeliest word behind another, or the likeliest two, None where it is rather meant as it stands."""
    meant = _meant(word)
    if meant > _COMMON:
        return None
    if word.endswith("in") and (whole := word + "g") in misspelt.dictionary():
        return whole
    best, score = None, meant
    for term, slips in misspelt.candidates(word).items():
        likely = misspelt.slip_likeliness(word, term)
        if (likely < 2 and (slips > 1 or len(word) < _FAR) and term != word + "e") or (
            (term[0] != word[0] and term[:2] != word[1::-1]) or is_another_form(word, term)
        ):
            continue
        slip = _NO_END if term == word + "e" else _SLIP[likely] + _EASED * (not likely and len(word) >= _LONG)
        found = slip + _TWICE * (slips > 1) + _fit(term, before, after)
        if found > score:
            best, score = term, found
    for at in range(2, len(word) - 1):
        one, two = word[:at], word[at:]
        if (side := _pairs().often(one, two)) >= _TOGETHER:
            found = _RUN_ON + math.log(side / _total())
            if found > score:
                best, score = f"{one} {two}", found
    return best


def _fit(word: str, before: str, after: str) -> float:
    """The log-probability of a word between two others; "" is none."""
    frequencies = misspelt.frequencies()
    pairs, total = _pairs(), _total()
    alone = max(1, frequencies.get(word, 0)) / total
    first = frequencies.get(before, 0) if before else 0
    found = math.log(alone)
    if first:
        found = math.log((1 - _CONTEXT) * alone + _CONTEXT * min(1.0, pairs.often(before, word) / first))
    if after and (second := frequencies.get(after, 0)):
        follows = second / total
        behind = min(1.0, pairs.often(word, after) / max(1, frequencies.get(word, 0)))
        found += math.log((1 - _CONTEXT) * follows + _CONTEXT * behind) - math.log(follows)
    return found


@lru_cache(maxsize=1)
def _total() -> float:
    return float(sum(misspelt.frequencies().values()))


@lru_cache(maxsize=1)
def _pairs() -> _Pairs:
    numbers = {word: number for number, word in enumerate(islice(misspelt.frequencies(), _COUNTED))}
    path = files("symspellpy").joinpath("frequency_bigramdictionary_en_243_342.txt")
    cells = path.read_text(encoding="utf-8-sig").split()
    first, second = (
        np.fromiter(map(numbers.get, cells[at::3], repeat(-1)), np.int64, len(cells) // 3) for at in range(2)
    )
    counts = np.fromiter(map(int, cells[2::3]), np.float64, len(cells) // 3)
    known = (first >= 0) & (second >= 0)
    keys = (first * _COUNTED + second)[known]
    order = np.argsort(keys)
    return _Pairs(numbers, keys[order], counts[known][order].astype(np.float32))
