"""Nouns of a relation in the question that asks for them: "the capital of X", "X's author", "height of X".

Invariant: the relation and its two sides are kept; a person is asked for by "who" and everything else by "what".
"""

from __future__ import annotations

import re

from semcache.request.text import vocabulary
from semcache.request.wording.cues import folded
from semcache.request.wording.imperatives import HEADS
from semcache.runtime.late_pattern import late

_TELLING = (
    r"(?:(?:please )?(?:(?:tell|give|show|remind|teach)(?: me| us)?(?: of)?|name|state|explain(?: to me)?"
    r"|describe(?: to me)?|clarify"
    r"|outline|define|provide(?: me)?(?: with)?|find(?: me| out)?|let me know|identify|specify|i (?:need"
    r"|want|would like|am trying"
    r"|am looking|wish)(?: to (?:know|find(?: out)?|learn|understand))?|do you know|(?:can|could) you "
    r"(?:tell|give|explain)(?: me)?"
    r"|(?:what|who) (?:is|are|was|were)))"
)
_PERSON = (
    r"(?:author|writer|president|king|queen|inventor|founder|ceo|chief executive officer|director|composer|painter"
    r"|(?:(?:prime|foreign|finance|first) )?minister|chancellor|wife|husband|mother|father|winner|captain"
    r"|coach|mayor|creator"
    r"|owner|architect|leader|emperor|producer|discoverer|artist|singer|governor|head|chairman|pope|manager"
    r"|goalkeeper|first \w+"
    r"|current \w+|designer|builder|host|narrator|protagonist|star|sculptor|successor|predecessor|patron "
    r"saint|goddess|god"
    r"|developer|publisher|editor|drummer|bassist|guitarist|lead singer|frontman|head of state|monarch"
    r"|sultan|richest \w+)"
)
_FACT = (
    r"(?:capital(?: city)?|population|currency|(?:boiling|melting|freezing|flash|dew) point|atomic (?:number|mass"
    r"|weight)|chemical (?:symbol|formula|composition)|area|height|length|depth|weight|mass|density|price"
    r"|cost|name|title"
    r"|address|phone number|size|speed|distance|age|time zone|national \w+|official \w+|flag|anthem|motto"
    r"|recipe|formula"
    r"|definition|abbreviation|root|square root|cube root|derivative|integral|sum|product|value|half-life"
    r"|symbol|purpose"
    r"|function|role|origin|cause|date|status|syntax|command|shortcut|dosage|dose|number|largest \w+|smallest \w+"
    r"|highest \w+|longest \w+|biggest \w+|deadline|location|birthplace|nationality|birthday|plot|moral|history"
    r"|main \w+|most \w+ \w+|best \w+|oldest \w+|tallest \w+|closest \w+|nearest \w+|life expectancy"
    r"|lifespan|average \w+"
    r"|minimum \w+|maximum \w+|recommended \w+|opposite|antonym|synonym|plural|past tense|gestation period"
    r"|diameter|radius"
    r"|circumference|perimeter|volume|temperature|wavelength|frequency|elevation|rate|ratio|rule|theme|setting|meaning"
    r"|significance|importance|impact|effect|relationship|connection|structure|theory|principle|law|theorem"
    r"|concept|idea|point"
    r"|scientific name|latin name|dress code|refund policy|return policy|legal \w+|voting age|drinking age"
    r"|speed limit|gdp)"
)
_FACTS = (
    r"(?:symptoms|benefits|advantages|disadvantages|causes|effects|side effects|ingredients|steps"
    r"|requirements|features|types|rules"
    r"|uses|risks|signs|consequences|dimensions|lyrics|opening hours|pros and cons|drawbacks|characteristics"
    r"|properties|stages"
    r"|phases|parts|components|members|names|colou?rs|capitals|applications|functions|limitations|goals|principles|laws"
    r"|main \w+s|most \w+ \w+s|best \w+s|largest \w+s|official languages|treatment options|terms|factors|origins|roles)"
)
_OF_FACT = late(rf"(?:{_TELLING} )?(?:the )?({_FACT}) (?=(?:of|for) \S)", re.I)
_OF_FACTS = late(rf"(?:{_TELLING} )?(?:the )?({_FACTS}) (?=(?:of|for) \S)", re.I)
_OF_PERSON = late(
    rf"(?:(?:{_TELLING} )?(?:the )?|(?:which|what) (?:writer|author|person|man|woman|politician|artist"
    rf"|player) (?:is|was) the )"
    rf"({_PERSON}) (?=(?:of|for) \S)",
    re.I,
)
# To describe or explain a thing is more than to name it; of these alone it is the same.
_DESCRIBING = late(r"(?:please )?(?:(?:can|could) you )?(?:explain|describe|clarify|outline|define|teach)\b", re.I)
_DESCRIBED = vocabulary("""
    purpose function role origin cause plot moral history theme setting meaning significance importance impact effect
    relationship connection structure theory principle law theorem concept idea rule
    """)
