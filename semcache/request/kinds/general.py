"""Questions for the way to do something, which are general even where they say "my account".

Knows how such a question begins, nothing of what it is about. Invariant: what asks for a caller's own records does not
count.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from semcache.request.kinds.patterns import any_of, words_of
from semcache.request.wording import Edit, canonical

_MOST = 12  # clauses of a text whose parts are weighed
_UNWRAPPED = frozenset({Edit.CHARACTERS, Edit.CONTRACTION, Edit.FILLER, Edit.FRAME, Edit.ORDER, Edit.TYPO})
# "Is there a problem with my order" asks for no way.
_AMISS = (
    r"(?:still )?(?:an?|any) (?:\w+ )?(?:problem|issue|error|mistake|hold|delay|update|charge|reply|response)s? \w+ "
    r"(?:my|our)\b"
)
HOW_TO = any_of(
    r"^\W*(?:\w+:\W*)?(?:(?:hi|hello|hey|please|thanks|ok|so|and|also)\W+)*"
    r"(?:(?:can|could|would) you (?:please )?(?:tell|show|explain(?: to)?|teach) me )?"
    r"(?:how (?:can|could|should) my (?:wife|husband|partner|spouse|child|son|daughter|assistant|friend)\b"
    r"|how is (?:it|this|that) (?:done|\w+ed)\b|(?:what|which) (?:\w+ )?(?:must|should) i (?:show|bring)\b"
    r"|who (?:has|have) to\b|whom? (?:do|should|must) i\b"
    r"|how (?:do|can|could|should|would|might|to|does)\b(?! (?:my|our)\b)(?! (?:i|we) (?:still )?owe\b)"
    r"|what(?:'s| is| are) (?:the )?(?:\w+ ){0,2}?(?:ways?|steps?|process|procedure|best|easiest|fastest|quickest)\b"
    r"|what (?:should|can|must|do) i (?:do|try|use|check|need)\b"
    rf"|(?:can|could|may|should|must) i (?!see|view|have my)|am i (?:allowed|permitted) to "
    rf"(?!see|view|have my)|is (?:it|there)\b(?! {_AMISS})|where (?:do|can|should) i\b(?! (?:live|work|study|bank)\W*$)"
    r"|why (?:is|are|does|do|did|was|were|has|won't|can't|doesn't|isn't) my (?:code|dog|cat|baby|child|loop|function"
    r"|query|test|phone|laptop|car|plant|wife|husband|girlfriend|boyfriend|partner|friend|mother|father|son|daughter)"
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
    r"|after how (?:many|long)\b|how often do (?:i|we) (?:have|need) to\b|how much notice\b(?! did\b)"
    r"|(?:i want|i need|i would like|i'd like|want|need) to (?:change|update) (?:the |my )(?:\w+ ){0,2}?"
    r"(?:address|email"
    r"|e-mail|phone|number|password|name|surname|contact|language|picture)\b(?!.{0,200}\bto \S*[\d@])"
    r"|(?:will|would|does|can) an? (?!\w+ (?:from|of) my\b)\w+"
    r"|who else (?:can|may|(?:is|are) (?!(?:in|on|at|coming|invited|working|logged)\b)\w+)\b"
    r"|(?:will|would|do|does) my (?:\w+ ){1,2}?(?:be |get )?"
    r"(?:lost|deleted|wiped|affected|kept|charged|cancell?ed|closed|removed|stopped|suspended) (?:if|when|once) i\b"
    r"|does (?!(?:any|some|every|no)thing\b|(?:billing|shipping|housing|training|meeting)\b)\w{2,20}ing\b"
    r"|what(?:'s| is) the (?:penalty|fine|fee|charge|rule|procedure|process) (?:if|when)\b"
    r"|what are (?:my|our) (?:options|rights|choices|chances)\b|can i see who\b"
    r"|can (?:other (?:people|users)|others|anyone|anybody|people|strangers) (?:see|read|find|access) my\b"
    r"|what(?:'s| is) (?:allowed|permitted|prohibited|forbidden) (?:in|on|at|as|with)\b"
    r"|how much of my \w+ (?:should|must|may|can) i\b|in (?:what|which) way (?:do|can|should|may) (?:i|we)\b"
    r"|how long (?:do|does|can|will) (?:an?\b|it (?:usually |normally )?take (?:to|for an?)\b)(?!.{0,200}\d{4})"
    r"|(?:how (?:long|soon|early|many days) before \w+|by when) "
    r"(?:do (?:i|we) (?:have|need) to|must (?:i|we)|should (?:i|we))\b"
    r"|when (?:is|are|does|will) my (?:\w+ )?(?:card|account) (?:be |get )?(?:charged|debited|billed) "
    r"(?:for an?|if|when)\b"
    r"|will (?:i|we) be (?:charged|billed) (?:automatically )?(?:when|if|after|once)\b"
    r"|(?:is|are|will) my (?:\w+ )?(?:card|account) (?:be |get )?(?:charged|debited|billed) "
    r"(?:when|if|once|as soon as)\b"
    r"|will (?:i|we) (?:still )?(?:get|keep|receive) [\w ]{1,40} (?:during|while on|on) (?:maternity"
    r"|paternity|parental|sick|unpaid) leave\b"
    r"|why (?:do (?:i|we) (?:have|need) to|must (?:i|we))\b(?! (?:pay|wait)\b)"
    r"|why (?:do|does|don't|doesn't|won't|can't) my (?:documents?|files?|photos?) [\w ]{1,40}\b(?:print|printer)\b"
    r"|where (?:is|are|does|do) my (?:data|files|changes|commits?|volumes?|tables?|logs) (?:\w+ )?(?:after|when|in) "
    r"(?:docker|git|kubernetes|npm|postgres|mysql|redis)\b"
    r"|where(?:'s| is) the (?:best|safest) (?:place|seat) to\b|can i see my [\w ]{1,30} while \w+ing\b"
    r"|can the \w+ (?!(?:tell|show|send|confirm|check|find|see|track|locate|look|display|read|give me (?:my|the))\b)"
    r"|(?:please )?help me (?:to )?(?:write|draft|word|phrase)\b"
    r"|(?:what|which) (?:(?!my\b|our\b)\w+ ){1,5}?(?:must|should) (?:i|we)\b"
    r"|how (?:(?!my\b|our\b)\w+ ){1,3}?must (?:my|i|we)\b"
    r"|do i (?:get|lose|keep|need) [^.?!;\n]{1,80}\b(?:if|when) i\b"
    # What anybody is entitled to in such a case, not in one that has come about.
    r"|(?:what|how much)(?: \w+){0,2} (?:(?:am i|are we) (?:owed|due|entitled to)|(?:do|would|can) (?:i|we) "
    r"(?:get|receive|claim)) (?:back )?(?:if|when) (?:i|we|my|our|an?|the)\b"
    r"(?!.{0,200}(?:\d{4}|\b(?:was|were|has|have|had|did|yesterday|today|tonight|now|last|ago|already)\b))"
    r"|(?:for )?how long (?:do|does|will|are|is) (?:you|they|it|we|the \w+|my data|my files|deleted \w+) "
    r"(?:\w+ )?(?:keep|store|retain|hold|kept|stored|retained|held)\b"
    r"|what (?:happens|would happen)\b|what does\b(?! my\b)|which (?:\w+ ){1,3}(?:does|do|should|can) my "
    r"(?:dog|cat|puppy|kitten|child|baby)\b"
    r")"
)

# What is allowed is asked, or how the law stands, not what has happened.
_NORM = any_of(
    r"^(?!.*\bhow (?:much|many)\b).*(?:\b(?:is|are) (?:it |that |this |[\w' ]{1,40} )?(?:allowed|permitted|entitled"
    r"|obliged|required)\b|\b(?:can|could|may) [\w' ]{1,40}\b(?:legally|lawfully)\b"
    r"|\bdo (?:i|we) have (?:a|the) "
    r"(?:legal )?right to\b|\bcan i see my own [\w ]{1,40} under\b)"
)
# "If I cancel my contract" orders nothing to be cancelled.
_CONDITION = any_of(
    r"\b(?:if|suppose|supposing|assuming|once|after|when|unless) (?:i|we) (?!(?:already|have|had)\b)[^.?!,;\n]{1,120}"
)
_ANOTHERS_WISH = any_of(r"\b(?:wants|would like|wishes) to \w+ [^.?!,;\n]{1,120}")
_CLAUSE = re.compile(r"[.?!;\n:,]+\s+|\s-+\s")
_SENTENCE = re.compile(r"(?<=[.?!])\s+")
_TOLD = any_of(
    r"^\W*(?:(?:but|and|so) (?=i\b))?(?:i|i'm|i've|i'd|we|we've|my|our|the|someone|need|want|forgot|lost)\b"
    r"(?! [^?]{0,200}\?)"
)


def without_conditions(folded: str) -> str:
    """The text without what its sender only supposes, or another wishes, where something else is asked."""
    rest = _ANOTHERS_WISH.sub(" ", _CONDITION.sub(" ", folded))
    return rest if len(rest.split()) > 2 else folded


def tells_and_asks_the_way(folded: str, personal: Callable[[str, frozenset[str]], bool]) -> bool:
    """Return True if a text tells a case and then asks the way, and asks nothing `personal` besides."""
    clauses = _CLAUSE.split(folded)
    if len(clauses) < 2 or len(clauses) > _MOST:
        return False
    asked = [clause for clause in clauses if not _general(clause)]
    if len(asked) == len(clauses):
        return False
    return not any(personal(clause, words_of(clause)) for clause in asked if _TOLD.match(clause) is None)


def _general(folded: str) -> bool:
    return HOW_TO.match(folded) is not None or _OF_ANYBODY.match(folded) is not None or _NORM.match(folded) is not None


def asks_besides(folded: str, personal: Callable[[str, frozenset[str]], bool]) -> bool:
    """Return True if a text asks for the way first, and in a later question for what is `personal`."""
    later = _SENTENCE.split(folded)[1:_MOST]
    return any(part.endswith("?") and not asks_the_way(part) and personal(part, words_of(part)) for part in later)


def asks_the_way(folded: str) -> bool:
    """Return True if a folded text asks for the way to do something, whatever politeness or filler it begins with."""
    if _general(folded):
        return True
    plain = canonical(folded, _UNWRAPPED).text
    return plain != folded and _general(plain)
