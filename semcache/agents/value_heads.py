"""Heads of values: the last word of two or more, which says what the value is: "class" of "yoga class".

Two tasks whose values have one head say one word more of what is to be done than those with any two values. Reads
spelling alone, knows no task and no plan. Pure. Invariant: a value that may be a person, point at something seen
before or say more than what it is has no head.
"""

from __future__ import annotations

import re

from semcache.agents.qualified_values import is_counted, is_indirect, is_qualified
from semcache.agents.slots import COUNTS, ORDINALS, STOP
from semcache.agents.value_sorts import has_manner, is_person, shape
from semcache.config.calendar_names import MONTHS, WEEKDAYS
from semcache.request.text import vocabulary
from semcache.request.wording.misspelt import dictionary

_LONGEST = 4  # words
_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*", re.IGNORECASE)
# Words that say which one is meant and not what it is called, beside those of `is_qualified`.
_STATES = vocabulary(
    """
    old new recent current former upcoming coming due late pending missing empty full open active inactive main right
    wrong top bottom final original real actual correct own single double extra spare several few many multiple various
    certain similar different such whole half total partial only very favorite favourite best worst good bad big small
    large little long short cheap free busy broken dead fake duplicate identical daily weekly monthly yearly annual
    today tomorrow yesterday tonight morning afternoon evening night noon midday midnight weekend early earlier later
    older newer bigger biggest hottest saddest least paid unpaid expensive popular unpopular stale obsolete blank unread
    ongoing boring redundant useless pointless unnecessary optional invalid valid visible hidden
    """
)
_NO_NAMES = frozenset((*COUNTS, *ORDINALS, *WEEKDAYS, *MONTHS, "last", "next", "latest", "newest", "oldest")) | _STATES
_JOINING = vocabulary(
    """
    about above across after against along among around as at before behind below beside between beyond but by despite
    down during except for from in inside into like near not nor of off on onto or and out outside over past per since
    so than that then through till to toward under unless until up upon via when where which while who why with within
    without yet
    """
)
_VAGUE = vocabulary("thing things stuff one ones something anything everything nothing way lot bit kind sort type rest")


def head_of(value: str) -> str:
    """The head of a value in lower case, "" for one without."""
    said = value.removeprefix("the ").split()
    if not 1 < len(said) <= _LONGEST or not all(map(_WORD.fullmatch, said)) or not said[-1].islower():
        return ""
    plain = [one.casefold() for one in said]
    *before, head = plain
    if head in _VAGUE or head in _NO_NAMES or head not in dictionary() or any(map(_says_which, before)):
        return ""
    if any(one in STOP or one in _JOINING for one in plain) or is_person(value) or shape(value):
        return ""
    return "" if is_qualified(value) or is_counted(value) or is_indirect(value) or has_manner(value) else head


def _says_which(word: str) -> bool:
    """Return True for "old" and "expired", which tell one thing from others as it is now."""
    told = word in _NO_NAMES or (word.endswith("ed") and len(word) > 4)
    return told or word.startswith("non-") or word.endswith("-to-last")
