"""Two questions that "and" joins, as two questions: "what is X, and why does it matter" and "what is X? Why ...".

Invariant: a question word that asks the same thing as another ("how and why"), or that begins a clause ("tell me what
it is and why"), joins no second question.
"""

from __future__ import annotations

import re

from semcache.request.wording.cues import folded, holds

_WORD = "what|how|why|when|where|who|which"
_VERB = "do|does|did|is|are|was|were|can|could|will|would|should|must|may|has|have|had"
_SAID = rf"(?!(?:{_WORD}|between|if|whether|that)\b)[^\s.?!:;\n]+"
_AMOUNT = "much|many|long|often|far|old|large|high|fast|soon|time"
_JOINED = re.compile(
    rf"(?P<first>(?:{_WORD}|{_VERB}|what's|who's|where's)(?: {_SAID}){{2,}}?(?<=\w)),?"
    rf" and (?=(?:{_WORD})(?: (?:{_AMOUNT}))?(?:'s|'re| (?:{_VERB}))\b(?: \S+)+)",
    re.IGNORECASE,
)
_JOINING = tuple([f" and {word}" for word in _WORD.split("|")])
_SECOND = re.compile(r"(?<=\?) and (?=(?:what|how|why|when|where|who|which)\b)", re.IGNORECASE)


def separated(text: str) -> str:
    """The text with two joined questions as two.

    >>> separated("what is a glacier, and how does it form")
    'what is a glacier? how does it form'
    """
    if not holds(folded(text), _JOINING):
        return text
    if (match := _JOINED.match(text)) is not None:
        text = f"{match['first'].rstrip(',')}? {text[match.end() :]}"
    return _SECOND.sub(" ", text)
