"""Abbreviations that stand for one thing only.

Invariant: one that has two readings in questions ("app", "ML", "r", "temp") is no entry.
"""

from __future__ import annotations

import re

from semcache.request.text import vocabulary
from semcache.request.wording.cues import folded, has_digit
from semcache.request.wording.initialisms import ANY_CASE, CAPITALS
from semcache.runtime.late_pattern import late

ABBREVIATIONS: dict[str, str] = {
    **ANY_CASE,
    "info": "information",
    "pls": "please",
    "plz": "please",
    "u": "you",
    "ur": "your",
    "thx": "thanks",
    "thnx": "thanks",
    "tnx": "thanks",
    "btw": "by the way",
    "ppl": "people",
    "msg": "message",
    "msgs": "messages",
    "approx": "approximately",
    "vs": "versus",
    "dept": "department",
    "depts": "departments",
    "govt": "government",
    "govts": "governments",
    "asap": "as soon as possible",
    "fyi": "for your information",
    "cuz": "because",
    "coz": "because",
    "tmrw": "tomorrow",
    "tmr": "tomorrow",
    "yrs": "years",
    "bday": "birthday",
    "mgmt": "management",
    "acct": "account",
    "qty": "quantity",
    "config": "configuration",
    "configs": "configurations",
    "fridge": "refrigerator",
    "js": "javascript",
    "db": "database",
    "dbs": "databases",
    "postgres": "postgresql",
    "nyc": "new york city",
    "uk": "united kingdom",
    "usa": "US",
    "eu": "european union",
    "ai": "artificial intelligence",
    "tv": "television",
    "tvs": "televisions",
    "ceo": "chief executive officer",
    "diy": "do it yourself",
    "bmi": "body mass index",
    "gdp": "gross domestic product",
    "dob": "date of birth",
    "faqs": "frequently asked questions",
    "faq": "frequently asked questions",
    "hq": "headquarters",
    "avg": "average",
    "incl": "including",
    "etc": "and so on",
    "alright": "all right",
    "regex": "regular expression",
    "regexes": "regular expressions",
    "regexp": "regular expression",
    "repo": "repository",
    "repos": "repositories",
    "appt": "appointment",
    "appts": "appointments",
    "apptmt": "appointment",
    "flu": "influenza",
    "telephone": "phone",
    "telephones": "phones",
    "photo": "photograph",
    "photos": "photographs",
    "k8s": "kubernetes",
    "params": "parameters",
    "param": "parameter",
    "wifi": "wi-fi",
    "tho": "though",
    "thru": "through",
    "b4": "before",
    "mins": "minutes",
    "hrs": "hours",
    "secs": "seconds",
    "wks": "weeks",
    "pic": "picture",
    "pics": "pictures",
    "veggie": "vegetable",
    "veggies": "vegetables",
    "vocab": "vocabulary",
    "intro": "introduction",
    "rhino": "rhinoceros",
    "hippo": "hippopotamus",
    "hippos": "hippopotamuses",
    "mathematics": "math",
    "bldg": "building",
    "hwy": "highway",
    "blvd": "boulevard",
    "intl": "international",
    "uni": "university",
    "wknd": "weekend",
    "bf": "boyfriend",
    "gf": "girlfriend",
    "aka": "also known as",
    "bbq": "barbecue",
    "ads": "advertisements",
    "advert": "advertisement",
    "adverts": "advertisements",
    "sync": "synchronize",
    "syncing": "synchronizing",
    "dept's": "department's",
    "uae": "united arab emirates",
    "abt": "about",
    "smth": "something",
    "sth": "something",
    "tmw": "tomorrow",
    "tix": "tickets",
    "attn": "attention",
    "excl": "excluding",
}

