"""Questions for the way to do something, which are general even where they say "my account".

Knows how such a question begins, nothing of what it is about. Invariant: what asks for a caller's own records does not
count.
"""

from __future__ import annotations

from semcache.request.kinds.patterns import any_of

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
