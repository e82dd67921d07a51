"""What kind of prompt a text is: it holds a secret, is about its sender, about this moment, or wants something new.

Knows words and patterns, nothing of requests or policy. Of a long document the two ends are read, for the question
stands at one of them: every pattern at every word of a megabyte would take seconds. Secrets are sought all through.
Invariant: when in doubt a text is of a kind, for a needless call costs money and a wrong answer costs trust; yet a
general how-to question that merely says "my" is not personal.

Each pattern stands beside words of which a text must hold one for it to match: sets are cheap, patterns are not. None
tries two ways to read the same white space or punctuation, or looks ahead without end: a text could be made of that.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from semcache.secrets import fold, has_secret

_READINGS = 2048  # remembered texts; with LONGEST it bounds the memory, to some 20 MB of ASCII
LONGEST = 8192  # characters: a longer text is not remembered, and is read at its ends
_WORD = re.compile(r"\w+")


def _any(*patterns: str) -> re.Pattern[str]:
    """One pattern out of many, for folded text; a space in them stands for any white space."""
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns).replace(" ", r"\s+"))


def _vocabulary(*words: str) -> frozenset[str]:
    return frozenset(" ".join(words).split())


class _Rules:
    """Patterns, each with the words of which a text that it matches holds at least one."""

    def __init__(self, *rules: tuple[frozenset[str], re.Pattern[str]]) -> None:
        self._rules = rules
        self._words = frozenset[str]().union(*(words for words, _ in rules))

    def match(self, folded: str, bag: frozenset[str]) -> bool:
        """Whether any pattern occurs in this text, whose words are `bag`."""
        present = bag & self._words
        if not present:
            return False
        return any(
            not words.isdisjoint(present) and pattern.search(folded) is not None for words, pattern in self._rules
        )


def _rule(words: str | frozenset[str], *patterns: str) -> tuple[frozenset[str], re.Pattern[str]]:
    return _vocabulary(words) if isinstance(words, str) else words, _any(*patterns)


# What belongs to one caller and is looked up in that caller's records.
_RECORDS = _vocabulary(
    "account application appointment appointments balance balances basket bill bills booking bookings calendar card",
    "cart case claim claims contact contacts contract contracts credit credits dashboard data deliveries delivery",
    "deployment details diagnoses diagnosis document documents email emails file files flight flights grade grades",
    "history holding holdings inbox instance investment investments invoice invoices itinerary lab limit loan luggage",
    "meeting meetings membership message messages miles mortgage note notes order orders package packages parcel",
    "parcels payment payments payslip plan points policies policy portfolio prescription prescriptions profile quota",
    "record records refund refunds reminder reminders repo repository reservation reservations result results return",
    "returns salary schedule score seat server shipment shipments statement statements stock stocks subscription",
    "subscriptions task tasks team test ticket tickets transaction transactions usage wishlist",
)
_RECORD = rf"(?:{'|'.join(sorted(_RECORDS))})\b"
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
_OWNERS = _vocabulary("my our mine")
_PERSONS = _OWNERS | _vocabulary("i we me")
# Each of these needs an owner ("my") and a word of `_RECORDS`.
_OWN_RECORD = _any(
    rf"\b{_FETCH} (?:me )?(?:all |of |about |the status of )*{_OWNED}",
    rf"\b(?:what|how|which|who)(?:'s|'re| (?:is|are|was|were|much|many|did|do|long|far|soon|about)) (?:\w+ ){{0,3}}?"
    rf"(?:in |on |of |left )?{_OWNED}",
    rf"\b(?:has|have|is|are|was|were|did|does|will) {_OWNED} (?:\w+ ){{0,3}}?{_STATE}",
    rf"^\W*(?:my|our) (?:\w+ ){{0,2}}?{_RECORD}(?:\W+(?:please|now))?\W*$",
)
_PERSONAL = _Rules(
    _rule(
        "where when whereabouts",
        r"\b(?:where|when|whereabouts)(?:'s| (?:is|are|was|were|will|does|do|did|has|have)) (?:my|our)\b(?! nearest)",
    ),
    _rule(
        "status balance state progress details result outcome eta",
        r"\b(?:the )?(?:status|balance|state|progress|details|result|outcome|eta) (?:of|on|for) (?:my|our)\b",
    ),
    _rule("show", r"\bshow (?:me )?(?:my|our)\b"),
    _rule(
        "do",
        r"\bdo (?:i|we) (?:still |currently |already )?(?:have|owe|own) (?:any|an?|enough|the|more|unread"
        r"|some|unpaid|\d"
        r"|outstanding|left|to pay for)\b(?! (?:right|choice|obligation|to\b))",
    ),
    _rule(
        "have owe owed spend spent order ordered bought buy paid booked scheduled left say said ask asked sent send"
        " receive received eligible",
        r"\b(?:how (?:much|many)|what|which|when) (?:\w+ ){0,3}?(?:did|have|am|was|were|are) (?:i|we) (?:\w+ )?"
        r"(?:have|owe|owed|spend|spent|order(?:ed)?|bought|buy|paid|booked|scheduled|left|say|said|ask(?:ed)?|sent|send"
        r"|received?|eligible)\b",
        # "What do I have to do" and "what do I say to her" want advice, not records.
        r"\b(?:how (?:much|many)|what|which|when) (?:\w+ ){0,3}?do (?:i|we) (?:still |currently |now )?"
        r"(?:have(?! to\b)|owe|spend)\b",
    ),
    _rule(
        "am was",
        r"\b(?:am|was) i (?:still |already )?(?:enrolled|registered|subscribed|charged|billed|approved"
        r"|accepted|eligible"
        r"|logged in|covered|on the)\b",
    ),
    _rule(
        "name age address birthday phone number email username id job location favourite favorite timezone city",
        r"\b(?:what(?:'s| is| are)|tell me|do you (?:know|remember)) my (?:name|age|address|birthday|phone|number|email"
        r"|username|id|job|location|favou?rite|timezone|city)\b",
    ),
    _rule(
        "am remind about remember",
        r"\b(?:who am i|where am i|remind me(?! (?:what|who|how|why|which|when) (?!i\b|my\b|we\b|our\b))|about me"
        r"|do you remember)\b",
    ),
    _rule(
        "my our",
        r"\b(?:my|our) (?:order|account|invoice|ticket|booking|tracking|reservation|case|claim) (?:number "
        r"|id |no\.? )?(?:is )?"
        r"#?\w*\d",
    ),
)
_NUMBERED = _any(
    r"\b(?:order|invoice|ticket|booking|tracking|case|claim|reservation)\s*+(?:number|id|no\.?|#)\s*+:?\s*+#?\w*\d{3}"
)
_LONG_NUMBER = re.compile(r"\d{3}")
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
_LIVE = _Rules(
    _rule(
        "now moment time currently today far date nowadays days",
        r"\b(?:right now|at the moment|at this (?:moment|time)|currently|as of (?:now|today)|just now"
        r"|so far (?:today|this)"
        r"|up[\s-]to[\s-]date|nowadays|these days)\b",
    ),
    _rule("today tonight tomorrow yesterday", r"\b(?:today|tonight|tomorrow|yesterday)(?:'s)?\b(?!\()"),
    _rule(
        "week weekend month morning afternoon evening year quarter season",
        r"\bthis (?:week|weekend|month|morning|afternoon|evening|year|quarter|season)(?:'s)?\b",
    ),
    _rule("night week weekend month", r"\b(?:last|next) (?:night|week|weekend|month)(?:'s)?\b"),
    _rule(
        "latest breaking live realtime time upcoming coming newest recent trending",
        rf"\b(?:latest|breaking|live|real[\s-]?time|up[\s-]?coming|newest|most recent|trending) (?:\w+ )?{_FIGURE}",
    ),
    _rule("latest news", r"\bwhat(?:'s| is) (?:the )?latest\b|\bin the news\b|\bnews (?:about|on|from)\b|^\W*news\b"),
    _rule(
        "what",
        r"\bwhat(?:'s| is)? (?:the )?(?:current )?(?:time|date|day)\s*+(?:is it|in \w+(?:\s\w+)?|now|there"
        r"|here)?\s*+\?*+\s*+$",
    ),
    _rule("time day date year", r"\bwhat (?:time|day|date|year) is it\b"),
    _rule("current currently present", rf"\b(?:current(?:ly)?|present) (?:\w+ ){{0,2}}?{_OFFICE}"),
    _rule("current now winning leading", r"\bwho(?:'s| is) (?:the )?(?:current|now|winning|leading)\b"),
    _rule(
        "weather forecast",
        r"\b(?:weather|forecast) (?:\w+ )?(?:in|for|at|like|near|outside)\b|\bweather\s*+\?*+\s*+$|\bhow(?:'s"
        r"| is) the weather\b",
    ),
    _rule(
        "raining snowing sunny cold hot windy rain snow",
        r"\bis it (?:raining|snowing|sunny|cold|hot|windy) (?:in|outside|at)\b|\bwill it (?:rain|snow)\b",
    ),
    _rule(
        "stock share bitcoin btc ethereum crypto gold oil gas silver petrol fuel",
        r"\b(?:stock|share|bitcoin|btc|ethereum|crypto|gold|oil|gas|silver|petrol|fuel) prices?\s*+(?:\?|$|of"
        r"|for|in|now)",
    ),
    _rule(
        "bitcoin btc ethereum eth gold oil silver gas",
        r"\b(?:price|value) of (?:bitcoin|btc|ethereum|eth|gold|oil|silver|gas)\b",
    ),
    _rule(
        "bitcoin btc ethereum dow nasdaq stock share shares",
        r"\bhow (?:much|is|are) (?:is )?(?:the )?(?:bitcoin|btc|ethereum|dow|nasdaq|\w+ (?:stock"
        r"|shares?) (?:doing|trading|worth))\b",
    ),
    _rule(
        "stock share trading exchange",
        r"\b(?:stock|share) quote\b|\btrading at\b|\bexchange rates? (?:of|for|between|from)\b",
    ),
    _rule(
        "exchange",
        r"\b(?:what(?:'s| is| are)?|current|check|get|usd|eur|gbp|dollars?|euros?|yen"
        r"|rupees?) (?:\w+ ){0,3}?exchange rates?\b"
        r"(?! (?:work|mean|regime|risk|mechanism))",
    ),
    _rule(
        "game match winning win",
        r"\bscores? (?:of|for|in) (?:the )?(?:\w+ ){0,4}?(?:game|match)\b|\bwho (?:is|are|'s) winning\b"
        r"|\bdid the \w+ win\b",
    ),
    _rule(
        "traffic",
        r"\bhow(?:'s|s| is) (?:the )?traffic\b"
        r"|\btraffic (?:on|in|to|near|like|conditions?|report|jams?)\b"
        r"(?!.{0,200}\b(?:website|site|blog|page|google)\b)",
    ),
    _rule(
        "status delay delays down open closed online up",
        r"\b(?:flight|train|bus) (?:\w+ )?(?:status|delays?)\b|(?<!long.)\bis (?:\S+ ){1,4}?(?:down|open|closed|online"
        r"|up)(?: now)?\s*+\?\s*+$|\bany delays\b",
    ),
    _rule(
        "open closed down running busy crowded delayed cancelled canceled late",
        r"^\W*(?:is|are) (?:the |any )?(?!it\b)(?:[\w']+ ){1,3}?(?:still |already )?"
        r"(?:open|closed|down|running|busy|crowded|delayed|cancell?ed)\W*$|\bhow (?:busy|crowded|late) (?:is|are)\b",
    ),
    _rule(
        "conditions report count quality times time numbers queue delays",
        r"\b(?:surf|snow|road|sea|beach|avalanche) (?:conditions|report)\b|\bpollen count\b"
        r"|\bair quality (?:in|at|near)\b|\btide times?\b|\b(?:waiting|wait|queue) times? at\b"
        r"|\b(?:lottery|powerball|winning) numbers\b",
    ),
    _rule(
        "now near nearest stock",
        r"\b(?:open|closed|available|in stock|near me|nearby|around here) now\b|\bnear(?:est)? (?:to )?me\b"
        r"|\bin stock\b",
    ),
    _rule(
        "happening going new",
        r"\bwhat(?:'s| is) (?:happening|going on|new)\b(?! (?:in|inside|with|when) (?:this|the|my) (?:code"
        r"|function|loop|query"
        r"|error|script))",
    ),
)
_NOT_LIVE = _any(
    r"\b(?:how|what) (?:do|does|are|is) (?:weather forecasts?|stock prices?|exchange rates?) (?:work|made|determined"
    r"|calculated|set)\b",
    r"\bpresent value\b",
    # The way to cancel what was ordered this morning is that of any morning.
    r"^\W*how (?:(?:do|can|could|should|would) (?:i|we|you)|to) (?:\w+ )?(?:appeal|apply|cancel|claim|complain|delete"
    r"|disable|edit|enable|install|register|remove|renew|report|request|reset|return|uninstall|unsubscribe|update"
    r"|upgrade|get the latest version)\b"
    r"(?!.{0,200}\b(?:rates?|prices?|now|today|tonight|tomorrow|currently|moment)\b)",
    r"\bweather\b.{0,200}\b(?:1[0-9]{3}|20[01][0-9])\b",
)
_WORK = (
    r"(?:poems?|haikus?|limericks?|sonnets?|verses?|stor(?:y|ies)(?! (?:of|behind)\b)|tales?|fable|novel|jokes?|puns?"
    r"|riddles?|songs?|lyrics|rap|tweets?|captions?|slogans?|taglines?|names? for|ideas?|essay|speech|toast|screenplay"
    r"|script for a (?:movie|play|video|scene|podcast)|scene|dialogue|blog(?:\s?post)?s?|bio|ad(?:vert(?:isement)?)?s?"
    r"|ad copy|posts?|headlines?|letters?|prompts?|pickup lines?|greetings?|fan\s?fic(?:tion)?|characters?|plot|quiz"
    r"|trivia|compliments?|usernames?|nicknames?|passwords?|dad jokes?|bedtime story)\b"
)
_WORKS = _vocabulary(
    "poem poems haiku haikus limerick limericks sonnet sonnets verse verses story stories tale tales fable novel joke",
    "jokes pun puns riddle riddles song songs lyrics rap tweet tweets caption captions slogan slogans tagline",
    "taglines name names idea ideas essay speech toast screenplay script scene dialogue blog blogs blogpost blogposts",
    "bio ad ads advert adverts advertisement advertisements post posts headline headlines letter letters prompt",
    "prompts pickup greeting greetings fan fanfic fanfiction character characters plot quiz trivia compliment",
    "compliments username usernames nickname nicknames password passwords dad bedtime",
)
_CREATIVE = _Rules(
    _rule(
        _WORKS,
        r"\b(?:write|compose|create|craft|draft|generate|make(?: up)?|invent|come up with|think of|pen|tell(?: me)?"
        r"|give(?: me)?|sing(?: me)?|suggest|propose) (?:me |us |up )?"
        rf"(?:an? |some |the |another |one |\d+ |few |two |three |five |ten )*(?:\w+[\s-]+){{0,3}}?{_WORK}",
    ),
    _rule(
        "surprise laugh entertain regenerate creative",
        r"\bsurprise me\b|\bmake me laugh\b|\bentertain me\b|\bregenerate\b|\bbe creative\b",
    ),
    _rule(
        "random",
        r"\brandom (?:number|fact|word|name|person|color|colour|letter|quote|joke|thing|topic|movie|song|animal|country"
        r"|password|idea|one)\b",
    ),
    _rule(
        "random randomly", r"\b(?:pick|choose|select|give me|generate) (?:\w+ ){0,3}?(?:at random|randomly|random)\b"
    ),
    _rule("coin roll", r"\b(?:flip|toss) a coin\b|\broll (?:a )?(?:dic?e|\d*d\d+)\b"),
    _rule(
        "another different more",
        r"^\W*(?:(?:give|tell|show) me )?(?:another|a different|one more|some more)\b(?: \w+)?\W*$",
    ),
    _rule(
        "another", r"\banother (?:one|joke|story|poem|idea|version|example|try|attempt|option|variation|suggestion)\b"
    ),
    _rule(
        "again more retry redo next", r"^\W*(?:try again|again|once more|retry|redo|more|next)\b\W*+(?:please)?\W*+$"
    ),
    _rule("something", r"\bsomething (?:different|creative|original|funny|new)\b"),
)
_BRAINSTORM = _any(r"\bbrainstorm")
# "Write a function" names a work too, yet one answer serves everybody.
_CODE = _any(
    r"\b(?:function|regex|sql|python|javascript|java|bash|code|class|method|unit tests?|api|html|css"
    r"|algorithm|program)\b"
)
_PLAYFUL = _any(r"\b(?:random|brainstorm|another|regenerate|again|poem|joke|haiku|lyrics|song|limerick)")


class Kinds(NamedTuple):
    """What a text is, whatever the category says about it."""

    secret: bool
    personal: bool
    live: bool
    creative: bool


_SECRET = Kinds(True, False, False, False)


def kinds(text: str, *, whole: int | None = None) -> Kinds:
    """What `text` is, remembered for the next look at the same text; of a secret nothing else is said, nor kept.

    A text of more than `whole` characters (and more than `LONGEST`) is read at its two ends; None: all of any is read.
    """
    try:
        return _remembered(text) if len(text) <= LONGEST else _read(text, whole)
    except _SecretError:
        return _SECRET


class _SecretError(Exception):
    """Raised past the memo, which keeps no text that raises."""


def _read(text: str, whole: int | None = None) -> Kinds:
    text = text.replace("\u2019", "'")
    if has_secret(text):
        raise _SecretError
    folded = fold(text if whole is None or len(text) <= whole else ends(text))
    bag = frozenset(_WORD.findall(folded))
    return Kinds(False, _personal(folded, bag), _live(folded, bag), _creative(folded, bag))


_remembered = lru_cache(maxsize=_READINGS)(_read)


def is_personal(text: str) -> bool:
    """Whether the answer depends on the records of the person who asks."""
    folded = fold(ends(text))
    return _personal(folded, frozenset(_WORD.findall(folded)))


def is_live(text: str) -> bool:
    """Whether the answer depends on the moment of asking."""
    folded = fold(ends(text))
    return _live(folded, frozenset(_WORD.findall(folded)))


def is_creative(text: str) -> bool:
    """Whether something new is wanted each time."""
    folded = fold(ends(text))
    return _creative(folded, frozenset(_WORD.findall(folded)))


def ends(text: str) -> str:
    """What is read of a text: the first and the last half of `LONGEST` characters, where it has more."""
    half = LONGEST // 2
    return text if len(text) <= LONGEST else f"{text[:half]}\n{text[-half:]}"


def _personal(folded: str, bag: frozenset[str]) -> bool:
    if bag.isdisjoint(_PERSONS) and _LONG_NUMBER.search(folded) is None and "#" not in folded:
        return False
    found = not bag.isdisjoint(_OWNERS) and not bag.isdisjoint(_RECORDS) and _OWN_RECORD.search(folded) is not None
    found = found or _PERSONAL.match(folded, bag) or _NUMBERED.search(folded) is not None
    return found and _HOW_TO.match(folded) is None


def _live(folded: str, bag: frozenset[str]) -> bool:
    return _LIVE.match(folded, bag) and _NOT_LIVE.search(folded) is None


def _creative(folded: str, bag: frozenset[str]) -> bool:
    if not (_CREATIVE.match(folded, bag) or ("brainstorm" in folded and _BRAINSTORM.search(folded) is not None)):
        return False
    if _HOW_TO.match(folded) is not None:
        return False
    return _CODE.search(folded) is None or _PLAYFUL.search(folded) is not None
