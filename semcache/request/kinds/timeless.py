"""Words about time or weather that say nothing about the moment of asking: a case that is told, a condition, a climate.

Knows folded text. Invariant: what is left out could be left out of the prompt, and the same answer would serve; where
a text names what changes from day to day (prices, news, forecasts, who won), nothing that it tells is left out.
"""

from __future__ import annotations

import re

from semcache.request.kinds.patterns import any_of

_DAY = (
    r"\b(?:today|tonight|tomorrow|yesterday|currently|right now|just now|now|at the moment|at present|at this time"
    r"|nowadays|these days|(?:this|last|next) (?:night|week|weekend|month|quarter|morning|afternoon|evening|year))\b"
)
_CHANGING = any_of(
    r"\b(?:weather|forecasts?|rain\w*|snow\w*|sunny|prices?|rates?|cost|costs|worth|value|stocks?|shares|markets?"
    r"|(?<!\d\s)(?:dollars?|euros)|bitcoin|news|headlines|scores?|won(?!')|wins?|winning|wins|beat|match"
    r"|matches|game|games|table(?! was\b)|standings"
    r"|rank\w*|open|closed|status|delayed|delays|cancell?ed|traffic|platform|gate|terminal|trains|flights|buses"
    r"|tickets|seats|events|concerts?|movies?|films|playing|showing|trending|popular|best|top|most|leads?|leader"
    r"|president|minister|mayor|ceo|king|queen|champion|who is|who's|happening|going on|latest|track|parcel|package"
    r"|delivery|shipment|what (?:can|could|shall) (?:i|we) do|who can i|wear|happened"
    r"|(?<!the\s)(?<!this\s)(?<!that\s)(?<!\ba\s)pack"
    r"|(?:need|take|bring|bringing) (?:an? |my )?(?:umbrella|coat|jacket)|(?:public|bank|school) holidays?"
    r"|summari[sz]e|wildfires?|earthquakes?|storms?|strikes?|elections?|votes?|parliament"
    r"|government|driving to|safe to (?:travel|fly|go|drive|visit|swim)"
    r"|(?:train|bus|flight|plane|ferry|tram) is late|(?:today|tomorrow|tonight)'s)\b"
)
# What changes once in a generation: "the capital of Kazakhstan these days".
_SLOW = any_of(
    r"\bcapital(?: city)? of\b|'s capital\b|\b(?:is|be) (?:the )?\w+ capital\b|\blegal tender\b"
    r"|\b(?:official|spoken) languages?\b|\bplanets?\b|\bsovereignty\b|\bterritor(?:y|ies)\b|\bmonarchy\b|\bemperors?\b"
    r"|\bcurrency (?:is )?(?:used|of|in)\b|\bbelongs? to\b|\bmember (?:states|countries|nations)\b"
    r"|\bminimum wage\b|\btax brackets?\b|\b(?:european union|eu)\b.{0,60}\b(?:nations|countries|states)\b"
)
# What stays so for years, though it is asked of today: a language, a law, a custom, what something is good for.
_LASTING = any_of(
    r"\b(?:do|does|that|did) [\w' ]{1,40} still exists?\b|\bdescendants? of\b|\bare there still [\w' ]{1,40} living\b"
    r"|\bevolved\b|\bancient\b.{1,80}\bstill\b|\bstill (?:spoken|practi[sc]ed|law\b|(?:used|taught) in\b)"
    r"|\bwhy (?:is|are|was) [\w' ]{1,40} (?:so )?(?:important|relevant|famous|influential)\b"
    r"|\b(?:is|are) (?!(?:it|this|that)\b)[\w' ]{1,30} still (?:important|relevant|useful|an? good (?:career|idea))\b"
    r"|\bwhy do (?:we|people|companies) (?:still |do so many )\w+"
    r"|\bwhy (?:is|are|do|does) [\w' ]{1,40} still \w+(?: \w+)? today\W*$",
    r"\b(?:is|are) (?!the\b)[\w' ]{1,40} worth (?:it|learning|doing|studying|watching|reading)\b",
    r"\b(?:which|what) (?:countries|states) are (?:socialist|communist)\b|\bhow many years would it take\b",
)
# Of these "still" and "worth it" are asked anew.
_FLEETING = any_of(
    r"\b(?:my|our|he|she|here|near|open|closed|weather|prices?|rates?|cost|stocks?|shares|bitcoin|crypto|gold|news"
    r"|match"
    r"|score|election|president|traffic|roads?|bridge|terminals?|gates?|platforms?|lines?|stations?|trains?|flights?"
    r"|status|delay\w*|tickets?|pass|coupon|code|codes|offers?|deals?|sale|discount|bug|problem|issue|outage|protest\w*"
    r"|queue\w*|police|outside|buying|going|visiting|\w*\d+|iphones?|versions?|models?|servers?|shops?|stores?)\b"
)
# What changes with the calendar year, by law.
_YEARLY = any_of(
    r"\b(?:minimum|least|living) wage\b|\btax(?:es|ed|able|-free)?\b|\bvat\b|\bpensions?\b|\bdeductions?\b|\bnotice\b"
    r"|\b(?:annual|unused|paid|parental|sick) leave\b|\ballowances?\b|\b(?:ira|401k|isa)\b"
)
_YEAR = any_of(r"\b(?:this|last|next) year\b(?!')")
_NOW = any_of(
    r"\b(?:starting now|currently|right now|now|at the moment|at present|as of now|today|nowadays|these days)\b(?!')"
)
_THESEDAYS = any_of(r"\b(?:nowadays|these days)\b")

