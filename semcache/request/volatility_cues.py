"""Cues in the wording of a prompt for how fast its answer changes.

Pure; takes some hundred microseconds a prompt, once for each stored answer. Knows no vectors, no weights, and not the
present year: any year that is named is a cue. Invariant: `of` returns `len(NAMES)` numbers, each 0 or 1, for any text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from semcache.config.calendar_names import MONTHS

_SPACE = re.compile(r"\s+")
LONGEST = 2000  # characters that are read; what a prompt asks stands at its start or its end

_OFFICE = (
    r"(?:president|vice president|prime minister|chancellor|premier|governor|mayor|senator|minister|secretary|speaker"
    r"|leader|head|chief|chair(?:man|woman|person)?|ceo|cfo|cto|director|owner|king|queen|prince|princess|monarch"
    r"|emperor|pope|archbishop|justice|judge|attorney general|ambassador|commissioner|captain|coach|manager|quarterback"
    r"|goalkeeper|host|presenter|anchor|editor|dean|provost|principal|champions?|holder|spokes\w+|general|admiral)"
)
_EVENT = (
    r"(?:cup|championships?|league|olympics?|olympic games|super ?bowl|grand prix|grand slam|open|playoffs?|finals?"
    r"|tournament|series|oscars?|grammys?|emmys?|academy awards?|nobel|ballon d'or|mvp|medals?|trophy|title|masters|nba"
    r"|nfl|mlb|nhl|ufc|fifa|uefa|wimbledon|formula (?:1|one)|election|primary|referendum)"
)
_SUPERLATIVE = (
    r"(?:most(?! (?:of|people|likely|common))|highest|largest|biggest|longest|tallest|richest|wealthiest|fastest"
    r"|youngest|oldest|best[- ]selling|best|top|greatest|busiest|strongest|smallest|lowest|poorest|number (?:one|1)"
    r"|leading|dominant|most[- ]\w+)"
)
_PATTERNS: Mapping[str, str] = {
    # bound to the moment of asking
    "now": r"\b(?:right now|now|currently|at (?:the|this) moment|at present|presently|as of (?:now|today)|nowadays"
    r"|these days|today|tonight|tomorrow|yesterday|up[- ]to[- ]date|live)\b",
    "period": r"\bthis (?:year|season|quarter|decade|century|month|week|summer|winter|spring|fall|autumn|term)\b",
    "last": r"\b(?:last|past|previous) (?:\w+ )?(?:year|month|week|season|night|quarter|time|game|match|election|winner"
    r"|episode|world cup|album|movie|film)s?\b|\b(?:won|win|did|was) (?:\w+ ){0,5}last\b",
    "latest": r"\b(?:latest|newest|most recent|recent(?:ly)?|lately|new)\b",
    "current": r"\b(?:current|present|incumbent|reigning|sitting|active|ongoing|existing|today's)\b",
    "next": r"\b(?:next|upcoming|coming|forthcoming|scheduled|planned|expected|future|soon|will|going to|due)\b",
    "so_far": r"\b(?:so far|to date|yet|still|anymore|any more|until now|ever|already|in a row|consecutive)\b",
    "since": r"\bhow long (?:has|have|is|ago)\b|\bsince (?:when|what)\b|\bhow many (?:days|weeks|months|years) (?:has"
    r"|have|ago|until|since|till|left)\b",
    # quantities that move
    "price": r"\b(?:prices?|costs?|net worth|worth|stocks?|shares?|exchange rates?|market (?:cap|value"
    r"|capitali[sz]ation|share)|valuation|salary|wages?|paid|earn|fees?|fares?|rent|tuition|dollars?|bitcoin|ethereum"
    r"|crypto\w*)\b",
    "economy": r"\b(?:gdp|inflation|unemployment|interest rates?|rates?|debt|deficit|revenue|profits?|budget|sales"
    r"|income|economy|economic|tariffs?|mortgage)\b",
    "audience": r"\b(?:subscribers?|followers?|views|viewed|downloads?|users|streams|box office|gross(?:ed|ing)?|copies"
    r"|sold|likes|streamed|watched|charts?|billboard|popular|trending)\b",
    "people": r"\b(?:population|populous|employees?|members?|students|enrol?lment|residents|inhabitants|how many people"
    r"|cases|deaths?|casualties|death toll|refugees|immigrants)\b",
    "amount_now": r"\bhow (?:many|much|often|far|tall|big|large|rich|high|fast|long) (?:\w+ ){0,5}?(?:is|are|has|have"
    r"|does|do|'s)\b",
    "amount_then": r"\bhow (?:many|much) (?:\w+ ){0,5}?(?:did|was|were|had)\b",
    "age": r"\b(?:how old|age of|what age|'s age|turn(?:ing|ed)? \d+|years old)\b",
    # who and what leads
    "office": rf"\b{_OFFICE}\b",
    "holds_office": rf"^(?:\w+ ){{0,2}}?(?:who|who's|what|which)\b (?:\w+ ){{0,3}}?(?:is|are|runs?|leads?|heads?|owns?)"
    rf"\b.*\b{_OFFICE}\b",
    "superlative": rf"\b{_SUPERLATIVE}\b",
    "record": r"\b(?:world record|records?|all[- ]time|ranked|ranking|rankings|rank|world number|career|lifetime"
    r"|titles?|streak|highest[- ]paid|top \d+)\b",
    "first": r"\b(?:first|originally|original|initial(?:ly)?|oldest known|earliest)\b",
    "event": rf"\b{_EVENT}\b",
    "won": r"\b(?:won|win|wins|winners?|winning|beat|beaten|defeat(?:ed)?|lost|lose|nominated|hosted?|hosting)\b",
    "sport": r"\b(?:teams?|players?|season|goals?|scored|points|match|game|football|soccer|basketball|baseball|cricket"
    r"|tennis|hockey|golf|rugby|f1|race|coach|roster|transfer|signed|drafted|wickets?|innings|touchdowns?|playoffs?)\b",
    "standing": r"\b(?:scores?|standings?|schedule|fixtures?|weather|forecast|temperature|traffic|news|headlines?"
    r"|polls?|odds|results?|updates?|status|availability|in stock|outage|live)\b",
    # lives, works and things that go on
    "private": r"\b(?:married|wife|husband|spouse|girlfriend|boyfriend|dating|partner|child(?:ren)?|kids?|son|daughter"
    r"|lives?|alive|dead|pregnant|retired?|retire|divorced|engaged)\b",
    "employed": r"\b(?:plays? for|work(?:s|ing)? (?:for|at)|employed|coach(?:es)?|manages|signed with|belongs? to"
    r"|owned by|owns?|runs|subsidiary|headquarter(?:s|ed))\b",
    "aired": r"\b(?:episodes?|seasons?|sequel|premieres?|air(?:s|ed|ing)?|come(?:s|ing)? (?:out|back)|release date"
    r"|released|airing|show|netflix|spin-?off|renewed|cancel+ed|trailer|streaming)\b",
    "version": r"\b(?:versions?|releases?|updates?|models?|iphone|android|ios|windows|macos|gpt|lts|firmware|patch"
    r"|console|playstation|xbox|chatgpt|software|app|gpu|chip|processor)\b",
    "law": r"\b(?:laws?|legal|illegal|allowed|ban(?:ned)?|tax(?:es)?|minimum wage|visa|required|requirements?|rules?"
    r"|regulations?|deadline|eligib\w+|policy|policies|guidelines?|recommended|limit|rights?|opening hours|open)\b",
    "news": r"\b(?:announced?|resign(?:ed|s)?|fired|appointed|elected|indicted|arrested|acquired|acquisition|merger"
    r"|launched|accused|charged|investigat\w+|protests?|war|invasion|ceasefire|strike|crisis|scandal|lawsuit|sanctions"
    r"|government|parliament|senate|congress|according to|reportedly|officials?|billionaire|celebrity)\b",
    # how it is asked
    "present": r"^(?:\w+,? )?(?:who|what|which|where|how \w+)(?: \w+){0,3}? (?:is|are|has|have|does|do)\b|^(?:who|what"
    r"|where|how)'s\b",
    "past": r"^(?:\w+,? )?(?:who|what|when|which|where|why|how|how \w+)(?: \w+){0,3}? (?:was|were|did|had|wrote|sang"
    r"|played|invented|discovered|directed|founded)\b",
    "perfect": r"\b(?:has|have|'ve) (?:\w+ ){0,4}?(?:\w+ed|been|won|made|become|had|gone|done|taken|given|written|seen"
    r"|got|gotten|sold|left|run|held|played)\b",
    "yes_no": r"^(?:is|are|does|do|has|have|can|will)\b",
    "when": r"^(?:when|what (?:year|date|day|month|time))\b",
    "who": r"^(?:who|whose|whom)\b|\b(?:name of|which (?:person|player|country|team|company|actor))\b",
    "year": r"\b1[0-9]{3}s?\b|\b20[0-9]{2}s?\b|\b[12]?[0-9](?:st|nd|rd|th) century\b|\bb\.?c\.?(?:e\.?)?\b",
    "day": rf"\b(?:{'|'.join(month for month in MONTHS if month != 'may')}) \d{{1,2}}\b"
    rf"|\b\d{{1,2}} (?:{'|'.join(MONTHS)})\b",
    "defined": r"\b(?:mean(?:s|ing)?|define[ds]?|definition|stands? for|difference between|example of|purpose of"
    r"|function of|called|formula|theorem|symbol|synonym|located|capital of|made of|consist|cause[sd]?|symptoms?"
    r"|type of)\b",
    "bygone": r"\b(?:ancient|medieval|historical(?:ly)?|history|founded|invented|discovered|born|died|wrote|composed"
    r"|written|painted|built|signed in|world war|civil war|revolution|empire|originated?|came from|novel|poem|song|sang"
    r"|lyrics|movie|film|author|played)\b",
    "task": r"^(?:please |can you |could you |i want you to |help me (?:to )?)?(?:write|translate|explain|solve"
    r"|calculate|compute|summari[sz]e|describe|give|list|create|make|find|convert|implement|prove|generate|compare"
    r"|suggest|rewrite|edit|classify|complete|answer|set|tell|show|add|remind|play|turn|book|cancel|change|check)\b",
    "how_to": r"\b(?:how (?:do|can|should|would|to|could)|how does one|ways? to|steps? to|why (?:do|does|is|are))\b",
    "formal": r"[`{}<>=\\^]|\b\d+ ?[-+*/x] ?\d+|\b(?:function|python|java(?:script)?|sql|code|string|array|equation"
    r"|regex)\b",
    "mine": r"\b(?:i|my|me|mine|i'm|i've|we|our)\b",
}
NAMES = (*_PATTERNS, "long", "very_long")
_COMPILED = tuple(re.compile(pattern.replace(" ", r"\s")) for pattern in _PATTERNS.values())


def of(text: str) -> tuple[float, ...]:
    """The cues of a prompt, in the order of `NAMES`."""
    folded = fold(text)
    words = folded.count(" ") + 1
    return (*[1.0 if pattern.search(folded) else 0.0 for pattern in _COMPILED], float(words > 20), float(words > 40))


def fold(text: str) -> str:
    """A prompt in lower case with single spaces and plain apostrophes, its middle left out when it is very long."""
    if len(text) > LONGEST:
        text = text[: LONGEST // 2] + " " + text[-LONGEST // 2 :]
    return _SPACE.sub(" ", text.casefold().replace("\u2019", "'")).strip()
