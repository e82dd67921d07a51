"""Question frames: many ways to ask for one thing, each family brought to one frame.

The families: how to do something; what, who, where and when something is; how something works.
Invariant: no frame leads into another family, and none that asks for leave, advice or a reason ("can I", "should I",
"why do I", "what is the best way") is touched.
"""

from __future__ import annotations

import re

from semcache.request.text import vocabulary
from semcache.request.wording.questions import directed
from semcache.request.wording.verbs import BASES, GERUNDS

_TELL = (
    r"(?:(?:can|could|would|will) you (?:please )?)?(?:please )?"
    r"(?:(?:tell|show|teach) me(?: please)?|explain(?: to me)?|describe|let me know|help me understand|remind me"
    r"|i (?:want|need|would like|wish|am trying) to (?:know|find out|understand)|i am wondering|i was wondering"
    r"|do you (?:happen to )?know)"
)
_SPACED_TELL = _TELL.replace(" ", "[ ]")
_ACTION = r"(?!(?:not|no|never|be|i|you|we|they|he|she|it|much|many|long|old|far)\b)(?=[a-z\ue000-\uf8ff])"
_HOW_TO = re.compile(
    rf"""
    (?:
        (?:{_SPACED_TELL}[ ])?how[ ](?:can|do|could|would|might)[ ](?:i|one)
      | (?:{_SPACED_TELL}[ ])?how[ ](?:(?:i|one)[ ](?:can|could|would|might)|to)
      | (?:can|could|would)[ ]you[ ](?:please[ ])?(?:tell|show|teach)[ ]me[ ]how[ ]to
      | (?:{_SPACED_TELL}[ ])?what(?:[ ]is|\'s)[ ](?:the|a)[ ](?:way|procedure|process)[ ]to
      | (?:{_SPACED_TELL}[ ])?what[ ](?:are|is)[ ]the[ ](?:steps|instructions)[ ](?:to|for[ ]how[ ]to)
      | (?:what|which)[ ]steps[ ](?:do[ ]i|should[ ]i|must[ ]i)[ ](?:take|follow)[ ]to
      | (?:{_SPACED_TELL}[ ]|give[ ]me[ ]|list[ ])?(?:the[ ])?(?:steps|way|instructions)[ ](?:to|on[ ]how[ ]to)
      | i[ ](?:want|need|would[ ]like)[ ]to[ ]know[ ](?:the[ ]way[ ]to|how[ ]to|how[ ]i[ ]can)
      | how[ ]does[ ]one
      | how[ ]to[ ]go[ ]about[ ]to
      | (?:{_SPACED_TELL}[ ])?what[ ](?:do[ ]i[ ](?:(?:need|have)[ ]to[ ])?do|must[ ]i[ ]do
          |can[ ]i[ ]do)[ ](?:in[ ]order[ ])?to
      | how[ ]is[ ]it[ ]possible[ ](?:for[ ]me[ ])?to
      | (?:the[ ]|give[ ]me[ ](?:some[ ])?|what[ ]are[ ](?:the[ ]|some[ ])?|list[ ](?:some[ ])?)?ways[ ]to
      | (?:what[ ]is[ ])?(?:the[ ]|a[ ])?(?:procedure|process)[ ]to
      | (?:guide|directions|a[ ]guide)[ ](?:to|on[ ]how[ ]to)
      | what[ ]is[ ]the[ ]way[ ]in[ ]which[ ]i[ ]can
      | (?:in[ ](?:what|which)[ ]way|by[ ]what[ ]means)[ ](?:can|do|could)[ ]i
      | how[ ]do[ ]i[ ]go[ ]about[ ]to
    )[ ]{_ACTION}
    """,
    re.VERBOSE | re.IGNORECASE,
)
_BE = r"(?:is|are|was|were)"
_PERSONS = (
    r"(?:i|you|he|she|we|they|me|him|them|us|that|which|who|what|if|whether|is|are|was|were|has|have|had|do|does|did"
    r"|not|no|never|nor|cannot)"
)
_NOUNS = rf"((?!{_PERSONS}\b)\S+(?: (?!{_PERSONS}\b)[^\s,.?!;]+){{0,6}})"
_DETERMINED = re.compile(r"(?:the|a|an|my|your|his|her|our|their|this|these|those)\b", re.IGNORECASE)
_INNER = re.compile(
    rf"^(?!{_DETERMINED.pattern})(?:(?!of|in|on|for|at|to|with|by)\S+ )+?{_DETERMINED.pattern}", re.IGNORECASE
)
_KINDS = re.compile(
    r"(?:colou?rs?|country|city|state|year|day|date|time|kinds?|types?|sorts?|languages?|size|age|part|percentage|month"
    r"|number|shape|brand|species|version|font|format|genre|level|position|nationality|religion) \S",
    re.IGNORECASE,
)
_INVERTED = re.compile(rf"(?:{_TELL} )?(what|who|where|when) {_NOUNS} ({_BE})\??$", re.IGNORECASE)
_INVERTED_IT = re.compile(
    rf"(?:{_TELL} )?(what|who|where|when) (it|he|she|they|this|that|i|you|we) (is|are|was|were|am)$", re.I
)
_MEASURED_NOUN = re.compile(
    rf"(?:{_TELL} )?how (old|tall|far|long|big|deep|high|heavy|fast|large|wide|expensive|hot"
    rf"|cold|rich|popular) {_NOUNS} ({_BE})$",
    re.IGNORECASE,
)
_WORKS = re.compile(rf"(?:{_TELL} )?how {_NOUNS} (works?)( [^,.?!;]+)?$", re.IGNORECASE)
_STRAIGHT = re.compile(
    rf"{_TELL} (?=(?:(?:what|who|where|when) (?:{_BE}|do|does|did)|how (?:do|does|did)"
    rf"|how (?:many|much|long|old|far|tall)\b|why)\b)",
    re.IGNORECASE,
)
_TIME = re.compile(rf"(?:{_TELL} )?what time it is( .+)?$", re.IGNORECASE)
_HEADS = vocabulary("""
    how what who where when why which whose steps way ways instructions procedure process guide directions the tell show
    teach explain describe let help remind i can could would will do does did is are was were should has have give list
    please name state provide find for in by a meaning definition define capital population currency boiling melting
    author
    """)