# "If I cancel today", "when you quit next month": a rule is asked about, in whatever week.
_CONDITION = any_of(
    r"\b(?:if|suppose|supposing|assuming|when|once|after|unless) (?:i|we|you|one|someone|somebody|people|my \w+|an? \w+"
    r"|(?!(?:is|was|does|has|this|its|it's|what's|who's)\b)\w{3,}s)\b(?! (?:will|going)\b)[^.?!,;\n]{0,120}"
)
_PLAIN = any_of(
    r"\b(?:because of|due to|owing to) the weather\b|\b(?:in|for|by|during|despite) (?:the )?"
    r"(?:cold|hot|warm|wet|dry|bad|good|nice|freezing|humid|stormy|extreme|severe|rainy|windy|icy) weather\b",
    r"\bweather\b(?=.{0,120}\bclimate\b)|\bclimate\b.{0,120}\bweather\b",
    r"\b(?:to|onto|install|installing|use|using|pull|pulling) (?:the )?(?:latest|newest"
    r"|most recent) (?:\w+ )?(?:version|release|model)\b",
    r"\b(?:bring|brought|keep|keeps|kept|keeping|stay|stays|staying) (?:[\w']+ ){0,4}?up[\s-]to[\s-]date\b"
    r"|\bup[\s-]to[\s-]date (?:main|master|trunk|branch|upstream)\b",
    r"\b(?:flight|train|bus) (?:\w+ )?delays?\b(?=.{0,120}\b(?:compensation|money|refund|rights|claim|owed)\b)"
    r"|\b(?:compensation|refund|rights|claim)\b.{0,120}\b(?:flight|train|bus) (?:\w+ )?delays?\b",
    r"\bopen\b(?! now\b)(?=.{0,80}\b(?:mon|tues|wednes|thurs|fri|satur|sun)days\b)",
    r"\b(?:always|every|whenever|each time|when)\b.{1,200}\bwhat(?:'s| is) (?:happening|going on)"
    r"(?: (?:in (?:there|them)|with an? [\w ]{1,40}))?\W*$",
    r"\broll(?:s|ed|ing)? over to (?:the )?next month\b",
    r"\btoday's (?:youth|world|society|standards|generation|teenagers|children|technology)\b",
    r"\b(?:how|why) (?:do|are) (?:people|humans|scientists|historians|farmers|doctors|artists"
    r"|engineers) (?:of )?today\b",
    r"\b(?:usable|available|works?|working) offline\b",
    r"\b(?:exam|test|quiz|interview) (?:is )?(?:today|tomorrow|next week|this week)(?=\s?[:,.;-])",
    r"\b(?:where|the \w+|what) (?:i|we) (?:live|have|use|own) now\b",
    r"^\W*(?:please )?(?:(?:can|could|would) you (?:please )?)?(?:help me (?:to )?)?(?:write|draft|compose) (?:me )?"
    r"an? (?:[\w-]+ ){0,2}?(?:email|e-mail|mail|message|note|reply|complaint|letter|apology|excuse|invitation|notice"
    r"|text(?= to\b))\b"
    r"(?!.{0,300}'s\b)[^\n?]{0,300}",
    r"^\W*(?:please )?(?:(?:can|could|would) you (?:please )?)?(?:make|create|suggest|write|build|prepare"
    r"|plan)(?: me| us)? an? (?:[\w-]+ ){0,2}?(?:workout|(?:shopping|packing|grocery|guest) list"
    r"|checklist|(?:study|training|workout|meal"
    r"|revision|cleaning) plan|menu|agenda|out of office (?:reply|message))\b(?!.{0,300}'s\b)[^\n?]{0,300}",
    r"\bcompared (?:to|with) today\b(?!')|\bfrom (?:the )?\d{4}s? (?:to|until) (?:today|now)\b(?!')",
    r"^\W*(?:friendly|polite|gentle) reminder that\b(?!.{0,300}'s\b)[^\n?]{0,300}",
    r"\bhow (?:do|should|can|could) i (?:tell|ask|inform|email|text) (?:my|the|our) \w+ "
    r"(?:that|if|whether)\b[^.?!\n]{0,120}",
    # A message that will be sent is asked for, not what is in stock.
    r"\b(?:e-?mail|notif\w+|alert\w*)\b[^.?!\n]{0,60}\bback in stock\b|\bback in stock (?:e-?mail|notif\w+|alert)s?\b",
    r"\bin stock items\b(?= together\b)|\bin stock\b(?=.{0,200}\b(?:an? array|arrays|dataframe|boolean|json)\b)"
    r"|\b(?:an? array|arrays|dataframe|boolean|json)\b.{0,200}\bin stock\b",
    r"^\W*how (?:do|can|should) i (?:find|choose|pick) an? (?:\w+ and )?(?:good|trustworthy|reliable|reputable|decent"
    r"|honest|qualified) [\w ]{1,30} near me\W*$",
    r"\bwhere (?:can|do|could|would) (?:i|we) (?:find|see|view|get"
    r"|download) (?:\w+ ){0,4}?(?:payslips?|invoices?|bills?"
    r"|statements?|data)\b[^.?!\n]{0,80}",
)
_NO_CHANGE_OF_PLACE = any_of(
    r"^\W*(?:is|are|was|were|has|have|will)\b.{0,200}\b(?:flights?|trains?|games?|match|matches|event|school)\b"
)