# Without an article these may begin a title, or what is no person: "God of War", "head of lettuce".
_TITLED = vocabulary("god goddess star head king queen leader wife emperor artist captain host")
# Who says no more than that wants one to be thought of.
_BARE_NAME = late(r"(?:name|title) for ", re.IGNORECASE)
_WAS = late(r"(?:what|who|which \w+) (?:was|were) ", re.I)
_DIFFERENCE = late(
    rf"(?:{_TELLING} )?(?:the |an? )?(?:(main|key|biggest|major) )?differences? (?=(?:between|in)\b)", re.I
)
_NO_SIDE = (
    "and|or|than|from|is|are|was|were|do|does|did|differ|differs|different|so|it|they|i|we|you|this|that|these|those"
)
_SIDE = rf"((?!(?:{_NO_SIDE})\b)[^\s,.?!;]+(?: (?!(?:{_NO_SIDE})\b)[^\s,.?!;]+){{0,5}}?)"
_CONTRAST = late(
    "(?:"
    + "|".join(
        (
            rf"how (?:do|does) {_SIDE} differ from {_SIDE}",
            rf"how (?:is|are) {_SIDE} different (?:from|than|to) {_SIDE}",
            rf"what makes {_SIDE} different (?:from|than|to) {_SIDE}",
            rf"how {_SIDE} (?:differs?|(?:is|are) different) from {_SIDE}",
            rf"how do {_SIDE} and {_SIDE} differ",
            rf"how are {_SIDE} and {_SIDE} different",
            rf"how {_SIDE} and {_SIDE} (?:differ|are different)",
            rf"what is different (?:between|about) {_SIDE} and {_SIDE}",
        )
    )
    + r")(?=$| (?:in|for|on|when|at|with|regarding)\b)",
    re.I,
)
_DISTANCE = late(rf"(?:{_TELLING} )?the distance (?=(?:between|from)\b)", re.I)
_PLACE_OF = late(r"(?:which|what) (?:city|town|place) is the capital(?: city)? (?=of\b)", re.I)
_PLACE_OWNED = late(
    r"(?:which|what) (?:city|town|place) is (?=(?:the )?[^\s,]+(?: [^\s,]+){0,2}'s capital(?: city)?$)", re.I
)
_CITY = late(r"(what is the capital) city (?=of\b)", re.I)
_OWNED = late(
    rf"(?:(what|who) (is|was|are|were) |{_TELLING} )?((?!(?:what|who|where|how|why|when|which|it|that|there"
    rf"|let)\b)(?:the )?[^\s,]+(?: (?!of\b|in\b)[^\s,]+){{0,2}})'s ({_FACT}|{_PERSON}|{_FACTS})$",
    re.I,
)
_WROTE = late(
    r"who (?:is|was) the (author|writer|inventor|painter|composer|founder|discoverer|creator) of (?!this|that|my"
    r"|your|the (?:month|year|week|day|decade|century))",
    re.I,
)
_DID = {
    "author": "wrote", "writer": "wrote", "inventor": "invented", "painter": "painted", "composer": "composed",
    "founder": "founded", "discoverer": "discovered", "creator": "created",
}  # fmt: skip
_PASSIVE = late(
    r"(?:by whom (?:was|were) (\S.*?) (\w+)|who (?:was|were) (\S.*?) (\w+) by"
    r"|(\S[^,.?!;]*?) (?:was|were) (\w+) by whom?\??)$",
    re.I,
)
_PERSON_WHO = late(
    r"(?:(?:who (?:is|was|are|were) (?:the )?(?:person|people|one|individual|it)"
    r"|what (?:is|was) the (?:person|individual)) (?:who|that)"
    r"|what is the name of the (?:person|individual) (?:who|that)) (?=\S)",
    re.I,
)
_PARTICIPLES = {
    "written":
        "wrote", "sung": "sang", "given": "gave", "taken": "took", "begun": "began", "drawn": "drew", "won": "won",
    "built": "built", "made": "made", "led": "led", "sold": "sold", "found": "found", "known": "knew", "done": "did",
    "chosen": "chose", "driven": "drove", "flown": "flew", "worn": "wore", "beaten": "beat", "killed": "killed",
    "bought": "bought", "run": "ran", "said": "said", "shot": "shot", "spoken": "spoke", "sent": "sent",
}  # fmt: skip
_MEASURES = {
    "tall": "height",
        "high": "height", "old": "age", "long": "length", "deep": "depth", "wide": "width", "heavy": "weight",
    "big": "size", "large": "size",
}  # fmt: skip
_MEASURE = late(
    r"how (tall|high|old|deep|wide|heavy) (is|was) (?!it\b|he\b|she\b|this\b|that\b|i\b|there\b|too\b|the "
    r"average\b)((?!.*\b(?:to|when"
    r"|if|for|in|on|at|who|that|or|and|than|by|does|do|can)\b)[^,.?!;]+)$",
    re.I,
)
_COST = late(
    r"(?:what (?:does|do) (\S[^,.?!;]*?) cost|what is the (?:price|cost) of (\S[^,.?!;]*))(?=$| (?:in|at|on"
    r"|per|for)\b)",
    re.I,
)
_PEOPLE = late(
    r"(?:how many (?:people|inhabitants)|what number of people) (?:live|are living|are there|are) in (?=\S)", re.I
)
_INHABITANTS = late(r"how many (?:inhabitants|residents) does (\S[^,.?!;]*?) have$", re.I)
# These are high without a height.
_LEVEL = late(
    r"\b(?:inflation|unemployment|interest|rates?|tax(?:es)?|taxation|costs?|prices?|rents?|risks?|demand|fever"
    r"|temperatures?|pressure|cholesterol|levels?|chances?|probability|crime|debt|deficit|turnover|bar|humidity|speed"
    r"|quality|pitch|notes?|voice|score|iq|standards?|stakes|salary|salaries|wages|fees?|dose|limit"
    r"|pilots?|drivers?|players?|singers?|actors?|climbers?|skaters?|jumpers?|birds?|planes?|man|woman|person|people)\b",
    re.IGNORECASE,
)


