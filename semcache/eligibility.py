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


def _any(*patterns: str) -> re.Pattern[str]:
    """One pattern out of many; a space in them stands for any white space."""
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns).replace(" ", r"\s+"), re.IGNORECASE)


# What belongs to one caller and is looked up in that caller's records.
_RECORD = (
    r"(?:orders?|packages?|parcels?|deliver(?:y|ies)|shipments?|refunds?|returns?|invoices?|bills?"
    r"|balances?|statements?"
    r"|transactions?|payments?|bookings?|reservations?|appointments?|tickets?|results?|prescriptions?|test|lab"
    r"|diagnos[ie]s|contracts?|claims?|polic(?:y|ies)|subscriptions?|plan|account|cart|basket|wishlist|points|miles"
    r"|credits?|limit|usage|quota|history|calendar|schedule|meetings?|inbox|emails?|messages?|files?|documents?|notes?"
    r"|reminders?|contacts?|salary|payslip|portfolio|holdings?|stocks?|investments?|loan|mortgage|card|grades?|score"
    r"|membership|profile|details|records?|data|flights?|itinerary|seat|luggage|application|case|repo(?:sitory)?"
    r"|server|instance|deployment|tasks?|team|dashboard)\b"
)
_OWNED = rf"(?:my|our|mine) (?:\w+ ){{0,3}}?{_RECORD}"
_STATE = (
    r"(?:status|arriv\w+|late|delayed|due|shipped|delivered|ready|approved|processed|cancell?ed|confirmed|declined"
    r"|charged|rejected|pending|active|expir\w+|overdue|left|remaining|available|scheduled|eligible|lost|missing|stuck"
    r"|here|coming)\b"
)
_FETCH = (
    r"(?:track|check|look up|find|show|list|pull up|see|view|open|read|fetch|get|give|send|tell"
    r"|summari[sz]e|cancel|change"
    r"|update|reschedule|confirm|review|analy[sz]e|display|print|export|delete|book)"
)
_PERSON = re.compile(r"\b(?:my|our|mine|i|we|me)\b|\d{3}|#", re.IGNORECASE)
_PERSONAL = _any(
    r"\b(?:where|when|whereabouts)(?:'s| (?:is|are|was|were|will|does|do|did|has|have)) (?:my|our)\b(?! nearest)",
    rf"\b{_FETCH} (?:me )?(?:all |of |about |the status of )*{_OWNED}",
    rf"\b(?:what|how|which|who)(?:'s|'re| (?:is|are|was|were|much|many|did|do|long|far|soon|about)) (?:\w+ ){{0,3}}?"
    rf"(?:in |on |of |left )?{_OWNED}",
    rf"\b(?:has|have|is|are|was|were|did|does|will) {_OWNED} (?:\w+ ){{0,3}}?{_STATE}",
    r"\b(?:the )?(?:status|balance|state|progress|details|result|outcome|eta) (?:of|on|for) (?:my|our)\b",
    r"\bdo (?:i|we) (?:still |currently |already )?(?:have|owe|own) (?:any|an?|enough|the|more|unread|some|unpaid|\d"
    r"|outstanding|left|to pay for)\b(?! (?:right|choice|obligation|to\b))",
    r"\b(?:how (?:much|many)|what|which|when) (?:\w+ ){0,3}?(?:do|did|have|am|was|were|are) (?:i|we) (?:\w+ )?"
    r"(?:have|owe|owed|spend|spent|order(?:ed)?|bought|buy|paid|booked|scheduled|left|say|said|ask(?:ed)?|sent|send"
    r"|received?|eligible)\b",
    r"\bshow (?:me )?(?:my|our)\b",
    rf"^\W*(?:my|our) (?:\w+ ){{0,2}}?{_RECORD}(?:\W+(?:please|now))?\W*$",
    r"\b(?:am|was) i (?:still |already )?(?:enrolled|registered|subscribed|charged|billed|approved|accepted|eligible"
    r"|logged in|covered|on the)\b",
    r"\b(?:what(?:'s| is| are)|tell me|do you (?:know|remember)) my (?:name|age|address|birthday|phone|number|email"
    r"|username|id|job|location|favou?rite|timezone|city)\b",
    r"\b(?:who am i|where am i|remind me|about me|do you remember)\b",
    r"\b(?:my|our) (?:order|account|invoice|ticket|booking|tracking|reservation|case|claim) (?:number "
    r"|id |no\.? )?(?:is )?"
    r"#?\w*\d",
    r"\b(?:order|invoice|ticket|booking|tracking|case|claim|reservation)\s*(?:number|id|no\.?|#)\s*:?\s*#?\w*\d{3}",
)
# A question for the way to do something is general, even about "my account".
_HOW_TO = _any(
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
_FIGURE = (
    r"(?:news|scores?|prices?|results?|updates?|headlines?|rates?|version|release|events?|figures?|data|traffic"
    r"|standings?|polls?|numbers?|status|model|episode|stats|statistics|developments?)\b"
)
_OFFICE = (
    r"(?:president|prime minister|ceo|prices?|rates?|time|weather|temperature|version|value|stock|score|champion|leader"
    r"|status|population|governor|mayor|king|queen|pope|chancellor|exchange|inflation|traffic|standings?|events?|holder"
    r"|chair)\b"
)
_LIVE = _any(
    r"\b(?:right now|at the moment|at this (?:moment|time)|currently|as of (?:now|today)|just now|so far (?:today|this)"
    r"|up[\s-]to[\s-]date|nowadays|these days)\b",
    r"\b(?:today|tonight|tomorrow|yesterday)(?:'s)?\b(?!\()",
    r"\bthis (?:week|weekend|month|morning|afternoon|evening|year|quarter|season)(?:'s)?\b",
    r"\b(?:last|next) (?:night|week|weekend|month)(?:'s)?\b",
    rf"\b(?:latest|breaking|live|real[\s-]?time|up[\s-]?coming|newest|most recent|trending) (?:\w+ )?{_FIGURE}",
    r"\bwhat(?:'s| is) (?:the )?latest\b|\bin the news\b|\bnews (?:about|on|from)\b|^\W*news\b",
    r"\bwhat(?:'s| is)? (?:the )?(?:current )?(?:time|date|day)\s*(?:is it|in \w+(?:\s\w+)?|now|there|here)?\s*\?*\s*$",
    r"\bwhat (?:time|day|date|year) is it\b",
    rf"\b(?:current(?:ly)?|present) (?:\w+ ){{0,2}}?{_OFFICE}",
    r"\bwho(?:'s| is) (?:the )?(?:current|now|winning|leading)\b",
    r"\b(?:weather|forecast) (?:\w+ )?(?:in|for|at|like|near|outside)\b|\bweather\s*\?*\s*$|\bhow(?:'s"
    r"| is) the weather\b",
    r"\bis it (?:raining|snowing|sunny|cold|hot|windy) (?:in|outside|at)\b|\bwill it (?:rain|snow)\b",
    r"\b(?:stock|share|bitcoin|btc|ethereum|crypto|gold|oil|gas|silver|petrol|fuel) prices?\s*(?:\?|$|of|for|in|now)",
    r"\b(?:price|value) of (?:bitcoin|btc|ethereum|eth|gold|oil|silver|gas)\b",
    r"\bhow (?:much|is|are) (?:is )?(?:the )?(?:bitcoin|btc|ethereum|dow|nasdaq|\w+ (?:stock"
    r"|shares?) (?:doing|trading|worth))\b",
    r"\b(?:stock|share) quote\b|\btrading at\b|\bexchange rates? (?:of|for|between|from)\b",
    r"\b(?:what(?:'s| is| are)?|current|check|get|usd|eur|gbp|dollars?|euros?|yen"
    r"|rupees?) (?:\w+ ){0,3}?exchange rates?\b"
    r"(?! (?:work|mean|regime|risk|mechanism))",
    r"\bscores? (?:of|for|in) (?:the )?(?:\w+ ){0,4}?(?:game|match)\b|\bwho (?:is|are|'s) winning\b"
    r"|\bdid the \w+ win\b",
    r"\btraffic (?:on|in|to|near|like|conditions?|report|jams?)\b(?!.*\b(?:website|site|blog|page|google)\b)",
    r"\b(?:flight|train|bus) (?:status|delays?)\b|\bis (?:\S+ ){1,4}?(?:down|open|closed|online|up)(?: now)?\s*\?\s*$",
    r"\b(?:open|closed|available|in stock|near me|nearby|around here) now\b|\bnear(?:est)? (?:to )?me\b|\bin stock\b",
    r"\bwhat(?:'s| is) (?:happening|going on|new)\b(?! (?:in|inside|with|when) (?:this|the|my) (?:code"
    r"|function|loop|query"
    r"|error|script))",
)
_NOT_LIVE = _any(
    r"\b(?:how|what) (?:do|does|are|is) (?:weather forecasts?|stock prices?|exchange rates?) (?:work|made|determined"
    r"|calculated|set)\b"
)
_WORK = (
    r"(?:poems?|haikus?|limericks?|sonnets?|verses?|stor(?:y|ies)(?! (?:of|behind)\b)|tales?|fable|novel|jokes?|puns?"
    r"|riddles?|songs?|lyrics|rap|tweets?|captions?|slogans?|taglines?|names? for|ideas?|essay|speech|toast|screenplay"
    r"|script for a (?:movie|play|video|scene|podcast)|scene|dialogue|blog(?:\s?post)?s?|bio|ad(?:vert(?:isement)?)?s?"
    r"|ad copy|posts?|headlines?|letters?|prompts?|pickup lines?|greetings?|fan\s?fic(?:tion)?|characters?|plot|quiz"
    r"|trivia|compliments?|usernames?|nicknames?|passwords?|dad jokes?|bedtime story)\b"
)
_CREATIVE = _any(
    r"\b(?:write|compose|create|craft|draft|generate|make(?: up)?|invent|come up with|think of|pen|tell(?: me)?"
    r"|give(?: me)?|sing(?: me)?|suggest|propose) (?:me |us |up )?"
    rf"(?:an? |some |the |another |one |\d+ |few |two |three |five |ten )*(?:\w+[\s-]+){{0,3}}?{_WORK}",
    r"\bbrainstorm\w*\b|\bsurprise me\b|\bmake me laugh\b|\bentertain me\b|\bregenerate\b|\bbe creative\b",
    r"\brandom (?:number|fact|word|name|person|color|colour|letter|quote|joke|thing|topic|movie|song|animal|country"
    r"|password|idea|one)\b",
    r"\b(?:pick|choose|select|give me|generate) (?:\w+ ){0,3}?(?:at random|randomly|random)\b",
    r"\b(?:flip|toss) a coin\b|\broll (?:a )?(?:dic?e|\d*d\d+)\b",
    r"^\W*(?:(?:give|tell|show) me )?(?:another|a different|one more|some more)\b(?: \w+)?\W*$",
    r"\banother (?:one|joke|story|poem|idea|version|example|try|attempt|option|variation|suggestion)\b",
    r"^\W*(?:try again|again|once more|retry|redo|more|next)\b\W*(?:please)?\W*$",
    r"\bsomething (?:different|creative|original|funny|new)\b",
)
# "Write a function" names a work too, yet one answer serves everybody.
_CODE = _any(
    r"\b(?:function|regex|sql|python|javascript|java|bash|code|class|method|unit tests?|api|html|css"
    r"|algorithm|program)\b"
)
_PLAYFUL = _any(r"\b(?:random|brainstorm|another|regenerate|again|poem|joke|haiku|lyrics|song|limerick)")


def ineligible(request: Request, category: Category) -> Why | None:
    """The first reason against looking up and storing this request; None when there is none."""
    if not category.cache:
        return Why.DISABLED
    if request.traits.stateful:
        return Why.STATEFUL
    temperature = request.traits.temperature
    if temperature is not None and temperature > category.max_temperature:
        return Why.TEMPERATURE
    text = request.text.replace("\u2019", "'")
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
    return bool(_PERSON.search(text) and _PERSONAL.search(text) and not _HOW_TO.search(text))


def is_live(text: str) -> bool:
    """Whether the answer depends on the moment of asking."""
    return bool(_LIVE.search(text) and not _NOT_LIVE.search(text))


def is_creative(text: str) -> bool:
    """Whether something new is wanted each time."""
    if _CREATIVE.search(text) is None or _HOW_TO.search(text) is not None:
        return False
    return _CODE.search(text) is None or _PLAYFUL.search(text) is not None
