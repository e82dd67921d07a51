"""The features of two texts: how alike a request and a cached prompt are, word by word.

Pure and cheap (some ten microseconds a pair); knows no neighbourhood and no findings of guards. Invariant: every number
is finite and bounded, for any two texts.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

from semcache.matching import content_words
from semcache.matching.content_words import ContentWords, stems_of, trigrams_of
from semcache.matching.guards.order import settled
from semcache.matching.light_edits import lightly_edited
from semcache.matching.retyped import is_retyped
from semcache.request.wording.foreign import unread
from semcache.request.wording.mended_together import mended_together
from semcache.runtime.scoped_memo import scoped_cache

AGAIN = 0.8  # score that embedders give a text typed again, whatever they make of case and marks
_PAIRS = 256  # remembered: of a neighbour that is not served, a decision and a label compare the same
_SPELLABLE = 4  # letters; in shorter words a slip cannot be told from another word
_LIKE = 0.6  # share of the letter pairs in common by which two words are one but for their spelling


class TextFeatures(NamedTuple):
    """The features of a candidate that compare its text with the request's; flags are 0 or 1."""

    overlap: float  # Jaccard index of the content words
    spelling: float  # Dice index of the letter trigrams
    missing: float  # ln(1 + content words of the request that nothing in the cached prompt resembles)
    surplus: float  # ln(1 + content words of the cached prompt that nothing in the request resembles)
    misspelt: float  # ln(1 + content words that only resemble one of the other prompt)
    same_words: float  # the same content words, but for their spelling
    verbatim: float  # the same text typed again, and near; or lightly edited, in a language that models do not read
    reordered: float  # the same content words in another order, not just moved phrases; or a slip in one of them
    length: float  # |ln(words of the request / words of the cached prompt)|, at most 3
    brevity: float  # 1 / content words of the shorter prompt
    asks_else: float  # another question word (who, when, why, ...)
    figures: float  # a digit in either


def compare(text: str, cached_text: str, score: float, *, mending: bool = True) -> TextFeatures:
    """The features of these two texts, whose score is given. Without `mending`, typing errors stay."""
    return _compared(text, cached_text, score, mending)


@scoped_cache(maxsize=_PAIRS)
def _compared(text: str, cached_text: str, score: float, mending: bool) -> TextFeatures:
    asked, cached = mended_together(text, cached_text) if mending else (text, cached_text)
    one, two = content_words.read(asked), content_words.read(cached)
    shared = one.bag & two.bag
    union = len(one.bag) + len(two.bag) - len(shared)
    unlike = _unmatched(one.bag - shared, two.bag - shared)
    same = unlike.missing == unlike.surplus == 0 and union > 0
    trigrams = len(one.trigrams) + len(two.trigrams)
    again = score >= AGAIN and _is_typed_again(text, cached_text)
    return TextFeatures(
        overlap=len(shared) / union if union else 0.0,
        spelling=2 * len(trigrams_of(asked).intersection(two.trigrams)) / trigrams if trigrams else 0.0,
        missing=math.log1p(unlike.missing),
        surplus=math.log1p(unlike.surplus),
        misspelt=math.log1p(unlike.misspelt),
        same_words=float(same),
        verbatim=float(again),
        reordered=float(same and not again and _is_reordered(asked, cached, one, two)),
        length=min(3.0, abs(math.log((one.words or 1) / (two.words or 1)))),
        brevity=1.0 / (min(len(one.stems), len(two.stems)) or 1),
        asks_else=float(one.asks != two.asks),
        figures=float(one.digits or two.digits),
    )


def _is_typed_again(one: str, two: str) -> bool:
    return is_retyped(one, two) or (unread(one, two) and lightly_edited(one, two))


class _Unmatched(NamedTuple):
    """Words of the request and of the cached prompt that nothing on the other side resembles, and pairs that do."""

    missing: int
    surplus: int
    misspelt: int


def _unmatched(one: frozenset[str], two: frozenset[str]) -> _Unmatched:
    """Pair words that have no equal, each with the first on the other side that resembles it."""
    if not one or not two:
        return _Unmatched(len(one), len(two), 0)
    left: dict[str, list[str]] = {}
    for word in sorted(two):
        if len(word) >= _SPELLABLE:
            left.setdefault(word[0], []).append(word)
    alike = 0
    for word in sorted(one) if left else ():
        rivals = left.get(word[0]) if len(word) >= _SPELLABLE else None
        if rivals and (like := next((other for other in rivals if _resembles(word, other)), None)) is not None:
            rivals.remove(like)
            alike += 1
    return _Unmatched(len(one) - alike, len(two) - alike, alike)


@scoped_cache(maxsize=8192)
def _resembles(one: str, two: str) -> bool:
    """Return True if two words with one initial are the same but for their spelling: most letter pairs in common."""
    first, second = set(pairwise(one)), set(pairwise(two))
    return 2 * len(first & second) >= _LIKE * (len(first) + len(second))


def _is_reordered(query: str, cached: str, one: ContentWords, two: ContentWords) -> bool:
    """Return True if two texts of the same content words may say them in another order, with roles exchanged."""
    passive = one.by != two.by and not (two if one.by else one).being
    if one.stems == two.stems and not passive:
        return False
    left, right = _settled_stems(query), _settled_stems(cached)
    return len(left) != len(right) or not all(
        a == b or _are_one_verb(a, b, one.inflected, two.inflected) for a, b in zip(left, right, strict=True)
    )


def _are_one_verb(one: str, two: str, ours: frozenset[str], theirs: frozenset[str]) -> bool:
    """Return True if two stems are of one verb: "caus" and "cause", "plann" and "plan", "carri" and "carry"."""
    if len(one) > len(two):
        one, two, ours, theirs = two, one, theirs, ours
    if len(one) == len(two):
        return one[:-1] == two[:-1] and {one[-1], two[-1]} == {"i", "y"}
    if two[:-1] != one:
        return False
    return (two[-1] in "ey" and one in ours) or (two[-1] == one[-1] and two in theirs)


@scoped_cache(maxsize=4096)
def _settled_stems(text: str) -> tuple[str, ...]:
    return stems_of(settled(text))