# Verbs by which "how do you" asks after the one who is asked, not after the way.
_OF_YOU = vocabulary("""
    feel think know work like ship deliver charge handle process store protect use accept hire recruit select support
    treat plan collect share test train do want sleep come see live be decide choose compare go get define manage
    """)
_YOURS = re.compile(
    r"how (?:do|can|would|could) (?:you|we|people) (?=([a-z]+)\b)(?!.*\b(?:my|your|our|me|us|their)\b)", re.IGNORECASE
)
_YEAR = re.compile(r"(?:in )?(?:what|which) year (?=(?:did|was|were|is|does|do|will)\b)", re.IGNORECASE)
_DOING = re.compile(
    rf"""
    (?:
        (?:{_SPACED_TELL}[ ]|give[ ]me[ ])?(?:what[ ]is[ ])?(?:the[ ]|a[ ])?(?:procedure|process|steps|instructions
            |way|ways|guide
          |directions|method|methods)[ ](?:for|of|to)
      | (?:{_SPACED_TELL}[ ])?what[ ]are[ ]the[ ](?:steps|instructions)[ ](?:for|of|in)
      | how[ ](?:do|can|would|should|could)[ ]i[ ]go[ ]about
      | how[ ]to[ ]go[ ]about
    )[ ]([a-z]+ing)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_REASON = re.compile(
    rf"(?:(?:{_TELL} )?what is the reason (?:why|that|for which)|(?:{_TELL} )?how come|for what reason|(?:{_TELL}"
    rf" )?the reason why) (?=\w)",
    re.IGNORECASE,
)
_PERSON = (
    r"(?:author|writer|president|king|queen|inventor|founder|ceo|chief executive officer|director|composer"
    r"|painter|prime minister"
    r"|chancellor|wife|husband|mother|father|winner|captain|coach|mayor|creator|owner|architect|leader|emperor|producer|discoverer"
    r"|artist|singer|governor|head|chairman|pope|manager|goalkeeper|first \w+|current \w+)"
)
_FACT = (
    r"(?:capital(?: city)?|population|currency|(?:boiling|melting|freezing|flash) point|atomic (?:number|mass"
    r"|weight)|chemical (?:symbol"
    r"|formula)|area|height|length|depth|weight|mass|density|price|cost|name|title|address|phone number|size"
    r"|speed|distance|age"
    r"|time zone|national \w+|official \w+|flag|anthem|motto|recipe|formula|definition|abbreviation|root|square"
    r" root|cube root"
    r"|derivative|integral|sum|product|value|difference|half-life|symbol|purpose|function|role|origin|cause|date|status|syntax"
    r"|command|shortcut|dosage|dose|number|largest \w+|smallest \w+|highest \w+|longest \w+|biggest \w+|deadline"
    r"|location)"
)
_GIVE = r"(?:give (?:me|us)|name|tell (?:me|us)|state|show me|provide(?: me with)?|i need|i want|find(?: me)?)"
_PERSON_OF = re.compile(
    rf"(?:{_GIVE} the|(?:which|what) (?:writer|author|person|man|woman|politician|artist|player) (is|was) the)"
    rf" ({_PERSON}) (?=(?:of|for)\b)",
    re.I,
)
_FACT_OF = re.compile(rf"{_GIVE} the ({_FACT}) (?=(?:of|for|between|in)\b)", re.I)
_BARE_OF = re.compile(rf"(?:the )?({_FACT}|{_PERSON}) of (?=\S)", re.I)
_PLACE_OF = re.compile(r"(?:which|what) (?:city|town|place) is the capital(?: city)? (?=of\b)", re.I)
_OWNED = re.compile(rf"(what|who) (is|was) ((?:the )?[^\s,]+(?: [^\s,]+)?)'s ({_FACT}|{_PERSON})$", re.I)
_WROTE = re.compile(
    r"who (?:is|was) the (author|writer|inventor|painter|composer|director|founder|discoverer) of (?!this|that|my"
    r"|your|the (?:month|year))",
    re.I,
)
_DID = {
    "author": "wrote", "writer": "wrote", "inventor": "invented", "painter": "painted", "composer": "composed",
    "director": "directed", "founder": "founded", "discoverer": "discovered",
}  # fmt: skip
_MEANING = re.compile(
    rf"(?:(?:{_TELL} )?what is |{_GIVE} |explain )?the (?:meaning|definition) of (?!life\b)(.+)$|meaning of"
    rf" (?!life\b)(.+)$"
    rf"|definition of (.+)$|define (.+)$|what is meant by (.+)$|what do(?:es)? (?:you|one|people|we) mean by (.+)$",
    re.IGNORECASE,
)
_TELL_WH = re.compile(rf"{_TELL} (?=(?:what|who|where|when|why|which|whose|how)\b)", re.IGNORECASE)
_NEGATED = re.compile(
    r"((?:(?:why|where|when|how|what) )?)(is|are|was|were|do|does|did|can|could|will|would|should|has|have|had) "
    r"(?!not\b)((?:(?!that\b|which\b|who\b|if\b|and\b|or\b|whether\b)[^\s,.?!;]+ ){1,6}?)not (?!only\b|just\b"
    r"|even\b|to\b)(?=\S)",
    re.IGNORECASE,
)


def framed(text: str, first: str) -> str:
    """The text in the frame of its family; `first` is its first word in lower case."""
    if first not in _HEADS:
        return text
    if match := _HOW_TO.match(text):
        return "how do i " + text[match.end() :]
    if (match := _DOING.match(text)) and (base := GERUNDS.get(match[1].lower())):
        return f"how do i {base}{text[match.end() :]}"
    if (match := _YOURS.match(text)) and match[1].lower() in BASES and match[1].lower() not in _OF_YOU:
        return "how do i " + text[match.end() :]
    if match := _YEAR.match(text):
        return "what year " + text[match.end() :]
    end = text.find("\n")
    line, rest = (text, "") if end < 0 else (text[:end], text[end:])
    if len(line) > 240:
        return text
    return directed(_asked(_named(line))) + rest


def _named(text: str) -> str:
    """The text with a noun of a relation, or a meaning, in the frame that asks for it."""
    if match := _REASON.match(text):
        return "why " + text[match.end() :]
    if match := _PERSON_OF.match(text):
        return f"who {match[1] or 'is'} the {match[2]} {text[match.end() :]}"
    if match := _FACT_OF.match(text):
        return f"what is the {match[1]} {text[match.end() :]}"
    if match := _PLACE_OF.match(text):
        return "what is the capital " + text[match.end() :]
    if match := _BARE_OF.match(text):
        asked = "who" if re.fullmatch(_PERSON, match[1], re.IGNORECASE) else "what"
        return f"{asked} is the {match[1]} of {text[match.end() :]}"
    if match := _OWNED.match(text):
        return f"{match[1]} {match[2]} the {match[4]} of {match[3]}"
    if match := _WROTE.match(text):
        return f"who {_DID[match[1].lower()]} {text[match.end() :]}"
    if match := _MEANING.match(text):
        word = next(group for group in match.groups() if group)
        return f"what does {word} mean"
    return text


def _asked(text: str) -> str:
    if match := _STRAIGHT.match(text):
        return text[match.end() :]
    if (match := _TELL_WH.match(text)) and not text.lower().startswith(("describe ", "help ", "teach ")):
        return text[match.end() :]
    if " not " in text and (match := _NEGATED.match(text)):
        return f"{match[1]}{match[2]} not {match[3]}{text[match.end() :]}"
    if match := _TIME.match(text):
        return "what time is it" + (match[1] or "")
    if match := _INVERTED.match(text):
        asked, nouns, be = match.groups()
        # "what colour the sky is" asks for a colour.
        if asked.lower() == "what" and (_KINDS.match(nouns) or _INNER.search(nouns)):
            return text
        return f"{asked} {be} {nouns}"
    if match := _INVERTED_IT.match(text):
        return f"{match[1]} {match[3]} {match[2]}"
    if match := _MEASURED_NOUN.match(text):
        return f"how {match[1]} {match[3]} {match[2]}"
    if match := _WORKS.match(text):
        verb = "does" if match[2] == "works" else "do"
        if match[2] == "works" or not _DETERMINED.match(match[1]) or match[1].endswith("s"):
            return f"how {verb} {match[1]} work{match[3] or ''}"
    return text
