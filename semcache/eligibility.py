"""Whether a request may be cached at all, and whether by meaning or only by identity.

Reads the request and its category, nothing else: no store, no clock, no embedding.
Invariant: when in doubt a request is ineligible, for a needless call costs money and a wrong answer costs trust; yet a
general how-to question that merely says "my" is not personal.
"""

from __future__ import annotations

import re

from semcache.policy import Category
from semcache.secrets import has_secret
from semcache.types import Request, Why

# What belongs to one caller and is looked up in that caller's records.
_RECORD = (
    r"(?:orders?|packages?|parcels?|deliver(?:y|ies)|shipments?|refunds?|returns?|invoices?|bills?|balances?|statements?"
    r"|transactions?|payments?|bookings?|reservations?|appointments?|tickets?|results?|prescriptions?|test|lab|diagnos[ie]s"
    r"|contracts?|claims?|polic(?:y|ies)|subscriptions?|plan|account|cart|basket|wishlist|points|miles|credits?|limit|usage|quota"
    r"|history|calendar|schedule|meetings?|inbox|emails?|messages?|files?|documents?|notes?|reminders?|contacts?|salary"
    r"|payslip|portfolio|holdings?|stocks?|investments?|loan|mortgage|card|grades?|score|membership|profile|details|records?"
    r"|data|flights?|itinerary|seat|luggage|application|case|repo(?:sitory)?|server|instance|deployment|tasks?|team|dashboard)"
)
_OWNED = rf"(?:my|our|mine)\s+(?:\w+\s+){{0,3}}?{_RECORD}\b"
_STATE = (
    r"(?:status|arriv\w+|late|delayed|due|shipped|delivered|ready|approved|processed|cancell?ed|confirmed|declined|charged"
    r"|rejected|pending|active|expir\w+|overdue|left|remaining|available|scheduled|eligible|lost|missing|stuck|here|coming)"
)
_PERSONAL = re.compile(
    rf"""
    \b(?:where|when|whereabouts)(?:'s|\s+(?:is|are|was|were|will|does|do|did|has|have))\s+(?:my|our)\b(?!\s+nearest)
    | \b(?:track|check|look\s+up|find|show|list|pull\s+up|see|view|open|read|fetch|get|give|send|tell|summari[sz]e|cancel|change
        |update|reschedule|confirm|review|analy[sz]e|display|print|export|delete|book)\s+(?:me\s+)?(?:all\s+|of\s+|about\s+|the\s+status\s+of\s+)*{_OWNED}
    | \b(?:what|how|which|who)(?:'s|'re|\s+(?:is|are|was|were|much|many|did|do|long|far|soon|about))\s+(?:\w+\s+){{0,3}}?(?:in\s+|on\s+|of\s+|left\s+)?{_OWNED}
    | \b(?:has|have|is|are|was|were|did|does|will)\s+{_OWNED}\s+(?:\w+\s+){{0,3}}?{_STATE}\b
    | \b(?:the\s+)?(?:status|balance|state|progress|details|result|outcome|eta)\s+(?:of|on|for)\s+(?:my|our)\b
    | \bdo\s+(?:i|we)\s+(?:still\s+|currently\s+|already\s+)?(?:have|owe|own)\s+(?:any|an?|enough|the|more|unread|some|unpaid|\d|outstanding|left|to\s+pay\s+for)\b(?!\s+(?:right|choice|obligation|to\b))
    | \b(?:how\s+(?:much|many)|what|which|when)\s+(?:\w+\s+){{0,3}}?(?:do|did|have|am|was|were|are)\s+(?:i|we)\s+(?:\w+\s+)?
        (?:have|owe|owed|spend|spent|order(?:ed)?|bought|buy|paid|pay\s+last|booked|scheduled|left|say|said|ask(?:ed)?|sent|send|receive[d]?|eligible)\b
    | \bshow\s+(?:me\s+)?(?:my|our)\b | ^\W*(?:my|our)\s+(?:\w+\s+){{0,2}}?{_RECORD}\W*(?:please|now)?\W*$
    | \b(?:am|was)\s+i\s+(?:still\s+|already\s+)?(?:enrolled|registered|subscribed|charged|billed|approved|accepted|eligible|logged\s+in|covered|on\s+the)\b
    | \b(?:what(?:'s|\s+is|\s+are)|tell\s+me|do\s+you\s+(?:know|remember))\s+my\s+(?:name|age|address|birthday|phone|number|email|username|id|job|location|favou?rite|timezone|city)\b
    | \bwho\s+am\s+i\b | \bwhere\s+am\s+i\b | \bremind\s+me\b | \babout\s+me\b | \bdo\s+you\s+remember\b
    | \b(?:my|our)\s+(?:order|account|invoice|ticket|booking|tracking|reservation|case|claim)\s+(?:number\s+|id\s+|no\.?\s+)?(?:is\s+)?\#?\w*\d
    | \b(?:order|invoice|ticket|booking|tracking|case|claim|reservation)\s*(?:number|id|no\.?|\#)\s*:?\s*\#?\w*\d{{3}}
    """,
    re.VERBOSE | re.IGNORECASE,
)
_PERSON = re.compile(r"\b(?:my|our|mine|i|we|me)\b|\d{3}|#", re.IGNORECASE)
# A question for the way to do something is general, even about "my account".
_HOW_TO = re.compile(
    r"^\W*(?:(?:hi|hello|hey|please|thanks|ok|so|and|also)\W+)*(?:(?:can|could|would)\s+you\s+(?:please\s+)?(?:tell|show|explain(?:\s+to)?|teach)\s+me\s+)?"
    r"(?:how\s+(?:do|can|could|should|would|might|to|does)\b(?!\s+(?:my|our)\b)(?!\s+(?:i|we)\s+(?:still\s+)?owe\b)"
    r"|what(?:'s|\s+is|\s+are)\s+the\s+(?:\w+\s+){0,2}?(?:way|steps?|process|procedure|best|easiest|fastest|quickest)\b"
    r"|what\s+(?:should|can|must|do)\s+i\s+(?:do|try|use|check|need)\b"
    r"|(?:can|could|may|should|must)\s+i\s+(?!see|view|have\s+my)|is\s+(?:it|there)\b|where\s+(?:do|can|should)\s+i\b"
    r"|why\s+(?:is|are|does|do|did|was|were|has|won't|can't|doesn't|isn't)\s+my\s+(?:code|dog|cat|baby|child|loop|function|query|test|phone|laptop|car|plant)"
    r"|(?:the\s+)?(?:way|steps|instructions)\s+(?:to|for)\b|i\s+(?:want|need|would\s+like|'d\s+like)\s+to\s+know\s+how\b)",
    re.IGNORECASE,
)
_LIVE = re.compile(
    r"""
    \b(?:right\s+now|at\s+the\s+moment|at\s+this\s+(?:moment|time)|currently|as\s+of\s+(?:now|today)|just\s+now|so\s+far\s+(?:today|this)|up[\s-]to[\s-]date)\b
    | \b(?:today|tonight|tomorrow|yesterday)(?:'s)?\b(?!\() | \bthis\s+(?:week|weekend|month|morning|afternoon|evening|year|quarter|season)(?:'s)?\b
    | \b(?:last|next)\s+(?:night|week|weekend|month)(?:'s)?\b | \bnowadays\b | \bthese\s+days\b
    | \b(?:latest|breaking|live|real[\s-]?time|up[\s-]?coming|newest|most\s+recent|trending)\s+(?:\w+\s+)?(?:news|scores?|prices?|results?|updates?|headlines?|rates?|version|release|events?|figures?|data|traffic|standings?|polls?|numbers?|status|model|episode|stats|statistics|developments?)\b
    | \bwhat(?:'s|\s+is)\s+(?:the\s+)?latest\b | \bin\s+the\s+news\b | \bnews\s+(?:about|on|from)\b | ^\W*news\b
    | \bwhat(?:'s|\s+is)?\s+(?:the\s+)?(?:current\s+)?(?:time|date|day)\s*(?:is\s+it|in\s+\w+(?:\s\w+)?|now|there|here)?\s*\?*\s*$ | \bwhat\s+(?:time|day|date|year)\s+is\s+it\b
    | \b(?:current(?:ly)?|present)\s+(?:\w+\s+){0,2}?(?:president|prime\s+minister|ceo|price|prices|rate|rates|time|weather|temperature|version|value|stock|score|champion|leader|status|population|governor|mayor|king|queen|pope|chancellor|exchange|inflation|traffic|standings?|events?|holder|chair)\b
    | \bwho(?:'s|\s+is)\s+(?:the\s+)?(?:current\b|now\b|winning\b|leading\b)
    | \b(?:weather|forecast)\s+(?:\w+\s+)?(?:in|for|at|like|near|outside)\b | \bweather\s*\?*\s*$ | \bhow(?:'s|\s+is)\s+the\s+weather\b | \bis\s+it\s+(?:raining|snowing|sunny|cold|hot|windy)\s+(?:in|outside|at)\b | \bwill\s+it\s+(?:rain|snow)\b
    | \b(?:stock|share|bitcoin|btc|ethereum|crypto|gold|oil|gas|silver|silver|petrol|fuel)\s+prices?\s*(?:\?|$|of|for|in|now) | \b(?:price|value)\s+of\s+(?:bitcoin|btc|ethereum|eth|gold|oil|silver|gas)\b
    | \bhow\s+(?:much|is|are)\s+(?:is\s+)?(?:the\s+)?(?:bitcoin|btc|ethereum|(?:dow|nasdaq|s&p)\b|\w+\s+(?:stock|shares?)\s+(?:doing|trading|worth))
    | \b(?:stock|share)\s+quote\b | \b(?:what(?:'s|\s+is|\s+are)?|current|check|get|usd|eur|gbp|dollars?|euros?|yen|rupees?)\s+(?:\w+\s+){0,3}?exchange\s+rates?\b(?!\s+(?:work|mean|regime|risk|mechanism))
    | \bexchange\s+rates?\s+(?:of|for|between|from)\b | \btrading\s+at\b
    | \b(?:score|scores)\s+(?:of|for|in)\s+(?:the\s+)?(?:\w+\s+){0,4}?(?:game|match)\b | \bwho\s+(?:is|are|'s)\s+winning\b | \bdid\s+the\s+\w+\s+win\b
    | \btraffic\s+(?:on|in|to|near|like|conditions?|report|jams?)\b(?!.*\b(?:website|site|blog|page|google)\b) | \b(?:flight|train|bus)\s+(?:status|delays?)\b
    | \bis\s+(?:\S+\s+){1,4}?(?:down|open|closed|online|up)\s*(?:now|today|tonight)?\s*\?\s*$
    | \b(?:open|closed|available|in\s+stock|near\s+me|nearby|around\s+here)\s+(?:now|tonight)\b | \bnear(?:est)?\s+(?:to\s+)?me\b | \bin\s+stock\b
    | \bwhat(?:'s|\s+is)\s+(?:happening|going\s+on|new)\b(?!\s+(?:in|inside|with|when)\s+(?:this|the|my)\s+(?:code|function|loop|query|error|script))
    """,
    re.VERBOSE | re.IGNORECASE,
)
# Ways of saying "nowadays" that ask nothing of the present moment.
_NOT_LIVE = re.compile(r"\b(?:how|what)\s+(?:do|does|are|is)\s+(?:weather\s+forecasts?|stock\s+prices?|exchange\s+rates?)\s+(?:work|made|determined|calculated|set)\b", re.IGNORECASE)
_WORK = (
    r"(?:poems?|haikus?|limericks?|sonnets?|verses?|stor(?:y|ies)(?!\s+(?:of|behind)\b)|tales?|fable|novel|jokes?|puns?|riddles?|songs?|lyrics|rap|tweets?|captions?"
    r"|slogans?|taglines?|names?\s+for|ideas?|essay|speech|toast|screenplay|script\s+for\s+a\s+(?:movie|play|video|scene|podcast)|scene|dialogue|blog(?:\s?post)?s?"
    r"|bio|ad(?:vert(?:isement)?)?s?|ad\s+copy|posts?|headlines?|letters?|prompts?|pickup\s+lines?|greetings?|fan\s?fic(?:tion)?|characters?|plot|quiz|trivia|compliments?"
    r"|usernames?|nicknames?|passwords?|dad\s+jokes?|bedtime\s+story)"
)
_CREATIVE = re.compile(
    rf"""
    \b(?:write|compose|create|craft|draft|generate|make(?:\s+up)?|invent|come\s+up\s+with|think\s+of|pen|tell(?:\s+me)?|give(?:\s+me)?|sing(?:\s+me)?|suggest|propose|do)\s+
        (?:me\s+|us\s+|up\s+)?(?:an?\s+|some\s+|the\s+|another\s+|one\s+|\d+\s+|few\s+|two\s+|three\s+|five\s+|ten\s+)*(?:\w+[\s-]+){{0,3}}?{_WORK}\b
    | \bbrainstorm\w*\b | \bsurprise\s+me\b | \bmake\s+me\s+laugh\b | \bentertain\s+me\b
    | \brandom\s+(?:number|fact|word|name|person|color|colour|letter|quote|joke|thing|topic|movie|song|animal|country|password|idea|one)\b
    | \b(?:pick|choose|select|give\s+me|generate)\s+(?:\w+\s+){{0,3}}?(?:at\s+random|randomly|random)\b | \b(?:flip|toss)\s+a\s+coin\b | \broll\s+(?:a\s+)?(?:dic?e|\d*d\d+)\b
    | ^\W*(?:(?:give|tell|show)\s+me\s+)?(?:another|a\s+different|one\s+more|some\s+more)\b(?:\s+\w+)?\W*$
    | \banother\s+(?:one|joke|story|poem|idea|version|example|try|attempt|option|variation|suggestion)\b
    | ^\W*(?:regenerate|try\s+again|again|once\s+more|retry|redo|more|next)\b\W*(?:please)?\W*$ | \bregenerate\b
    | \bsomething\s+(?:different|creative|original|funny|new)\b | \bbe\s+creative\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_CODE_TASK = re.compile(r"\b(?:function|regex|sql|python|javascript|java|bash|code|class|method|unit\s+tests?|api|html|css|algorithm|program)\b", re.I)
_STABLE_WORK = re.compile(r"\b(?:random|brainstorm|another|regenerate|again|poem|joke|haiku|lyrics|song|limerick)", re.I)


def ineligible(request: Request, category: Category) -> Why | None:
    """The first reason against looking up and storing this request; None when there is none."""
    if not category.cache:
        return Why.DISABLED
    if request.traits.stateful:
        return Why.STATEFUL
    temperature = request.traits.temperature
    if temperature is not None and temperature > category.max_temperature:
        return Why.TEMPERATURE
    text = request.text
    if has_secret(text):
        return Why.SECRET
    if not (category.personal or request.scope.user is not None) and is_personal(text):
        return Why.PERSONAL
    if not category.live and is_live(text):
        return Why.LIVE
    if not category.creative and is_creative(text):
        return Why.CREATIVE
    return None


def semantic_eligible(request: Request, category: Category) -> Why | None:
    """EXACT_ONLY when a paraphrase of this request must not be sought; None when it may."""
    traits, text = request.traits, request.text
    if not category.semantic or traits.multimodal or traits.last_role != "user":
        return Why.EXACT_ONLY
    if len(text) > category.max_chars or not any(map(str.isalnum, text)):
        return Why.EXACT_ONLY
    return None


def is_personal(text: str) -> bool:
    """Whether the answer depends on the records of the person who asks."""
    return _PERSON.search(text) is not None and _PERSONAL.search(text) is not None and _HOW_TO.match(text) is None


def is_live(text: str) -> bool:
    """Whether the answer depends on the moment of asking."""
    return _LIVE.search(text) is not None and _NOT_LIVE.search(text) is None


def is_creative(text: str) -> bool:
    """Whether something new is wanted each time."""
    if _CREATIVE.search(text) is None:
        return False
    if _HOW_TO.match(text) is not None:
        return False
    return _CODE_TASK.search(text) is None or _STABLE_WORK.search(text) is not None
