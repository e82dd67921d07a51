"""A trouble of one's own that is told: a card was declined this morning, a phone was stolen yesterday.

Knows folded text. Invariant: days are left out only where something went wrong with what is the asker's own, and
nothing is asked but why, what to do, or for help: not how things stand, and not that anything be looked up or done.
"""

from __future__ import annotations

import re

from semcache.request.kinds.patterns import SENTENCES, any_of, vocabulary
from semcache.request.kinds.timeless import DAYS

_LONGEST = 1200  # characters
_WORD = re.compile(r"[\w'-]+")
_OWNERS = vocabulary("my mine our i i'm i've me we we've")
_THINGS = vocabulary(
    "card cards contactless account accounts payment payments transfer transfers transferred transaction"
    " transactions deposit deposits deposited withdraw withdrawal withdrawals withdrawn top top-up topped cash"
    " cheque cheques check checks money funds refund refunds fee fees charge charges charged balance bill bills"
    " invoice invoices pin passcode password passwords login app phone laptop computer tablet router wifi wi-fi"
    " internet printer screen battery email emails subscription membership order purchase item wallet passport key"
    " keys things atm boiler heating dishwasher fridge oven car bike machine"
)
_WRONG = vocabulary(
    "forgot forgotten stopped stops not never cannot cant dont didnt doesnt wont isnt wasnt unable nowhere declined"
    " declining declines denied rejected rejecting refused refuses fail fails failed failing failure error errors"
    " wrong incorrect twice double extra missing lost lose stolen stole mugged robbed attacked taken pending stuck"
    " disappeared vanished gone broke broken blocked locked hacked frozen overcharged mistake accidentally accident"
    " problem problems issue issues trouble fraud fraudulent crashed crashes crashing slow dead leaking leaks"
    " swallowed eaten jammed undo cancel stop revert reverse"
)
# What changes in the world, and what is looked up or done for the asker.
_ELSE = vocabulary(
    "weather forecast news score match game price prices rate rates stock stocks shares bitcoin crypto market"
    " traffic train trains flight flights bus buses down outage status open closed near nearest who where track"
    " arrive arrived arriving deliver delivered delivery available latest"
)
_DONE_FOR_ME = any_of(
    r"\bwhen (?:will|do|does|is|can)\b|\bhow (?:long|much|many|soon)\b|\bby (?:today|tonight|tomorrow)\b",
    r"\b(?:please|you)\b[^.?!\n]{0,80}\b(?:check|look|see|find|fix|cancel|refund|reverse|revert|return|remove|make"
    r"|correct|send|resolve|complete|move|update|confirm|verify|alert|assist me in)\b",
)
_LEAD = r"^\W*(?:(?:hi|hello|hey|so|and|but|please|ok|well|sorry)\W+)*"
_QUESTION = any_of(
    rf"{_LEAD}(?:is|are|was|were|am|do|does|did|has|have|will|would|can|could|should|shall|may|might|what|what's|which"
    r"|who|when|where|why|how)\b"
)
_WHAT_TO_DO = any_of(
    rf"{_LEAD}(?:why\b|is (?:there|it) (?:something|anything|a way|any way|possible)\b"
    r"|what(?:'s| is| was| (?:could|can|might|may) be)? (?:the )?"
    r"(?:going on|happening|happened|problem|reason|matter|wrong|causing)\b"
    r"|what (?:are )?my next steps?\b|what (?:do|should|can) i do\b"
    r"|how (?:do|can|should|could) i\b|(?:can|could|should) i\b"
    r"|(?:can|could|would|will) (?:you|someone|anyone) (?:please )?(?:help|tell me (?:why|what)|explain)\b)"
)
_GOING_ON = any_of(r"\bwhat(?:'s| is) (?:going on|happening)\b")
_GAP = " _ "


def without_days(folded: str) -> str:
    """A folded text that tells a trouble of one's own, without its days and without "what's going on"; or as it is."""
    if len(folded) > _LONGEST:
        return folded
    bag = frozenset(_WORD.findall(folded))
    if any(bag.isdisjoint(words) for words in (_OWNERS, _THINGS)) or not bag.isdisjoint(_ELSE):
        return folded
    went_wrong = not bag.isdisjoint(_WRONG) or any(word.endswith("n't") for word in bag)
    if not went_wrong or _DONE_FOR_ME.search(folded) is not None:
        return folded
    if any(_QUESTION.match(part) and not _WHAT_TO_DO.match(part) for part in SENTENCES.split(folded)):
        return folded
    return _GOING_ON.sub(_GAP, DAYS.sub(_GAP, folded))
