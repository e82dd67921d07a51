"""Corrections of words in a text that look misspelt, and which of them are left alone as names or as asked about.

Invariant: the one word that a text asks about is corrected only where the slip is beyond doubt: "what is a quoll" is no
question about a quill.
"""

from __future__ import annotations

import re

from semcache.request.text import LIGHT, vocabulary
from semcache.request.wording import misspelt
from semcache.request.wording.slips import USUAL

_SENTENCE = re.compile(r"[.?!:]\"?\s+$|\n\s*$")
# Words beside which a text may ask about one more word and nothing else.
_ASKING = LIGHT | vocabulary("""
    define definition meaning mean means explain describe kind kinds type types called does do much many old big long
    made pronounce example examples picture pictures wikipedia recipe buy eat cook play make use look looks live lives
    find difference between work works best good hey guys team everyone quick question
    """)
_SURE = 6  # letters of a word that is hardly a rare word that is meant as it stands
_DOUBTLESS = 4  # likeliness of a slip, such as letters swapped or doubled, from which a word is hardly another one


def slips_in(pieces: list[str], ats: list[int]) -> dict[int, str]:
    """The corrections of words that look misspelt, by where they stand."""
    slips: dict[int, str] = {}
    known = misspelt.dictionary()
    for at in ats:
        if len(pieces[at]) < 3 or ((word := pieces[at].lower()) in known and word not in USUAL):
            continue
        if (right := misspelt.correction(word)) is not None:
            slips[at] = right
    if len(slips) == 1:
        ((at, right),) = slips.items()
        if _may_be_meant(pieces[at].lower(), right) and _is_asked_about(pieces, at):
            return {}
    return slips


def _may_be_meant(word: str, right: str) -> bool:
    """Return True if a word that looks like a slip may be a rare word that is meant as it stands."""
    if len(word) >= _SURE or word in USUAL or right in misspelt.PLACES:
        return False
    return misspelt.slip_likeliness(word, right) < _DOUBTLESS


def _is_asked_about(pieces: list[str], at: int) -> bool:
    """Return True if nothing stands beside this word but what asks about it."""
    return all(word.lower() in _ASKING for place, word in enumerate(pieces[1::2]) if 2 * place + 1 != at)


def withheld(pieces: list[str], slips: dict[int, str]) -> frozenset[int]:
    """Where words stand that look misspelt but may be names, and the capitals beside them, which tell so."""
    kept: set[int] = set()
    for at, right in slips.items():
        word = pieces[at]
        if word != word.upper() and misspelt.may_be_no_name(word.lower(), right):
            continue
        opens = (at == 1 or _SENTENCE.search(pieces[at - 1]) is not None) and word[1:] == word[1:].lower()
        named = word != word.lower() and not opens
        beside = [
            other
            for other in (at - 2, at + 2)
            if 1 < other < len(pieces)
            and pieces[(at + other) // 2] == " "
            and pieces[other][0].isupper()
            and pieces[other] != "I"
        ]
        if named or beside:
            kept.update((at, *beside))
    return frozenset(kept)