def related(text: str) -> str:
    """The text with the noun of a relation in the question that asks for it."""
    past, describes = _WAS.match(text), _DESCRIBING.match(text) is not None
    plain = _difference(text) or _doer(text) or (None if describes else _person_of(text, past is not None))
    if plain is not None:
        return plain
    if match := _PLACE_OF.match(text):
        return "what is the capital " + text[match.end() :]
    if match := _PLACE_OWNED.match(text):
        text = "what is " + text[match.end() :]
    return _fact_of(text, past, describes) or _owned(text, describes) or _measured(_wrote(text))


def _difference(text: str) -> str | None:
    """The question for a difference that this is; None for another text."""
    if match := _DIFFERENCE.match(text):
        which = (match[1] or "").lower()
        kind = {"": "", "key": "main "}.get(which, f"{which} ")
        be = "was" if _WAS.match(text) else "is"
        return f"what {be} the {kind}difference {text[match.end() :]}"
    if match := _CONTRAST.match(text):
        one, two = filter(None, match.groups())
        return f"what is the difference between {one} and {two}{text[match.end() :]}"
    return None


def _doer(text: str) -> str | None:
    """The question for who did what this asks in other words; None for another text."""
    if match := _PERSON_WHO.match(text):
        return "who " + text[match.end() :]
    if match := _PASSIVE.match(text):
        what, verb = filter(None, match.groups())
        if verb.lower().endswith("ed") or verb.lower() in _PARTICIPLES:
            return f"who {_PARTICIPLES.get(verb.lower(), verb)} {what}"
    return None


def _person_of(text: str, was: bool) -> str | None:
    """The question for the person in a relation that this is; None for another text."""
    match = _OF_PERSON.match(text)
    if match is None or match[0].lower().startswith(("what is", "what was", "what are")):
        return None
    if match[1].lower() in _TITLED and match[0].lower().startswith(match[1].lower()):
        return None
    return _wrote(f"who {'was' if was else 'is'} the {match[1]} {text[match.end() :]}")


def _fact_of(text: str, past: re.Match[str] | None, describes: bool) -> str | None:
    """The question for a fact, for several or for a distance that this is; None for another text."""
    was = past is not None
    if (match := _OF_FACTS.match(text)) and not (past is not None and match.end() < len(past[0])):
        return f"what {'were' if was else 'are'} the {match[1]} {text[match.end() :]}"
    if (
        (match := _OF_FACT.match(text))
        and not match[0].lower().startswith("who ")
        and (not describes or match[1].lower() in _DESCRIBED)
        and not _BARE_NAME.match(text)
    ):
        text = f"what {'was' if was else 'is'} the {match[1]} {text[match.end() :]}"
        return _measured(_CITY.sub(r"\1 ", text))
    if match := _DISTANCE.match(text):
        return "what is the distance " + text[match.end() :]
    return None


def _owned(text: str, describes: bool) -> str | None:
    """The question for what belongs to somebody, "X's author", that this is; None for another text."""
    if (match := _OWNED.match(text)) is None:
        return None
    noun = match[4]
    if describes and noun.lower() not in _DESCRIBED and not re.fullmatch(_FACTS, noun, re.I):
        return text
    verb, _, owner = match[3].partition(" ")
    if not match[1] and verb.lower() in HEADS:
        return f"{verb} the {noun} of {owner}" if owner else text
    asked = "who" if re.fullmatch(_PERSON, noun, re.I) else "what"
    be = match[2] or ("are" if re.fullmatch(_FACTS, noun, re.I) else "is")
    return _wrote(f"{asked} {be} the {noun} of {match[3]}")


def _wrote(text: str) -> str:
    if match := _WROTE.match(text):
        return f"who {_DID[folded(match[1])]} {text[match.end() :]}"
    return text


def _measured(text: str) -> str:
    if (match := _MEASURE.match(text)) and not (match[1].lower() == "high" and _LEVEL.search(match[3])):
        return f"what {match[2].lower()} the {_MEASURES[folded(match[1])]} of {match[3]}"
    if match := _COST.match(text):
        return f"how much does {match[1] or match[2]} cost{text[match.end() :]}"
    if match := _PEOPLE.match(text):
        return "what is the population of " + text[match.end() :]
    if match := _INHABITANTS.match(text):
        return "what is the population of " + match[1]
    return text