# A question for a rule or for advice, which the case told before it does not bind to a day.
_ADVICE = any_of(
    r"\b(?:what|how|which|when|whom?|until when|till when|why)(?: [\w']+){0,4}? (?:can|can't|could"
    r"|should|shall|must|may"
    r"|do|might|am) (?:i|we|one|you|it|that|this|she|he|they)\b(?! (?:see|watch|visit|take|catch|know)\b)",
    r"\bwhere (?:and how )?(?:can|do|should) (?:i|we) (?:sign|log|edit|report|change|apply|register|complain|turn)\b",
    r"\b(?:should|must|do|am) i (?!have (?:any|a|an|enough)\b|owe\b|watch\b)\w+",
    r"\b(?:can|could|may) i (?!see\b|view\b|get\b|have (?:any|a|an|enough)\b|owe\b|watch\b)\w+",
    r"\b(?:does|do|can|may|must|should) (?:he|she|they|one|\w+s) (?:\w+ )?(?:have|need|count|expect|get|pay|allow|make"
    r"|cover|want)\b",
    r"\bis (?:it|that|this) (?:\w+ )?(?:a|ok|okay|fine|alright|all right|safe|legal|illegal|bad|good|normal|common"
    r"|possible|allowed|necessary|too|enough|required|harmful|dangerous)\b",
    r"\bhow is (?:it|this|that) (?:fixed|done|\w+ed)\b|\bwhat (?:does|is) (?:it|this|that) mean(?:ing)?\b",
    r"\bhow (?:much|many|long|far|often) (?:\w+ )?(?:should|must|may|can|does) (?:each|it|one|he|she|they|i|you)\b",
    r"\b(?:which|what) (?:\w+ ){1,3}(?:is|are) (?:ok|okay|safe|allowed|customary|usual|normal|required)\b",
    r"\b(?:what|which) (?:\w+ ){0,2}(?:are|is|do|will|might|may|could) (?:they|he|she|one|people|interviewers?"
    r"|employers?) (?:be )?(?:likely|apt|ask|expect)\b",
    r"\bwhat(?:'s| is) the (?:legal|usual|normal|right|proper|procedure|process|penalty|rule|deadline|way)\b",
    r"\bwhat (?:could|might|may|can|would) (?:be (?:the )?(?:\w+ )?(?:reasons?|causes?|explanations?)|have caused"
    r"|explain|cause)\b|\bpossible (?:reasons|causes|explanations)\b",
    r"\bwhat (?:will|would|can|may) (?:the|my) \w+ do\b|\b(?:which|whose) \w+ (?:pays|foots|covers|is liable)\b",
    r"\bwould (?:an? |it |that |this )[^.?!\n]{0,60}\bproblem\b",
    r"\bwhen(?:'s| is| are) [\w' ]{1,40} due\b|\bok(?:ay)? (?:for me )?to \w+",
    r"\bany (?:harm|risk) in\b|\bwhen is [\w ]{1,30} (?:ok|safe)\b",
    r"\b(?:what now|now what|what to do|how to|what happens|advice|what next)\b|[.!;] (?:solution|fix|help|tips)\b",
)
# The way is the same on any day, other than that to a place or to something that is shown or for sale.
_WAY = any_of(
    r"^\W*(?:how to|how (?:do|can|could|should|would|might) (?:i|we|you|one)|where (?:do|can|should|could) (?:i|we)"
    r" (?:report|log|edit|sign|apply|register|complain|hand)|is it (?:possible|allowed)(?: for me)? to"
    r"|what (?:should|do|must|can|could) (?:i|we) do (?:to|about|with))\b"
    r"(?! (?:\w+ )?(?:get to|get there|go|fly|travel|drive|watch|see|earn|spend|vote|check|find|know|tell|reach|invest"
    r"|dress|visit|help|book|buy)\b)(?!.{0,120}\b(?:ticket|seat|train|flight|show|table)\b)"
)
DAYS = any_of(_DAY)
_LAST_NOW = re.compile(r"\bnow\W*$")
_SENTENCE = re.compile(r"[.?!;\n]+\s*")
_ONE_SENTENCE = re.compile(r"[^.?!;\n]+")
_ASKING = re.compile(
    r"\W*(?:(?:hi|hii|hey|hello|ok|so|and|but|please|pls|siri|google|alexa)\b\W*)*(?:what|what's|which|who|who's|whose"
    r"|whom|where|when|why|how|is|are|was|were|will|would|did|does|do|has|have|can|could|may|should|show|list|find|tell"
    r"|give|check|get|book|set|wake|remind|search|look|play)\b"
)
_GAP = " _ "  # a word that no pattern knows, so that none reads across it
_SPAN = 400  # characters of a case that is told


