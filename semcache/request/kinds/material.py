"""Material beside a question that tells what would else depend on the moment or on the sender's records.

Knows the text of both, no request. Material has to be equal to the letter for an answer to be reused, so what it says
is the same for whoever asks. Invariant: when in doubt it tells nothing. An answer that needs a clock besides (opening
hours, and "now"), and a record that the material does not hold, stay what they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from semcache.config.calendar_names import MONTHS
from semcache.request.kinds.patterns import any_of, vocabulary
from semcache.request.kinds.timeless import DAYS
from semcache.request.secrets import fold

_ENDING = re.compile(r"(?:'s|s'|ing|ed|es|s|e)$")
_WORD = re.compile(r"[^\W_][\w'-]*")
_DIGIT = re.compile(r"\d")
_SHORTEST = 3  # letters of a stem
_LONGEST = 20_000  # characters of material that are read
_LIGHT = vocabulary(
    "the and for are was were has have had does did can could will would should may might must what which who whose"
    " whom"
    " when where why how long much many often until till get got give tell his her its their this that these those"
    " there"
    " from into with about now today tonight tomorrow yesterday currently still you your they them she him not any some"
)
# With these beside it, an answer about now needs a clock or a calendar.
_CLOCK = any_of(
    r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:mon|tue|wed|thu|fri|sat|sun)(?=[\s.,:–-])"
    r"|weekdays?|weekends?|daily|hours|o'?clock|noon|midnight|tonight|today|tomorrow)\b",
    r"\b\d{1,2}(?:[:.]\d\d| ?[ap]\.?m\b)|\b(?:at|from|until|till) \d{1,2}\b(?!\d| ?%)",
    rf"\b(?:{'|'.join(month for month in MONTHS if month != 'may')})\b|\b\d{{1,2}}(?:st|nd|rd|th)? (?:of )?may\b",
    r"\b(?:\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4})\b",
)
# Of these an answer is got elsewhere, whatever is told; of the others a figure has to be told.
_ELSEWHERE = any_of(
    r"\b(?:weather|forecasts?|news|headlines|latest|traffic|time is it|date|happening|near(?:est|by)?)\b"
)
_FIGURE = any_of(
    r"\b(?:prices?|rates?|scores?|temperature|worth|costs?|value|stocks?|shares?|exchange|how (?:much|many))\b"
)
# A term that holds for everybody, and the question for it.
_TERM = any_of(
    r"\b(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|twelve|fourteen|thirty|sixty|ninety)"
    r"(?: ?(?:-|–|to|or) ?\d+)? (?:\w+ )?(?:minutes?|hours?|days?|weeks?|months?|years?)\b"
)
_HOW_LONG = any_of(
    r"^\W*(?:(?:hi|hello|hey|so|and|please)\W+)*(?:about |for )?how (?:long|soon|many (?:\w+ )?(?:days|weeks|hours))\b"
)
# Of one person, whom the question may mean.
_OF_ONE = re.compile(
    r"@|#\s?\d|\d{5}|\b(?:mr|mrs|ms|dear|customer|client|name|account|order)\b\W{0,3}(?:id\b|no\b|number\b|:|\d)"
)


def tells_the_moment(question: str, around: str, live: Callable[[str], bool]) -> bool:
    """Return True if material `around` a question answers it, whenever it is asked; `live` tells questions of now."""
    asked, said = fold(question), fold(around[:_LONGEST])
    if _CLOCK.search(said) is not None or _ELSEWHERE.search(asked) is not None:
        return False
    if _FIGURE.search(asked) is not None and _DIGIT.search(said) is None:
        return False
    named = _stems(asked)
    held = len(named & _stems(said))
    if not named or 2 * held < len(named):
        return False
    return held == len(named) or not live(DAYS.sub(" ", asked))


def tells_the_term(question: str, around: str) -> bool:
    """Return True if a question asks how long something takes and material `around` it says so for everybody."""
    asked, said = fold(question), fold(around[:_LONGEST])
    if _HOW_LONG.match(asked) is None or _TERM.search(said) is None or _OF_ONE.search(f"{asked} {said}") is not None:
        return False
    named = _stems(asked)
    return bool(named) and 2 * len(named & _stems(said)) >= len(named)


def _stems(folded: str) -> frozenset[str]:
    stems = [_ENDING.sub("", word) for word in _WORD.findall(folded) if word not in _LIGHT and len(word) >= _SHORTEST]
    return frozenset(stem for stem in stems if len(stem) >= _SHORTEST)
