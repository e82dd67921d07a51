"""Prompts about how things stand: what runs, what is full or blocked, who is ahead, what is on, what is in the air.

Such a question says nothing about the moment of asking, and means it. Knows words and patterns of folded text.
Invariant: what usually is so, or in a season, or of a thing of any kind, is not of this kind.
"""

from __future__ import annotations

from semcache.config.calendar_names import MONTHS
from semcache.request.kinds import current_states
from semcache.request.kinds.patterns import SENTENCES, CuedPatterns, any_of, rule, words_of

_MOST = 12  # sentences
_LONGEST = 200  # characters of one

_LEAD = r"^\W*(?:(?:hi|hello|hey|ok|so|and|please|excuse me|sorry|quick question)\W+)*"
# "Do you know if the lift is working?" asks as "Is the lift working?" does.
_INDIRECT = any_of(
    r"^(?!\W*how (?:do|can|could|should|would|to)\b)(?:.{0,40}\W)?"
    r"(?:(?:you|anyone|anybody|somebody) know|tell me|check|wonder(?:ing)?|any idea|find out|see)"
    r" (?:if|whether) (?P<what>.{2,80}?) (?P<be>is|are|has|have) (?P<how>.+)$"
)
_BE = rf"{_LEAD}(?:is|are) (?:the |all |any |all the |any of the )?"
_FEW = r"(?:[\w':&-]+ ){0,4}?"
_PLACED = r"(?: (?:in|at|on|to|from|near|between|for|via|around|out of|along|through|towards?) [^?\n]{1,60})?"
_SERVICE = (
    r"(?:trains?|bus(?:es)?|ferry|ferries|flights?|planes?|trams?|tube|subway|metro|line|rail(?:way)?|coach(?:es)?"
    r"|shuttles?|boats?|eurostar|lifts?|elevators?|escalators?|chair-?lifts?|gondola|cable cars?|funicular|slopes"
    r"|pistes"
    r"|ski (?:area|resort)|rides?|roller\s?coaster)"
)
_RUNS = (
    r"(?:running(?! (?:on|out of) (?!(?:time|schedule|route|the)\b))|operating|operational|sailing|flying|suspended"
    r"|disrupted|cancell?ed|delayed|late|on time|on schedule|working|out of (?:order|service)|back (?:on|up|in service)"
    r"|(?:leaving|departing)(?: [\w]+)?|stuck|moving)"
)
_ROAD = (
    r"(?:[ma]\d{1,4}|[ia]-?\d{1,4}|route \d+|highway(?: \d+)?|motorway|autobahn|freeway|interstate|beltway|bypass"
    r"|ring road|roads?|street|pass|bridge|tunnel|crossing|canal|strait|border)"
)
_PASSABLE = (
    r"(?:clear|blocked|congested|jammed|backed up|passable|snowed in|icy|gritted|ploughed|plowed|flooded|gridlocked"
    r"|moving|flowing|shut|closed|open)"
)
_ROOM = (
    r"(?:car\s?parks?|parking (?:lot|garage|deck)s?|garage|gym|pool|beach|hotel|hostel|campsite|restaurant|bar|club"
    r"|class|course|flight|train|ferry|bus|clinic|ward|hospital|shelter|reservoir|dam|venue|concert|event|show|tour"
    r"|session|workshop|museum|library|office|queue|waiting room|er|mailbox)"
)
_CONTEST = (
    r"(?:polls?|race|elections?|votes?|count|match|game|championship|league|title|series|tour\b[\w ]{0,20}|final"
    r"|semi-?final"
    r"|tournament|cup|primary|primaries|referendum|grand prix|playoffs?|points|standings|table)"
)
_RIVAL = r"(?:party|candidate|team|driver|rider|player|side|club|golfer|horse|boat|campaign)"
_SHOW = r"(?:films?|movies?|shows?|plays?|musicals?|bands?|concerts?|events?|exhibitions?|gigs?)"
_FUEL = r"(?:petrol|gas|gasoline|diesel|fuel|heating oil|unleaded|lpg)"
_SKY = (
    r"(?:raining|snowing|foggy|sunny|windy|cloudy|icy|stormy|freezing|clear|wet|dry|cold|hot|warm|humid|smoggy|muddy)"
)
_SEASON = rf"(?:{'|'.join((*MONTHS, 'spring', 'summer', 'autumn', 'winter'))})"
_MARKET = (
    r"(?:pound|dollar|euro|yen|yuan|rupee|sterling|dow(?: jones)?|nasdaq|ftse(?: 100)?|dax|nikkei|s&p(?: 500)?|sensex"
    r"|nifty|stocks?|shares?|(?:stock )?markets?|bitcoin|btc|ethereum|gold|oil)"
)
_SITE = (
    r"(?:server|website|site|service|api|prod(?:uction)?|staging|environment|cluster|database|db|network"
    r"|wi-?fi|internet|vpn|power|water|heating|system|app|portal|node|host|queue|gateway|mail server)"
)

