"""Qualified values: what is said beside a value, or in the place of one, and makes it another or more than a value.

"Give jsmith read access" says who and what; "Give jsmith temporary read access", "Give them all read access" and "Give
jsmith more access" have words in the same places that no tool takes for a user or a level. Reads words in lower case,
as those of titles and names qualify nothing; knows no task and no plan. Pure.
Invariant: one word that compares, points and owns nothing is never qualified.
"""

from __future__ import annotations

import re

from semcache.agents.slots import COUNTS
from semcache.config.calendar_names import WEEKDAYS
from semcache.request.text import vocabulary
from semcache.request.wording.misspelt import dictionary, frequencies

_CHOOSING = vocabulary(
    """
    other another same next last previous every each all any some no both either most whole entire rest remaining
    current usual default whichever whatever whoever
    """
)
_POINTING = vocabulary(
    """
    i me my mine myself you your yours yourself he him his himself she her hers herself it its itself we us our ours
    ourselves they them their theirs themselves this that these those oneself
    """
)
_COMPARING = vocabulary(
    "more less fewer higher lower bigger smaller larger greater lesser longer shorter earlier later not"
)
_FIRST = _CHOOSING | _COMPARING
_ADDING = vocabulary("and or but")
_JOINTS = _ADDING | vocabulary(" with without by as for to via per in at on near from into")
# What stands behind a value and says how, where or when.
_BEHIND = vocabulary(
    """
    again alone anyway apart back backwards daily down downstairs elsewhere everywhere first forever forward here home
    hourly indoors inside instead monthly nightly offline once online only outdoors outside overnight permanent
    quarterly remotely something somewhere temporary there thereafter together too twice up upstairs weekly yearly
    """
)
_WITHIN = re.compile(r"\w in [a-z0-9]")  # "marketing in room 4", but "the parks in Berlin"
_BRACKET = re.compile(r"\s\(")
_INDIRECT = re.compile(
    r"\A(?:that|when|where|why|how|who|whether|if|something|anything|everything) \w"
    r"|\bin (?:English|French|Spanish|German|Italian|Portuguese|Dutch|Polish|Russian|Chinese|Japanese|Korean|Arabic"
    r"|Turkish|Hindi|Swedish|Danish|Norwegian|Finnish|Czech|Greek|Hebrew|Ukrainian)\Z"
)
# What the user has in front of him, and the task does not hold: "this page", "the attached file", not "this week".
_SHOWN = re.compile(
    r"(?:this|that|these|those)\b(?! (?:second|minute|hour|morning|afternoon|evening|week|weekend|month|quarter|year"
    r"|season|spring|summer|autumn|fall|winter)s?\b)|(?:it|them|here|there)\Z"
    r"|(?:(?:the|my) )?(?:attached|enclosed|above|following|selected|highlighted|pasted|uploaded)\b",
    re.IGNORECASE,
)
_RANKS = vocabulary("first last next top bottom latest newest oldest only")
_NUMBER = re.compile(r"v?\d[\d.,:]*")


def is_qualified(value: str) -> bool:
    """Return True for a value in words that compares, points, is joined to something, or says how and where."""
    said = [word.strip("\"'.,;:!?()") for word in value.removeprefix("the ").split()]
    if not said or value.casefold() in WEEKDAYS:
        return bool(said)
    first, last = said[0], said[-1]
    return (
        first in _FIRST
        or first.startswith("non-")
        or any(one in _POINTING or _is_superlative(one) for one in said)
        or (len(said) > 1 and (last in _BEHIND or last in _JOINTS or first in _ADDING))
        or _WITHIN.search(value) is not None
        or _BRACKET.search(value) is not None
    )


def is_counted(value: str) -> bool:
    """Return True where a number stands behind words or counts them: "Sprint 12", "two cores", not "5 Elm Road".

    So it does behind a rank: "the first 10 rows".
    """
    said = value.removeprefix("the ").split()
    if len(said) < 2:
        return False
    ranked = said[0] in _RANKS and (said[1] in COUNTS or _NUMBER.fullmatch(said[1]) is not None)
    return ranked or said[0] in COUNTS or _NUMBER.fullmatch(said[-1]) is not None


def is_indirect(value: str) -> bool:
    """Return True for what is to be put in other words: "that I am late", "when it is due", "thanks in Spanish"."""
    return _INDIRECT.search(value) is not None


def is_pointing(value: str) -> bool:
    """Return True for what points at something that the task does not hold: "this page", "the attached file", "it"."""
    return _SHOWN.match(value) is not None


def is_token(value: str) -> bool:
    """Return True for one sequence of signs that is no word: "jsmith", "web-app"."""
    if not value.isascii() or " " in value or not any(map(str.isalpha, value)) or value != value.casefold():
        return False
    return not value.isalpha() or value not in frequencies()


def _is_superlative(word: str) -> bool:
    root = word.removesuffix("est")
    if len(root) < 3 or root == word or not word.islower():
        return False
    return any(one in dictionary() and f"{one.removesuffix('e')}er" in dictionary() for one in (root, f"{root}e"))
