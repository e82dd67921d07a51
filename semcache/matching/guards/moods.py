"""Moods: what would happen, what happened, and what should, of one thing.

"Would a higher fee reduce demand?" is not "Did a higher fee reduce demand?". Reads the first auxiliary of a question
and the word behind it. Parses no grammar. Invariant: a courtesy ("would you", "has anyone") has no mood, and texts
conflict only where hardly a word else differs.
"""

from __future__ import annotations

from typing import NamedTuple

from semcache.matching.guards.lemmas import is_past, lemma_of
from semcache.matching.guards.tenses import asked_directly
from semcache.request.text import LIGHT, READINGS, lexicon, vocabulary
from semcache.request.text import read as read_text
from semcache.runtime.scoped_memo import scoped_cache

_AUXILIARIES = lexicon(
    "fact=did,was,were,has,have,didn't,wasn't,weren't,hasn't,haven't would=wouldn't should=must,shouldn't,mustn't,shall"
    " can=could,may,might,can't,cannot,couldn't will=won't present=do,does,is,are,don't,doesn't,isn't,aren't"
)
_APART = frozenset(map(frozenset, (("would", "fact"), ("would", "should"), ("should", "fact"), ("will", "fact"))))
# Of a question for yes or no, and of a third person only: "do I tip?" is "should I tip?", and "when do babies crawl?"
# is "when should they?".
_SHOULD_OR_DOES = frozenset(("should", "present"))
_ASKING = vocabulary("what which who when where how")  # "why would it" is "why does it"
_SUBJECTS = vocabulary("what who")
_ASKER = vocabulary("i we my our you one")
_POLITE = vocabulary("you u ya anyone anybody someone somebody there")
_WISHING = vocabulary("like rather mind prefer love want cause make")
# With these the present says what should be: "does the tenant have to".
_OBLIGING = vocabulary(
    "have has need needs required supposed obliged obligated expected necessary mandatory recommended advisable better"
    " good best right wise ok okay"
)
_CLEAVING = vocabulary("that who which")  # "is it the owner who should"
_REACH = 6  # words of a question before its auxiliary
_OTHERS = 2  # words by which texts may differ, forms and light words aside
_CUES = frozenset(_AUXILIARIES)


class Mood(NamedTuple):
    """The `kind` of a question's first auxiliary, "" for none; `closed` is that it can be answered by yes or no."""

    kind: str
    closed: bool
    asker: bool


_NONE = Mood("", closed=False, asker=False)


@scoped_cache(maxsize=READINGS)
def _mood(text: str) -> Mood:
    words = read_text(asked_directly(text)).words
    if not words:
        return _NONE
    closed = words[0] in _AUXILIARIES
    if not closed and words[0] not in _ASKING:
        return _NONE
    place = next((place for place, word in enumerate(words[:_REACH]) if word in _AUXILIARIES), -1)
    if place < 0:
        happened = words[0] in _SUBJECTS and len(words) > 1 and is_past(words[1])
        return Mood("fact", closed=False, asker=False) if happened else _NONE
    kind = _AUXILIARIES[words[place]]
    behind = words[place + 1 : place + 2]
    if not behind or not _POLITE.isdisjoint(behind) or (kind == "would" and not _WISHING.isdisjoint(words)):
        return _NONE
    if (behind == ("it",) and not _CLEAVING.isdisjoint(words)) or (
        kind == "present" and not _OBLIGING.isdisjoint(words)
    ):
        return _NONE
    return Mood(kind, closed, not _ASKER.isdisjoint(behind))


def compare(query: str, cached: str) -> str | None:
    """The two moods of questions about one thing; None where they are of one, or where more differs."""
    one, two = read_text(query).bag, read_text(cached).bag
    if one & _CUES == two & _CUES:
        return None
    ours, theirs = _mood(query), _mood(cached)
    if not ours.kind or not theirs.kind or ours.kind == theirs.kind or ours.closed != theirs.closed:
        return None
    pair = frozenset((ours.kind, theirs.kind))
    if pair == _SHOULD_OR_DOES:
        if not ours.closed or ours.asker or theirs.asker:
            return None
    elif pair not in _APART:
        return None
    left, right = _lemmas(one - two), _lemmas(two - one)
    return " / ".join(sorted(pair)) if len(left ^ right) <= (0 if "present" in pair else _OTHERS) else None


def _lemmas(words: frozenset[str]) -> set[str]:
    """The lemmas of words, light ones and contractions aside."""
    return {lemma_of(word) for word in words if word not in LIGHT and "'" not in word}
