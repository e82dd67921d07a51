"""Prompts about what holds on any day: opening hours, set times, price lists, time zones, dates of history.

Knows words and patterns of folded text. Invariant: but for habits and history, a text that names a day near the moment
of asking, or asks for what a market, a carrier or an event makes anew each day, is not of this kind.
"""

from __future__ import annotations

from semcache.config.calendar_names import MONTHS
from semcache.request.kinds.patterns import CuedPatterns, any_of, rule

_LEAD = (
    r"^\W*(?:(?:hi|hello|hey|um|so|ok|okay|and|please|excuse me|do you know|tell me|i(?:'d| would) like to know"
    r"|(?:can|could|would) you (?:please )?(?:tell|let) me(?: know)?)\W+)*"
)
_WHEN = (
    r"(?:(?:at|on|from|until|till|by|up to) )?(?:(?:what|which) (?:time|hours?|days?|dates?|months?)|when(?:'s)?"
    r"|how (?:late|early)) (?!(?:did|was|were|will)\b)"
)
# Words that bind a question to the moment or to one coming day.
_BOUND = any_of(
    r"\b(?:today|tonight|tomorrow|yesterday|now|currently|current|moment|presently|still|already|yet|next(?!-day)"
    r"|this (?:week|weekend|month|year|morning|afternoon|evening|summer|winter|season)"
    r"|last (?:night|week|month|weekend)|(?<!\ba\s)(?:mon|tues|wednes|thurs|fri|satur|sun)day|been|again)\b"
)
# What happens on one day, or leaves by a timetable that depends on the day.
_ONCE = (
    r"(?:match(?:es)?|games?|finals?|race|concert|gig|show|episode|film|movie|parade|fireworks|election|polls?|voting"
    r"|launch|sale|strike|eclipse|meeting|webinar|kick-?off|flights?|trains?|bus(?:es)?|tram|ferry|ferries|boat|coach"
    r"|plane|roads?|bridge|tunnel|motorway|highway|m\d+|sun|moon|tide|power|delivery|parcel|package|order|refund|card"
    r"|registration|event|exhibition|festival|auction|tickets?)"
)
_KEEPS_HOURS = (
    r"(?:opens?|opening|closed?|closes|closing|shuts?|serves?|served|serving|stops? (?:taking|running)|staffed"
    r"|check[\s-]?ins?|check[\s-]?outs?|collect|pick up|drop off)"
)
_SET_TIME = (
    r"(?:breakfast|brunch|lunch|dinner|supper|afternoon tea|tea time|last orders|happy hour|rush hour"
    r"|peak (?:time|hours)|quiet hours|visiting|curfew|bedtime|check[\s-]?in|check[\s-]?out|school|lessons"
    r"|daylight saving|summer time|the clocks"
    r"|(?:high|low|peak|rainy|dry|monsoon|hurricane|flu|hunting|fishing|skiing|ski|growing|mating|harvest) season)"
)
# What a market, a carrier or a host prices anew every day.
_MARKET = any_of(
    r"\b(?:usd|eur|gbp|inr|jpy|cad|aud|chf|dollars?|euros?|pounds? (?:sterling|in|to)|the pound|sterling|yen|yuan"
    r"|rupees?|pesos?|francs?|currency|currencies|bitcoins?|btc|eth|ethereum|solana|dogecoin|crypto\w*|coins?"
    r"|tokens?|shares?"
    r"|stocks?|index|nasdaq|dow|ftse|s&p|futures|bonds?|options?|gold|silver|platinum|copper|oil|crude|brent|barrels?"
    r"|ounces?|gallons?|lit(?:er|re)s?|gas|petrol|diesel|gasoline|fuel|electricity|energy|wheat|corn|coffee beans"
    r"|flights?|airfares?|plane|planes|uber|lyft|hotels?|rooms?|nights?|houses?|homes?|flats?|apartments?|rents?|rental"
    r"|property|mortgages?|interest|exchange|worth|cheapest|eggs|tesla|nvidia|apple|amazon|google|microsoft|meta)\b"
)
_HABIT = any_of(
    r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r" (?:morning|afternoon|evening|night)s|a (?:mon|tues|wednes|thurs|fri|satur|sun)day|weekdays|weekends"
    r"|(?:opening|business|office|visiting) (?:hours|times)"
    r"|(?:closing|opening) (?:hours?|times?)(?! (?:today|this|next)\b).{0,40} on (?:mon|tues|wednes|thurs|fri|satur"
    r"|sun)day"
    r"|usually|normally|generally|typically|on bank holidays|every (?:day|week|month|year|night|morning|evening))\b"
)
LONG_AGO = "(?:1[0-9]{3}|20[01][0-9])"  # a year of which all is told: nothing about it is of this moment
_YEAR = "(?:1[0-9]{3}|20[0-2][0-9])"
# A date of history is asked for, not what a market, a match or a train did last.
_HISTORY = any_of(
    r"^\W*(?:since when (?:has|have|is|are)\b"
    r"|(?:when|why|(?:(?:in|on) )?(?:what|which) (?:year|century|decade|date|day|month)) (?:did|was|were)\b"
    r"|(?:who|what|which|where|how|did|was|were)\b.{0,200}\b" + _YEAR + r"\b)"
    r"(?!.{0,200}\b(?:(?:markets?|exchange|match|game|train|bus|flight|traffic|rain|snow|stocks?|shares)\b|(?:is|are"
    r"|will)\b))"
)
_SEASON = "|".join((*MONTHS, "spring", "summer", "autumn", "winter"))
_HOURS = CuedPatterns(
    rule(
        "open opens opening close closed closes closing shut shuts serve serves served serving stop stops staffed check"
        " checkin checkout checkins checkouts collect pick drop",
        rf"{_LEAD}{_WHEN}(?!.{{0,120}}\b{_ONCE}\b).{{0,120}}\b{_KEEPS_HOURS}\b",
        rf"{_LEAD}what(?:'s| is) the (?:latest|earliest)(?: time)? \w+ can .{{0,40}}\b{_KEEPS_HOURS}\b",
    ),
    rule(
        "breakfast brunch lunch dinner supper tea orders hour hours time visiting curfew bedtime checkin checkout check"
        " school lessons daylight summer clocks season",
        rf"{_LEAD}{_WHEN}(?!.{{0,120}}\b{_ONCE}\b)(?:\w+ ){{0,4}}?{_SET_TIME}\b",
    ),
    rule(
        "time times date deadline hour hours",
        rf"{_LEAD}(?:what(?:'s| is| are) )?(?:the |your )?(?:[\w-]+ )?(?:closing|opening|start(?:ing)?"
        rf"|finish(?:ing)?|end"
        r"|check[\s-]?in|check[\s-]?out|collection|visiting|cut-?off|arrival|reception)"
        rf" (?:times?|hours?|date|deadline)\b(?!.{{0,120}}\b{_ONCE}\b)",
        # "What is the latest time I can arrive?"
        rf"{_LEAD}what(?:'s| is) the (?:latest|earliest)(?: (?:time|date|day|hour))? (?:that )?(?:i|we|you|one|guests"
        rf"|visitors|people|passengers) (?:can|may|must|should|could|have to)\b(?!.{{0,120}}\b{_ONCE}\b)",
    ),
    rule(
        "day",
        rf"{_LEAD}(?:(?:on|by) )?(?:what|which) day of (?:the|each|every) (?:week|month) (?!(?:it|today|this|that)\b)"
        rf"(?!(?:is|was|do|are) (?:it|today|this|that|we)\b)(?!.{{0,120}}\b{_ONCE}\b)",
    ),
    rule(
        f"open opened closed shut spring summer autumn winter {' '.join(MONTHS)}",
        rf"\b(?:open(?:ed)?|closed?|shut)(?: to the public)? (?:in|during|over) (?:the )?(?:late |early "
        rf"|mid-?)?(?:{_SEASON})\b",
        r"\b(?:open|closed?|shut) on (?:the )?(?:christmas|boxing|new year|easter|good friday|thanksgiving|public|bank"
        r"|independence)\b",
    ),
    rule(
        "public all everyone everybody anyone anybody guests residents year families children",
        r"\bopen (?:to (?:the public|all|everyone|everybody|anyone|anybody"
        r"|non-?guests|non-?residents|families|children|visitors|members)"
        r"|all (?:year|night|day)|year[\s-]round)\b",
    ),
    rule(
        "lunch lunchtime christmas easter holidays",
        r"\b(?:open|closed?|shut) (?:for|over|at|on|during) (?:the )?(?:lunch(?:time)?|christmas|easter|holidays)\W*$",
    ),
    rule(
        "days",
        rf"{_LEAD}(?:on )?(?:what|which) days (?:is|are) (?!.{{0,120}}\b{_ONCE}\b).{{1,60}}\b(?:on|held|available)\W*$",
    ),
)
_LISTED = CuedPatterns(
    rule(
        "much price prices cost costs fee fees charge charges rates rate expensive",
        rf"{_LEAD}how (?:much|expensive) (?:is|are|does|do|would|for)\b",
        rf"{_LEAD}what(?:'s| is| are| does| do)? (?:\w+ ){{0,4}}?(?:prices?|costs?|fees?|charges?|rates?)\b",
        rf"{_LEAD}(?:what|how much) do (?:you|they) charge\b",
        rf"{_LEAD}is there (?:a|any) (?:charge|fee|cost)\b",
    ),
)
_DATE = rf"(?:\d{{1,2}}(?:st|nd|rd|th)? (?:of )?(?:{'|'.join(MONTHS)})|(?:{'|'.join(MONTHS)}) \d{{1,2}})"
_CLOCK = r"(?:\d{1,2}(?:[:.]\d\d)? ?(?:[ap]\.?m\.?|o'?clock)|\d{1,2}[:.]\d\d|noon|midday|midnight)(?!\w)"
# The time of one place, told that of another, and the days between two dates.
_CONVERTED = any_of(
    rf"\b(?:days|weeks)\b.{{0,60}}\b(?:from|after|between) (?:the )?{_DATE}\b",
    rf"\b(?:when|whenever|if) (?:it(?:'s|s| is| was)? |the time is )?{_CLOCK} (?:in|at) \w.{{0,60}}\btime\b",
    rf"^\W*(?:at|when it(?:'s| is)) {_CLOCK} (?:in|at) \w[^?,]{{0,40}}, (?:what|which)\b",
    rf"\bwhat(?:'s| is| time)\b.{{0,60}}\b(?:when|if) (?:it(?:'s|s| is)? |the time is )?{_CLOCK} (?:in|at) \w",
)
_PAST_YEAR = any_of(r"\b(?:was|were|did|had)\b.{0,120}\b(?:in|of|during|on|for) (?:\w+ ){0,3}?" + LONG_AGO + r"\b")
# What is counted once a year or stands in a law.
_YEARLY = (
    r"(?:gdp|gross domestic product|population|area|life expectancy|literacy rate|birth rate|minimum wage|vat(?: rate)?"
    r"|(?:income|corporate|corporation|sales|value added) tax(?: rate)?|retirement age|speed limit|voting age)"
)
_OTHER = CuedPatterns(
    rule(
        "gdp gross population area life literacy birth minimum vat tax retirement speed voting",
        rf"{_LEAD}(?:what(?:'s| is) )?(?:the )?(?:standard |total |national )?{_YEARLY}(?: per capita)? (?:of|in|on"
        rf"|for) (?!the world\b)",
    ),
    rule(
        "hours ahead behind",
        rf"{_LEAD}(?:by )?how many hours (?:is|are|ahead|behind)\b.{{1,80}}\b(?:ahead|behind|is|are)\b",
    ),
    rule(
        "weather temperature rain snow sunshine climate",
        rf"\b(?:weather|temperatures?|rain|snow|sunshine|climate)\b.{{0,60}}\b(?:in|during) (?:the )?(?:{_SEASON})\b",
    ),
    rule(
        "price prices rate rates",
        rf"{_LEAD}how (?:is|are) (?:the )?(?:\w+ ){{0,3}}?(?:prices?|rates?)(?: (?:of|for) \w+)? (?:fixed|set"
        rf"|determined"
        r"|calculated|made up|decided)\b",
    ),
    rule(
        "include includes included",
        # "The price including tax" is a price, and of the moment.
        r"\b(?:prices?|fees?|fares?|rates?|rent|costs?) (?:already )?include[sd]?\b"
        r"|\bincluded in (?:the|your) (?:\w+ )?(?:price|fee|fare|rate|rent|cost)\b",
    ),
    rule("zone zones timezone timezones", r"\btime[\s-]?zones?\b(?!.{0,80}\btime is it\b)"),
    rule("difference", r"\btime difference between\b"),
    rule(
        "far distance long days",
        rf"{_LEAD}how far (?:is|are|away is)\b(?!.{{0,80}}\b(?:my|our|from (?:me|us|here))\b)",
        rf"{_LEAD}(?:what(?:'s| is) the )?(?:\w+ )?distance (?:between|from|to)\b",
        rf"{_LEAD}how long (?:is|are|does|do) (?:the|a|it take to) (?:drive|flight|walk|ride|crossing|trip|journey)\b",
        rf"{_LEAD}how (?:long|many days) (?:does|do) (?!(?:my|our|it|this|that)\b)(?:\w+ ){{1,7}}?take\b",
    ),
    rule(
        "visible",
        r"^(?!.*\b(?:comet|aurora|lights|eclipse|planets?|moon|mars|venus|jupiter|saturn|mercury|iss|stars?"
        r"|meteors?)\b).*"
        r"\bvisible from (?!(?:here|my|me|us|our)\b)",
    ),
    rule("often frequently", rf"{_LEAD}how (?:often|frequently) (?:do|does|is|are|can|should|must)\b"),
)


def is_of_hours(folded: str, bag: frozenset[str]) -> bool:
    """Return True if the text asks when something opens, closes or takes place on any day; `bag` holds its words."""
    return _HOURS.match(folded, bag) and _BOUND.search(folded) is None


def applies(folded: str, bag: frozenset[str]) -> bool:
    """Return True if the answer is the same on any day; `bag` holds the words. It asks for no date of history."""
    if _HABIT.search(folded) is not None:
        return True
    listed = _LISTED.match(folded, bag) and _MARKET.search(folded) is None
    fixed = _HOURS.match(folded, bag) or _OTHER.match(folded, bag) or _CONVERTED.search(folded) is not None
    return (listed or fixed) and _BOUND.search(folded) is None


def is_of_any_moment(folded: str) -> bool:
    """Return True for a question about a past year, of days from date to date, or for one place's time by another's."""
    return (_PAST_YEAR.search(folded) or _CONVERTED.search(folded)) is not None and _BOUND.search(folded) is None


def is_of_history(folded: str) -> bool:
    """Return True if the text asks for a date of history, or about a year that it names."""
    return _HISTORY.search(folded) is not None