# Clipped words that are written with a point.
_POINTED = dict(
    pair.split("=")
    for pair in vocabulary("""
        org=organization equip=equipment rec=recommendation recs=recommendations co=company cos=companies
        veg=vegetable vol=volume fig=figure ch=chapter est=estimated gen=general capt=captain sgt=sergeant sen=senator
        gov=governor yr=year yrs=years hr=hour hrs=hours wk=week wks=weeks mo=month mos=months temp=temperature
        dist=distance ed=edition addl=additional dif=difference diff=difference pop=population prob=probably
        reg=regular req=required reqs=requirements sched=schedule lic=license mgmt=management agcy=agency
        assn=association bro=brother cert=certificate cond=condition conf=conference dec=december dir=director
        elec=electricity env=environment exp=experience ext=extension freq=frequency hist=history ins=insurance
        inst=institute lab=laboratory lang=language lg=large med=medium mil=military min=minimum max=maximum
        nat=national no=number pkg=package pres=president prev=previous qt=quart ref=reference sec=second sm=small
        spec=specification sq=square stat=statistic subj=subject temps=temperatures univ=university wt=weight
        """)
)
_DOTTED = ("approx", "vs", "dept", "govt", "etc")
_OF_SOLDIERS = r"(?:medals?|military|army|navy|marines?|war|va|combat|deployed|deployment|ptsd|gi bill|memorial)\b"
# Each pattern stands behind the letters that a text in lower case holds if it matches.
_MARKED: tuple[tuple[str, re.Pattern[str], str], ...] = (
    ("w/o ", late(r"(?<!\S)w/o(?= \S)", re.I), "without"),
    ("w/", late(r"(?<!\S)w/ ?(?=\w)(?!o\b)", re.I), "with "),
    ("b4", late(r"(?<![\w.-])b4(?![\w-])", re.I), "before"),
    ("k8s", late(r"(?<![\w.-])k8s(?![\w-])", re.I), "kubernetes"),
    ("i18n", late(r"(?<![\w.-])i18n(?![\w-])", re.I), "internationalization"),
    ("gr8", late(r"(?<![\w.-])gr8(?![\w-])", re.I), "great"),
    ("2day", late(r"(?<![\w.-])2day(?![\w-])", re.I), "today"),
    ("2mor", late(r"(?<![\w.-])2mor+ow?(?![\w-])", re.I), "tomorrow"),
    ("2fa", late(r"(?<![\w.-])2fa(?![\w-])", re.I), "two factor authentication"),
    ("b2b", late(r"(?<![\w.-])b2b(?![\w-])", re.I), "business to business"),
    ("how 2 ", late(r"\bhow 2 (?=[a-z])", re.I), "how to "),
    (" 4 ", late(r"(?<=[a-z]) 4 (?=(?:me|my|u|you|free|us|a|the)\b)", re.I), " for "),
    ("vs code", late(r"\bvs code\b", re.I), "visual studio code"),
    ("b'day", late(r"\bb'?day\b", re.I), "birthday"),
    ("win ", late(r"\bwin (?=(?:1[01]|7|8|xp)\b)", re.I), "Windows "),
    (
        "vet",
        late(
            r"\b(?:vets|(?<=\ba )vet|(?<=\bmy )vet|(?<=\bthe )vet|(?<=\bour )vet)\b(?! (?:the|all|a|candidates|of)\b)"
            rf"(?!.*\b{_OF_SOLDIERS})(?<!thank a vet)(?<!thank the vet)(?<!honor a vet)(?<!honor the vet)",
            re.I,
        ),
        "veterinarian",
    ),
    (
        " in in ",
        late(r"(?<=\d) in in (?=(?:cm|mm|centim\w+|millim\w+|f(?:ee|oo)?t|m|met(?:er|re)s?|yards?)\b)", re.I),
        " inches in ",
    ),
    ("b/c ", late(r"(?<!\S)b/c(?= \S)", re.I), "because"),
    *((cue, late(r"(?<![\w.])e\. ?g\.?,?(?= \S)", re.I), "for example") for cue in ("e.g", "e. g")),
    *((cue, late(r"(?<![\w.])i\. ?e\.?,?(?= \S)", re.I), "that is") for cue in ("i.e", "i. e")),
    ("eg", late(r"eg(?<![\w.]eg),?(?= \S)"), "for example"),
    *((f"{word}.", late(rf"\b({word})\.(?=[\s,]|$)", re.I), r"\1") for word in _DOTTED),
    ("u.s", late(r"(?<![\w.])U\.S(?:\.(?:A\.?)?)?(?![\w.])"), "US"),
    ("u.k", late(r"(?<![\w.])U\.K\.?(?![\w.])"), "UK"),
    ("e.u", late(r"(?<![\w.])E\.U\.?(?![\w.])"), "EU"),
    ("united states", late(r"\bunited states(?: of america)?\b", re.I), "US"),
)


