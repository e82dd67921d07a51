"""How one definite thing stands, or what comes next: "Is the pool open again?", "When is the next council meeting?".

Knows sentences of folded text, for `under_way`, which leaves out what usually is so. Invariant: a state is asked of a
thing that is pointed to ("the", a name), or is said to be a turn of events ("yet", "again", "next", "current").
"""

from __future__ import annotations

from semcache.request.kinds.patterns import CuedPatterns, any_of, rule, vocabulary

_LEAD = r"^\W*+(?:(?:hi|hello|hey|ok|so|and|but|please)\W+)*"
# Of these "the" points to no single one: "is the Earth full of water?"
_GENERIC = (
    r"(?:earth|moon|sun|universe|world|sky|sea|ocean|human|brain|heart|body|liver|glass|past|future|soul|mind|internet"
    r"|word|term|answer|statement|following|sentence|set|list|string|array|stack|buffer|heap|function|matrix|graph"
    r"|system"
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
_MACHINES = (
    r"(?:pods?|nodes?|containers?|replicas?|services?|servers?|workers?|hosts?|instances?|clusters?|endpoints?|regions?"
    r"|shards?|brokers?|deployments?|jobs|builds?|pipelines?|monitors|alerts|alarms|health checks|checks|probes"
    r"|databases?"
    r"|gateways?|load balancers?|routers?|microservices?)"
)
_PLATFORM = (
    r"(?:github|gitlab|bitbucket|slack|teams|zoom|gmail|outlook|aws|azure|youtube|netflix|twitter|reddit|discord"
    r"|whatsapp"
    r"|facebook|instagram|cloudflare|jira|notion|spotify|steam|paypal|openai|chatgpt|dropbox|onedrive|icloud)"
)
_SYSTEM = (
    rf"(?:{_PLATFORM}|prod(?:uction)?|staging|site|website|server|api|vpn|wi-?fi|app|portal|checkout|login|payments"
    rf"|intranet"
    r"|database|db|cluster|gateway|mail(?: server)?|build server|ci|search|billing)"
)
_TICKERS = vocabulary(
    "aapl msft goog googl amzn tsla nvda nflx amd intc orcl csco avgo jpm brk bac wfc xom cvx pfe jnj ibm tsm asml qcom"
    " pltr uber abnb spx spy qqq vix voo gme"
    " eurusd gbpusd usdjpy usdchf audusd usdcad nzdusd eurgbp eurjpy eurchf gbpjpy btcusd ethusd xauusd"
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
        r"(?:open|running|up|back|online|available|working|operational|reopened|closed|in stock|safe|broken|down|slow"
        r"|failing|flaky|offline|stuck|unavailable|unreachable|acting up|crashing|timing out|red|delayed|late) again"
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
    # Of machines and what runs on them.
    rule(
        "up down healthy unhealthy ready running green red degraded failing broken stuck crashing firing alive",
        rf"{_LEAD}(?:is|are) (?:all |any |the |all the |all of the |our "
        rf"|all our )?(?:[\w-]+ ){{0,2}}?{_MACHINES} (?:still "
        r"|all |back )*(?:up|down|healthy|unhealthy|ready|running|green|red|degraded|failing|broken|stuck|crashing"
        r"|alive)"
        r"(?: (?:in|on|at) [\w-]{1,30})?\W*$",
        rf"{_LEAD}(?:which|what) (?:[\w-]+ ){{0,2}}?{_MACHINES} (?:is|are) (?:still |currently )?(?:up|down|healthy"
        rf"|unhealthy"
        r"|degraded|failing|broken|red|stuck|crashing|firing)(?: (?:in|on|at) [\w-]{1,30})?\W*$",
        rf"{_LEAD}is [a-z]++[a-z-]{{0,12}}-\d{{1,4}} (?:still )?(?:up|down|healthy|ready|running|alive)\W*$",
    ),
    rule(
        "back up down green red slow offline unreachable unavailable broken ok okay fine loading working attack",
        rf"{_LEAD}(?:the |our )?{_SYSTEM} (?:down|slow|offline|unreachable|broken|ok|okay)\s?\?\W*$",
        rf"{_LEAD}(?:is|are) (?:the |our )?{_SYSTEM} (?:still )?(?:green|red|broken|slow|ok|okay|flaky|offline"
        r"|unreachable"
        rf"|unavailable"
        r"|under attack|overloaded)\W*$",
        rf"{_LEAD}are we under attack\W*$|{_LEAD}is everything (?:ok|okay|fine|alright|running|working)"
        rf"(?: (?:with|on|in|at) (?:the |our )?{_SYSTEM})?\W*$",
        rf"{_LEAD}is (?:there )?(?:something|anything) (?:wrong|up) with (?:the |our )?{_SYSTEM}\W*$",
    ),
    rule(
        "going",
        rf"{_LEAD}how(?:'s| is| are) (?:the |our )(?!(?:project|weather|ai)\b)(?:[\w-]+ ){{1,2}}?going(?: so far)?\W*$",
    ),
    rule(
        "out road roads streets pavement runway track",
        r"^\W*+is the (?:sun|moon) out(?: (?:in|at|over) [\w ]{1,30})?\W*$",
        r"^\W*+is there (?:still )?(?:any )?(?:black )?(?:ice|snow|fog|water|smoke"
        r"|debris) on the (?:\w+ )?(?:roads?|streets"
        r"|pavement|runway|track)\W*$",
    ),
    rule(
        "site server app call stream platform",
        rf"{_LEAD}how many (?:\w+ )?(?:people|users|visitors|players|viewers|guests) are (?:there )?(?:on|in|watching) "
        r"(?:the|our) (?:site|server|app|call|stream|platform)\W*$",
    ),
    rule(
        "failed crashed broke broken merged deployed restarted pushed reverted last",
        r"^\W*+(?:which|what) (?:[\w-]+ )?(?:jobs?|builds?|tests?|checks?|deploy(?:ment)?s?|pipelines?"
        r"|backups?) (?:have |has |just )?"
        r"(?:failed|crashed|broken?)(?: (?:overnight|again|today))?\W*$|^\W*+what (?:just )?(?:failed|crashed|broke)"
        r"(?: (?:overnight|again))?\W*$",
        r"^\W*+who (?:just )?(?:broke|merged|deployed|restarted|pushed|reverted) (?:to )?(?:the |our )?(?:build"
        r"|prod(?:uction)?|main"
        r"|master|staging|ci|server)\W*$",
        r"^\W*+when was the last (?:successful |full |failed )?(?:deploy(?:ment)?|build|backup|release|outage"
        r"|incident|restart|sync"
        r")\W*$",
    ),
    # Of a house, a match, the sea.
    rule(
        "playing door lights windows doors tide wind sea waves scored kickoff kick tip odds sale offer line"
        " queuing waiting",
        r"^\W*+what(?:'s| is) (?:playing|on (?:sale|offer|special offer))\W*$|^\W*+who(?:'s| is) at the (?:front "
        r"|back )?door\W*$",
        r"^\W*+which (?:lights|devices|appliances|heaters|windows|doors|alarms) are (?:still )?(?:on|off|open"
        r"|locked|unlocked)\W*$",
        r"^\W*+is the tide (?:in|out|coming in|going out|high|low)\W*$|^\W*+how (?:strong|rough|high) (?:is"
        r"|are) the (?:wind|sea"
        r"|waves)\W*$",
        r"^\W*+who (?:just )?scored\W*$|^\W*+when(?:'s| is) (?:the )?(?:kick-?off|tip-?off)\W*$",
        r"^\W*+what are the (?:betting )?odds on (?!an?\b|getting\b|rolling\b)\w[\w ]{1,30}\W*$",
        r"^\W*+how many people are (?:there )?(?:in line|queuing|waiting)\W*$",
    ),
    rule(
        "still pass passed dollar euro pound yen",
        r"^\W*+is (?!(?:it|this|that|there)\b)[\w .'-]{2,40} still (?:alive|in (?:office|power|hospital|jail"
        r"|prison)|president|ceo"
        r"|missing|injured|(?:the )?(?:champion|captain|coach))\W*$",
        r"^\W*+are we (?:still )?in (?:a )?(?:lockdown|drought|recession)\W*$",
        r"^\W*+(?:did|has) the (?:bill|motion|budget|referendum|amendment) pass(?:ed)?\W*$",
        r"^\W*+what(?:'s| is) the (?:dollar|euro|pound|yen) at\W*$",
    ),
    rule(
        "left seeing getting handling serving processing queue depth error cpu disk memory load",
        rf"{_LEAD}how (?:many|much) (?:[\w-]+ ){{1,4}}?are we (?:seeing|getting|handling|serving|processing)\W*$",
        rf"{_LEAD}(?:queue (?:depth|length)|error rate|cpu (?:load|usage)|disk (?:space|usage)|memory usage)\s?\?\W*$"
        rf"|{_LEAD}(?:queue (?:depth|length)|error rate|cpu (?:load|usage)|disk (?:space|usage)|memory usage|load) "
        rf"(?:of|on|at) (?:the )?[\w-]{{0,20}}\d\W*$|{_LEAD}(?:disk|free) space left on (?:the |my |our )?[\w-]+\W*$",
    ),
    rule(
        "left free available",
        rf"{_LEAD}is there (?:still |any )*(?:parking|space|availability) (?:left|available)\W*$",
        rf"{_LEAD}(?:(?:is|are) there )?any (?:[\w-]+ ){{0,2}}?(?:seats|tickets|tables|rooms|slots|spots|places"
        rf"|parking|bikes"
        r"|taxis|cabs|beds|lanes|courts|chargers) (?:still )?(?:left|free|available)(?: (?:downtown|nearby|outside"
        r"|there"
        r"|here|tonight|now))?\W*$",
    ),
    # "Any updates?", a share by its sign.
    rule(
        "any",
        rf"{_LEAD}(?:(?:is|are) there |have you got |got )?any (?:new |more |further )?(?:updates?|news|progress"
        r"|developments?)(?: (?:yet|so far|today|here|for (?:me|us)))*\W*$",
    ),
    rule(_TICKERS, rf"^\W*+(?:{'|'.join(sorted(_TICKERS))})(?: (?:price|quote|chart|share price))?\W*$"),
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
