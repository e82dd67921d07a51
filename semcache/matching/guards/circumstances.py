"""Circumstances of a deed: by whom or with whom, for what or while what, before another deed or instead of it.

"Files shared by me" are not those "shared with me", and who is fired "while on leave" is not fired "for taking leave".
Reads a preposition between a deed and what stands behind it. Parses no grammar. Invariant: texts conflict only by
prepositions at one deed that both name, and only where little else differs.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from semcache.matching.guards.lemmas import is_participle, lemma_of
from semcache.request.text import READINGS, differing, vocabulary
from semcache.request.text import read as read_text
from semcache.runtime.scoped_memo import scoped_cache

_WHOM = re.compile(r"\b([a-z]{3,}) (by|with|for|about|to) (me|us|him|her|them|others|someone)\b")
# Who does it is none of those it is done with, to or for.
_BY = "by"
_PUNISHED = re.compile(
    r"\b(fired|sacked|dismissed|suspended|expelled|arrested|fined|jailed|sued|punished|terminated|banned|evicted)\b"
    r"[^.?!]{0,20}? (for|because of|while|when|during) "
)
_CAUSES = vocabulary("for because")
_DEEDS = re.compile(r"\b(instead of|rather than|before|after|while) (?:i |you |we |my |the )?(?:re-)?([a-z]{3,})\b")
_INSTEAD = frozenset(("instead of", "rather than"))
_CUES = vocabulary("by instead rather fired sacked dismissed suspended expelled arrested fined jailed sued punished")
_CUES |= vocabulary("terminated banned evicted")
_MOST = 4  # content words by which the texts may differ


class _Ties(NamedTuple):
    """How a text ties persons, reasons and other deeds to its deeds, each by the lemma of the deed."""

    whom: dict[tuple[str, str], str]
    punished: dict[str, bool]
    deeds: dict[str, bool]


@scoped_cache(maxsize=READINGS)
def _ties(text: str) -> _Ties:
    lower = read_text(text).lower
    whom = {(lemma_of(match[1]), match[3]): match[2] for match in _WHOM.finditer(lower) if is_participle(match[1])}
    punished = {match[1]: match[2].partition(" ")[0] in _CAUSES for match in _PUNISHED.finditer(lower)}
    deeds = {lemma_of(match[2]): match[1] in _INSTEAD for match in _DEEDS.finditer(lower)}
    return _Ties(whom, punished, deeds)


def compare(query: str, cached: str) -> str | None:
    """The two ways in which one deed is tied to a person, a reason or another deed; None where there are none."""
    if read_text(query).bag.isdisjoint(_CUES) and read_text(cached).bag.isdisjoint(_CUES):
        return None
    one, two = _ties(query), _ties(cached)
    found = _told_apart(one, two)
    return found if found is not None and len(differing(query, cached)) <= _MOST else None


def _told_apart(one: _Ties, two: _Ties) -> str | None:
    for deed, how in one.whom.items():
        other = two.whom.get(deed, how)
        if other != how and _BY in (how, other):
            return f"{how} / {other} {deed[1]}"
    for punished, cause in one.punished.items():
        if two.punished.get(punished, cause) != cause:
            return f"{punished} for / {punished} while"
    for verb, instead in one.deeds.items():
        if two.deeds.get(verb, instead) != instead:
            return f"instead of it / at another time: {verb}"
    return None
