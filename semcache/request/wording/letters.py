"""Characters: compatibility forms, quotes, dashes, white space, case and the mark at the end.

Knows which capitals make another word: "US" is not "us", "Polish" not "polish". Invariant: a capital is given up only
where the word in lower case is the same word.
"""

from __future__ import annotations

import re
import unicodedata

from semcache.request.text import LIGHT, vocabulary
from semcache.request.wording import misspelt
from semcache.request.wording.english import FUNCTION_WORDS
from semcache.request.wording.protected import STYLED

_SAFE = {
    **{code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)},
    **dict.fromkeys(map(ord, "\u2018\u2019\u201b\u02bc"), "'"),
    **dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f"), '"'),
    **dict.fromkeys(map(ord, "\u2010\u2011"), "-"),
    **dict.fromkeys(map(ord, "\u2012\u2013\u2014\u2015"), "\u2013"),
    **dict.fromkeys(
        map(ord, "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f"), " "
    ),
    **dict.fromkeys(map(ord, "\u200b\u2060\ufeff\u00ad"), None),
    0x3000: " ",
    0x2026: "...",
    0x203D: "?",
    0xFB00: "ff",
    0xFB01: "fi",
    0xFB02: "fl",
    0xFB03: "ffi",
    0xFB04: "ffl",
}
# Behind one that stands alone before a word the text may go on about it: "what does ! do in bash".
_LOOSE = re.compile(r" +(?=[,;.?!](?:\s*$|\s+[^\sa-z]|,?\n))")
_AMPERSAND = re.compile(r"\b([^\W\d_]{3,}) & (?=([^\W\d_]{3,})\b)")  # between two words, and no operator
_DASHES = re.compile(r" +(?:--+|\u2013) +")
_HYPHEN = re.compile(r"(?<=[a-z]) +- +(?=[A-Za-z])")
_ELECTRONIC = re.compile(r"\b[eE]-(?=(?:mail|book|commerce|reader|bike|scooter|learning)(?:s|ed|ing)?\b)([a-z]*)")
_RUN_ON = re.compile(r"([?!.])(?<=[a-z][?!.])(?=[A-Z][a-z])")
_TIGHT = re.compile(r",(?<=[a-z],)(?=[A-Za-z])")
_OXFORD = re.compile(r"(, [^\s,]+), (and|or) ")
_STATED = re.compile(
    r"(?:i|you|he|she|it|we|they|this|that|these|those|there|my|your|his|her|our|their|the|no|not)\b", re.I
)
_ASKED = re.compile(
    r"(?:[,:;.!?\u2013] ?(?:so |but |and |then |ok |okay )*(?:what|who|whom|whose|where|when|why|how|which"
    r"|is|are|was|were|do|does|did|can|could|should"
    r"|would|will|has|have|any)\b|\b(?:what|who|where|when|why|how|which) (?:do|does|did|should|can|could|is"
    r"|are|was|were|will|would|many|much|long)\b)",
    re.I,
)
_SENTENCES = re.compile(r"\s(?<=[a-z\d][.!?]\s)\s*")
_WORD = re.compile(r"[^\W\d_]+")

