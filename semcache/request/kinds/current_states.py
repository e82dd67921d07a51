"""How one definite thing stands, or what comes next: "Is the pool open again?", "When is the next council meeting?".

Knows sentences of folded text, for `under_way`, which leaves out what usually is so. Invariant: a state is asked of a
thing that is pointed to ("the", a name), or is said to be a turn of events ("yet", "again", "next", "current").
"""

from __future__ import annotations

from semcache.request.kinds.patterns import CuedPatterns, any_of, rule

_LEAD = r"^\W*+(?:(?:hi|hello|hey|ok|so|and|but|please)\W+)*"
# Of these "the" points to no single one: "is the Earth full of water?"
_GENERIC = (
    r"(?:earth|moon|sun|universe|world|sky|sea|ocean|human|brain|heart|body|liver|glass|past|future|soul|mind|internet"
    r"|word|term|answer|statement|following|sentence|set|list|string|array|stack|buffer|heap|function|matrix"
    r"|graph|system"
    r"|bible|law|same|us|usa|uk)\b"
)
_PLACES = (
    r"(?:room|bedroom|bathroom|kitchen|house|home|office|garage|pool|gym|sauna|beach|lake|cellar|attic|basement|oven"
    r"|fridge|freezer|server|nursery|greenhouse|car park|parking|garage|lot|bar|restaurant|cinema|er|emergency room"
    r"|waiting room|library|museum|station|train|tram|bus|hostel|hotel|shelter|campsite|slopes?|queue|line|warehouse)\b"
)
_ACTIVE = (
    r"(?:available|free|left|online|offline|open|queued|running|waiting|pending|connected|unread|active|vacant|occupied"
    r"|on call|on duty|on shift|on sale|in stock|playing|streaming|logged in|checked in|ahead|still up|down)"
)
_CURRENCY = r"(?:usd|eur|gbp|jpy|chf|cad|aud|cny|inr|btc|eth|sol|xrp|doge|ltc|nok|sek|pln|try|brl|mxn|zar|hkd|sgd|krw)"
_OFFERED = (
    r"(?:openings|vacancies|offers?|promotions?|deals?|discounts?|events?|exhibitions?|listings?|incidents?|outages?"
    r"|wait(?:ing)?(?: times?)?|processing times?|queues?|turnaround|delivery times?|shipping times?|lead times?"
    r"|availability|bookings|roadworks|closures|conditions|cases|alerts?|warnings?|restrictions|jobs|menu|fares?"
    r"|bids?|standings?|rankings?|line-?up|backlog|occupancy|uptime|inventory|stock levels?)\b"
)
_SYSTEMS = (
    r"(?:pods?|nodes?|services?|servers?|systems|builds?|tests|pipelines?|jobs?|deploys?|deployments?|workers?"
    r"|replicas?"
    r"|prod|production|staging|checkout|login|payments?|search|api|apis|site|website|cluster|clusters|database|db|dbs"
    r"|queues?|ci|vpn|wifi|internet|network|printers?|crons?|backups?|alerts?|containers?|instances?|master|main)"
)
_STATES = CuedPatterns(
    rule(
        "doing trading performing holding",
        rf"{_LEAD}how(?:'s| is| are) (?!(?:the |my |your )?ai\b|you\b|your\b|it\b|this\b|that\b|things\b|everyone\b"
        rf"|he\b|she\b|they\b)"
        r"[\w.&'-]+(?: [\w.&'-]+){0,2} (?:doing|trading|performing|holding up)(?: (?:today|now|this \w+))?\W*$",
        rf"{_LEAD}(?:where|what)(?:'s| is| are) (?:the )?[\w.&'/-]+(?: [\w.&'-]+){{0,1}} trading(?: at)?\W*$",
    ),
    rule(
        "latest",
        rf"{_LEAD}(?:(?:give|tell|show) me )?(?:the |any )?latest (?:news )?(?:on|about|from|regarding) (?!how\b)\w",
    ),
    rule(
        "long full busy crowded humid warm cold hot loud bright dark empty",
        rf"{_LEAD}how long (?:is|are) the (?:\w+ )?(?:wait|queue|line|delay|backlog|hold|tailback)s?\b"
        r"(?! of\b| for an? (?!(?:agent|table|taxi|cab|human|representative|person|doctor|room|seat|bed|nurse)\b))",
        rf"{_LEAD}how (?:full|busy|crowded|packed|empty) (?:is|are) (?:the |it )(?!{_GENERIC})\w",
        rf"{_LEAD}how (?:humid|warm|cold|hot|loud|bright|dark|empty) is (?:it in )?(?:the|my"
        rf"|our) (?:\w+ ){{0,2}}?{_PLACES}\W*$",
    ),
    rule(
        "next",
        rf"{_LEAD}(?:when(?:'s| is| are| does| do| will)|what time (?:is|does)) (?:the |your )?next "
        r"(?!(?:\w+ )?(?:solar|lunar|moon|eclipse|comet|solstice|equinox|transit|leap year)\b)(?!(?:step|stage|phase"
        r"|question|chapter|line|token|number|dose|pill|ice age|page)s?\b)[\w-]+",
        rf"{_LEAD}what(?:'s| is) next on the (?!periodic\b)\w+",
    ),
    rule(
        "again",
        rf"{_LEAD}(?:is|are|has|have) (?:the |all )?(?!(?:it|this|that|there)\b)(?:[\w'-]+ ){{1,4}}"
        r"(?:open|running|up|back|online|available|working|operational|reopened|closed|in stock|safe) again"
        r"(?: (?:after|since|now|today)\b[^?]{0,60})?\W*$",
    ),
    rule(
        "yet",
        rf"{_LEAD}(?:is|are|has|have|did|does|was|were|can)\b (?!i\b|there\b"
        r"|it (?!(?:dark|light|out|open|over|done|on|up|here|time"
        r"|released|live|snowing|raining|ready)\b))(?:(?!(?:though|because|if|that|which|who|not|when|so)\b)"
        r"[\w'.:&/-]+ ){1,12}yet\W*$",
    ),
    rule(
        "done finished ready free full empty charged back overhead docked parked closed open on off up stuck home busy"
        " occupied vacant taken dirty clean locked armed",
        rf"{_LEAD}(?:is|are) the (?!{_GENERIC})(?!(?:[\w'-]+ )*?(?:always|half|of)\b)(?:[\w'.-]+ ){{1,4}}?(?:still "
        rf"|already |all )?"
        r"(?:done|finished|ready|full|empty|charged|back|overhead|docked|parked|stuck|busy|occupied|vacant|taken"
        r"|armed)\W*$",
        r"^\W*+(?:is|are) (?:the )?(?:\w+ ){0,2}?(?:school|road|bridge|tunnel|airport|street|pass|office|branch|park"
        r"|pool|line|station|motorway|highway|m\d+|a\d+)s? (?:still )?(?:closed|open|shut|blocked)"
        r" (?:because|due|after|owing)\b[^?]{1,60}\W*$",
        rf"{_LEAD}is the (?:(?:\w+ )?(?:room|table|seat|slot|court|pitch|desk|charger|washer"
        rf"|dryer)(?: at [\w: ]{{1,12}})? (?:still )?|\w+ still )(?:free|available|taken)\W*$",
    ),
    rule(
        "many which who",
        rf"{_LEAD}(?:how many|which) (?!(?:elements|letters|numbers|planets|people can|electrons|volcanoes|countries"
        rf"|languages|species|databases)\b)(?:[\w-]+ ){{1,3}}?"
        rf"(?:are|is) (?:still |currently )?{_ACTIVE}\W*$",
        rf"{_LEAD}how many (?:[\w-]+ ){{1,2}}?(?:are|is) (?:still )?(?:left|free|available|open) (?:on|for"
        rf"|at) (?:the|flight"
        r"|train)\b[^?]{1,60}\W*$",
    ),
    rule(
        "standings table",
        rf"{_LEAD}(?:the |current )*(?:standings (?:in|of|for)|table (?:in|of|for) (?:the )?(?:\w+ )?(?:league"
        rf"|division|cup"
        r"|championship|conference|group)) (?:the )?\w[\w ]{1,40}\W*$",
    ),
    rule(
        "space parking seats tickets tables rooms spots places busy crowded packed quiet wait queue",
        rf"{_LEAD}is there (?:(?:still |any )*(?:space|a queue|a line|parking(?= left\b))|still parking) (?:left )?"
        rf"(?:in|at|on|near) (?!(?:python|html|css|mars)\b)\w",
        rf"{_LEAD}(?:is it|how) (?:busy|crowded|packed|quiet) (?:at|in|on) (?:the )?\w[\w' ]{{1,40}}\W*$",
        rf"{_LEAD}(?:any|do you have (?:any )?)\s?(?:seats|tickets|tables|rooms|slots|spots|places"
        r"|parking(?= (?:left|free|available)\b)) (?:left |free |available )?"
        r"(?:on|at|near|for(?! (?:guests|children|kids|toddlers|babies|wheelchairs?|disabled|students|groups)\b)) \w",
        rf"{_LEAD}what(?:'s| is) the (?:wait|queue|line) (?:like )?at \w",
    ),
    rule(
        "newest latest",
        rf"{_LEAD}(?:what|which)(?:'s| is) the (?:newest|latest|most recent) "
        r"(?!(?:i|we|you|one|an?)\b)(?!(?:[\w-]+ )*?(?:can|time|date|hour|day|deadline|age|point|tag|style|called)\b)"
        r"(?:[\w-]+ ){0,2}[\w-]+\W*$",
    ),
    rule(
        "open running closed",
        rf"{_LEAD}(?:is|are) the (?!{_GENERIC})(?:[\w'-]+ ){{1,3}}?(?:open|running|closed) (?:at"
        rf"|in) \w[\w ]{{1,30}}\W*$",
    ),
    rule(
        "reopened reopen ended started begun resumed risen fallen gone closed lifted cleared resolved restored arrived"
        " landed departed launched passed happened changed died resigned voted ruled decided",
        rf"{_LEAD}(?:has|have) (?:the |any )?(?!{_GENERIC})(?!(?:it|this|that|there|he|she|they|i|we|you|my|our)\b)"
        r"(?!(?:[\w'-]+ )*?(?:ever|always|never)\b)(?:[\w'.-]+ ){1,4}?(?:been )?(?:reopened|ended|started|begun|resumed"
        r"|risen|fallen|gone (?:up|down|back)|closed|lifted|cleared|resolved|restored|arrived|landed|departed|launched"
        r"|passed|died|resigned|voted|ruled|decided)\W*$",
    ),
    rule(
        "healthy up down green red broken failing working slow stuck degraded ok okay failed crashed broke",
        rf"{_LEAD}(?:is|are) (?:all |the |our |every )*{_SYSTEMS}(?: {_SYSTEMS})? (?:all |still |currently )?"
        r"(?:healthy|up|down|green|red|broken|failing|working|slow|stuck|degraded|ok|okay|fine)(?: (?:again|now"
        r"|yet|today))?\W*$",
        rf"{_LEAD}(?:which|what|did any|did the|how many|have any) (?:{_SYSTEMS} )?{_SYSTEMS} "
        r"(?:fail|failed|crash|crashed|break|broke|broken|restarted)(?: (?:overnight|last night|today|yesterday"
        r"|this morning|again))?\W*$",
    ),
    rule(
        "update updates news progress",
        rf"{_LEAD}any (?:\w+ )?(?:updates?|news|progress)(?: (?:yet|today|on|about|from|for)"
        r"(?: [\w'&-]+){0,6})?\W*$",
    ),
    rule(
        "usage load space length depth uptime",
        rf"{_LEAD}(?:what(?:'s| is) the |the |current )*(?:(?:cpu|memory|ram|disk|gpu|network|bandwidth|heap) "
        r"(?:usage|load|space|utili[sz]ation)|queue (?:length|depth|size)|load average|uptime|(?:disk|free) space left)"
        r"(?: left| free)? (?:of|on|for|in) (?:the |our )?(?!(?:general|linux|windows|python|java|computing)\b)"
        r"[\w.:-]+(?: [\w.:-]+)?\W*$",
    ),
    rule(
        "market markets dow nasdaq ftse dax nikkei stocks",
        rf"{_LEAD}(?:did|has|have|how did) (?:the )?(?:stock )?(?:markets?|dow|nasdaq|ftse|dax|nikkei|stocks)(?: \w+)?"
        r" (?:close|closed|open|opened|end|ended|finish|finished)(?: (?:up|down|higher|lower|flat))?\W*$",
    ),
    rule("pass passed", rf"{_LEAD}(?:did|has) the (?:new|latest|proposed) (?:\w+ ){{1,4}}pass(?:ed)?\W*$"),
    rule(
        "wind surf swell sea water weather traffic snow visibility",
        rf"{_LEAD}what(?:'s| is) the (?:wind|surf|swell|sea|weather|traffic|snow|visibility|water) like "
        r"(?:in|at|on|near|off|around) (?!(?:space|mars|venus|the moon)\b)\w",
    ),
    rule(
        "going coming",
        rf"{_LEAD}(?:what|which|is|are)\b[^\n?]{{0,60}}\bgoing around(?: (?:this|here|at|in|now)\b[^?]{{0,30}})?\W*$",
        rf"{_LEAD}how much (?:\w+ ){{1,2}}?is (?:coming|flowing) in\W*$",
    ),
    rule(
        "current currently",
        rf"\bcurrent(?:ly)? (?:\w+ ){{0,2}}?{_OFFERED}(?!.{{0,80}}\b(?:in an? |of an? |electric|circuit|asset"
        rf"|ratio)\b)",
    ),
    rule(
        "usd eur gbp jpy chf cad aud cny inr btc eth sol xrp doge ltc nok sek pln try brl mxn zar hkd sgd krw",
        rf"^\W*+{_CURRENCY}\s?[/-]\s?{_CURRENCY}\W*$",
    ),
)
_ACROSS = any_of(r"\b(?:scientifically|theoretically|in theory|in general|in history)\b")


def may_apply(bag: frozenset[str]) -> bool:
    """Return True if a text whose words are `bag` holds a word of any of these questions."""
    return _STATES.may_match(bag)


def applies(sentence: str, bag: frozenset[str]) -> bool:
    """Return True if a folded sentence asks how a definite thing stands; `bag` holds its words."""
    return _STATES.match(sentence, bag) and _ACROSS.search(sentence) is None
