"""A case that is narrated beside a question: its days are no reason to ask anew if the question is one of any day.

Knows folded text. Invariant: a case is left out only where all that is asked wants a way, a reason, an explanation, a
list or a text, names nothing that changes, and does not ask how things stand with what was told.
"""

from __future__ import annotations

from semcache.request.kinds.patterns import SENTENCES, any_of
from semcache.request.kinds.timeless import DAYS

_MOST = 12  # sentences
_LONGEST = 1200  # characters
_FEWEST = 5  # words of a sentence that tells something

_ANYBODY = r"(?:i|we|you|one|people|someone|somebody|anyone)"
_BACK = r"(?:it|its|this|that|these|those|they|them|their|he|him|his|she|her|there)"
_FEW = r"(?:[\w'-]+ ){0,3}?"
_QUALITY = (
    r"(?:ok|okay|safe|dangerous|harmful|risky|healthy|unhealthy|toxic|poisonous|legal|illegal|normal|common|bad|rude"
    r"|possible|allowed|necessary|required|hereditary|genetic|contagious|infectious|curable|serious|an emergency|true"
    r"|a (?:good|bad) (?:idea|sign))\b"
)
_OPENING = any_of(
    r"\W*(?:(?:hi|hello|hey|ok|so|and|but|then|also|please|kindly|thanks)\W+)*"
    r"(?:(?:can|could|would|will) (?:you|someone|anyone) (?:please |kindly )?)?"
)
# Questions and requests that are the same on any day, unless they name what changes.
_OF_ANY_DAY = any_of(
    r"how (?:do|does|can|could|should|would|might|to)\b"
    r"(?! (?:\w+ ){1,2}?(?:looks?|stands?|feel|go|goes|know (?:if|whether) (?:it|the)|get (?:to|there)|reach|watch"
    r"|find (?:my|the|out)|buy|book|invest|vote|dress)\b)",
    r"how (?:long|often|soon) (?:do|does|should|must|may|can|will an?|would an?)\b"
    rf"(?! (?:{_BACK}|i|we) (?!(?:have|need) to\b|(?:normally|usually|typically)\b))",
    rf"how (?:much|many) {_FEW}(?:should|must|may|can|do {_ANYBODY} need|normally|usually|would it take)\b",
    r"how (?:is|are) (?:an? )?(?!the\b)[\w' ]{1,40} (?:made|built|calculated|formed|measured)\b",
    rf"why (?:do|does|don't|doesn't|would|can't|won't)\b(?! {_BACK}\b)",
    r"why did(?:n't)? my\b(?! (?:\w+ )?(?:train|flight|bus|plane|ferry|ship|stocks?|shares?)\b)",
    rf"why (?:is|are|isn't|aren't) (?!{_BACK}\b|(?:so )?(?:many|much|few|people|everyone|everybody|nobody|all)\b)"
    r"(?!the \w+ (?:so|full|empty|packed|still|out|off)\b)",
    r"what(?:'s| is| are) (?:an? |some )",
    r"what(?:'s| is| are) the (?:most )?(?:differences?|purpose|point of|reasons?|causes?|meaning|pros and cons"
    r"|advantages|benefits|steps|rules?|procedure|process|usual|normal|right|proper|correct|easiest|simplest"
    r"|quickest|safest|best way to|common|likely)\b(?!\W*$)",
    rf"what(?:'s| is| are) (?!(?:the|my|our|your|{_BACK}|\w+ing|left|planned|due|new|on|up|for)\b)"
    rf"{_FEW}[\w'-]+(?:\W*$|,? and (?:how|why|what)\b)",
    r"what (?:do|does) (?:[\w'-]+ ){1,6}?(?:mean|do|stand for|consist of|contain|cause|eat|feel like)\b",
    rf"what (?:should|can|could|must|shall|would|do) {_ANYBODY} (?:do (?:if|when|about|to|against|with|first)\b|do\W*$"
    r"|use|try|say|write|check|change|fix|improve|optimi[sz]e|look (?:at|for)"
    r"|watch (?:out )?for|tell|ask|avoid|consider|focus on"
    r"|put in|include|need to|have to|eat|pack for an? (?:\w+ )?(?:hospital|birth|exam))\b",
    r"what (?:happens|would happen) (?:if|when)\b|what (?:causes|makes|determines)\b|what if\b",
    r"(?:which|what) (?:\w+ )?(?:is|are) (?:the )?(?:better|healthier|safer|easier|stronger|cleaner)\b",
    r"what (?:are|is) (?:my|our) (?:legal )?(?:rights?|options|obligations|chances)\b",
    r"what (?:helps|went wrong)\b|can (?:it|this|that) (?:still )?be \w+ed\b|what (?:should|must"
    r"|shall) (?:i|we) do\W*$",
    r"how (?:is|are|was|were) (?:it|this|that|they) (?:\w+ly )?(?:paid|taxed|treated|calculated|counted|made)\b",
    r"what (?:am i|are we) (?:entitled|owed|allowed|supposed|obliged)\b",
    r"what (?:could|might|can|may) be (?:the )?(?:\w+ )?(?:reasons?|causes?|explanations?)\b",
    r"(?:make|create|build|design|prepare)(?: me| us)? an? (?:[\w-]+ ){0,3}?(?:plan|schedule|checklist|routine|menu)\b",
    r"should (?:it|this|that) be (?:[\w'-]+ ){1,6}?or\b",
    r"(?:what|which) (?!(?:day|date|time|year|month|weekday|season|week|hour|temperature|moon|train|bus|tram|ferry"
    r"|flight|gate|platform|line|room|hall|stop|exit|channel|place)\b)[\w'-]+ "
    r"(?:is|are|could|can|might) (?:it|this|that|they)\b(?! (?:now|today|at|on|in)\b)",
    r"is there (?:an?|any|some) (?:\w+ )?way\b|can (?:it|this|that) wait\b|can people see who\b",
    rf"(?:is|are) (?!the\b|my\b|our\b)(?:[\w'-]+ ){{1,4}}?(?:really )?{_QUALITY}",
    r"is an? [\w' ]{1,40} (?:still )?valid\b",
    r"is (?:an? )?[\w ]{1,30} (?:really|still) (?:worth it|a good (?:career|investment of time))\b",
    rf"(?:can|could|should|must|may) {_ANYBODY} (?!(?:see|view|get|have|owe|watch|go|fly|travel|drive|sail|swim|visit"
    r"|buy|sell|invest|expect|still|catch|cancel|leave|wait|take|bring|book)\b(?! a doctor\b))\w+",
    rf"(?:do|does) (?!(?:{_BACK}|i|we|the|my|our)\b)(?:\w+ ){{1,3}}?(?:really|always|usually|ever)\b",
    r"who (?:qualifies|pays|is liable|invented|discovered)\b|where (?:does|do|did) [\w' ]{1,40} come from\b",
    r"when (?:do|should|must) (?:you|people)\b",
    r"(?:explain|describe|define|translate|teach|compare|list|name|draft|write|compose|outline|suggest|recommend"
    r"|rephrase|proofread)\b|help me (?:to )?(?:write|draft|word|phrase)\b",
    r"(?:give|tell|show|make) me (?:how to\b|an? (?:\w+ )?(?:list|checklist|example|story|recipe|template|outline)\b"
    r"|the (?:pros and cons|advantages|steps|difference)\b|(?:some|\w+) (?:ideas|tips|examples|names|exercises)\b)",
)
# What is another from one day to the next, wherever in a question it stands.
_CHANGES = any_of(
    r"\b(?:weather|forecasts?|rain(?:s|ing|y)?|snow(?:s|ing|y)?|sunny|wear|umbrella|coat|jacket|storms?|wildfires?"
    r"|earthquakes?|prices?|rates?|costs?|worth(?! (?:it|fixing|repairing|replacing|learning|doing)\b)|stocks?|shares"
    r"|markets?|trading|bitcoin|crypto"
    r"|available|availability|in stock|sold out|tickets?|seats?|rooms?|tables?(?= (?:free|left|for)\b)"
    r"|news|headlines|scores?|won(?!')|wins?|winn\w+|lose to|match|matches|games?|standings|rank(?:ing)?|results?"
    r"|open(?:s|ing)?|clos(?:es?|ed|ing)|status|delay(?:s|ed)?|cancell?ed|traffic|roadworks|queues?|crowded|busy"
    r"|platform|gate|terminal|depart\w*|arriv\w+|lands?|boarding|leav(?:e|es|ing)(?= (?:from|at|today)\b|\W*$)"
    r"|kick[\s-]?off|on time|schedules?|timetable|track|parcel|package|deliver\w*|ship|shipp\w+|shipment"
    r"|events?|concerts?|showing|trending|popular|leads?|leader|champion|president|minister|mayor|ceo|elections?|votes?"
    r"|government|parliament|strikes?|striking|happening|what(?: has)? happened|going on|latest|newest|saying"
    r"|outages?"
    r"|(?:is|are|be|gone?|goes|went) (?:[\w-]+ ){0,3}?down(?=\W*$)"
    r"|working again|back (?:up|online|on)|holidays?|so far|playing|what's on|things to do|films?"
    r"|movies?|bands?|restaurants?|candidates?|polls?|odds|line-?up|squad|players?|teams?|new (?:\w+ )?(?:rules?|laws?)"
    r"|(?:train|bus|flight|plane|ferry|tram) (?:\w+ )?late"
    r"|(?:is|are|was|were) (?:it|they) (?:so |too |still )?(?:late|cold|hot|warm|windy|foggy|dark|off|slow)"
    r"|(?:today|tomorrow|tonight|yesterday)'s|(?:that|the same|the next) (?:evening|night|morning|week|weekend)"
    r"|(?:by|until) then|nearest|closest|safe to (?:travel|fly|go|drive|visit|swim|walk)|borders?"
    r"|(?:trains?|bus|buses|ferry|ferries|trams?) (?:run|runs|leave|go|goes|stop)"
    r"|what(?:'s| is| are) [\w ]{1,30} (?:doing|up to|at)(?=\W*$)"
    # An outage, unless it is one's own thing that fails.
    r"|why (?:is|isn't|does|doesn't|won't|can't) (?!my\b|an?\b)[\w ]{1,30} (?:work|load|respond|connect|start)\w*)\b"
)
_USUALLY = any_of(r"\b(?:normally|usually|typically) costs?\b|\bcosts? (?:normally|usually|typically)\b")
_SUPPOSED = any_of(r"\b(?:if|when|once|after) (?:an?|my|i|you|someone|it) [^.?!,;\n]{1,120}")
# What everybody reads of: what is asked after is what is new about it.
_PUBLIC = any_of(
    r"\b(?:elect(?:ed|ions?)|referendum|voted?|president|minister|government|parliament|congress|senate|court|verdict"
    r"|trial|summit|ceasefire|wars?|invasion|attacks?|shooting|bombing|explosion|coup|protest(?:s|ers)?|riots?|strikes?|fed|ecb"
    r"|central bank|rates|inflation|tariffs?|sanctions?|stocks|shares|markets?|bitcoin|crypto|games?|match|final|race"
    r"|won(?!')|beat|earthquake|hurricane|typhoon|cyclone|tornado|eruption|volcano|wildfires?|flood(?:s|ing)?"
    r"|heat[\s-]?wave|weather|forecast|(?:weather|storm|flood|travel) warning|snow(?:ed|storm)?|blizzard"
    r"|outbreak|announce(?:d|ment)|launched|released|recall|merger|bankrupt\w*|resigned|killed|crash(?:ed)?|eclipse|blackout|outage)\b"
)
_REFERS_BACK = any_of(rf"\b(?:{_BACK}|i|we|me|us|my|our)\b")
_SECOND_CLAUSE = any_of(r",? and (?=(?:how|why|what|do|does|is|are|can)\b)")
_WANTS_TO_KNOW = any_of(
    r"\b(?:wonder\w*|curious|no idea|not sure|(?:don't|do not|doesn't) know|find out|(?:let|tell|show) me"
    r"|(?:want|need|wish|like|love) to (?:know|see|check|hear)|hoping|interested in)\b"
)
_WANTS = any_of(
    r"\b(?:looking for|(?:send|give) me|(?:want|need|wish|like|love) (?:to (?:get|find)|the|an?|some|today|tomorrow))\b"
)
# "The vet is closed until tomorrow" tells something, "weather tomorrow" does not.
_TELLING = any_of(
    r"\b(?:i|i'm|i've|i'd|i'll|me|my|mine|we|we're|we've|we'd|us|our|they|he|she|someone|somebody|everyone|is|are|was"
    r"|were|has|had|said|says)\b"
)
_ASKING = any_of(
    r"(?:what|what's|whats|which|who|who's|whose|whom|where|where's|when(?! (?:i|we|my|our)\b)|why|how|how's|is|are|was"
    r"|were|will|would|did|does|do|don't|has|have|can|could|may|might|shall|should|must|am|any|show|list|find|tell|give"
    r"|check|get|book|set|wake|remind|search|look|play|write|draft|compose|explain|describe|summari[sz]e|translate|name"
    r"|define|compare|suggest|recommend|make|create|help|let|send|read|track|update|report|predict|analy[sz]e|convert"
    r"|calculate|think|come|teach|outline|rephrase|proofread|fix|correct|open|call|order|buy|generate|prepare|plan)\b"
)
_ASKS_WITHIN = any_of(
    r"[,:-] (?:(?:and|but|so|or) )?(?:what|what's|whats|when(?! (?:i|we|you|my|our)\b)|where|will|is|are|do|does|did"
    r"|how|who|who's|any)\b"
)
_LAST_CLAUSE = any_of(
    r", (?:(?:and|but|so) )?(?=(?:what if|how (?:do|does|can|should)|why (?:do|does)|what (?:should|can|is)|is there"
    r"|(?:can|should) i|is it)\b)"
)


