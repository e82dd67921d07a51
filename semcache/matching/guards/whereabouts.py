"""Whereabouts: "near the zoo" is not "in the zoo", whatever else of the wording differs.

Reads the prepositions of place and the things behind them. Parses no grammar and knows no map. Invariant: texts
conflict only by prepositions before the same thing that exclude each other there, and only where little else differs.
"""

from __future__ import annotations

import re

from semcache.request.text import LIGHT, differing, lexicon, stem, vocabulary
from semcache.request.text import read as read_text
from semcache.runtime.scoped_memo import scoped_cache

_TWO_WORDS = re.compile(
    r"\b(?:(next|close) to|(away|far) from|(outside|inside) of)\b"
    r"|\b(by)(?= (?:the|a|an) (?:sea|lake|river|ocean|pool|water|canal|shore|fire|road|window|door)\b)"
)
_ONE_WORD = {"next": "near", "close": "near", "away": "awayfrom", "far": "awayfrom", "outside": "outside", "by": "near"}
_PLACES = lexicon(
    "in=inside,within near=beside,alongside under=beneath,underneath behind along across awayfrom on over=above since"
    " around=round,surrounding through"
)
_APART = frozenset(
    map(
        frozenset,
        (
            *(("in", "near"), ("in", "behind"), ("in", "along"), ("in", "awayfrom"), ("in", "since")),
            *(("near", "under"), ("near", "over"), ("near", "awayfrom"), ("near", "on")),
            *(("under", "behind"), ("across", "along"), ("on", "behind"), ("over", "behind")),
            *(("around", side) for side in ("in", "on", "under", "over", "behind", "through")),
        ),
    )
)
# Near these is in them, for all that is meant.
_LOOSE = vocabulary(
    "area areas location vicinity neighborhood neighbourhood region future town place end middle center centre term"
    " me us you here there home work phone internet web line time way order case day week month year"
)
# Around these is in them too, or on them.
_ROUNDABOUT = vocabulary(
    "world globe earth country house office city campus school village park clock corner mall museum store shop table"
    " christmas easter thanksgiving noon midnight january february march april may june july august september october"
    " november december spring summer autumn winter topic subject issue question use web network state states europe"
)
# Who goes around a place goes about in it, and what is said around a thing is said of it.
_ABOUT = vocabulary(
    "travel travelling traveling move moving trip tour tours drive driving walk walking wander stroll bike biking cycle"
    " cycling hike hiking explore look looking shop shopping all and law laws rule rules issue issues concern concerns"
    " question questions problem problems debate controversy discussion regulation regulations stigma policy policies"
    " ethics myth myths confusion hype conversation conversations getting get go going went been book story stories"
    " do turn way show showed carry carrying roads centred centered revolve revolves based built year"
)
_SKIPPED = vocabulary("the a an my your our his her their its this that these those")
_LOOSE_AROUND = _LOOSE | _ROUNDABOUT
_DETERMINERS = _SKIPPED | vocabulary("very too so no")
_REACH = 3  # words behind the preposition
_MOST = 3  # content words by which the texts may differ, prepositions aside


@scoped_cache(maxsize=1024)
def _placed(text: str) -> dict[str, frozenset[str]]:
    """The prepositions of place before each thing."""
    lower = _TWO_WORDS.sub(
        lambda match: _ONE_WORD.get(match[1] or match[2] or match[3] or match[4], "in"), read_text(text).lower
    )
    words = re.findall(r"[a-z0-9'-]+", lower)
    found: dict[str, set[str]] = {}
    for place, word in enumerate(words):
        where = _PLACES.get(word)
        if where is None or (place and words[place - 1] in _DETERMINERS):
            continue
        if where == "around" and place and words[place - 1] in _ABOUT:
            continue
        for thing in words[place + 1 : place + 1 + _REACH]:
            if thing in _SKIPPED:
                continue
            if thing in LIGHT or thing in _PLACES or not thing.isalpha():
                break
            if thing not in (_LOOSE if where != "around" else _LOOSE_AROUND):
                found.setdefault(stem(thing), set()).add(where)
    return {thing: frozenset(where) for thing, where in found.items()}


def compare(query: str, cached: str) -> str | None:
    """The places of one thing that exclude each other, "in / near zoo"; None where there are none."""
    one, two = read_text(query).bag, read_text(cached).bag
    if one == two or (one.isdisjoint(_PLACES) and two.isdisjoint(_PLACES)):
        return None
    ours, theirs = _placed(query), _placed(cached)
    for thing, where in ours.items():
        there = theirs.get(thing, where)
        if where.isdisjoint(there) and any(frozenset((a, b)) in _APART for a in where for b in there):
            others = differing(query, cached) - _PLACES.keys() - _ONE_WORD.keys()
            return f"{' '.join(sorted(where))} / {' '.join(sorted(there))} {thing}" if len(others) <= _MOST else None
    return None