# Capitals make another word of these; a capital at the head of a text says nothing.
_CAPITALISED = vocabulary(
    """
    polish march may august turkey apple apples amazon will mark bill rose job nice reading mobile chad jordan
    guinea bath cork frank grace faith hope joy dawn eve ivy iris lily daisy jasmine olive
    violet amber ruby pearl jade crystal rich jack john bob rob nick pat sue drew dick peter
    art gene earl duke dean bishop king pope prince baker cook smith carter fisher hunter mason miller potter taylor
    turner walker young long short brown black white green gray grey rust go swift scratch basic processing julia
    word access teams office windows edge word pages numbers notes target
    gap visa shell chase discover spring flask pandas spark storm hive pig beam flink helm puppet salt     nomad
    dart crystal ada meta alphabet signal twitter square
    wise monday box drop snap match tinder indeed ring nest echo alexa dove tide
    crest gain bounty joy cheer mini escape explorer fit golf beetle fox jaguar mustang
    dodge ram ranger tiger lynx leopard puma caterpillar mercury     democratic republican liberal conservative
    labour labor green whig tory swede dane pole poles czech finn scot
    lent pole welsh scotch tangier magenta congress senate house state capital general major alien aliens
    jaws cars up it frozen friends lost heroes house suits bones castle nirvana queen kiss cream yes prince
    sting seal pink future usher pitbull drake seasons crow warren wells bush ford trump gates jobs cook page brin
    holmes watson bond potter rowling east west north south
    steam slack zoom unity canvas discord hinge outlook cursor excel notion stripe plaid mint rails ember ghost sage
    brave arc bolt bumble cash lime affirm oracle blender express signal buffalo phoenix cologne champagne jersey
    limerick ottoman mandarin mass advent genesis exodus acts judges kings cancer orange hull split derby sandwich
    china panama cardinal orthodox catholic earth god sims halo portal fable rust doom control dune avatar cats hair
    wicked rent once wonder room joker alien scream heat seven psycho titanic rocky tangled brave coco soul inside
    """
)
_ACRONYMS = vocabulary(
    """
    us mm it who aids am pm um hm hmm erm uhm em gm dm bb is as at in on or so do me my we he be by if
    up us an id ok hi oh la ma pa al co de go no to
    cat act sat ram rom pet sad add mac pin ice sim now care mad ira eta era nasa cast cap cup cop cops dare dot
    ups gap gas gum map mat met mom net new nut one out pal pan par pay pen pie pit pop pot rap raw red rest rip
    sap sas sea see set she spa spin stem step sun swat swift tan tap tar tea tech ten tip top trap van war was we wet
    win wins won all and are can for has his how man mid not off old our sip soap crud solid dry kiss yarn bash dash
    fish ash awk sed cat less more make nose pest rice start hat lamp mean cars core cost bus ace aim ant arm art ban
    bat bit boo cod cob fire raid slam goat chip star stars shield trim soar beam wine trap grit wasp dream spam
    peace pride sage smart sharp swot blast bleach calm care case cave champ chaps clasp clear coin cord corn crew
    crisp dart debt deer drake edge epic face faith farm fast ferry flame flex flip frog glow grab grace gravy gust
    halo hare harp hero hope horse jump kite launch lean lens life links lion lock loft loop lost mace magic mars mask
    mast match melt mist moss motor nice nova nurse opal open pace paces pact pacer pearl pets phase pilot pine pipe
    plan plug port prism proof pulse quest race racer ramp rank reach ready rise rope sail salt scan scope score seal
    search sense share ship shop sick sign silk site skip smile snap snow sort space spark spice spot stage swim talk
    target task tide tiger tops track trust unity vase view vista voice ward wave wing wise wolf word work wrap zinc
    """
) - vocabulary("and not how are was is do in on the for all can no to new old one")
# Names that the word behind them makes evident, whatever the case.
_EVIDENT = {
    "windows": vocabulary(
        """
        laptop laptops pc pcs computer computers desktop server machine machines update updates explorer defender store
        app apps key license licence registry taskbar firewall terminal powershell user users vista xp 7 8 10 11
        """
    ),
    "word": vocabulary("doc docs document documents file files processor template templates"),
    "teams": vocabulary("meeting meetings call calls channel channels chat"),
    "apple": vocabulary("watch id tv pay music store airpods pencil maps"),
    "amazon": vocabulary("prime account order orders echo kindle seller sellers basics fresh"),
    "office": vocabulary("365"),
    "chase": vocabulary("bank card account checking"),
    "ring": vocabulary("doorbell camera cameras"),
    "nest": vocabulary("thermostat thermostats"),
    "echo": vocabulary("dot"),
    "visa": vocabulary("card cards"),
    "zoom": vocabulary("meeting meetings call calls link account webinar webinars background recording recordings app"),
    "slack": vocabulary(
        "channel channels message messages workspace notification notifications bot app thread threads"
    ),
    "discord": vocabulary("server servers bot bots channel channels account nitro app"),
    "outlook": vocabulary("email emails inbox calendar account app mail signature"),
    "excel": vocabulary(
        "sheet sheets spreadsheet spreadsheets file files formula formulas workbook "
        "cell cells macro macros column chart pivot"
    ),
    "notion": vocabulary("page pages database databases template templates workspace"),
    "stripe": vocabulary("payment payments account api webhook webhooks checkout"),
    "unity": vocabulary("engine game games editor"),
    "steam": vocabulary("deck account library wallet"),
    "cash": vocabulary("app"),
}
# And those that the word before them makes evident.
_EVIDENT_BEHIND = {
    "zoom": ("on", "via", "over"),
    "slack": ("on", "via"),
    "discord": ("on", "via"),
    "excel": ("in", "using"),
    "polish": ("in", "into"),
    **dict.fromkeys(
        ("march", "may", "august"), ("in", "by", "until", "till", "since", "during", "early", "late", "mid")
    ),
    **dict.fromkeys(
        ("china", "turkey", "jordan", "chad", "guinea", "panama", "jersey", "phoenix", "cologne", "limerick"),
        ("in", "to", "from", "visit", "visiting", "near"),
    ),
    **dict.fromkeys(("rust", "swift", "go", "julia", "dart", "scratch", "basic", "flask", "pandas", "spark"), ("in",)),
}
_PARTS_OF_LENSES = vocabulary("level levels lens lenses")
# Programs, firms, cars and places whose names are common words, unless another capital beside them tells of a title.
_BRANDS = vocabulary(
    """
    threads toast calm linear segment drift sketch compound polygon avalanche ripple tether stellar maker curve flux
    vault consul packer chef sails backbone arrow dagger realm volley glide combine proton origin epic prey limbo
    evolve smite medium buffer later blackboard meet sheets slides drive docs photos wallet keep publisher project
    paint safari opera line messenger shorts spaces clubhouse patron corona cascade crunch trident extra delta
    spirit frontier virgin fiesta accord civic charger challenger patriot volt impala deal battle ware sale bury rye
    mull egg rum yell tours nancy essen male bar selenium switch chrome airflow cucumber redshift surface telegram
    confluence lemonade rice bamboo insomnia hibernate plasma aurora flutter canon fiat glue galaxy coach fossil
    beats blink pixel diesel prime sky three next anaconda illustrator messages mail wine postman swagger premiere
    audition turbo beacon mocha chai jest babel parcel keynote podcasts shortcuts finder preview stocks classroom
    whiteboard planner bookings octopus oyster argos falcon tripwire snort hydra nessus cypher jasper jenkins octave
    sinatra vapor capybara puffer
    loom miro framer render fathom sentry drone concourse maven ninja bun astro remix alpine stimulus
    polymer knockout rocket warp fiber pulsar druid presto iceberg snowflake prefect celery puma bottle pyramid
    quart karma locust gatling artillery taurus detox roam overcast
    apollo relay clover odyssey tundra sequoia highlander outback forester rogue leaf
    titan accent suburban canyon compass renegade wrangler gladiator atlas destiny hades braid bastion
    stray raft thief quake aura fusion ignition redwood grapevine nitro bandit ruff scrapy
    superset tableau looker amplitude pendo gusto workday lattice
    """
)
NAMES_OF_THINGS = _CAPITALISED | _BRANDS
# Initialisms by origin that are words by now, and words that are often in capitals for no other reason than weight.
_SAME = vocabulary(
    """
    laser lasers radar sonar scuba modem captcha scrum unix linux atm cd dvd select join left right
    inner outer where having
    insert update delete null true false distinct except least god time text value values good
    state table best need help
    free real please stop right wrong first last next every many much never always must most really today yes dollar yen
    total assets english indian india card bank tax group line things person today times
    """
)
_INITIALS = 6  # letters at most
_SHORT = 5  # words
# Units whose case tells them apart, and elements.
_CASED = vocabulary(
    """
    Mb Gb Kb Tb MW mW Mbps MBps Gbps GBps Mbit Gbit Ml Co Mg Na Cl Fe Ca Pb Zn Cu Ag Au Hg Sn Ni Mn Cr Br Li Ti Pt Ra
    Rn Xe Kr Ne Ar Cs Rb Ga Ge Se Ac Ba Cd Md Pa Pd Po Sr Sc Nm NM Mm Pb Cal Sb Te Tl Bi Hf Ir Ce Nd Pm Sm Gd Tb Dy Tm
    Yb Np Pu Cm Bk Cf Fm Lr Rf Db Sg Bh Hs Ds Rg Cn Nh Fl Mc Lv Ts Og Zr Nb Tc Ru Rh Os Dm Em Gm Bm Bb Eb Ab Gb
    """
)
_COMMON = vocabulary(
    """
    the a an of to in is are do does how what why where when which can i my me you your for with on and or not be was
    this that it from by at should would could have has please tell need want help give
    """
)


