"""Prompts about this moment: news, prices, scores, weather, who holds an office, what is open.

Knows words and patterns of folded text. Invariant: a way of doing something, and a date of the past, are of any moment.
"""

from __future__ import annotations

from semcache.config.calendar_names import MONTHS
from semcache.request.kinds import in_few_words, standing, under_way
from semcache.request.kinds.narrated_case import without_narrated_case
from semcache.request.kinds.patterns import CuedPatterns, any_of, rule, words_of
from semcache.request.kinds.timeless import without_timeless
from semcache.request.kinds.trouble import without_days

_FIGURE = (
    r"(?:news|scores?|prices?|results?|updates?|headlines?|rates?|version|release|events?|figures?|data|traffic"
    r"|standings?|polls?|numbers?|status|model|episode|stats|statistics|developments?)\b"
)
_OFFICE = (
    r"(?:president|prime minister|ceo|prices?|rates?|time|weather|temperature|version|value|stock|score|champion|leader"
    r"|status|population|governor|mayor|king|queen|pope|chancellor|exchange|inflation|traffic|standings?|events?|holder"
    r"|chair)\b"
)
_RUN = (
    r"(?:builds?|pipelines?|backups?|jobs?|deploy(?:ment)?s?|tests?|runs?|imports?|exports?|sync|migrations?"
    r"|crons?|scripts?|releases?|trains?|flights?|bus(?:es)?"
    r"|ferry|delivery|uploads?|downloads?|updates?|meetings?|match|game|payments?|\d{1,2}:\d\d|server|ship"
    r"|plane|workflow|check|checks|task|tasks|render|stream)\b"
)
_OF_THE_YEAR = "|".join((*MONTHS, "spring", "summer", "autumn", "winter"))
_EVENT = (
    r"(?:\w+mas|easter|halloween|thanksgiving|new year|valentine|diwali|ramadan|eid|hanukkah|summer|winter|spring"
    rf"|autumn|{'|'.join(month for month in MONTHS if month != 'may')}|\w+day|\d)"
)
_LANGUAGE = (
    r"(?:python|javascript|typescript|java|kotlin|sql|mysql|postgres(?:ql)?|sqlite|bash|shell|powershell|excel|php|ruby"
    r"|rust|pandas|golang|swift)"
)
_TIMED = (
    r"(?:dates?|datetime|timestamps?|rows|records"
    r"|(?:current|(?:today|tomorrow|yesterday)'s) (?:time|date|day|month|year|hour|weekday|epoch))"
)
_CURRENCY = (
    r"(?:usd|eur|gbp|inr|jpy|cad|aud|chf|cny|rmb|nzd|sek|nok|dkk|mxn|brl|krw|sgd|hkd|zar|rub|pln|aed|php|thb|ngn|pkr"
    r"|(?:us |canadian |australian )?dollars?|euros?|pounds sterling|sterling|yen|rupees?|yuan|pesos?|francs?|bitcoins?"
    r"|btc|ethereum|eth)"
)
_PLACE = r"\w+(?: \w+){0,2}"
_AT_THE_MOMENT = r"\b(?:now|today|tonight|tomorrow|currently|current|moment|latest)\b"
_LEAGUE = (
    r"(?:nba|nfl|mlb|nhl|mls|epl|ipl|ncaa|wnba|f1|formula (?:1|one)|la liga|serie a|ligue 1|bundesliga|eredivisie"
    r"|(?:premier|champions|europa) league)"
)
_LIVE = CuedPatterns(
    rule(
        "now moment time currently today far date nowadays days",
        r"\b(?:right now|at the moment|at this (?:moment|time)|currently|as of (?:now|today)|just now"
        r"|so far (?:today|this)"
        r"|up[\s-]to[\s-]date(?! with\b)|nowadays|these days)\b",
    ),
    rule("today tonight tomorrow yesterday", r"\b(?:today|tonight|tomorrow|yesterday)(?:'s)?\b(?!\()"),
    rule(
        "week weekend month morning afternoon evening year quarter season",
        r"\bthis (?:week|weekend|month|morning|afternoon|evening|year|quarter|season)(?:'s)?\b",
    ),
    rule("night week weekend month", r"\b(?:last|next) (?:night|week|weekend|month)(?:'s)?\b"),
    rule(
        "latest breaking live realtime time upcoming coming newest recent trending",
        rf"\b(?:latest|breaking|live|real[\s-]?time|up[\s-]?coming|newest|most recent|trending) (?:\w+ )?{_FIGURE}"
        r"(?! (?:feature|app|widget|api|page|system|service|function|component)s?\b)",
    ),
    rule(
        "latest news",
        r"\bwhat(?:'s| is) (?:the )?latest\b"
        r"(?! (?:i|we|you|one|a|an|that|possible|date|time|day|hour|point|deadline|[\w-]+ (?:time|date|hour))\b)"
        r"|\bin the news\b|\bnews (?:about|on|from)\b|^\W*news\b",
    ),
    rule(
        "what",
        r"\bwhat(?:'s| is)? (?:the )?(?:current )?(?:time|date|day)\s*+(?:is it|in \w+(?:\s\w+)?|now|there"
        r"|here)?\s*+\?*+\s*+$",
    ),
    rule("time day date year", r"\bwhat (?:time|day|date|year) is it\b(?! (?:possible|allowed|\d))"),
    rule("current currently present", rf"\b(?:current(?:ly)?|present) (?:\w+ ){{0,2}}?{_OFFICE}"),
    rule("current now winning leading", r"\bwho(?:'s| is) (?:the )?(?:current|now|winning|leading)\b"),
    rule(
        "weather forecast",
        r"\b(?:weather|forecast) (?:(?!do(?:es)?\b)\w+ )?(?:in|for|at|like|near|outside)\b"
        r"|(?<!\bcold\s)(?<!\bhot\s)(?<!\bwet\s)(?<!\bdry\s)(?<!\bbad\s)(?<!\bwarm\s)(?<!\bhumid\s)\bweather\s*+\?*+\s*+$|\bhow(?:'s"
        r"| is) the weather\b",
    ),
    rule(
        "raining snowing sunny cold hot windy rain snow",
        r"\bis it (?:raining|snowing|sunny|cold|hot|windy) (?:in|outside|at)\b|\bwill it (?:rain|snow)\b",
    ),
    rule(
        "stock share bitcoin btc ethereum crypto gold oil gas silver petrol fuel",
        r"\b(?:stock|share|bitcoin|btc|ethereum|crypto|gold|oil|gas|silver|petrol|fuel) prices?\s*+(?:\?|$|of"
        r"|for|in|now|per\b)",
    ),
    rule(
        "bitcoin btc ethereum eth gold oil silver gas",
        r"\b(?:price|value) of (?:bitcoin|btc|ethereum|eth|gold|oil|silver|gas)\b",
    ),
    rule(
        "bitcoin btc ethereum dow nasdaq stock share shares",
        r"\bhow (?:much|is|are) (?:is )?(?:the )?(?:bitcoin|btc|ethereum|dow|nasdaq|\w+ (?:stock"
        r"|shares?) (?:doing|trading|worth))\b",
    ),
    rule(
        "stock share trading exchange",
        r"\b(?:stock|share) quote\b|\btrading at\b|\bexchange rates? (?:of|for|between|from)\b",
    ),
    rule(
        "exchange",
        r"\b(?:what(?:'s| is| are)?|current|check|get|usd|eur|gbp|dollars?|euros?|yen"
        r"|rupees?) (?:\w+ ){0,3}?exchange rates?\b"
        r"(?! (?:work|mean|regime|risk|mechanism))",
    ),
    rule(
        "game match winning win",
        r"\bscores? (?:of|for|in) (?:the )?(?!an? )(?:\w+ ){0,4}?(?:game|match)\b|\bwho (?:is|are|'s) winning\b"
        r"|\bdid the \w+ win\b",
    ),
    rule(
        "traffic",
        r"\bhow(?:'s|s| is) (?:the )?traffic\b"
        r"|(?<!let\s)(?<!oncoming\s)\btraffic (?:on|in|to|near|like|conditions?|report|jams?)\b"
        r"(?!.{0,200}\b(?:website|site|blog|page|google)\b)",
    ),
    rule(
        "status delay delays down open closed online up",
        r"\b(?:flight|train|bus) (?:\w+ )?(?:status|delays?)\b"
        r"|(?<!long.)(?<!what.)\bis (?:\S+ ){1,4}?(?:down|open|closed|online|up)(?: now)?\s*+\?\s*+$|\bany delays\b",
    ),
    rule(
        "open closed down running busy crowded delayed cancelled canceled late",
        r"^\W*(?:is|are) (?:the |any )?(?!it\b)(?:(?!than\b)[\w']+ ){1,3}?(?:still |already )?"
        r"(?:open|closed|down|running|busy|crowded|delayed|cancell?ed)\W*$|\bhow (?:busy|crowded|late) (?:is|are)\b",
    ),
    rule(
        "on off locked unlocked occupied online offline armed awake green red passing failing",
        r"^\W*(?:is|are) (?:the |any |our |all (?:the )?)?(?!it\b|there\b)(?:[\w'-]+ ){1,4}?(?:still "
        r"|already |currently )?"
        r"(?:on|off|locked|unlocked|occupied|online|offline|armed|awake)\W*$",
        r"^\W*(?:is|are) (?:the |our )?(?:ci|build|pipeline|tests?|main|master|status)\b(?: [\w'-]+){0,3} "
        r"(?:green|red|passing|failing)\b",
    ),
    rule(
        "pass passed succeed succeeded fail failed finish finished complete completed through work run crash "
        "deploy go land leave left arrive arrived landed"
        " departed started deployed begun ended boarded shipped released merged fixed announced cancelled "
        "canceled delayed",
        rf"^\W*did (?:the |our |all )?(?:\S+ ){{0,4}}?{_RUN} (?:\S+ ){{0,4}}?(?:pass|succeed|fail|finish"
        rf"|complete|go through|crash|deploy|land|arrive|leave|run)\b",
        rf"^\W*(?:has|have) (?:the |our |any )?(?:\S+ ){{0,4}}?{_RUN} (?:\S+ ){{0,4}}?(?:left|arrived|landed"
        rf"|departed|started|finished|ended|begun|boarded|shipped"
        r"|been (?:deployed|released|merged|fixed|announced|cancell?ed|delayed))\b",
    ),
    rule(
        "now overnight",
        r"^(?!\W*(?:how (?:do|can|could|should|would|to)|can i|should i|what (?:do|should|can) "
        r"i)\b)[^\n]{0,200}(?<!what\s)(?<!till\s)(?<!until\s)(?<!by\s)(?<!from\s)(?<!or\s)(?<!just\s)\bnow\W*"
        r"$",
        r"\b(?:what|how (?:much|many|far)|news|moves?|moved)\b.{0,120}\bovernight (?:in|at|on)\b",
    ),
    rule("spot", r"\bspot (?:rate|price)s?\b(?! (?:mean|work))"),
    rule(
        "next",
        r"\b(?:(?:when|what)(?:'s| is| does)|what time (?:is|does)) the next (?:bus|train|ferry|flight|tram|metro"
        r"|boat|game|match|episode|race|launch|meeting|bin|delivery)\b"
        r"|^\W*(?:the )?next (?:bus|train|ferry|flight|tram) (?:to|from)\b",
    ),
    rule(
        "temperature humidity load usage occupancy latency throughput traffic memory cpu",
        r"\bwhat(?:'s| is) the (?:\w+ )?(?:temperature|humidity|load|usage|occupancy|latency|throughput) "
        r"(?:in|of|on|at) (?:the |my |our )?(?:\w+ )?(?:room|house|office"
        r"|server|living|kitchen|bedroom|pool|oven|fridge|freezer|garage|host|cluster|node|database|queue|\w+-\d+)\b",
    ),
    rule(
        "anyone anybody tickets seats incidents outages alerts left open available outstanding",
        r"^\W*is any(?:one|body) (?:in|at|on|using|home)\b(?!.{0,80}\b(?:able|allowed|entitled|permitted) to\b)"
        r"|\bare (?:there )?any (?:\w+ ){1,3}?(?:left|open"
        r"|available|outstanding)\b|\bany (?:open )?(?:incidents"
        r"|outages|alerts)\b",
    ),
    rule(
        "conditions report count quality times time numbers queue delays",
        r"\b(?:surf|snow|road|sea|beach|avalanche) (?:conditions|report)\b|\bpollen count\b"
        r"|\bair quality (?:in|at|near)\b|\btide times?\b|\b(?:waiting|wait|queue) times? at\b"
        r"|\b(?:lottery|powerball|winning) numbers\b",
    ),
    rule(
        "now near nearest stock",
        r"\b(?:open|closed|available|in stock|near me|nearby|around here) now\b|\bnear(?:est)? (?:to )?me\b"
        r"|\bin stock\b(?! (?:market|exchange)s?\b)",
    ),
    rule(
        "until till til",
        r"\b(?:(?:days|weeks|months|hours|minutes|sleeps) (?:are (?:there |left )?|is it |left |remain(?:ing)? )?"
        rf"|how long (?:is it )?)(?:until|till|til) {_EVENT}",
    ),
    rule("time", r"^\W*(?:the )?time in \w+(?: \w+)?\W*$"),
    rule("weather", r"^\W*weather (?!balloon|vane|station|satellite|warfare|stripping|system)\w+(?: \w+)?\W*$"),
    rule(
        "rate rates",
        r"^\W*(?:what(?:'s| is) (?:the )?)?(?:gold|silver|usd|eur|gbp|inr|jpy|dollar|euro|pound|bitcoin|btc) "
        r"(?:\w+ ){0,2}?rates?\W*$",
    ),
    rule("won", r"\bwho won (?:the )?(?:game|match|race|election|fight|toss|final)\W*$"),
    rule("table standings ladder", r"^\W*(?:\w+ ){0,4}(?:league|division|championship) (?:table|standings|ladder)\W*$"),
    rule(
        "news stories headlines topics results",
        r"^\W*(?:what(?:'s| is| are) |read (?:me )?|show (?:me )?)?the headlines(?:\W+(?:please|pls|now))?\W*$"
        r"|\btop (?:news|stories|headlines)\b|\btrending topics\b|\belection results\W*$",
    ),
    rule(
        "sunset sunrise tide",
        r"^\W*(?:(?:when|what time) is (?:the )?)?(?:sunset|sunrise|(?:high|low) tide)(?: times?)?\W*$",
    ),
    rule("outside", r"\bwhat(?:'s| is) the temperature (?:like )?outside\b|\bhow (?:cold|hot|warm) is it outside\b"),
    rule("trending", r"^\W*what(?:'s| is) trending(?: on| in| now|\W*$)"),
    rule("market markets", r"\bhow(?:'s| is| are) the (?:stock )?markets?(?: doing)?\W*$"),
    rule(
        "to in into vs",
        rf"^\W*(?:convert |how much (?:is|are) |what(?:'s| is| are) )?(?:\W?[\d.,]+k? ?)?{_CURRENCY} "
        rf"(?:to|in|into|vs) {_CURRENCY}\W*$",
    ),
    rule(
        "btc bitcoin eth ethereum dogecoin solana nasdaq dow ftse nikkei dax sensex nifty stock",
        r"^\W*(?:btc|bitcoin|eth|ethereum|dogecoin|solana|nasdaq|dow(?: jones)?|ftse(?: 100)?|nikkei|dax|sensex|nifty)"
        r"(?: (?:usd|eur|gbp|chart|quote|value|index))?\W*$",
        r"^\W*(?!(?:chicken|beef|vegetable|veggie|fish|bone|turkey|veal|mushroom|soup|rolling|safety|common|preferred"
        r"|capital|joint|penny|growth|value|dividend|treasury|blue|gun|over|under|out|in|a|an|the|what|buy|sell|my|dead"
        r"|live|closing|opening|buffer|excess)\b)[\w&.]+ stock\W*$",
    ),
    rule(
        "uv air aqi pollen moon",
        r"^\W*(?:uv index|moon phase|pollen (?:count|forecast|levels?)|aqi)\W*$",
        rf"^\W*(?:what(?:'s| is) (?:the )?|how is (?:the )?)?(?:air quality|aqi|uv index|pollen(?: \w+)?) (?:in|for|at"
        rf"|near) {_PLACE}\W*$",
        r"^\W*(?:air quality|aqi|uv index|pollen) (?!index|standards?|monitors?|sensors?|tests?|testing|purifiers?"
        r"|allerg\w+|scale|charts?|ratings?|season|tubes?|grains?|levels?|counts?|forecasts?|meters?|app|api)\w+\W*$",
    ),
    rule("snow rain fog temperature humidity", rf"^\W*(?:snow|rain|fog|temperature|humidity) in (?!the\b){_PLACE}\W*$"),
    rule("sun", rf"^\W*(?:what time|when) (?:does|will) the sun (?:set|rise|go down|come up)(?: in {_PLACE})?\W*$"),
    rule(
        "win won lose lost",
        r"^\W*(?:did|have|has) (?:the )?(?!(?:i|we|you|anyone|anybody|he|she|it|they|my|our)\b)\w+(?: \w+)? "
        r"(?:win|won|lose|lost)\W*$",
    ),
    rule(
        "standings table scores score results fixtures schedule rankings",
        rf"^\W*{_LEAGUE} (?:\w+ ){{0,2}}?(?:standings|table|scores?|results|fixtures|schedule|rankings)\W*$",
    ),
    rule(
        "issues problems outage outages delays",
        r"^\W*is \S+(?: \S+)? (?:having|experiencing) (?:any )?(?:issues|problems|an outage|outages|delays)\W*$",
        r"^\W*are there (?:any )?delays\b",
    ),
    rule(
        "tv television netflix movies films shows",
        r"^\W*what(?:'s| is) on (?:tv|television|netflix)\W*$",
        r"^\W*(?:what|which) (?:movies|films|shows) are (?:playing|showing|on)\b",
        r"^\W*(?:(?:new|latest) )?(?:movies|films) (?:playing )?(?:in|at) (?:the )?(?:cinemas|theat(?:er|re)s)\W*$",
    ),
    rule("charts billboard", r"\bnumber (?:one|1) (?:in|on) the (?:charts|billboard(?: hot 100)?)\W*$"),
    rule(
        "lottery lotto powerball millions euromillions",
        r"^\W*(?:\w+ ){0,2}?(?:lottery|lotto|powerball|mega millions|euromillions) (?:results?|draw)\W*$",
    ),
    rule(
        "rates rate",
        r"^\W*(?:mortgage|fed(?:eral)? funds?|treasury|savings|interest|cd) rates?\W*$",
        r"\b(?:has|did|will|is) the (?:fed|federal reserve|ecb|boe|bank of \w+|rba)\b(?: \w+)? (?:rais\w+|cut\w*"
        r"|lower\w*|hik\w+|chang\w+|increas\w+|hold\w*|held) (?:\w+ ){0,2}?rates?\b"
        r"(?!.{0,60}\b(?:1[0-9]{3}|20[0-9]{2})\b)",
    ),
    rule(
        "earthquake earthquakes wildfire wildfires hurricane tornado tornadoes",
        r"^\W*(?:(?:is|are|was|were) there )?(?:an? |any )?(?:recent )?(?:earthquakes?|wildfires?"
        r"|tornado(?:es)?) near\b",
        r"\bhurricane tracker\b",
    ),
    rule(
        "cases",
        r"^\W*(?:covid(?:-19)?|coronavirus|flu|measles|mpox) cases(?: in (?!(?:1[0-9]{3}|20[0-9]{2})\b)\w+)?\W*$",
    ),
    rule(
        "released out",
        r"^\W*has (?:the )?(?:\S+ ){1,4}?(?:been released|come out)(?: yet)?\W*$",
        r"^\W*is (?:the )?new (?:\S+ ){1,3}?out(?: yet)?\W*$",
        r"^\W*(?:what|which) version of \S+(?: \S+)? is out\W*$",
    ),
    rule(
        "cheap cheapest",
        r"^\W*(?:find (?:me )?|show (?:me )?)?(?:the )?cheap(?:est)? (?:flights?|airfares?) (?:to|from)\b",
    ),
    rule(
        "happening going new",
        # "What's going on when ice melts?" asks how something works.
        r"\bwhat(?:'s| is) (?:happening|going on|new(?! (?!(?:in|with|on|at|today|this|about|for)\b)\w))\b"
        r"(?! here\W*(?:$|,? ?and (?:what|why|how)\b))"
        r"(?! (?:physically|chemically|biologically|internally|inside|when|whenever|while)\b(?! i\b))"
        r"(?! (?:in|inside|with|when) (?:this|the|my) (?:code|function|loop|query|error|script))",
        r"^\W*(?:(?:hi|hello|hey|so|ok)\W+)*what(?:'s| is) (?:happening|going on) here\b",
    ),
)
# The date of today in a program is that of any day.
_PROGRAMMED = any_of(rf"\b{_LANGUAGE}\b.{{0,80}}\b{_TIMED}\b|\b{_TIMED}\b.{{0,80}}\b{_LANGUAGE}\b(?!,? indonesia\b)")
_NOT_LIVE = any_of(
    r"\b(?:how|what) (?:do|does|are|is) (?:weather forecasts?|stock prices?|exchange rates?) (?:work|made|determined"
    r"|calculated|set)\b",
    r"\bhow (?:is|are) (?:the )?(?:price|rate|value)s? (?:of|for) [^?]{1,40} (?:determined|calculated|set|fixed)\b",
    r"^\W*(?:what|which)(?: \w+)? (?:determines?|influences?|affects?|drives?) (?:the )?"
    r"(?:exchange |interest |stock |gold |bitcoin )(?:rates?|prices?)(?: between two currencies)?\W*$",
    r"^\W*(?:what(?:'s| is) )?(?:the )?best way to get (?:an? )?(?:good|better|fair) exchange rate\W*$",
    r"^\W*why (?:do|does) (?:the )?(?:price|value) of \w+ (?:go up|rise|go down|fall|drop) (?:in|during) an? \w+\W*$",
    # The weather of a month is the climate.
    r"^(?!.*\b(?:this|next|now|today|will|forecast)\b).*\bweather\b.{0,60}\b(?:in|during) "
    rf"(?:{_OF_THE_YEAR})\b",
    rf"\bis it (?:cold|hot|sunny|windy|raining|snowing) (?:in|at) \w+(?: \w+)? (?:in|during) (?:{_OF_THE_YEAR})\b",
    # ... and so is that of any storm, and of any desert.
    r"\bweather\b.{0,40}\b(?:in|during) an? (?:\w+ )?(?:hurricane|tornado|storm|thunderstorm|monsoon|desert|rainforest"
    r"|cyclone|typhoon|blizzard|drought|heatwave|cold front)\b",
    r"\bpresent value\b",
    r"\bweather\b.{0,40}\bon (?:mars|venus|jupiter|saturn|neptune|uranus|mercury|titan|pluto|other planets)\b",
    r"^\W*(?:what(?:'s| is)|define) an? (?:\w+ )?(?:price|rate|score|index|update|release|version|quote|headline)\W*$",
    rf"\bsun (?:set|rise|go down|come up)\b.{{0,60}}\b(?:in|during|at) "
    rf"(?:{_OF_THE_YEAR}|the (?:arctic|poles?|equator))\b",
    r"\blatest common ancestor\b",
    r"\bwhat(?:'s| is) new in \w+ v?\d",
    r"\bwhat time is it in .{1,40} (?:when|if) it(?:'s| is)\b",
    # The time elsewhere at an hour that is named, and what went wrong in a program, are asked of any day.
    r"\b(?:what|which) time is (?:it|that) in [^?\n]{1,40} (?:when|if|at) [^?\n]{0,80}?\b"
    r"(?:\d{1,2}:\d\d|\d{1,2}\s?(?:am|pm|a\.m\.|p\.m\.|o'?clock)|noon|midnight)"
    r"(?![^?\n]{0,80}\b(?:today|now|tonight)\b)",
    rf"^(?!.*{_AT_THE_MOMENT}).*(?:error|\bexception|\btraceback|\bstack trace|\breturn code|\bexit code|\bexit status"
    r"|\bsegmentation fault|\bsegfault)\b.{0,600}\bwhat(?:'s| is) (?:going on|happening)(?: here)?\W*$",
    r"^\W*what(?:'s| is) (?:today|tomorrow|yesterday|tonight|now) in \w+\W*$|\bhow (?:do|would|can) (?:you|i) say\b",
    r"^\W*what does\b.{1,60}\bmean\b",
    r"\bis (?:an?|the|every|any) (?:\w+ )?(?:set|interval|ball|subset)\b",
    # What was bought yesterday is returned as on any day.
    r"^\W*(?:(?:hi|hello|hey|um|so|please|ok)\W+)*(?:how (?:do|can|could|should|would|to)|can i|what "
    r"(?:should|can|do) i|where (?:do|can|should) i|should i (?!sell|buy|keep|hold|bet|trade|invest))\b[^?\n]{0,120}"
    r"\b(?:i|we) (?:\w+ )?\w+(?:ed|ought|ade|ent|ook|ot|aid|aw|rote) (?:\w+ ){0,4}?(?:yesterday|today|this "
    r"(?:morning|week|month|afternoon)|last (?:night|week|month))\b",
    r"\bwhat (?:can|should|could|shall) (?:i|we) (?:cook|make|eat|wear|bake|watch|read|serve|drink|prepare"
    r"|do) (?:\w+ ){0,3}?(?:tonight|today|tomorrow"
    r"|this (?:weekend|week|evening|morning|month))\b(?!.{0,60}\b(?:in|near|around) "
    r"(?!(?:less|under) |the (?:rain|garden"
    r"|kitchen|house|oven)|bed|my)\w)",
    r"^\W*what should (?:i|we) (?:wear|bring|pack)\b",
    # The way to cancel what was ordered this morning is that of any morning.
    r"^\W*how (?:(?:do|can|could|should|would) (?:i|we|you)|to) (?:\w+ )?(?:appeal|apply|cancel|claim|complain|delete"
    r"|disable|edit|enable|install|book|reserve|correct|dispute|register|remove|renew|report|request|reset|return"
    r"|uninstall|unsubscribe|update|upgrade|get the (?:latest|newest|most recent) (?:version|release|update))\b"
    r"(?!.{0,200}\b(?:rates?|prices?|now|today|tonight|tomorrow|currently|moment)\b)",
    r"^\W*where (?:do|can|could) (?:i|we|you) (?:\w+ )?(?:get|download|install) (?:the )?(?:latest|newest|most recent) "
    r"(?:version|release|update)\b",
    r"\b(?:weather|exchange rates?)\b.{0,200}\b" + standing.LONG_AGO + r"\b",
    # What was charged is complained about, or how a rate is come by is asked.
    rf"^(?!.*{_AT_THE_MOMENT}).*\bexchange rates?\b(?=.{{0,200}}\b(?:wrong|incorrect|correct|right|match|charged"
    r"|overcharged|based on|(?:do|did|will) you (?:use|apply|decide|determine|set)|you (?:use|apply))\b)",
    rf"^(?!.*{_AT_THE_MOMENT}).*\b(?:wrong|incorrect|error|correct|charged|determines?|decide|figure out"
    r"|where (?:can|do|could) i (?:find|get|see))\b.{0,200}\bexchange rates?\b",
    r"^\W*what are exchange rates\W*$|\bhow (?:is|are) (?:the |your )?exchange rates?\b.{0,80}"
    r"\b(?:calculated|determined|set|fixed)\b",
    # ... and so is the way to undo what was done this morning.
    r"^\W*(?:(?:hi|hello|hey|um|so|please|ok)\W+)*(?:i(?:'d| would)? (?:want|need|like|wish) to|i(?:'m| am) trying to"
    r"|is (?:there (?:a|any) way|it possible)(?: for me)? to|help me) (?:re-?activate|revert|reverse|undo|dispute"
    r"|cancel|go back on|correct|report)\b"
    r"[^?\n]{0,160}\b(?:today|yesterday|this (?:morning|week|month)|last (?:night|week))\W*$",
)
# A today of which the text says the date is that day, whenever it is asked.
_DATED = any_of(
    r"\b(?<!is\s)today(?:'s date)?(?: is|:| =| \()(?: the)?\s*(?:\d{4}-\d\d-\d\d"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{_OF_THE_YEAR})|(?:{_OF_THE_YEAR}) \d{{1,2}})\b\)?"
)


def is_of_a_program(folded: str) -> bool:
    """Return True if the text asks how a programming language has a date or a time."""
    return _PROGRAMMED.search(folded) is not None


def applies(folded: str, bag: frozenset[str]) -> bool:
    """Return True if the answer depends on the moment of asking; `bag` holds the words of the text."""
    stands = under_way.applies(folded, bag) or in_few_words.applies(folded, bag)
    if not (stands or _LIVE.match(folded, bag)) or _NOT_LIVE.search(folded) is not None:
        return False
    if is_of_a_program(folded) or standing.is_of_hours(folded, bag) or standing.is_of_any_moment(folded):
        return False
    if stands:
        return True
    rest = without_timeless(without_narrated_case(without_days(_DATED.sub(" _ ", folded))))
    return rest == folded or _LIVE.match(rest, words_of(rest))