def without_narrated_case(folded: str) -> str:
    """The part of a folded text that asks, if it is of any day and the rest only tells a case; else the text."""
    if len(folded) > _LONGEST:
        return folded
    parts = [part for sentence in SENTENCES.split(folded) for part in _clauses(sentence)]
    asked = [part for part in parts if _asks(part)]
    told = [part for part in parts if not _asks(part)]
    if not asked or not told or len(parts) > _MOST or not all(map(_only_tells, told)):
        return folded
    case = " ".join(told)
    return " ".join(asked) if all(_of_any_day(part, case) for part in asked) else folded


def _clauses(sentence: str) -> list[str]:
    """A sentence, parted before the question that it ends with, if it begins by telling something."""
    if not sentence.endswith("?") or _begins_to_ask(sentence):
        return [sentence] if sentence else []
    return [part for part in _LAST_CLAUSE.split(sentence, maxsplit=1) if part]


def _begins_to_ask(part: str) -> bool:
    return _ASKING.match(_bare(part)) is not None


def _asks(part: str) -> bool:
    return part.endswith("?") or _begins_to_ask(part)


def _bare(part: str) -> str:
    """A sentence without its greetings and "could you please"."""
    opening = _OPENING.match(part)
    return part if opening is None else part[opening.end() :]


def _only_tells(part: str) -> bool:
    """Return True unless what looks like a statement wants to know something that changes."""
    wish = _WANTS_TO_KNOW.search(part)
    if wish is not None and (DAYS.search(part, wish.end()) or _CHANGES.search(part, wish.end())):
        return False
    if _CHANGES.search(part) is None:
        return True
    if _TELLING.search(part) is None or len(part.split()) < _FEWEST or _ASKS_WITHIN.search(part) is not None:
        return False
    wish = _WANTS.search(part)
    return wish is None or _CHANGES.search(part, wish.end()) is None


def _of_any_day(asked: str, case: str) -> bool:
    bare = _bare(asked)
    if _OF_ANY_DAY.match(bare) is None or _CHANGES.search(_SUPPOSED.sub(" ", _USUALLY.sub(" ", bare))) is not None:
        return False
    if _PUBLIC.search(case) is None:
        return True
    first = _SECOND_CLAUSE.split(bare, maxsplit=1)[0]
    return _PUBLIC.search(bare) is None and _REFERS_BACK.search(first) is None