# Those whose cue can stand in a text with or without a stroke, a point and a digit.
_MARKED_WITH = {
    (stroke, point, digit): tuple(
        [
            entry
            for entry in _MARKED
            if (stroke or "/" not in entry[0]) and (point or "." not in entry[0]) and (digit or not has_digit(entry[0]))
        ]
    )
    for stroke in (False, True)
    for point in (False, True)
    for digit in (False, True)
}
_WEEKDAYS = {
    "mon": "Monday", "tue": "Tuesday", "tues": "Tuesday", "wed": "Wednesday", "weds": "Wednesday", "thu": "Thursday",
    "thur": "Thursday", "thurs": "Thursday", "fri": "Friday", "sat": "Saturday", "sun": "Sunday",
}  # fmt: skip
_MONTHS = {
    "jan": "January", "feb": "February", "mar": "March", "apr": "April", "jun": "June", "jul": "July", "aug": "August",
    "sep": "September", "sept": "September", "oct": "October", "nov": "November", "dec": "December",
}  # fmt: skip
_DAY = late(
    r"\b(?:((?i:on|this|next|last|every|each|by|until|till|since|from|to|through|and|or|between|late|early) )"
    r"(Mon|Tues?|Weds?|Thu(?:rs?)?|Fri|Sat|Sun|tues?|thu(?:rs?)?|fri)\b\.?"
    r"|()(Mon|Tues?|Weds?|Thu(?:rs?)?|Fri|Sat|Sun)\b\.?(?= (?:morning|evening|night|afternoon|and"
    r" [MTWFS][a-z]{2,}day)\b))(?![\w'-])"
)
_MONTH = late(
    r"\b(?:((?i:in|of|by|until|till|since|early|late|mid|this|next|last|during|before|after|between|from|to|and"
    r"|\d\d?(?:st|nd|rd|th)?) )"
    r"(Feb|Apr|Jul|Aug|Sept?|Oct|Nov|Dec|feb|apr|jul|aug|sept?|oct|nov|dec)\b\.?"
    r"|((?i:in|by|since|until|early|late|mid|\d\d?(?:st|nd|rd|th)?) )(Jan|Mar|Jun|jan|jun)\b\.?"
    r"|()(Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|jan|feb|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?(?="
    r" \d))(?![\w'-])"
)
_DATED = frozenset([*_WEEKDAYS, *_MONTHS])
_TEMPORARY = (
    r"(?:files?|folders?|tables?|director\w+|dir|jobs?|agenc\w+|workers?|variables?|vars?|passwords?"
    r"|tattoos?|bans?|data|e-?mail"
    r"|mail|numbers?|staff|work|contract|phone|visa|name|objects?|employees?|housing)\b"
)
_SCREENED = vocabulary("""
    iphone ipad android phone smartphone tablet mac ios mobile web desktop store laptop computer samsung install
    uninstall download installed icon screen
    """)