def _and(match: re.Match[str]) -> str:
    one, two = match[1].lower(), match[2].lower()
    return match[0] if {one, two} & LIGHT or two in ("operator", "sign", "symbol") else f"{match[1]} and "


def normalised(text: str, english: bool) -> str:
    """Compatibility forms, quotes, white space and the end, in any language; in English case and dashes too."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text).translate(_SAFE)
    text = text.strip()
    if "\n" in text:
        text = "\n".join([plain for line in text.split("\n") if (plain := " ".join(line.split()))])
    else:
        text = " ".join(text.split())
    if " ," in text or " ?" in text or " ." in text or " !" in text or " ;" in text:
        text = _LOOSE.sub("", text)
    if english:
        if "\u2013" in text or "--" in text:
            text = _DASHES.sub(" \u2013 ", text)
        if "e-" in text or "E-" in text:
            text = _ELECTRONIC.sub(r"e\1", text)
        if " & " in text:
            text = _AMPERSAND.sub(_and, text)
        if " - " in text:
            text = _HYPHEN.sub(" \u2013 ", text)
        if _runs_on(text):
            text = _RUN_ON.sub(r"\1 ", text)
        if "," in text:
            text = _TIGHT.sub(", ", text)
            if ", and " in text or ", or " in text:
                text = _OXFORD.sub(r"\1 \2 ", text)
    return _ended(text)


def _runs_on(text: str) -> bool:
    """Return True if a capital may stand right behind the end of a sentence."""
    for mark in ".?!":
        at = text.find(mark)
        while at >= 0:
            if text[at + 1 : at + 2].isupper():
                return True
            at = text.find(mark, at + 1)
    return False


_VARIABLE = re.compile(r"(?<![^\W_])[a-z]!$")  # a factorial


def _ended(text: str) -> str:
    """The text without the mark at its end; "5!", "n!" and a question in the order of a statement keep theirs."""
    end = len(text)
    asks = False
    while end:
        last = text[end - 1]
        if last == "!":
            before = text[: end - 1].rstrip(" !?.")[-1:]
            if not before.isalpha() or _VARIABLE.search(text, 0, end):
                break
        elif last in "?\uff1f":
            asks = True
        elif last not in ".,;\u2026\u3002 \n":
            break
        end -= 1
    if not end:
        return text
    stripped = text[:end]
    last_one = _SENTENCES.split(stripped)[-1] if asks else ""
    if asks and _STATED.match(last_one) and not _ASKED.search(last_one):
        return stripped + "?"
    return stripped


# A comma between words that are no answer tells nothing that their order does not.
_COMMA = re.compile(
    r"(?<=[a-z\ue000-\uf8ff\d\"'%]),(?= (?!no\b|not\b|yes\b"
    r"|please\b)[a-z\ue000-\uf8ff\"'])(?<!\bno,)(?<!\byes,)(?<!\bnot,)",
    re.IGNORECASE,
)
# "Coconut, milk and rice" is not "coconut milk and rice".
_LISTED = re.compile(r", (?:[^\s,.?!;]+ ){1,4}(?:and|or|nor)\b|,[^,.?!;]{1,40},")
_BRACKETS = re.compile(r"(?<=\w) \(([^()\n]{2,60})\)(?=$|[ ?.!,])")
_HYPHENED = re.compile(
    r"(?<![\w'-])([a-z]{2,})-(?=[a-z]{2,})((?:[a-z]{2,}-)?)(?!\w+(?:ing|ed)\b)([a-z]{2,})(?![\w'-])", re.IGNORECASE
)
_PARTS = re.compile(r"(?<=[a-z]-)[A-Z](?=[a-z]+\b)")
# What asks cannot belong to the sentence before it; of other words the mark tells which sentence has them.
_ASKS = (
    r"(?= (?:what|who|whom|whose|where|when|why|how|which|is|are|was|were|do|does|did|can|could|would|will|should|may"
    r"|has|have|any|please|i|explain|give|tell|show|write|list)\b)"
)
_STOPS = re.compile(
    rf"[.?!;:](?:(?:(?<=[a-z]{{2}}.)|(?<=[)\"'\u00b2\u00b3%\ue000-\uf8ff].))[.?!;:]*{_ASKS}"
    rf"|(?<=\d[.?;:]){_ASKS})"
    rf"| \u2013(?:(?<=[a-z]{{2}} \u2013)|(?<=[)\"'\u00b2\u00b3%\ue000-\uf8ff] \u2013)){_ASKS}",
    re.IGNORECASE,
)
# The same where there is no dash; a pattern is found faster by its first character than by what stands before it.
_PLAIN_STOPS = re.compile(
    rf"[.?!;:](?:(?:(?<=[a-z]{{2}}.)|(?<=[)\"'\u00b2\u00b3%\ue000-\uf8ff].))[.?!;:]*{_ASKS}"
    rf"|(?<=\d[.?;:]){_ASKS})",
    re.IGNORECASE,
)
_PREFIXES = vocabulary("re co ex un anti pre non de mis sub semi pro extra intra inter ultra self mid counter cross")


def flattened(text: str) -> str:
    """The text without commas, brackets and hyphens between words, for a text in which nothing else is left to do."""
    if "(" in text:
        text = _BRACKETS.sub(r" \1", text)
    if ", " in text and _LISTED.search(text) is None:
        text = _COMMA.sub("", text)
    text = (_STOPS if "\u2013" in text else _PLAIN_STOPS).sub("", text)
    if "-" in text:
        text = _PARTS.sub(lambda match: match[0].lower(), text)
        text = _HYPHENED.sub(_opened, text)
    return text


def _opened(match: re.Match[str]) -> str:
    if match[1].lower() in _PREFIXES or match[0].lower() in STYLED:
        return match[0]
    return f"{match[1]} {match[2].replace('-', ' ')}{match[3]}"


def shouted(text: str) -> bool:
    """Return True if the whole text is in capitals, and a sentence rather than a row of acronyms."""
    if not text.isupper():
        return False
    words = [word.lower() for word in _WORD.findall(text)]
    return len(words) > 2 and sum(word in _COMMON for word in words) > (len(words) > 6)


def lowered(word: str, first: bool, beside: bool = False) -> str:
    """The word in lower case, unless its capitals make another word of it; `beside`: beside another with a capital."""
    low = word.lower()
    if low == word:
        return word
    if len(word) == 1:
        return low if word in "IA" and (word == "I" or first) else word
    if word in _CASED:
        return word
    if word.isupper():
        return word if low in _ACRONYMS or (not beside and _is_initials(low)) else low
    if low.endswith("'s") and not first and low[:-2] in _CAPITALISED:
        return word
    if word[1:] == low[1:]:
        return word if not first and (low in _CAPITALISED or (not beside and low in _BRANDS)) else low
    return low if low in STYLED else word


def _is_initials(low: str) -> bool:
    """Return True for a word in lower case that has forms of its own, so that in capitals it is rather another one."""
    if len(low) > _INITIALS or low in FUNCTION_WORDS or low in LIGHT or low in _SAME:
        return False
    words = misspelt.frequencies()
    return low in words and (low + "s" in words or low + "es" in words or (low[-1] == "s" and low[:-1] in words))


def is_evident(low: str, before: str, behind: str) -> bool:
    """Return True for a name that the word `before` or `behind` it makes evident, so that its capital says nothing."""
    words = _EVIDENT.get(low)
    if words is None and low not in _EVIDENT_BEHIND:
        return False
    follows = behind.lower().split(maxsplit=1)[:1] if behind.startswith(" ") else []
    if words is not None and not words.isdisjoint(follows):
        return True
    return before.lower() in _EVIDENT_BEHIND.get(low, ()) and _PARTS_OF_LENSES.isdisjoint(follows)


def may_be_another(one: str, two: str, of: int) -> bool:
    """Return True if two writings of a word in texts of `of` words may be two words though one writer has no capitals.

    "what is rest" need not ask about REST; in a longer text that is otherwise the same the other words say which.
    """
    low = one.lower()
    if len(low) == 1 or low.startswith("-") or not _CASED.isdisjoint((one, two)):
        return True
    if low in LIGHT:
        return True
    return of <= _SHORT and (
        low in _ACRONYMS
        or low in _CAPITALISED
        or low in _BRANDS
        or (one.isupper() != two.isupper() and _is_initials(low))
    )
