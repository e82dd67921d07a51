"""For or against: a question for yes or no whose answer turns where "safe" is "harmful" in the other.

"Is it OK to skip breakfast?" and "Is it bad to skip breakfast?" are about one thing, and a yes to one is a no to the
other. Reads words of approval and of harm, and who asks for leave. Parses no grammar. Invariant: a text that says both,
neither, or denies what it says takes no side.
"""

from __future__ import annotations

from semcache.request.text import READINGS, vocabulary
from semcache.request.text import read as read_text
from semcache.runtime.scoped_memo import scoped_cache

_FOR = vocabulary(
    "ok okay safe good healthy allowed legal worth fine beneficial permitted wise recommended advisable permissible"
    " harmless useful"
)
_AGAINST = vocabulary(
    "harmful unsafe bad unhealthy dangerous forbidden illegal prohibited wrong risky harm hurt damage toxic poisonous"
    " banned pointless useless waste"
)
_CLOSED = vocabulary("is are was were do does did can could may should would will has have am")
_LEAVE = vocabulary("can could may should")
_ASKERS = vocabulary("i we you one my our the a an")
_DENYING = vocabulary("not no never without nor neither cannot")
_OPENING = vocabulary("hi hey hello so and but please ok okay well")


@scoped_cache(maxsize=READINGS)
def side(text: str) -> int:
    """Return 1 for a question whose yes approves, -1 for one whose yes warns, 0 for any other text."""
    words = read_text(text)
    start = 0
    while start < len(words.words) and words.words[start] in _OPENING:
        start += 1
    said = words.words[start:]
    if len(said) < 3 or said[0] not in _CLOSED:
        return 0
    if not words.bag.isdisjoint(_DENYING) or any(word.endswith("n't") for word in said):
        return 0
    against = not words.bag.isdisjoint(_AGAINST)
    approves = not _FOR.isdisjoint(said) or (said[0] in _LEAVE and said[1] in _ASKERS)
    return approves - against


def compare(query: str, cached: str) -> str | None:
    """The finding where a yes to one question is a no to the other; None where it is not."""
    return "for / against" if side(query) * side(cached) < 0 else None
