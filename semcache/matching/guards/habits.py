"""Past habits: "someone who used to smoke" against "someone who smokes", in whatever else is said.

Reads "used to" behind a subject, and the present of the same verb. Parses no grammar. Invariant: what a thing is used
to do, and what somebody is used to, is no habit; a text that says in any way that the thing is over does not conflict.
"""

from __future__ import annotations

import re

from semcache.matching.guards.lemmas import is_past, lemma_of
from semcache.request.text import SplitText, differing, vocabulary
from semcache.request.text import read as read_text

_BEING = r"(?:is|are|was|were|be|been|being|am|get|gets|got|getting)"
_USED = re.compile(
    rf"(?<!\w)(?:(?<!is )(?<!are )(?<!was )(?<!were )(?:i|we|you|they|he|she|people|everyone|who|that)"
    rf"|which(?! {_BEING}\b)(?: \w+){{1,2}}) (?:still |also |always )?used to"
    r" (?!(?:be|hav|do|liv|work)ing\b)(?P<verb>[a-z]+)\b"
)
_DID_USE = re.compile(r"\bdid(?:n't)? (?:\w+ ){1,4}used? to (?P<verb>[a-z]+)\b")
_SAID = re.compile(r"\bused? to\b")
# By these a text says in other words that the thing is over, or was.
_OVER = vocabulary(
    "did didn't was were wasn't weren't had been ex former formerly previously previous earlier once ago before quit"
    " stopped gave anymore longer past originally history historically then since ancient old back again"
)
_IS = vocabulary("is are am")
_MOST = 6  # content words by which the texts may differ


def compare(query: str, cached: str) -> str | None:
    """The verb of a habit that is over in one text alone; None where none is."""
    one, two = read_text(query), read_text(cached)
    for past, other in ((one, two), (two, one)):
        verb = _habit(past)
        if not verb or _SAID.search(other.lower) is not None:
            continue
        if other.bag.isdisjoint(_OVER) and _present(verb, other) and len(differing(query, cached)) <= _MOST:
            return f"used to {verb} / {verb}"
    return None


def _habit(words: SplitText) -> str:
    """The verb of which a text says that somebody used to, "" without one."""
    if "to" not in words.bag or ("used" not in words.bag and "use" not in words.bag):
        return ""
    found = _USED.search(words.lower) or _DID_USE.search(words.lower)
    return lemma_of(found["verb"]) if found is not None else ""


def _present(verb: str, words: SplitText) -> bool:
    """Return True if a text has the verb, and not in the past."""
    if verb == "be":
        return not words.bag.isdisjoint(_IS)
    return any(lemma_of(word) == verb for word in words.words) and not any(
        is_past(word) and lemma_of(word) != word for word in words.words
    )
