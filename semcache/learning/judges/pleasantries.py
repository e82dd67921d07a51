"""The sentences of an answer that are said to the asker and say nothing about the question.

Models begin and end one and the same answer with other ones each time. Knows English alone. Invariant: a sentence that
could be what was asked for is none: an offer to do something but explain is an answer.
"""

from __future__ import annotations

import re

from semcache.runtime.late_pattern import late

_TELL = (
    r"(?:explain|describe|show|give|share|provide|list|write|help|elaborate|expand|suggest|recommend|outline|summarize"
    r"|go (?:into|over|deeper|through)|walk you through|go on)"
)
_HERE = r"here(?:'s| is| are) (?:an?|the|some|your)\b(?: [\w'-]+){1,4}"
_PLEASANTRY = late(
    r"(?:(?:what an? |that's an? )?(?:great|good|excellent|interesting) question"
    rf"|(?:certainly|sure|of course|absolutely|sure thing|gladly)[,!.] ?{_HERE}"
    rf"|{_HERE}:"
    r"|(?:i )?hope (?:this|that|it) (?:helps|helped|is helpful|clarifies|clears|answers your question)(?: [\w']+){0,4}"
    r"|(?:please )?let me know if (?:you|any|there|this|that|it)\b.{0,120}"
    r"|(?:please |and )?(?:feel free|don't hesitate) to (?:ask|reach out|let me know)\b.{0,120}"
    r"|(?:if|should) you(?: have| need| want| like| wish|'d like| would like)\b.{0,100}"
    r"\b(?:let me know|just ask|(?:feel free|don't hesitate) to ask)"
    rf"|if you(?: want| like| wish| need|'d like| would like)\b.{{0,60}}\bi can (?:also )?{_TELL}\b.{{0,120}}"
    rf"|(?:would you like|do you want) (?:me to {_TELL}\b|more |further |another example).{{0,120}}"
    r"|(?:i'm )?(?:glad|happy) to help|you're welcome|is there anything else (?:i can|you)\b.{0,60}"
    r"|happy \w+ing|enjoy(?: (?:your|the|it)\b.{0,30})?|good luck(?: with\b.{0,40})?)[.!?\u2026:]*",
    re.IGNORECASE,
)
_YES = frozenset({"certainly", "sure", "of course", "absolutely", "sure thing", "gladly"})
_LONGEST = 240  # characters


def plain(sentence: str) -> str:
    """Return a sentence as it is compared: "" for a pleasantry, and one word for all that say yes to the asker."""
    if sentence.strip().rstrip(".!").lower() in _YES:
        return "Certainly!"
    return "" if is_pleasantry(sentence) else sentence


def is_pleasantry(sentence: str) -> bool:
    """Return True for a sentence that any answer may begin or end with.

    >>> is_pleasantry("I hope this helps!"), is_pleasantry("Hope is a town in Arkansas.")
    (True, False)
    """
    said = sentence.strip()
    return len(said) <= _LONGEST and _PLEASANTRY.fullmatch(said.replace("\u2019", "'")) is not None