def without_timeless(folded: str) -> str:
    """A folded text without those of its words about time or weather that its answer does not depend on."""
    rest = folded
    if _NO_CHANGE_OF_PLACE.search(rest) is None:
        rest = _PLAIN.sub(_GAP, rest)
    if _LASTING.search(rest) is not None:
        rest = _ONE_SENTENCE.sub(_without_now, rest)
    if _CHANGING.search(rest) is not None:
        return rest
    rest = _THESEDAYS.sub(_GAP, _CONDITION.sub(_GAP, rest))
    if _SLOW.search(rest) is not None:
        rest = _NOW.sub(_GAP, rest)
    if _YEARLY.search(rest) is not None:
        rest = _YEAR.sub(_GAP, rest)
    return _without_case(rest)


def _without_now(sentence: re.Match[str]) -> str:
    asked = sentence[0]
    lasting = _LASTING.search(asked) is not None and _FLEETING.search(asked) is None
    return _NOW.sub(_GAP, asked) if lasting else asked


def _without_case(folded: str) -> str:
    """The text without the days of a case that is told before or after a question for advice."""
    advice = _ADVICE.search(folded)
    if advice is None or len(folded) > 2 * _SPAN:
        return folded
    start = advice.start()
    asked = _SENTENCE.split(folded[start:], maxsplit=1)
    told = folded[:start]
    if any(_ASKING.match(part) for part in _SENTENCE.split(told) if DAYS.search(part)):
        return folded
    question = _LAST_NOW.sub(_GAP, asked[0])
    if _WAY.match(question) is not None:
        question = DAYS.sub(_GAP, question)
    return " ".join((DAYS.sub(_GAP, told), question, *asked[1:]))
