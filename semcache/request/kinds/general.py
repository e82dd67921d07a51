"""Questions for the way to do something, which are general even where they say "my account".

Knows how such a question begins, nothing of what it is about. Invariant: what asks for a caller's own records does not
count.
"""

from __future__ import annotations

from semcache.request.kinds.patterns import any_of
from semcache.request.wording import Edit, canonical

_UNWRAPPED = frozenset({Edit.CHARACTERS, Edit.CONTRACTION, Edit.FILLER, Edit.FRAME, Edit.ORDER})
HOW_TO = any_of(
    r"^\W*(?:\w+:\W*)?(?:(?:hi|hello|hey|please|thanks|ok|so|and|also)\W+)*"
    r"(?:(?:can|could|would) you (?:please )?(?:tell|show|explain(?: to)?|teach) me )?"
    r"(?:how (?:do|can|could|should|would|might|to|does)\b(?! (?:my|our)\b)(?! (?:i|we) (?:still )?owe\b)"
    r"|what(?:'s| is| are) the (?:\w+ ){0,2}?(?:way|steps?|process|procedure|best|easiest|fastest|quickest)\b"
    r"|what (?:should|can|must|do) i (?:do|try|use|check|need)\b"
    r"|(?:can|could|may|should|must) i (?!see|view|have my)|is (?:it|there)\b|where (?:do|can|should) i\b"
    r"|why (?:is|are|does|do|did|was|were|has|won't|can't|doesn't|isn't) my (?:code|dog|cat|baby|child|loop|function"
    r"|query|test|phone|laptop|car|plant)"
    r"|(?:the )?(?:way|steps|instructions) (?:to|for)\b|i (?:want|need|would like|'d like) to know how\b)"
)

# Questions of anybody in the same place: "can my landlord ...", "what is a good name for my ...".
_OF_ANYBODY = any_of(
    r"^\W*(?:"
    r"(?:when|how often|how long|how much) (?:should|must) (?:i|we)\b|should (?:i|we)\b|who (?:can|could"
    r"|may)\b(?! i\b)|(?:can|could|may|should|would|does|do|will) my (?:employer|manager|supervisor|teacher"
    r"|doctor|landlord"
    r"|boss|company|school|partner"
    r"|neighbou?rs?|insurer|bank|dog|cat|puppy|kitten|child|kids?|baby|son|daughter|parents|wife|husband"
    r"|roommate|tenant)\b"
    r"|what(?:'s| is| are) (?:an? |some )?(?:good|nice|fun|creative|simple|easy|cheap|healthy|great|quick"
    r"|fair|typical|normal)\b"
    r"|(?:give|suggest|recommend|write|draft|translate|explain|tell) (?:me )?(?:an? |some |tips|ideas|advice"
    r"|the difference)"
    r"|what(?:'s| is) the (?:penalty|fine|fee|charge|rule|procedure|process) (?:if|when)\b"
    r"|what are (?:my|our) (?:options|rights|choices|chances)\b|can i see who\b"
    r"|can (?:other (?:people|users)|others|anyone|anybody|people|strangers) (?:see|read|find|access) my\b"
    r"|what(?:'s| is) (?:allowed|permitted|prohibited|forbidden) (?:in|on|at|as|with)\b"
    r"|what (?:happens|would happen)\b|what does\b(?! my\b)|which (?:\w+ ){1,3}(?:does|do|should|can) my "
    r"(?:dog|cat|puppy|kitten|child|baby)\b"
    r")"
)


def _general(folded: str) -> bool:
    return HOW_TO.match(folded) is not None or _OF_ANYBODY.match(folded) is not None


def asks_the_way(folded: str) -> bool:
    """Return True if a folded text asks for the way to do something, whatever politeness or filler it begins with."""
    if _general(folded):
        return True
    plain = canonical(folded, _UNWRAPPED).text
    return plain != folded and _general(plain)
