"""Gerunds: "stop smoking" ends it, "stop to smoke" begins it.

Knows the verbs behind which "to" and "-ing" say different things. Invariant: texts are told apart only where both say
the same of one such verb, one with "to" and the other with "-ing".
"""

from __future__ import annotations

from typing import NamedTuple

from semcache.matching.guards.lemmas import lemma_of
from semcache.request.text import READINGS, vocabulary
from semcache.request.text import read as read_text
from semcache.runtime.scoped_memo import scoped_cache

_VERBS = vocabulary("stop remember forget regret mean")
# Machines that "stopped to work" stopped working.
_WORKING = vocabulary("work respond load function charge ring print run start play open sync update connect")


class _Complement(NamedTuple):
    """A verb such as "stop" and the deed behind it; `gerund` is False for "to"."""

    verb: str
    deed: str
    gerund: bool


def compare(query: str, cached: str) -> str | None:
    """The verb that one text says with "to" and the other with "-ing"; None without one."""
    ours, theirs = _complements(query), _complements(cached)
    for verb, deed, gerund in ours:
        if (verb, deed, not gerund) in theirs and (verb, deed, gerund) not in theirs:
            return f"{verb} to {deed} / {verb} doing so"
    return None


@scoped_cache(maxsize=READINGS)
def _complements(text: str) -> frozenset[_Complement]:
    words = read_text(text).words
    found = []
    for place, word in enumerate(words[:-1]):
        verb = lemma_of(word)
        if word == "on" and place and lemma_of(words[place - 1]) == "go":
            verb = "go on"
        elif verb not in _VERBS:
            continue
        behind = words[place + 1]
        if behind == "to" and place + 2 < len(words):
            said = _Complement(verb, words[place + 2], gerund=False)
        elif behind.endswith("ing"):
            said = _Complement(verb, lemma_of(behind), gerund=True)
        else:
            continue
        if verb != "stop" or said.deed not in _WORKING:
            found.append(said)
    return frozenset(found)
