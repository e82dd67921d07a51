"""Question frames: many ways to ask for one thing, each family brought to one frame.

The families: how to do something; what, who, where and when something is; how something works.
Invariant: no frame leads into another family, and none that asks for leave, advice or a reason ("can I", "should I",
"why do I", "what is the best way") is touched.
"""

from __future__ import annotations

import re

from semcache.request.text import vocabulary

_TELL = (
    r"(?:(?:can|could|would|will) you (?:please )?)?(?:please )?"
    r"(?:(?:tell|show|teach) me(?: please)?|explain(?: to me)?|describe|let me know|help me understand|remind me"
    r"|i (?:want|need|would like|wish|am trying) to (?:know|find out|understand)|i am wondering|i was wondering"
    r"|do you (?:happen to )?know)"
)
_SPACED_TELL = _TELL.replace(" ", "[ ]")
_ACTION = r"(?!(?:not|no|never|be|i|you|we|they|he|she|it|much|many|long|old|far)\b)(?=[a-z\ue000-\uf8ff])"
_HOW_TO = re.compile(
    rf"""
    (?:
        (?:{_SPACED_TELL}[ ])?how[ ](?:can|do|could|would|might)[ ](?:i|one)
      | (?:{_SPACED_TELL}[ ])?how[ ](?:(?:i|one)[ ](?:can|could|would|might)|to)
      | (?:can|could|would)[ ]you[ ](?:please[ ])?(?:tell|show|teach)[ ]me[ ]how[ ]to
      | (?:{_SPACED_TELL}[ ])?what(?:[ ]is|\'s)[ ](?:the|a)[ ](?:way|procedure|process)[ ]to
      | (?:{_SPACED_TELL}[ ])?what[ ](?:are|is)[ ]the[ ](?:steps|instructions)[ ](?:to|for[ ]how[ ]to)
      | (?:what|which)[ ]steps[ ](?:do[ ]i|should[ ]i|must[ ]i)[ ](?:take|follow)[ ]to
      | (?:{_SPACED_TELL}[ ]|give[ ]me[ ]|list[ ])?(?:the[ ])?(?:steps|way|instructions)[ ](?:to|on[ ]how[ ]to)
      | i[ ](?:want|need|would[ ]like)[ ]to[ ]know[ ](?:the[ ]way[ ]to|how[ ]to|how[ ]i[ ]can)
      | how[ ]does[ ]one
      | how[ ]do[ ]i[ ]go[ ]about[ ]to
    )[ ]{_ACTION}
    """,
    re.VERBOSE | re.IGNORECASE,
)
_BE = r"(?:is|are|was|were)"
_PERSONS = (
    r"(?:i|you|he|she|we|they|me|him|them|us|that|which|who|what|if|whether|is|are|was|were|has|have|had|do|does|did"
    r"|not|no|never|nor|cannot)"
)
_NOUNS = rf"((?!{_PERSONS}\b)\S+(?: (?!{_PERSONS}\b)[^\s,.?!;]+){{0,6}})"
_DETERMINED = re.compile(r"(?:the|a|an|my|your|his|her|our|their|this|these|those)\b", re.IGNORECASE)
_INNER = re.compile(
    rf"^(?!{_DETERMINED.pattern})(?:(?!of|in|on|for|at|to|with|by)\S+ )+?{_DETERMINED.pattern}", re.IGNORECASE
)
_KINDS = re.compile(
    r"(?:colou?rs?|country|city|state|year|day|date|time|kinds?|types?|sorts?|languages?|size|age|part|percentage|month"
    r"|number|shape|brand|species|version|font|format|genre|level|position|nationality|religion) \S",
    re.IGNORECASE,
)
_INVERTED = re.compile(rf"(?:{_TELL} )?(what|who|where|when) {_NOUNS} ({_BE})\??$", re.IGNORECASE)
_INVERTED_IT = re.compile(
    rf"(?:{_TELL} )?(what|who|where|when) (it|he|she|they|this|that|i|you|we) (is|are|was|were|am)$", re.I
)
_MEASURED_NOUN = re.compile(
    rf"(?:{_TELL} )?how (old|tall|far|long|big|deep|high|heavy|fast|large|wide|expensive|hot"
    rf"|cold|rich|popular) {_NOUNS} ({_BE})$",
    re.IGNORECASE,
)
_WORKS = re.compile(rf"(?:{_TELL} )?how {_NOUNS} (works?)( [^,.?!;]+)?$", re.IGNORECASE)
_STRAIGHT = re.compile(
    rf"{_TELL} (?=(?:(?:what|who|where|when) (?:{_BE}|do|does|did)|how (?:do|does|did)"
    rf"|how (?:many|much|long|old|far|tall)\b|why)\b)",
    re.IGNORECASE,
)
_TIME = re.compile(rf"(?:{_TELL} )?what time it is( .+)?$", re.IGNORECASE)
_HEADS = vocabulary("""
    how what who where when steps way instructions the tell show teach explain describe let help remind i can could
    would will do give list please which
    """)


def framed(text: str, first: str) -> str:
    """The text in the frame of its family; `first` is its first word in lower case."""
    if first not in _HEADS:
        return text
    if match := _HOW_TO.match(text):
        return "how do i " + text[match.end() :]
    end = text.find("\n")
    line, rest = (text, "") if end < 0 else (text[:end], text[end:])
    if len(line) > 240:
        return text
    return _asked(line) + rest


def _asked(text: str) -> str:
    if match := _STRAIGHT.match(text):
        return text[match.end() :]
    if match := _TIME.match(text):
        return "what time is it" + (match[1] or "")
    if match := _INVERTED.match(text):
        asked, nouns, be = match.groups()
        # "what colour the sky is" asks for a colour.
        if asked.lower() == "what" and (_KINDS.match(nouns) or _INNER.search(nouns)):
            return text
        return f"{asked} {be} {nouns}"
    if match := _INVERTED_IT.match(text):
        return f"{match[1]} {match[3]} {match[2]}"
    if match := _MEASURED_NOUN.match(text):
        return f"how {match[1]} {match[3]} {match[2]}"
    if match := _WORKS.match(text):
        verb = "does" if match[2] == "works" else "do"
        if match[2] == "works" or not _DETERMINED.match(match[1]) or match[1].endswith("s"):
            return f"how {verb} {match[1]} work{match[3] or ''}"
    return text
