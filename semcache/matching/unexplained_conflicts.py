"""Clear conflicts between two prompts of equal wording that no edit of the wording explains.

"5 000" is not another number than "5,000". A guard reads both prompts as they were written. If it finds a clear
conflict, it reads them again after the edits that only write the same thing in another way, and after no other edit.
Invariant: a finding that remains is a conflict, so a difference that no such edit removes keeps its veto; frames and
order never explain a number or a name.
"""

from __future__ import annotations

from collections.abc import Iterable

from semcache.matching import guards
from semcache.request.text import LIGHT, read
from semcache.request.wording import Edit, canonical
from semcache.types import Conflict

_LETTERS = frozenset({Edit.CHARACTERS, Edit.CONTRACTION, Edit.SPELLING})
_WRITTEN = _LETTERS | {Edit.NUMBER, Edit.ABBREVIATION, Edit.TYPO}
_FRAMED = _WRITTEN | {Edit.FILLER, Edit.FRAME}
_EXPLAINING: dict[str, frozenset[Edit]] = {
    "numbers": _LETTERS | {Edit.NUMBER, Edit.ABBREVIATION, Edit.FILLER},
    "dates": _LETTERS | {Edit.NUMBER, Edit.ABBREVIATION, Edit.TYPO, Edit.FILLER},
    "entities": _WRITTEN | {Edit.FILLER},
    # A sign that is left out as a filler may have steered the answer: an emoji at the end is no greeting to a model.
    "characters": _LETTERS | {Edit.NUMBER, Edit.ABBREVIATION},
    "code": _WRITTEN,
    "direction": _WRITTEN,
    "quantifiers": _WRITTEN | {Edit.FILLER},
    "negation": _WRITTEN | {Edit.FILLER},
    "question": _FRAMED,
    "form": _FRAMED,
    "ellipsis": _FRAMED,
    "scope": _FRAMED,
}


def unexplained(asked: str, cached: str, names: Iterable[str]) -> tuple[Conflict, ...]:
    """The clear conflicts between two prompts of equal wording that no edit explains."""
    found = guards.vetoes(asked, cached, names)
    return tuple([conflict for conflict in found if not _is_explained(conflict.guard, asked, cached)])


def _is_explained(guard: str, asked: str, cached: str) -> bool:
    kinds = _EXPLAINING.get(guard)
    if kinds is None:
        return False
    one, two = canonical(asked, kinds).text, canonical(cached, kinds).text
    if one == asked and two == cached:
        return False
    asked_of = (guard,) if guard in guards.GUARDS else ()
    if any(conflict.guard == guard for conflict in guards.vetoes(one, two, asked_of)):
        return False
    # Names lose their capitals by the edits, and with them what a guard knows them by.
    left = frozenset(read(one).words) ^ frozenset(read(two).words)
    return left.isdisjoint(_names(asked) | _names(cached) | _numbers(one) | _numbers(two))


def _names(text: str) -> frozenset[str]:
    """The words of a text that are written with a capital behind its first word, in lower case."""
    words = read(text)
    written = zip(words.tokens[1:], words.words[1:], strict=True)
    return frozenset([word for token, word in written if token != word and word not in LIGHT])


def _numbers(text: str) -> frozenset[str]:
    return frozenset([word for word in read(text).words if any(map(str.isdigit, word))])
