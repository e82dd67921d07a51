"""Modality: what is required, enough, recommended, allowed or likely, and what must not be done or need not be.

"Is a visa required?" and "Is a visa enough?" are about one thing and have other answers. Reads words of modality by
their kind. Parses no grammar. Invariant: texts conflict only where each has one kind alone and little else differs;
what "how much is enough" asks is what "how much is required" asks.
"""

from __future__ import annotations

import re

from semcache.matching.guards.lemmas import is_participle
from semcache.request.text import differing, lexicon, vocabulary
from semcache.request.text import read as read_text
from semcache.runtime.scoped_memo import scoped_cache

_KINDS = lexicon(
    "enough=sufficient,suffice,suffices,adequate required=needed,necessary,mandatory,compulsory,obligatory"
    " recommended=advisable,advised optional=voluntary allowed=permitted,legal,lawful likely=probable possible"
)
_FORBIDDING = re.compile(
    r"\b(?:must|may|should|shall) (?:not|never)\b|\b(?:mustn't|mustnt|shouldn't|shouldnt|shan't|forbidden|prohibited)\b"
    r"|\b(?:not|never|n't|isn't|aren't|wasn't) (?:allowed|permitted)\b"
)
_SPARING = re.compile(
    r"\bneed not\b|\bneedn'?t\b|\b(?:do|does|did) not (?:have|need) to\b|\b(?:don|doesn|didn)'?t (?:have|need) to\b"
    r"|\b(?:not|isn't|aren't|wasn't) (?:required|obliged|obligated|necessary|mandatory)\b"
)
_MAY = re.compile(r"\b(?:can|may|could) (?:i|we|my|our)\b")
_OUGHT = re.compile(r"\bshould (?:i|we|my|our)\b")
_OBLIGED = re.compile(r"\b(?:do|does|will) \w+ (?:need|have to)\b")
_APART = frozenset(map(frozenset, (("required", "recommended"), ("required", "optional"), ("forbidden", "spared"))))
# Of a yes or no only: "which papers are enough" are those that are required.
_APART_IF_CLOSED = frozenset(
    map(
        frozenset,
        (("enough", "required"), ("enough", "recommended"), ("allowed", "required"), ("likely", "possible")),
    )
)
_ASKING = vocabulary("how what which who whom whose when where why what's who's how's where's whats hows")
_DENYING = vocabulary("not no never without cannot nor neither none nothing")
_SHOULD_HAVE = re.compile(r"\bshould(?:n't| not)? (?:[\w']+ ){0,3}?have (?P<done>[\w']+)")
_CUES = frozenset(_KINDS) | vocabulary("must may should shall need needn't neednt can could have")
_CUES |= vocabulary(
    "mustn't mustnt shouldn't shouldnt shan't forbidden prohibited don't dont doesn't doesnt didn't didnt"
)
_OTHERS = 3  # content words by which texts may differ, words of modality aside


@scoped_cache(maxsize=1024)
def _kinds(text: str) -> frozenset[str]:
    words = read_text(text)
    if words.bag.isdisjoint(_CUES):
        return frozenset()
    lower = words.lower.replace("\u2019", "'")
    if _FORBIDDING.search(lower) is not None:
        return frozenset(("forbidden",)) if _SPARING.search(lower) is None else frozenset()
    if _SPARING.search(lower) is not None:
        return frozenset(("spared",))
    found = {_KINDS[word] for word in words.bag & _KINDS.keys()}
    if not _closed(words.bag):
        return frozenset(found)
    if _denied(words.bag):
        return frozenset()
    if not found:
        found = {kind for kind, pattern in (("can", _MAY), ("should", _OUGHT)) if pattern.search(lower) is not None}
    if _OBLIGED.search(lower) is not None:
        found.add("required")
    return frozenset(found)


def compare(query: str, cached: str) -> str | None:
    """The two kinds of modality by which texts about one thing differ; None where they do not."""
    if _regrets(query) != _regrets(cached) and "should" in read_text(query).bag & read_text(cached).bag:
        return "should / should have" if len(differing(query, cached)) <= _OTHERS + 1 else None
    ours, theirs = _kinds(query), _kinds(cached)
    if len(ours) != 1 or len(theirs) != 1 or ours == theirs:
        return None
    pair = ours | theirs
    closed = _closed(read_text(query).bag) and _closed(read_text(cached).bag)
    if pair not in _APART and not (closed and (pair in _APART_IF_CLOSED or pair == {"can", "should"})):
        return None
    return " / ".join(sorted(pair)) if len(differing(query, cached) - _KINDS.keys()) <= _OTHERS else None


def _regrets(text: str) -> bool:
    """Return True for "should have bought", which asks about what is past."""
    words = read_text(text)
    if "should" not in words.bag or "have" not in words.bag:
        return False
    found = _SHOULD_HAVE.search(words.lower)
    return found is not None and is_participle(found["done"])


def _closed(bag: frozenset[str]) -> bool:
    """Return True for a text that can only be answered by yes or no, if it is a question."""
    return bag.isdisjoint(_ASKING)


def _denied(bag: frozenset[str]) -> bool:
    return not bag.isdisjoint(_DENYING) or any(word.endswith("n't") for word in bag)
