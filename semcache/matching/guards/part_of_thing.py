"""A part of a thing, and the whole thing: "when was the roof of the church built" and "when was the church built".

Compares the words of two questions. Parses no grammar. Invariant: two texts are told apart only if one of them says
"the ... of" more than the other and nothing else, and what a thing is, is asked of neither.
"""

from __future__ import annotations

from semcache.matching.guards.tenses import DETERMINERS
from semcache.request.text import LIGHT, vocabulary
from semcache.request.text import read as read_text

_ASKING = vocabulary(
    "who whom whose when where how why is are was were do does did can could should will would has have"
)
# Of which a thing is the whole: "the city of Rome", "the process of osmosis", "some of the staff".
_EMPTY = vocabulary(
    """
    city town village state country county kingdom republic province island river lake month year day season game
    sport art act use process practice concept idea topic subject field language religion name names title word term
    kind kinds type types sort sorts form forms piece pieces bit lot lots number amount case cases rest whole
    majority half some all most any each every many few one two both none part parts much company group band set
    theory study science phenomenon battle siege event status version symptom symptoms content contents
    pair series instance example examples definition meaning condition disease
    """
)
_MOST = 3  # words with "of" that name a part


def compare(query: str, cached: str) -> str | None:
    """The part that one text asks about where the other asks about the whole; None if neither does."""
    one, two = _words(query), _words(cached)
    short, long = sorted((one, two), key=len)
    more = len(long) - len(short)
    if not 2 <= more <= _MOST or "of" not in long or not short or short[0] not in _ASKING:
        return None
    start = next((place for place, pair in enumerate(zip(short, long, strict=False)) if pair[0] != pair[1]), len(short))
    part = long[start : start + more]
    if part[-1] != "of" or short[start:] != long[start + more :] or start == len(short):
        return None
    if any(word in LIGHT or word in _EMPTY or any(map(str.isdigit, word)) for word in part[:-1]):
        return None
    return f"{part[-2]} of the whole"


def _words(text: str) -> list[str]:
    return [word for word in read_text(text).words if word not in DETERMINERS]
