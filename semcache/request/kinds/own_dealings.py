"""Questions about what the sender did, is part of or waits for, told by a first person at a place of the sentence.

Knows verbs and places, and few names of records: "did the bank credit it to me", "the file I uploaded", "the heating at
mine". Invariant: what happens to anybody, and the way to do something, are of no sender; see `general` for the latter.
"""

from __future__ import annotations

from semcache.request.kinds.patterns import CuedPatterns, any_of, rule, vocabulary

_HANDED_IN = (
    r"(?:uploaded|attached|submitted|filed|ordered|booked|reserved|bought|purchased|returned|reported|requested|signed"
    r"|applied for|rented|leased|hired|subscribed to|registered for|enrolled in|shared with you|sent (?:you|in))"
)
_ASKED = r"^\W*+(?:(?:so|and|hi|hello|hey|please|ok)\W+)*"
_DEALT = (
    r"(?:confirm|credit|pay|refund|reimburse|reply|answer|accept|approve|reject|invite|charge|bill|email|call|contact"
    r"|notify|deliver|assign|transfer|send|write|get back)"
)
_DEALT_WITH = r"(?:confirmed|credited|paid|refunded|reimbursed|charged|billed|delivered|assigned|transferred|sent)"
_BOOKED = (
    r"(?:booking|reservation|ticket|fare|plan|package|subscription|membership|order|invoice|bill|contract|policy|lease"
    r"|rent|tariff|licen[sc]e|salary|payslip|itinerary|account)"
)
_DEALINGS = CuedPatterns(
    # "Why did my last deploy fail?", "which carrier has my shipment?"
    rule(
        "my our",
        _ASKED
        + r"(?:why|how|when) (?:did|was|were|has|have) (?:my|our) (?:last|latest|most recent|previous|recent) \w",
        _ASKED
        + r"(?:is|are) (?:my|our) (?:[\w-]+ ){0,2}(?:servers?|instances?|sites?|websites?|devices?|cameras?|services?"
        r"|deployments?|jobs?|clusters?) (?:still |back )?(?:up|down|online|offline|running|healthy)\W*$",
        _ASKED + r"(?:which|what) [\w-]+ (?:has|have|holds?|got|handles?|carries|is handling|is carrying|is bringing) "
        r"(?:my|our) (?!(?:own|best|interests?|attention)\b)\w",
        _ASKED + rf"(?:is|are|was|were) (?!(?:it|there|that|this)\b)(?:[\w-]+ ){{1,4}}(?:included|listed|covered) "
        rf"(?:in|on|by) (?:my|our) (?:[\w-]+ ){{0,2}}{_BOOKED}\W*$",
        _ASKED + r"(?:which|what|who|where|when) [^?]{1,60} (?:my|our) [\w-]+ #?\d{1,6}\W*$",
    ),
    # "Did the dividend get credited to me?", "did the hotel confirm us?"
    rule(
        "me us",
        _ASKED
        + rf"(?:did|has|have|is|was|were) the [^?]{{1,60}} (?:been |being |get |got |gets )?{_DEALT_WITH} (?:to |for )?"
        r"(?:me|us)\W*$",
        _ASKED + rf"(?:did|will) the (?:[\w-]+ ){{1,3}}{_DEALT} (?:to )?(?:me|us)(?: (?:yet|already|back))?\W*$",
    ),
    # "What's in clause 4 of the lease I uploaded?"
    rule(
        "i we",
        rf"\bthe (?:[\w-]+ ){{1,3}}(?:that |which )?(?:i|we) (?:have |had |just |already |recently )*{_HANDED_IN}\W*$",
        _ASKED + r"how (?:many|much) [\w-]+(?: [\w-]+)? (?:am i|are we) (?:short|away|behind|ahead|over|missing)\b",
    ),
    # "Is the heating on at mine?", "has container 7 of ours cleared customs?"
    rule(
        "mine ours",
        _ASKED
        + r"(?:is|are|was|were|has|have|did|does|who|what|when|where) [^?]{1,80} (?:at|in|on|to|with) (?:mine|ours)"
        r"\W*$",
        _ASKED + r"(?:is|are|was|were|has|have|did|where(?:'s| is| are)|when(?:'s| is| will)) [^?]{1,60}"
        r"(?<!friend)(?<!friends)(?<!colleague)(?<!relative)(?<!cousin) of (?:mine|ours)\b",
    ),
)
# "The money for the returned shoes isn't on my account": told, and to be looked up.
_MISSED = any_of(
    _ASKED + r"(?:the|my|our|this) (?:[\w-]+ ){0,2}(?:money|refund|parcel|package|delivery|salary|voucher|shipment)\b"
    r" [^?]{0,60}\b(?:isn't|is not|hasn't|has not|haven't|wasn't|still not|never) [^?]{1,60}\Z"
)
# A thing by its number: "the status of application 48-1127".
_BY_NUMBER = any_of(
    r"\b(?:status|state|progress|whereabouts|details|outcome|eta) (?:of|on|for) (?:the |an? )?(?:application"
    r"|request|case"
    r"|ticket|claim|order|booking|shipment|container|parcel|return|rma|complaint|appeal|transfer|payment|refund"
    r"|permit|referral|invoice|purchase order|po|loan|contract|appointment) (?:number |no\.? ?|id |#)?"
    r"(?=[\w-]{0,12}\d)[a-z]{0,5}[\d-][\w-]{2,16}\b"
)
_CUES = vocabulary("i we my our me us mine ours")


def applies(folded: str, bag: frozenset[str]) -> bool:
    """Return True if a folded text asks about dealings of its sender's own; `bag` holds its words."""
    if not bag.isdisjoint(_CUES) and (_DEALINGS.match(folded, bag) or _MISSED.match(folded) is not None):
        return True
    return is_numbered(folded)


def is_numbered(folded: str) -> bool:
    """Return True if the text asks how a thing with a number of its own stands."""
    return _BY_NUMBER.search(folded) is not None