_WORDED: tuple[tuple[frozenset[str], re.Pattern[str], str], ...] = (
    (
        frozenset(("approx", "approx.")),
        late(r"\b(the|an?|its?|your|my|our|their|this|'s|what is|with) approx\b\.?(?= [a-z])", re.I),
        r"\1 approximate",
    ),
    (
        frozenset(("docs",)),
        late(
            r"\b(what|which|any|all) docs(?= (?:do (?:i|we|you) (?:need|have to)\b|(?:should|must|will) (?:i|we|you)"
            r" (?:bring|send|submit|sign|need|provide)\b|(?:are |i |we )?(?:needed|required|need)\b))",
            re.I,
        ),
        r"\1 documents",
    ),
    (
        frozenset(("doc",)),
        late(r"\b(see|ask|call|visit|tell) (a |my )doc\b(?! (?:file|string|type|on|in|from|you|that i)\b)", re.I),
        r"\1 \2doctor",
    ),
    (
        frozenset(("max", "max.")),
        late(r"\b(the|an?|its?|is|are|your|my|our|their|at|allowed|legal|what|'s) max\b\.?(?= [a-z])", re.I),
        r"\1 maximum",
    ),
    (
        frozenset(("min", "min.")),
        late(r"\b(the|an?|its?|is|are|your|my|our|their|at|allowed|legal) min\b\.?(?= [a-z])", re.I),
        r"\1 minimum",
    ),
    (frozenset(("env",)), late(r"\benv (?=var(?:iable)?s?\b)", re.I), "environment "),
    (frozenset(("vars", "var")), late(r"\b(env|environment) var(s?)\b", re.I), r"environment variable\2"),
    (
        frozenset(("temp", "temps")),
        late(
            r"\b(the|an?|max|min|maximum|minimum|approximate|exact|typical|usual|daily|mean|optimal|best"
            r"|body|room|oven|core|water|average|cooking|ideal|high|low|right|what|which|cpu|gpu"
            rf"|freezing|boiling|internal|outside|current|safe|normal) temp(s?)\b\.?(?! {_TEMPORARY})",
            re.I,
        ),
        r"\1 temperature\2",
    ),
    (
        frozenset(("args",)),
        late(r"\b(optional|keyword|positional|named|default|required|command[- ]line|cli|function) args\b", re.I),
        r"\1 arguments",
    ),
    (frozenset(("diff",)), late(r"\b(the|any) diff(?= (?:between|in|of)\b)", re.I), r"\1 difference"),
    (frozenset(("diff",)), late(r"^diff(?= between\b)", re.I), "difference"),
    (
        frozenset(("no.", "nr", "nr.", "num", "no")),
        late(
            r"\b(tel\.?|telephone|phone|serial|account|order|flight|passport|id|room|house|ref|reference|invoice"
            r"|model|part) "
            r"(?:no\.|nr\.?|no(?= (?:of|for|is|on)\b)|num\b)(?=\s|$)",
            re.I,
        ),
        r"\1 number",
    ),
    (
        frozenset(("no",)),
        late(
            # What is told, said or answered "no" has no number: "how do I tell a customer no".
            r"^(\W*(?:where|what|which|how|find|change|update) "
            r"(?!(?:[^,.?!;:]* )?(?:tell|say|answer|mean|vote|reply)\w* )[^,.?!;:]*\b(?:tel|phone|serial|account|order"
            r"|flight|passport|id|room|reference|invoice|model|part|customer|tracking)) no(?=\W*$)",
            re.I,
        ),
        r"\1 number",
    ),
    (frozenset(("no.", "nr.")), late(r"(?<![\w-])(?:no|nr)\. ?(?=\d)", re.I), "number "),
    (frozenset(("no.",)), late(r"\b(the|what) no\. (?=of\b)", re.I), r"\1 number "),
    (frozenset(("tel", "tel.")), late(r"\btel\.? (?=numbers?\b)", re.I), "phone "),
    (frozenset(("mt", "mt.")), late(r"\b(?:Mt|mt)\.? (?=[A-Z]|everest|fuji|etna|olympus|kilimanjaro)"), "Mount "),
    (
        frozenset(("st.",)),
        late(
            r"(?<![A-Z][a-z] )(?<![a-z][a-z][a-z] )(?<![a-z])St\. (?=[A-Z])|(?<=\b(?:is|in|of|at|to|do|on"
            r"|by) )St\. (?=[A-Z])|(?<=^Is )St\. (?=[A-Z])|(?<=\b(?:for|was|the|and|did|are|can) )St\. "
            r"(?=[A-Z])"
        ),
        "Saint ",
    ),
    (frozenset(("ft.",)), late(r"\bFt\. (?=[A-Z])"), "Fort "),
    (frozenset(("prof.", "prof")), late(r"\bprof\b\.?(?= )", re.I), "professor"),
    (
        frozenset(("dr.", "dr")),
        late(r"\b(?:Dr\.?(?= [A-Z])|(?<=\ba )[Dd]r\.?|(?<=\bthe )[Dd]r\.?)(?= )"),
        "doctor",
    ),
    (frozenset(("mr.", "mrs.", "ms.")), late(r"\b(Mrs?|Ms)\.(?= )", re.I), r"\1"),
    (frozenset(("un", "un's")), late(r"(?<![\w-])UN(?![\w-])"), "united nations"),
    (frozenset(("env",)), late(r"\b(dev|prod|test|staging|virtual) env\b", re.I), r"\1 environment"),
    (frozenset(("p.m.", "a.m.", "p.m", "a.m")), late(r"(?<=\d) ?([ap])\.m\.?(?!\w)", re.I), r" \1m"),
    (
        frozenset(("flu",)),
        late(r"\b(?<!bird )the flu(?! (?:shot|vaccine|jab|season|virus|game|bug|pandemic)\b)\b", re.I),
        "influenza",
    ),
    (frozenset(("ca.",)), late(r"(?<![\w.])ca\. (?=\d)", re.I), "approximately "),
    (frozenset(("est.",)), late(r"(?<![\w.])est\. (?=\d)", re.I), "established "),
)
_WORDED_CUES = frozenset().union(*(cues for cues, _, _ in _WORDED))
_APPLICATION = late(r"(?<![\w.-])(?<!the )app(s?)(?![\w'-]|\.\w)", re.I)


