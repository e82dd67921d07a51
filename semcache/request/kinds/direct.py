"""Direct questions of texts that ask in another way: "I'd like to know my balance" asks what it is.

Knows how indirect questions begin, no kind of prompt. Invariant: what is asked about is kept word for word; a sentence
that asks directly stays as it is.
"""

from __future__ import annotations

import re

from semcache.request.kinds.patterns import SENTENCES, any_of
from semcache.request.wording import Edit, canonical

_MOST = 12  # sentences of a text that are read one by one
_LONGEST = 240  # characters of a sentence
_UNWRAPPED = frozenset({Edit.CHARACTERS, Edit.CONTRACTION, Edit.FILLER, Edit.FRAME, Edit.ORDER, Edit.TYPO})
_GREETING = re.compile(
    r"\W*(?:(?:hi|hello|hey|good (?:morning|afternoon|evening|day)|(?:(?:a )?quick|one|just a(?: quick)?) question|so"
    r"|ok|okay|well|um|please|excuse me|sorry)(?: (?:there|all|team|everyone|again))?(?=\W)\W+)+".replace(" ", r"\s+")
)
_TELL = (
    r"(?:(?:can|could|would|will) (?:you|someone|somebody|anyone|anybody) (?:please |kindly |perhaps |maybe )?)?"
    r"(?:please |kindly )?(?:tell (?:me|us)|let (?:me|us) know|inform (?:me|us)|explain(?: to (?:me|us))?|confirm"
    r"|say|check|find out|look up|help (?:me|us) understand)"
)
_ASK = (
    r"(?:(?:do|does|would|can|could|might) (?:you|anyone|anybody) (?:happen to )?(?:know|tell|remember|say)"
    r"|(?:may|can|could|might) (?:i|we) (?:please )?(?:ask|know)|(?:any|got any|have you any) (?:idea|clue)"
    r"|(?:i|we) (?:(?:would |do |really |just |only |still )*(?:want|need|like|love|wish|have)|am trying|was hoping"
    r"|were hoping|'d (?:like|love))(?: to)? "
    r"(?:know|find out|understand|learn|hear|check|see|confirm|be told|ask)|i'd (?:like|love) to "
    r"(?:know|find out|understand|learn|hear|check|see|confirm|be told|ask)"
    r"|(?:i'm|i am|i was|we are|we were|we're) (?:just |only )?(?:wondering|curious|asking|not sure|unsure|not certain)"
    r"|(?:i|we) (?:just )?(?:wonder|wondered)|(?:i|we) (?:do not|don't|can't|cannot) (?:know|remember|recall|tell))"
)
_CLAUSE = r"(?:about )?(?:if|whether|what|which|who|whose|when|where|why|how)\b"
# Another sentence around a clause: "do you know if ...", "what is the reason my ...".
_INDIRECT = any_of(
    rf"(?:{_TELL}|{_ASK}) {_CLAUSE}",
    rf"(?:(?:{_TELL}|{_ASK}) )?(?:what(?:'s| is| was) the reason|the reason|for (?:what|which) reason|how come)\b",
)
_WISH = r"(?:i|we) (?:(?:would|really|just|only|still) )*(?:want|need|like|love|wish|have)|(?:i|we)'d (?:like|love)"
# Another sentence around a thing: "I need to know my balance", "please provide my balance", "my customer number?".
_THING = r"(?=(?:my|our|the)\b)"
_WISHED = any_of(
    rf"(?:{_WISH}|i am trying|i'm trying) (?:to )?(?:know|find out|be told|learn|hear|look up) (?:about )?{_THING}",
    r"(?:(?:i'm|i am|we are|we're) )?(?:looking for|searching for|trying to find|asking (?:for|about)|inquiring about"
    rf"|enquiring about) {_THING}",
    r"(?:(?:can|could|would|will) you )?(?:please )?(?:kindly )?"
    rf"(?:(?:tell|give) (?:me|us)|(?:provide|state|quote|give|look up)(?: me| us)?(?: with)?) {_THING}",
    rf"(?:can|could|may) (?:i|we) (?:please )?(?:have|know|ask(?: for)?) {_THING}(?!.*\bback\b)",
    rf"(?:do|would) you (?:happen to )?know {_THING}",
    r"(?=(?:my|our) (?:[\w'-]+ ){0,5}[\w'-]+\?$)",
    r"(?=the (?:[\w'-]+ ){1,4}of (?:my|our) (?:[\w'-]+ ){0,2}[\w'-]+\?$)",
)
_RUN_ON = re.compile(r"\A\W*(what|where|when|who|how)s(?= (?:my|our|the)\b)")
_ASKS = re.compile(
    r"(?:who|whom|whose|which|what|when|where|why|how|is|are|was|were|do|does|did|has|have|had|can|could|will|would"
    r"|should|am|may|must)\b"
)


def direct(folded: str) -> str:
    """A folded text whose sentences ask directly; a text without an indirect question as it is."""
    greeting = _GREETING.match(folded)
    asked = _RUN_ON.sub(r"\1's", folded if greeting is None else folded[greeting.end() :])
    parts = SENTENCES.split(asked.strip())
    if len(parts) > _MOST:
        return folded
    made = [_directed(part) for part in parts]
    return asked if made == parts else " ".join(made)


def _directed(sentence: str) -> str:
    if len(sentence) > _LONGEST:
        return sentence
    if (wished := _WISHED.match(sentence)) is not None:
        return f"what is {sentence[wished.end() :].rstrip('.!? ')}?"
    if _INDIRECT.match(sentence) is None:
        return sentence
    plain = canonical(sentence, _UNWRAPPED).text
    return f"{plain.rstrip('?')}?" if plain != sentence and _ASKS.match(plain) is not None else sentence
