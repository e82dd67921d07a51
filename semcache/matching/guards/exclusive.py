"""Exclusiveness: of whom or of what "only" is said.

"Can only admins invite?" asks who else may, "Can admins only invite?" asks what else they may do. Reads the place of
"only" beside auxiliaries. Parses no grammar. Invariant: a text of which the place says nothing sure, such as "the only
one", has no reading.
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from semcache.request.text import SplitText

Focus: TypeAlias = Literal["subject", "rest", ""]
ONLY = ("only", "solely", "exclusively")
_SAID = r"(?:only|solely|exclusively)"
_AUXILIARY = (
    r"(?:can|could|may|might|must|should|shall|will|would|do|does|did|is|are|was|were|has|have|had)(?:n't| not)?"
)
_OPENING = r"(?:^|[.?!,;:]\s+|\b(?:if|when|where|why|how|that|because|whether|since|so|but)\s+)"
# Behind "can only", these go on with what is done: "how can only be told by ..." is cut short, and has no subject.
_NO_SUBJECT = (
    r"(?!\s+(?:be|been|have|get|go|do|use|see|if|when|in|on|at|by|for|to|from|with|without|after|before|via|through"
    r"|then|because|not|until|within|during|available|open|allowed|possible|once|twice)\b)"
)
_OF_SUBJECT = re.compile(
    # "can only admins", "why do only birds"
    rf"{_OPENING}{_AUXILIARY}\s+{_SAID}\b{_NO_SUBJECT}"
    # "only members may": a noun phrase of some words, then an auxiliary
    rf"|{_OPENING}{_SAID}\s+(?!(?:if|when|in|on|at|by|for|to|after|before|what|who|that)\b)"
    rf"(?:[\w'-]+\s+){{1,4}}?{_AUXILIARY}\b"
    # "is it only members who"
    rf"|\b(?:is|was|are)\s+it\s+{_SAID}\s+[^.?!]{{1,40}}\bwho\b"
)
_UNSURE = re.compile(
    rf"\bit\s+{_SAID}\b[^.?!]{{1,60}}\bthat\b|\b(?:the|not|that|there\s+(?:is|are|was|were))\s+{_SAID}\b"
    rf"|\b{_SAID}\s+(?:of|if|when|what|who|because)\b"
)
# What is only done by somebody is said of who does it, and "cash only" is what is only cash.
_OF_EITHER = re.compile(rf"\bby\b|\b{_SAID}\s+\w+(?:ed|en)\W*$")


def focus(words: SplitText) -> Focus:
    """Of what a text says its one "only": of the subject, or of anything behind it; "" where that is not sure."""
    lower = words.lower
    if sum(word in ONLY for word in words.words) != 1 or _UNSURE.search(lower) is not None:
        return ""
    if _OF_SUBJECT.search(lower) is not None:
        return "subject"
    return "" if _OF_EITHER.search(lower) is not None else "rest"
