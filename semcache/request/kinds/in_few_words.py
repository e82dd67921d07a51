"""Things that change by the hour, asked in few words: a price, a score, the weather, what is free or out of order.

Knows such things by their names and by the words for how they stand. Invariant: the whole text is one such question of
a few words; one of a month, a season, another world or a rule is of any day.
"""

from __future__ import annotations

from semcache.request.kinds.patterns import CuedPatterns, any_of, rule

_LONGEST = 120  # characters
_ASKED = r"^\W*+(?:(?:so|and|hi|hello|hey|please|ok)\W+)*"
_TRADED = (
    r"(?:oil|brent|crude|gas|gold|silver|petrol|fuel|diesel|copper|electricity|power|freight|bitcoin|btc|eth|ethereum"
    r"|wheat|corn|coffee|cocoa|sugar|share|stock|mortgage|exchange)"
)
_FREE = r"(?:free|available|left|open)"
_PLACES = (
    r"(?:tables?|desks?|rooms?|seats?|spots?|spaces?|slots?|beds?|bikes?|scooters?|lanes?|courts?|pitches|appointments?"
    r"|tickets?|chargers?|machines?|lockers?|lanes|tee times?)"
)
_QUESTIONS = CuedPatterns(
    rule(
        "price prices rate rates",
        rf"^\W*+{_TRADED} (?:price|prices|rates?)(?: [\w-]+){{0,4}}\W*$",
        _ASKED + r"what(?:'s|s| is| are) (?:the )?(?:inflation|unemployment|mortgage|exchange|vacancy) rates?"
        r"(?: (?:in|of|for) (?:the )?[\w-]+(?: [\w-]+)?)?\W*$",
    ),
    rule(
        "score scores standings table leaderboard headlines traffic",
        r"^\W*+(?:the )?(?:score|scores|standings|league table|leaderboard|headlines|traffic)\W*$",
        _ASKED
        + r"(?:what(?:'s|s| is| are)|who(?:'s|s| is) (?:top|first|last) (?:of|in|on)) the (?:standings?|league table"
        r"|table|leaderboard)(?: (?:in|of|for) [^?]{1,40})?\W*$",
    ),
    rule(
        "hot cold warm windy humid cloudy sunny foggy wet",
        _ASKED + r"how (?:hot|cold|warm|windy|humid|cloudy|sunny|foggy|wet) is it (?:in|at|on|over in|outside|out there"
        r"|there)\b[^?]{0,30}\W*$",
    ),
    rule(
        "down out off outage outages",
        r"\b(?:down|out|off|outages?) (?:in|around|near) (?:my|the|our|this) (?:\w+ )?(?:area|neighbou?rhood"
        r"|street|region"
        r"|building|block|town)\W*$",
    ),
    rule(
        "last latest recent current next",
        r"^\W*+(?:the |our )?(?:last|latest|most recent|current|next) (?:failed |failing |successful |running "
        r"|scheduled )?"
        r"(?:job|build|deploy|deployment|run|pipeline|backup|incident|alert|commit|outage|bus|tram|train|ferry|flight"
        r"|match|game|kick-?off|fixture)(?: (?:to|from|for|on|in) [\w-]+(?: [\w-]+)?)?\W*$",
    ),
    rule("around", _ASKED + r"(?:what|is|are|how) [^?]{1,50} (?:that(?:'s| is) )?going around\b[^?]{0,20}\W*$"),
    rule(
        "have stock",
        _ASKED
        + r"(?:do|have) you (?:still )?(?:have|got) (?:the|any|this|that) [^?]{1,50} (?:in (?:size )?(?:xs|s|m|l|xl"
        r"|xxl|\d{1,3}|stock)|left)\W*$",
    ),
    rule(
        "closed",
        _ASKED + r"(?:is|are) (?:the|any) [\w-]+(?: [\w-]+){0,3} (?:open or closed|closed or open)"
        r"(?: (?:because|due|after|at the moment)\b|\W*$)",
    ),
    rule(
        "free available left open",
        rf"^\W*+(?:any )?(?:[\w-]+ ){{0,2}}{_PLACES} {_FREE} (?:at|in|near|on) (?!(?:ryanair|flights|planes|trains)\b)"
        r"[^?]{1,40}\W*$",
        _ASKED + rf"(?:which|what|are there any|any) (?:[\w-]+ ){{0,2}}{_PLACES} (?:are |is )?{_FREE} for the next\b",
    ),
    rule(
        "any",
        r"^\W*+any (?:[\w-]+ ){1,3}(?:lagging|offline|failing|crashing|stuck|delayed|late|running late|unavailable"
        r"|overloaded|firing|unresolved)\W*$",
    ),
    rule(
        "power electricity outage strike signal",
        _ASKED
        + r"is there (?:power|electricity|an? (?:power )?(?:outage|strike)|signal) (?:in|at|on) (?:the|my|our|this)"
        r" \w+\W*$",
    ),
    rule(
        "looking",
        _ASKED
        + r"how(?:'s|s| is| are) (?:the|our) (?:[\w-]+ ){1,3}looking(?: (?:for|in|across|at|on|this) [^?]{1,30})?\W*$",
    ),
    rule(
        "decide decided announce announced",
        _ASKED
        + r"what (?:did|has|have) (?:the )?(?:fed|ecb|bank of (?:england|japan|canada)|opec|supreme court|parliament"
        r"|congress|senate|council|government) (?:decided?|announced?|said|say)\W*$",
    ),
)
_OF_ANY_DAY = any_of(
    r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december|summer|winter|spring"
    r"|autumn|always|usually|normally|typically|average|history|mars|venus|mercury|jupiter|saturn|moon|sun|space|core"
    r"|oven|sauna|hell|desert|mean|definition|calculated|work|(?:1[0-9]|20)\d\d)\b"
)


def applies(folded: str, bag: frozenset[str]) -> bool:
    """Return True if a folded text is one short question for what changes by the hour; `bag` holds its words."""
    return len(folded) <= _LONGEST and _QUESTIONS.match(folded, bag) and _OF_ANY_DAY.search(folded) is None