_UNDER_WAY = CuedPatterns(
    rule(
        "running operating operational sailing flying suspended disrupted cancelled canceled delayed late on working"
        " out"
        " back leaving departing stuck moving",
        rf"{_BE}(?:my |our )?{_FEW}{_SERVICE}(?: [\w':-]+){{0,6}}? {_RUNS}{_PLACED}\W*$",
    ),
    # "The 9:15", a flight by its number.
    rule(
        "on late delayed cancelled canceled running full gone left arrived departed landed landing boarding leave"
        " leaves"
        " leaving depart departs departing arrive arrives arriving land lands",
        r"^\W*(?:(?:is|are|has|have|did|will|when|where|which|what)\b.{0,60}\b|is )"
        r"(?:the \d{1,2}[:.]\d\d|(?!form|area|unit|step|room|day|type|gate|was|the"
        r"|is\b)[a-z]{2}\d{2,4})\b.{0,60}\b"
        r"(?:on time|on schedule|late|delayed|cancell?ed|running|full|gone|left|arrived?|departed|landed|landing"
        r"|boarding|leav(?:e|es|ing)|depart(?:s|ing)?|arriv(?:es|ing)|lands?)\b",
    ),
    rule(
        "earthquakes warnings warning alerts outages wildfires evacuations surf swell snow waves stage tickets seats"
        " rooms"
        " spots places space barrel",
        rf"{_LEAD}any (?:earthquakes|wildfires|outages|evacuations) (?:in|near|around|on) [^?\n]{{1,40}}\W*$",
        rf"{_LEAD}(?:are there )?any (?:\w+ )?(?:warnings?|alerts) (?:in|near|around|for|on) [^?\n]{{1,40}}\W*$",
        rf"{_LEAD}how(?:'s| is| are) the (?:surf|swell|snow|waves) (?:at|in|on|like)\b",
        rf"{_LEAD}who(?:'s| is) on stage\W*$|{_LEAD}how many people are (?:in|up in) space\W*$",
        rf"{_LEAD}(?!.*\d)how many (?:tickets|seats|rooms|spots|places) are (?:still )?(?:left|available|free)"
        rf"(?: (?:for|on|at|in) (?:the |this )?[^?\n]{{1,40}})?\W*$",
        r"\b(?:price|cost) of a barrel\b|\bhow much is a barrel of\b",
    ),
    rule(
        "gate platform terminal",
        r"\b(?:what|which) (?:gate|platform|terminal) (?:is|are) (?:my|our|the) (?:\w+ ){0,3}?"
        r"(?:flight|train|bus|plane)\b",
    ),
    rule(
        "clear blocked congested jammed backed passable snowed icy gritted ploughed plowed flooded gridlocked moving"
        " flowing shut closed open",
        rf"{_BE}{_FEW}{_ROAD}(?: (?!to\b)[\w'-]+){{0,3}}?(?: still)? (?!open|closed|shut){_PASSABLE}"
        rf"(?: (?:\w+bound|both ways)|{_PLACED})\W*$",
        rf"{_BE}{_FEW}{_ROAD}(?: (?:to|over|into|between|across|in|at) [\w' -]{{1,40}}?)? (?:still )?(?:open|closed"
        rf"|shut)\W*$",
    ),
    rule(
        "queue queues line lines wait waits waiting",
        rf"{_LEAD}how (?:long|bad) (?:is|are) the (?:(?:queues?|lines?|wait(?:ing)?(?: times?| lines?)?)\W*$"
        r"|(?:queues?|waits?|wait(?:ing)? (?:times?|lines?)) (?:at|outside|in (?:the )?(?:er|a&e|emergency)"
        r"|to get in)\b"
        r"|lines? (?:at|outside|to get in)\b)",
    ),
    rule("full", rf"{_LEAD}how full (?:is|are) (?:the |our |my )(?:[\w'-]+ ){{0,3}}?{_ROOM}\b"),
    rule(
        "full sold fully booked packed busy crowded empty",
        rf"{_BE}{_FEW}{_ROOM}(?: [\w':-]+){{0,5}}? (?:already |still )?(?:full|fully booked|booked (?:out|up)|sold out"
        r"|packed|busy|crowded|empty)\W*$",
        rf"{_BE}(?!it\b)(?:[\w'&-]+ ){{1,6}}?(?:already |still )?(?:fully booked|booked (?:out|up)|sold out)\W*$",
    ),
    rule(
        "left free available remaining",
        r"\b(?:are|is) there (?:any |an? |some |still )?(?:[\w-]+ ){0,3}?(?:spaces?|spots?|seats?|tables?|rooms?"
        r"|tickets?|places"
        r"|slots?|bikes?|beds?)(?: (?:still )?(?:left|remaining)\b| (?:still )?(?:free|available)"
        r"(?: (?:on|at|in|near|around) [\w' -]{1,30})?\W*$)",
        r"\bany (?:[\w-]+ ){0,2}?(?:seats|tickets|rooms|tables|spots|spaces|places) left\b",
    ),
    rule(
        "room desk court pitch studio lab",
        rf"{_LEAD}is (?:the )?(?:[\w-]+ )?(?:room|desk|court|pitch|studio|lab)(?: (?!service\b)[\w-]+)? (?:free"
        rf"|available"
        r"|taken|occupied|empty)(?: (?:at|until|till|from) [^?]{1,20})?\W*$",
    ),
    rule(
        "playing showing screening on running happening out cinema cinemas theater theaters theatre theatres",
        r"\bwhat(?:'s| is) (?:playing|showing|screening|on) (?:at|in) (?:the )?(?!work\b|play\b|stake\b|issue\b|heart\b"
        r"|root\b|\w+ (?:of|axis)\b|an?\b|my\b|your\b|it\b)[\w' ]{2,40}\W*$",
        r"\bwhat(?:'s| is) (?:playing|showing|screening|on) (?:at|in) (?:the )?(?:cinema|theat)",
        r"\bwhat(?:'s| is) on (?:the )?(?:bbc|itv|hbo|cnn|espn|channel|radio|telly|tv|television)\b(?! set\b)",
        rf"{_LEAD}(?:what|which) {_SHOW} (?:is|are) (?:on|playing|showing|running|happening|out"
        r"|in (?:the )?(?:cinemas?|theat(?:er|re)s?))\b",
    ),
    rule(
        "strike strikes striking",
        rf"{_BE}(?!it\b)(?:[\w'-]+ ){{1,4}}?on strike{_PLACED}\W*$",
        rf"{_LEAD}are (?:the )?(?:[\w'-]+ ){{1,3}}?striking{_PLACED}\W*$",
    ),
    rule(
        "strike strikes concert gigs fires demonstrations blackouts outage outages cut cuts blackout"
        " accident accidents crash fire protest protests demonstration gig"
        " jam jams"
        " match game",
        rf"{_LEAD}(?:is|are) there (?:an? |any )?(?:[\w-]+ ){{0,2}}?(?:strikes?|outages?|power cuts?|blackouts?"
        r"|traffic jams?|accidents?|protests?|demonstrations?|gigs?|fires?) (?:at|in|on|near|affecting) [^?]{1,40}\W*$",
        rf"{_LEAD}(?:is|are) there (?:an? |any )?(?:match|game|gig|concert|strike|outage)(?: on)?\W*$",
    ),
    rule(
        "over held holding going in ended begun started ahead off announced launched decided scrubbed"
        " postponed schedule counted",
        rf"{_LEAD}(?:is|are|has|have) (?:the )?(?:[\w'-]+ ){{0,4}}?(?:war|ceasefire|truce|strikes?|elections?|vote"
        rf"|votes|launch"
        r"|rocket|match|game|final|concert|trial|results?|talks|shutdown|lockdown|riots|protests?|storm|hurricane"
        r"|heat\s?wave|outage|mission)(?: in [\w' ]{2,30}?| [\w']+)? (?:still )?(?:over|held|holding|ended|begun"
        r"|started|going"
        r" ahead|called off|off|been (?:announced|called off|postponed|decided|counted)|in yet|launched|decided"
        r"|scrubbed"
        r"|postponed|on schedule)(?: yet)?\W*$",
    ),
    rule(
        "shut shutdown",
        rf"{_LEAD}is (?:the )?(?:us |federal )?government (?:still )?(?:shut\s?down|in (?:a )?shutdown)\W*$",
    ),
    rule(
        "ahead lead top front",
        rf"{_LEAD}who(?:'s| is| are) (?:ahead|in the lead|in front)\b(?! of (?:me|us|you)\b)"
        r"|\bwho(?:'s| is| are) (?:at the )?top of (?:the )?(?:\w+ ){0,2}?(?:league|table|standings|leaderboard"
        r"|charts?)\b",
    ),
    rule(
        "ahead leading winning lead front trailing polling losing behind",
        rf"\b(?:which|what) {_RIVAL} (?:is|are) (?:currently )?(?:ahead|leading|winning|in the lead|in front"
        rf"|trailing|polling)\b",
        rf"{_BE}(?!(?:it|this|that|there|an?|my|your|he|she)\b)(?:[\w'.-]+ ){{1,4}}?(?:still )?(?:winning|losing"
        rf"|leading|ahead"
        rf"|behind|trailing)(?: (?:in|on|by) (?:the )?(?:\w+ ){{0,2}}?{_CONTEST}"
        rf"| (?:the )?(?:\w+ ){{0,2}}?{_CONTEST})\W*$",
        rf"{_LEAD}is (?!it\b|this\b|that\b|what\b)(?:[\w'.-]+ ){{1,2}}?(?:winning|losing)\W*$",
    ),
    rule(
        "injured fit through play playing",
        r"^\W*is (?!(?:my|your|the|an?|it|he|she|this|that|one)\b)\w+(?: \w+)? (?:injured|fit (?:to play|for the)"
        r"|through to the)\b",
        r"^\W*(?:when|who|where) (?:do|does|are|is) (?:the )?\w+(?: \w+)? play(?:ing)? next\W*$",
    ),
    rule(
        "next",
        r"\bwhen(?:'s| is| does| do) (?:the |our )?next (?:[\w-]+ ){1,2}(?:game|match|race|train|bus|ferry|flight"
        r"|tram)\b",
    ),
    rule("score", r"^\W*(?:what(?:'s| is) )?the score(?: (?:in|of|at) the (?!film|movie|test|exam)[\w' ]{2,40})?\W*$"),
    rule(
        "muddy raining snowing rain snow foggy sunny windy cloudy icy stormy freezing clear wet dry cold hot warm humid"
        " smoggy",
        rf"{_LEAD}is it (?:still )?(?:raining|snowing|foggy|sunny|windy|cloudy|stormy|freezing|smoggy)"
        rf"(?: (?:in|at|on) (?!{_SEASON}\b)[\w' ]{{2,30}})?\W*$",
        rf"{_LEAD}(?:is it (?:going to|gonna) (?:be )?|will it (?:be )?)(?:rain|snow|{_SKY})\b(?!.{{0,80}}\bif\b)",
    ),
    rule(
        "umbrella raincoat coat jacket sunscreen",
        rf"{_LEAD}(?:do|will) (?:i|we) need (?:an? |my )?(?:umbrella|raincoat|coat"
        rf"|jacket|sunscreen)(?: (?:in|for) (?!{_SEASON}\b|an?\b)[\w' ]{{2,20}})?\W*$",
    ),
    rule("forecast", r"^\W*(?:weather )?forecast (?:in |for )?(?!accuracy|models?|errors?)\w+\W*$"),
    rule(
        "snow waves water pollen air",
        r"\bhow (?:deep|much) (?:is (?:the )?snow|snow (?:is|does)(?: there)?) (?:on the ground |lying )?(?:in|at"
        r"|on) [\w' ]{2,30}\W*$",
        r"\bhow (?:high|big) are (?:the )?waves (?:at|in|off) (?!an?\b)[\w' ]{2,30}\W*$",
        r"\bwhat(?:'s| is) the water level (?:of|at|in) (?!an?\b)[\w' ]{2,40}\W*$",
        r"\b(?:what(?:'s| is)|how(?:'s| is)) the (?:water temperature|air|pollen(?: \w+)?)(?: like)? (?:at|in|off|near)"
        r" (?!an?\b|this\b|my\b)\w+(?: \w+)?\W*$",
    ),
    rule(
        "typhoons tornados tornadoes tropical storm storms hurricane hurricanes typhoon cyclone tornado"
        " volcano erupting",
        rf"{_BE}(?:\w+ )?(?:storm|hurricane|typhoon|cyclone|tornado)(?: \w+)? (?:still )?(?:heading|moving|hitting"
        rf"|coming)\b",
        r"\bany (?:storms?|hurricanes?|typhoons?|tornado(?:e?s)?) (?:heading|coming|forecast|expected|near|in)\b",
        r"\bwhere(?:'s| is) (?:the )?(?:hurricane|typhoon|cyclone|tropical storm|storm)\b(?! eye\b)",
        rf"{_LEAD}(?:is|are) (?:the |any )?[\w' ]{{3,40}} (?:still )?erupting\W*$",
    ),
    rule("iss moon", r"^\W*where(?:'s| is) the iss\W*$|^\W*is (?:it a |the )(?:full )?moon(?: full)?\W*$"),
    rule("month season", r"\bwhat (?:month|season) (?:is it|are we in)\W*$"),
    rule(
        "petrol gas gasoline diesel fuel oil unleaded lpg",
        rf"{_LEAD}(?:(?:what|how)(?:'s| is| are) )?(?:the )?(?:cheap(?:est)? |local )?{_FUEL} (?:prices?|costs?)"
        r"(?: (?:near|around|in|at) (?!the\b|an?\b)[\w' ]{2,30}| (?!of|in|why|how|history|chart|\w+s\b)\w+)?\W*$",
        rf"{_LEAD}(?:where(?:'s| is) )?(?:the )?cheap(?:est)? {_FUEL}(?: stations?)?(?: (?:near|around|in"
        rf"|at) [\w' ]{{2,30}})?\W*$",
        rf"{_LEAD}where is {_FUEL} (?:the )?cheapest\b|{_LEAD}how much (?:is|does) (?:a |the |one )?(?:lit(?:er|re)"
        rf"|gallon) of {_FUEL}\b",
        rf"{_LEAD}how much (?:is|does) {_FUEL}(?: cost)?(?: (?:in|at|near) [\w' ]{{2,30}})?\W*$",
    ),
    rule(
        "brent crude wti natural platinum copper wheat solana pound dollar euro yen yuan rupee sterling"
        " dow nasdaq ftse dax nikkei s sensex nifty stock stocks share"
        " shares market"
        " markets bitcoin btc ethereum gold oil",
        rf"\bhow (?:is|are|did|has|have) (?:the )?(?:\w+ )?{_MARKET} (?:doing|trading|performing|perform|close"
        rf"|closed|open|end|done)\b"
        r"(?!.{0,60}\b(?:in|during|after) (?:the )?(?:1[0-9]{3}|20[01][0-9]|war|crash|great)\b)",
        r"\b(?:is|are) (?:the )?(?:dow(?: jones)?|nasdaq|ftse|dax|s&p|(?:stock )?markets?|bitcoin|stocks) (?:up|down"
        r"|rising"
        r"|falling)\b(?! (?:if|when)\b)",
        rf"\bhow much (?:is|are) (?:one |an? |1 )?(?:{_MARKET}|\w+ (?:stock|shares?))(?: worth)?\W*$",
        r"\b(?:what(?:'s| is) the )?price of (?:brent|crude|wti|natural gas|platinum|copper|wheat|ethereum|solana)\W*$",
    ),
    rule("mortgage fed", r"^\W*what(?:'s| is| are) (?:the )?(?:\w+ )?(?:mortgage rates|fed (?:funds )?rate)\W*$"),
    rule(
        "get buy",
        rf"\bhow many (?:euros?|dollars?|pounds|yen|rupees|francs|pesos) (?:do|can|would|will) (?:i|you) get (?:for|to)"
        rf" (?:an?|one|the|1) {_MARKET}\W*$",
    ),
    rule(
        "healthy up down deployed reachable responding working back",
        rf"{_BE}(?:our |my )?(?!\w+ing\b)(?:[\w-]+ ){{0,2}}?{_SITE}(?: [\w-]+)? (?:still )?(?:healthy|up|down"
        rf"|deployed|reachable"
        rf"|responding"
        rf"|working|back(?: on| up| online)?){_PLACED}\W*$",
        r"^\W*is (?!(?:it|this|that|the)\b)\w+ down (?:for (?:everyone|everybody|anyone|others)|in \S+|again|or)\b",
    ),
    rule(
        "working order service",
        rf"{_LEAD}(?:is|are) the (?!(?:code|following|function)\b)(?:[\w'-]+ ){{1,7}}?(?:working|out of order"
        rf"|out of service)\W*$",
    ),
    rule(
        "online logged queue waiting connected",
        r"\bhow many (?:\w+ )?(?:messages|jobs|items|people|users|players|tickets|guests|callers|clients|orders) are"
        r" (?:there )?(?:in (?:the|our) (?:\w+ )?queue|online|logged in|logged on|waiting|connected)\b",
    ),
    rule(
        "play playing",
        r"^\W*are (?:the )?(?!(?:you|they|we|kids|children|people|dogs|cats)\b)\w+ playing\W*$",
        r"^\W*when do (?:the )?\w+(?: \w+)? play\W*$",
    ),
    rule(
        "song single album movie film box",
        r"^\W*what(?:'s| is) (?:the )?(?:number one|no\.?\s?1|#1) (?:song|single|album|movie|film|at the box office)"
        r"(?: (?:in|on) [\w' ]{2,30})?\W*$",
    ),
    rule(
        "died killed injured arrested infected displaced evacuated missing cases",
        r"\bhow many (?:\w+ ){1,2}?have (?:died|been (?:killed|injured|arrested|infected|displaced|evacuated))"
        r" (?:in|by|during) the\b",
        r"^\W*how many (?:\w+ )?cases of [\w' ]{3,20} (?:are there )?in (?:the )?[\w' ]{2,30}\W*$",
    ),
    rule("earthquake", r"^\W*was there (?:just )?an earthquake(?: (?:in|near) [\w' ]{2,30})?\W*$"),
    rule(
        "traffic",
        rf"{_LEAD}(?:is|how bad is) (?:the )?(?:[\w'-]+ ){{0,3}}?traffic (?:bad|heavy|moving|light|flowing)"
        rf"{_PLACED}\W*$",
    ),
    rule(
        "delayed cancelled canceled running diverted",
        rf"\b(?:which|what) (?:flights|trains|buses|ferries|lines|services) are (?:delayed|cancell?ed|running"
        rf"|diverted){_PLACED}\W*$",
    ),
    rule(
        "in at home",
        r"^\W*is (?:the )?(?!(?:it|this|that|there|he|she|everything|working|breakfast|coffee|food)\b"
        r"|\w+ing\b)\w+ (?:still )?"
        r"(?:in|at) (?:the office|work|home|(?:his|her|their) desk)\W*$",
        r"^\W*is (?:the )?(?:boss|doctor|dentist|manager|nurse|director|receptionist|vet|principal|caretaker) in\W*$",
    ),
    rule(
        "open opened close closed",
        rf"{_LEAD}is the (?!(?:\w+ ){{0,3}}?(?:set|sets|interval|ball|subset|map|source|domain|relation|union"
        rf"|complement"
        r"|intersection|closure|image|disk|system|file|port|valve|circuit|standard)\b)"
        r"(?:[\w'-]+ ){2,7}?(?:open|closed)\W*$",
        r"^\W*(?:did|has|have) the (?:[\w'-]+ ){1,4}?(?:open|opened|close|closed)(?: yet)?\W*$",
        r"\b(?:is|are) (?:the )?schools? (?:open|closed)(?: in [\w' ]{2,30})?\W*$",
    ),
    rule(
        "pollen queue queues crowd crowds line lines",
        r"^\W*what(?:'s| is| are) the (?:pollen|queues?|crowds?|lines?) like(?: (?:in|at|today|now)\b|\W*$)",
    ),
    rule(
        "call tide",
        r"^\W*who(?:'s| is) on call\W*$",
        r"^\W*how high is the tide(?: (?:today|now|right now|at \w+(?: \w+)?))?\W*$",
    ),
    rule(
        "many",
        r"^\W*how many (?:open|pending|active|unresolved) (?:[\w-]+ )?(?:tickets|issues|incidents|tasks"
        r"|orders|cases|requests|alerts|alarms|bugs|users|sessions|claims|jobs|complaints|invoices|applications"
        r"|approvals|calls|deals|leads"
        r"|prs|positions|vacancies|disputes|subscriptions|customers|members|accounts|connections) are there\W*$",
    ),
    rule(
        "available free left",
        r"^\W*(?:do you have|are there) (?:any )?(?:rooms?|tables?|seats?|slots?|tickets?|appointments?) "
        r"(?:available|free|left) (?:for|on|at)\b",
    ),
    rule("flights", r"^\W*(?:any|which) (?:cheap )?flights (?:to|from) (?:\w+ ){1,3}(?:under|below|are cheap)"),
)
# So it is on any day, in a season, or of a thing of its kind.
_USUAL = any_of(
    r"\b(?:always|usually|normally|generally|typically|often|ever|never|legally|allowed|permitted|considered|supposed"
    r"|every (?:day|week|year|night|hour)|at (?:night|weekends|rush hour|peak)|weekends|weekdays"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)days|public holidays|bank holidays|all year|year[\s-]round)\b",
    rf"\b(?:in|during|over) (?:the |late |early |mid-?)*(?:{_SEASON}|winter months|summer months|(?:rainy|dry|high"
    rf"|low) season|middle"
    r" ages|1[0-9]{3}s?|20[01][0-9])\b",
    r"\b(?:if|(?<=\s)when|why|because(?! of the (?:snow|storm|strike|ice|flood|heat|weather)\b)|by design|by default"
    r"|in (?:python|java|javascript|chess|minecraft|theory"
    r"|general))\b",
)


def applies(folded: str, bag: frozenset[str]) -> bool:
    """Return True if a sentence of the text asks how something stands; `bag` holds the words of the text."""
    if not (_UNDER_WAY.may_match(bag) or current_states.may_apply(bag)):
        return False
    parts = SENTENCES.split(folded.strip())
    return len(parts) <= _MOST and any(map(_asks_how_it_stands, parts))


def _asks_how_it_stands(sentence: str) -> bool:
    indirect = _INDIRECT.match(sentence)
    if indirect is not None:
        sentence = f"{indirect['be']} {indirect['what']} {indirect['how']}"
    if len(sentence) > _LONGEST:
        return False
    bag = words_of(sentence)
    if not (_UNDER_WAY.match(sentence, bag) or current_states.applies(sentence, bag)):
        return False
    return _USUAL.search(sentence) is None