_MARKS = frozenset(("eg", "united", "vs", "win", "vet", "vets", "bday"))


# Behind a number these are units of time, which the numbers' own rules read.
_TIMED = late(r"(\d[ -]?(?:min|sec|hr|wk|mo|yr)s?)\.(?= [a-z]|,|:| ?\?|$)", re.IGNORECASE)
_POINT = late(rf"(?<![\w.])({'|'.join(_POINTED)})\.(?= [a-z]|,| ?\?|$)", re.IGNORECASE)


def spelled_out(text: str, bag: frozenset[str]) -> str:
    """The text with the abbreviations written out that hold a mark or need the words beside them."""
    lower = folded(text)
    if "." in lower or "/" in lower or "'" in lower or not bag.isdisjoint(_MARKS) or has_digit(lower):
        if "." in lower and any(_clipped(part) for part in lower.split(".")[:-1]):
            text = _POINT.sub(lambda match: _POINTED[folded(match[1])], _TIMED.sub(r"\1", text))
        for cue, pattern, plain in _MARKED_WITH["/" in lower, "." in lower, has_digit(lower)]:
            if cue in lower:
                text = pattern.sub(plain, text)
    words = bag if "." not in lower else bag | frozenset(lower.split())
    if not words.isdisjoint(_DATED):
        text = _DAY.sub(_dated, text)
        text = _MONTH.sub(_dated, text)
    if not words.isdisjoint(_WORDED_CUES):
        for cues, pattern, plain in _WORDED:
            if not words.isdisjoint(cues):
                text = pattern.sub(plain, text)
    if ("app" in words or "apps" in words) and not words.isdisjoint(_SCREENED):
        text = _APPLICATION.sub(r"application\1", text)
    return text


def _clipped(part: str) -> bool:
    """Return True if a text in lower case ends in a clipped word that is written with a point."""
    at = len(part)
    while at and part[at - 1].isalpha():
        at -= 1
    return part[at:] in _POINTED


# One word in capitals that still stands for that word; of others capitals are an initialism ("AD", "MSG", "APT").
_LOUD = vocabulary("tv tvs usa hq ecg ekg js wifi pls plz thx k8s a11y i18n rna")


def is_clipped(short: str) -> bool:
    """Return True for an abbreviation of one word, in lower case, that in capitals is another one."""
    return len(short) > 1 and short not in _LOUD and " " not in ABBREVIATIONS.get(short, " ")


def capitals(word: str) -> str | None:
    """The words that an abbreviation in capitals stands for, if it is none in lower case; None for another word."""
    return CAPITALS.get(word)


def _dated(match: re.Match[str]) -> str:
    """The name in full of the day or month in the one pair of groups that matched: what stands before, and the name."""
    at = match.lastindex or 2
    short = match[at].lower()
    return f"{match[at - 1]}{_WEEKDAYS.get(short) or _MONTHS[short]}"
