"""A case of the sender's own that is told instead of asked, ordered to be dealt with, or named in two or three words.

"I was promised a callback", "unblock my card", "next payment?": the answer is looked up in records, or something is
done. Knows such statements, orders and fragments. Invariant: a case that is told for the way out of it ("what should I
do?") is everybody's.
"""

from __future__ import annotations

import re

from semcache.request.kinds.patterns import CuedPatterns, any_of, rule, vocabulary

# What another owes to the sender, and the sender waits for.
_AWAITED = (
    r"(?:answers?|application|benefits?|bonus|booking|call\s?back|cashback|courier|driver|technician|statement|goods"
    r"|items?|certificate|claim|commission|compensation"
    r"|confirmation"
    r"|contract|delivery|deposit|diploma|documents?|expenses?|expense report|feedback|form|grades?|grant|invitation"
    r"|invoice|letter|licen[cs]e|order|package|paperwork|parcel|passport|pay|paycheck|payslip|pension|permit"
    r"|prescription|reimbursement|refund|reply|response|results?|salary|scholarship|shipment|shoes|stipend"
    r"|tickets?|visa|voucher|wages?|warranty claim)"
)
_LATELY = r"(?:still |yet |just |already |only |now |also )*"
_TOLD = CuedPatterns(
    rule(
        "promised told assured said",
        r"^\W*+(?:[\w'-]+ ){0,3}?(?:i|we) (?:was|were|have been|had been) (?:promised|assured|told (?:that )?(?:you"
        r"|someone|somebody|it|my|i) (?:would|will)(?! (?:need|have to)\b))\b",
        r"^\W*+(?:but |and )?you (?:said|promised|told me) (?:that )?(?:you|it|my|someone|somebody) (?:would|will"
        r"|was|were|is)\b",
        r"\bpromised (?:to (?:call|contact|send|refund|pay|reply|get back)|me|us)\b",
    ),
    rule(
        "hasn haven hadn didn wasn never not nothing hasn hasnt havent nobody no still isn isn't isnt",
        rf"^\W*+(?:hi |hello |sorry |but |and )*(?:my|our|the|mine) (?:[\w'-]+ ){{0,2}}?{_AWAITED}(?: [\w'-]+){{0,4}}? "
        rf"(?:(?:has|have|is|was|did|had)(?:n't| not| never|nt)|never|still (?:hasn't|isn't|not|pending|missing)) "
        rf"{_LATELY}(?:been )?(?:come|arriv|arrived|paid|received?|sent|issued|processed|approved|delivered|here|in"
        rf"|there"
        r"|credited|show(?:n|ed)?(?: up)?|reached|turned up|been)\b",
        rf"^\W*+(?:[\w'-]+ ){{0,2}}?(?:i|we)(?:'ve| have| had|'d)? {_LATELY}(?:haven't|have not|didn't|did not|never"
        rf"|not|havent|didnt|still (?:haven't|have not|no|waiting)) {_LATELY}"
        r"(?:got(?! an? (?:passport|visa|permit|licen[cs]e|ticket)\b)|gotten|get|received?|seen|heard back"
        rf"|had)(?: (?:my|our|the|an?|any))?(?: [\w'-]+){{0,3}}? {_AWAITED}\b",
        r"\b(?:and|but) (?:i |we |have |has |'ve )*(?:heard nothing|nothing (?:has )?(?:happened|came|arrived)|nobody"
        r" (?:has |did |ever )?\w+|no one (?:has |did )?\w+|(?:still )?no (?:money|refund|reply|answer|news|response"
        r"|parcel|package|sign|confirmation|word)|(?:still )?haven't (?:heard|received|got)"
        r"|(?:it's|it is) (?:still )?not (?:there|here|in|arrived)|(?:it|the \w+|my \w+) (?:is|has"
        r"|was) (?:still )?(?:inactive|never|not (?:yet )?(?:been )?(?:arriv\w+"
        r"|received"
        r"|paid|credited|posted|there|here|in my|delivered|confirmed|showing|placed|refunded|sent|shipped|cleared)))\b",
        r"^\W*+(?:nobody|no one) (?:has |had |ever |did )*(?:call(?:ed)?|contact(?:ed)?|repl(?:y|ied)|answer(?:ed)?"
        r"|got|get|come|came)(?: back| to| me| us| yet)",
    ),
    rule(
        "but still inactive been it they and wrong missing incorrect late lost",
        r"^\W*+(?:i|we)(?:'ve| have)? (?:already )?(?:paid|ordered|applied|cancell?ed|sent|transferred|submitted"
        r"|returned"
        r"|booked|renewed|signed up|subscribed)\b[^?]{0,160}\bbut\b[^?]{0,80}\b(?:still|not|never|inactive|hasn't|isn't"
        r"|wasn't|nothing)\b",
        r"^\W*+(?:i|we)(?:'ve| have)? (?:already )?(?:paid|returned|cancell?ed|sent|left|closed"
        r"|unsubscribed)\b[^?]{0,120}"
        r"\b(?:and|but) (?:i'm|i am|we're|we are) (?:still )?(?:being |getting )?(?:billed|charged|waiting|invoiced)\b",
        rf"^\W*+(?:my|our) {_AWAITED} (?:from|of|for) (?:\w+ ){{1,2}}?(?:is|was) (?:wrong|missing|incorrect|late"
        rf"|lost)\b",
        r"^\W*+(?:my|our) [^?,]{3,60}[,-] (?:did|has|have|is|are|was|were) (?:it|they) \w+",
        r"^\W*+(?:i'm |i am |we're |we are )?still waiting (?:for|on) (?:my|our|the|an?)\b",
        r"^\W*+it(?:'s| is| has) been (?:\w+ ){1,4}(?:for me|already|now|since)\b",
    ),
)
# What a service keeps or rules for one of its users.
_SERVED = (
    r"(?:accounts?|address|agenda|alarms?|appointments?|balances?|basket|bills?|bookings?|boss|calendar|calls?|card"
    r"|cart"
    r"|claims?|contacts?|contract|coordinates|dad|deliver(?:y|ies)|devices?|e-?mails?|emails|fines?|flights?|garage"
    r"|grades?|heating|history|homework|inbox|instance|insurance|invoices?|leave|licen[cs]e|lights?|lists?|loans?"
    r"|location"
    r"|logs|mails?|manager|meetings?|membership|messages?|mom|mortgage|mum|notes?|notifications?|orders?|packages?"
    r"|parcels?|passport|payments?|payslips?|permit|photos?|pin|plan|playlists?|policy|prescriptions?|profile"
    r"|queue|bedroom|kitchen|living room|house|office|runs?|builds?|deployments?|jobs?"
    r"|refunds?|reminders?|rent|reservations?|results?|salary|savings|schedule|server|shifts?|spending|statements?"
    r"|subscriptions?|tasks?|texts|voicemails?|thermostat|tickets?|timesheet|transactions?|usage|vacation|wallet"
    r"|winnings|wishlist)\b"
)
_ASKED = r"^\W*+(?:(?:please|kindly|hey|hi|ok|now|can you|could you|would you|will you|i want you to|go ahead and)\W+)*"
_DEALT_WITH = any_of(
    rf"{_ASKED}(?:un(?:block|freeze|lock|subscribe)|block|freeze|pay(?: off)?|renew|re-?order|re-?schedule|re-?send"
    r"|activate|de-?activate|cancel|redeploy) (?:me |us |all |both )?(?:of )?(?:my|our) [\w'-]+"
    r"(?! (?:in|with|using|from|via) (?:python|git|excel|bash|sql|linux|windows|javascript|docker|terminal|jira"
    r"|word)\b)(?![^?]{0,120}\bhow\b)",
    rf"{_ASKED}(?:extend|upgrade|downgrade|compare|forward|submit|confirm|move|remind|close|delete|approve|restart"
    rf"|re-?run"
    r"|look up|pull up|show|list|summari[sz]e|plan|export|import|transfer|book|text|call|email|message|read|open|play"
    r"|turn (?:on|off|up|down)|log|add|remove|send|put) (?:me |us |all |both )?"
    r"(?:(?:of )?my|our|(?!for\b|ideas\b)(?:[\w'-]+ ){1,3}?(?:of|from|in|on|to|with) my) "
    rf"(?:(?!and\b)[\w'-]+ ){{0,3}}?{_SERVED}"
    r"(?! (?:in|with|using|from|via) (?:python|git|excel|bash|sql|linux|windows|javascript|java|docker|terminal|vim"
    r"|emacs|jira|word|gmail|outlook)\b)(?![^?]{0,120}\bhow\b)",
    r"^\W*+(?:please )?(?:re-?order|cancel|repeat|track|return|show me|find|send me|list) (?:what|everything|all"
    r"|the \w+)"
    r" (?:that )?(?:i|we) (?:just |last |already )?(?:\w{3,}ed|bought|took|sent|had|got|wrote|paid|made|said)\b",
    r"^\W*+tell me what (?:i|we) (?:still )?(?:owe|ordered|bought|spent|paid|missed|have left)\b",
)
_THING = (
    r"(?:balances?|payslips?|paychecks?|invoices?|bills?|statements?|orders?|bookings?|appointments?|payments?"
    r"|instal?lments?|quota|usage|points|miles|bonus|tickets?|messages?|mails?|emails?|e-mails?|meetings?|tasks?"
    r"|homework|grades?|refunds?|claims?|deliver(?:y|ies)|parcels?|packages?|shipments?|vacation|leave|pto|shifts?"
    r"|premium|deductible|transactions?|subscriptions?|reminders?|notifications?|prescriptions?|results)"
)
# Typed as into a search box, by somebody whose own it is.
_BARE = any_of(
    r"^\W*+(?:please )?(?:account balance|card balance|balance please|order status|claim status)(?: please)?\W*$",
    rf"^\W*+(?:and |please |the )*(?:next|last|latest|upcoming|remaining|unpaid|unread|overdue|outstanding|pending"
    rf"|missed|recent) {_THING}(?: please)?\W*$",
    r"^\W*+balances?\s?\?\W*$|^\W*+(?:vacation|leave|holiday) (?:days )?(?:left|remaining|balance)\W*$",
    rf"^\W*+(?:and |so |please )*(?:my|our) (?:\w+ ){{0,2}}?{_THING}(?: (?:for|in|from|on|this|next"
    rf"|last) \w+(?: \w+)?)?"
    r"(?: please)?\W*$",
    r"^\W*+(?:any|an) (?:news|update|updates|progress|word|answer|reply) (?:on|about|from|regarding) (?:my|our"
    r"|the (?:one|order|claim|application|request|ticket|case|parcel|refund))\b",
    r"^\W*+(?:and )?(?:what about |how about )?(?:my|our) (?:\w+ )?(?:one|ones|others?)\W*$",
    rf"^\W*+(?:overdraft|data|minutes|credit|allowance|{_THING}) (?:left|remaining)\W*$",
    # Of something that was spoken of, and that is on its way to the one who asks.
    r"^\W*+(?:(?:and|so|ok|but) )?(?:has|did|is|was|will|when will|when does|when did|why (?:hasn't|has|is)) "
    r"(?:it|that|this one|they|mine) (?:still |already |not |be |get |been |finally )*"
    r"(?:ship(?:ped)?|arriv(?:e|ed|ing)|deliver(?:ed)?|go through|gone through|went through|process(?:ed)?|approved?"
    r"|refunded|paid(?: out)?|dispatched|received|credited|cancell?ed|confirmed|cleared|on its way|come through"
    r"|get here|reached|be here|get it)(?: (?:yet|already|now|today|then))*\W*$",
    rf"^\W*+(?:and )?(?:what|how) about (?:my|our) (?:[\w'-]+ ){{0,3}}?(?:{_THING}|card|account|salary|contract"
    rf"|policy)\W*$",
    r"^\W*+(?:and |what about |how about )+(?:the one|the other one|that one|those) (?:that )?(?:i|we) \w+\b",
    r"^\W*+(?:did|have) (?:i|we) (?:get|got|receive|received|paid|pay) (?:it|that|them)(?: (?:yet|already|back))*\W*$",
    r"^\W*+(?:the|my) usual(?: order)?(?: please)?\W*$",
    r"^\W*+(?:(?:a|the|my|our) )?(?:booking|reservation|table|appointment) (?:under|in the name of) "
    r"(?:the name )?(?!(?:the|an?|review|law|this|that|which|pressure|construction|\w+ing)\b)[\w'-]+(?: [\w'-]+)?\W*$",
)
# A number of a customer, an order or a claim, beside which it is asked how that one stands.
_NAMED = any_of(
    r"\b(?:order|invoice|ticket|booking|tracking|case|claim|reservation|reference|ref|customer|client|member|membership"
    r"|policy|contract|application|employee|student|patient|booking ref|account)(?: (?:number|id|no\.?|nr\.?|code"
    r"|ref))?(?: is)?\W{0,3}(?:#?[a-z]{0,4}[-_ ]?\d{5,}|#[a-z]{0,3}-?\d{3,}|[a-z]{1,4}-\d{3,}|\d{4}-\d{3,})",
    r"\b(?:customer|client|member|employee|patient|student) (?:\d{4,}|(?:(?:number|id|no\.?) #?|#)\d{3,})\b",
    r"\btrack (?:the |this |my )?#?(?=[a-z0-9]{0,20}\d{5})[a-z0-9]{8,40}\b",
    r"\b(?:this is|i am|my name is) [a-z]+ [a-z]+,? (?:born|date of birth|dob)\b",
    r"^\W*+(?:my )?(?:phone|mobile|e-?mail|tel|telephone)(?: number| address)?(?: is)?\W{0,3}(?:\+?\d[\d ()-]{6,}"
    r"|[\w.+-]{1,40}@[\w-]{1,40}\.\w+)",
    r"\b(?:booking|reservation|confirmation|record|pnr|tracking|parcel|order)(?: (?:number|id|no\.?|code|ref|reference"
    r"|locator))?(?: is)?\W{1,3}(?:(?=[a-z0-9]{0,11}\d)(?=[a-z0-9]{0,11}[a-z])[a-z0-9]{6,12}|\d{2,4}-\d{3,})\b",
    r"\bmine is #?(?=\w{0,20}\d{3})\w{6,40}\b",
    # "Booking ref QX7T2L", "claim number 77-A-2231"
    r"\b(?:booking|reservation|confirmation|claim|ticket|tracking|locator|passenger name|pnr) (?:ref(?:erence)?"
    r"|code|number"
    r"|locator|record|id|no\.?)(?: is)?\W{0,3}(?=[a-z-]{0,12}\d)(?=[\d-]{0,12}[a-z])[a-z\d-]{5,12}(?![\w-])",
    r"^\W*+(?:pnr|booking|reservation) (?=[a-z]{0,6}\d)(?=\d{0,6}[a-z])[a-z\d]{6}\W*$",
)
# An order to act upon a record that its number names, in nobody's name: the same task for an agent, whoever gives it.
_ACTED_ON = re.compile(
    r"^\W*+(?:please |kindly |(?:can|could|would) you (?:please )?)?(?:add|apply|approve|assign|cancel|change|close"
    r"|correct|create|delete|e-?mail|escalate|extend|forward|issue|mark|merge|move|notify|process|refund|reject"
    r"|remove|reopen"
    r"|replace|reschedule|reship|return|send|ship|split|transfer|update|upgrade|void|(?:find|look up|open|get) "
    r"[^?]{1,80}\band)\b(?!.*\b(?:my|our|i|we|me|us)\b)"
)
_OWNERS = vocabulary("my our i we")
_ID = re.compile(r"\d|@")
# The way out of a case is asked for, which is everybody's.
_WAY = any_of(
    r"\b(?:what|how|where|who) (?:\w+ )?(?:do|can|should|could|must|shall|would|to) (?:i|we|you|one)\b"
    r"|\bwhat (?:now|to do|next|happens)\b|\bhow to\b|\b(?:can|could|may|should|must) (?:i|we)\b|\bwhat are my\b"
    r"|\bwhat(?:'s| is) the (?:way|process|procedure|best)\b|\bhow long (?:does|do)\b|\bwhy\b"
    r"|\b(?:write|draft|compose|translate|rewrite|rephrase)\b"
)


def is_named(folded: str) -> bool:
    """Return True for a few words that name a record, whose only sense is the sender's own."""
    return _BARE.match(folded) is not None


def is_numbered(folded: str) -> bool:
    """Return True if a text asks about a customer, an order or a claim that its number names."""
    return _ID.search(folded) is not None and _NAMED.search(folded) is not None and _ACTED_ON.match(folded) is None


def applies(folded: str, bag: frozenset[str]) -> bool:
    """Return True if a case of the sender's own is told, or ordered to be dealt with; `bag` holds the words."""
    if not _OWNERS.isdisjoint(bag) and _DEALT_WITH.match(folded) is not None:
        return True
    return _TOLD.match(folded, bag) and _WAY.search(folded) is None
