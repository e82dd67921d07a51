"""Rewrites figures that are no plain number, so that the numbers guard reads what they mean.

Shorthand ("b4"), digits inside names ("k8s"), spaced thousands, ratios ("50/30/20"), number words joined by "and",
"a second go", "a litre", a child's age for plain words and the like. Text in lower case in, text in lower case out.
Invariant: text without such figures comes back as it was. A "~" behind a number marks one that may be incidental.
"""

from __future__ import annotations

import re

from semcache.matching.guards.units import DIGITS, PERIODS, SCALES, STANDALONE, UNITS
from semcache.request.text import SplitText, vocabulary

_TENS = "|".join(word for word, value in DIGITS.items() if value >= 20)
_ONES = "|".join(sorted((word for word, value in DIGITS.items() if value < 20), key=len, reverse=True))
_SMALL = rf"(?:(?:{_TENS})(?:[ -](?:{_ONES}))?|{_ONES})"
_MEASURES = "|".join(
    sorted(unit for unit in STANDALONE | {"cup", "ton"} if unit.isalpha() and len(unit) > 2 and unit[-1] != "s")
)

_MEASURED = frozenset(_MEASURES.split("|"))

# Shorthand in which a digit stands for a sound.
_SOUNDS = re.compile(
    r"\b(?:b4|2(?:nite|day|moro|morrow|mrw)|(?:any|some|every|no)1|in2|gr8|l8r"
    r"|(?<=\bhow )2|(?<=\bwhat )2|(?<=\bwhere )2|(?<=\bwhen )2|(?<=\bwant )2|(?<=\bneed )2|(?<=\bgo )2|(?<=\bgoing )2"
    r"|(?<=\bhave )2|(?<=\btrying )2|(?<=\blong )2|(?<=\bsimilar )2|(?<=\bnext )2|(?<=\bused )2|(?<=\beasy )2"
    r"|4(?= (?:u|me|my|the|an?|free|good|sale|him|her|us|your|ur|it|work|ever)\b))(?= \w|$)"
)
# "k8s", "i18n", "b2b" and products that are called by a number.
_NAMED = re.compile(
    r"\b[a-z]\d{1,2}[a-z]\b|(?<![\d.,])\b007\b"
    r"|(?<=office )365\b|(?<=microsoft )365\b|(?<=excel )365\b|(?<=word )365\b|(?<=outlook )365\b|(?<=powerpoint )365\b"
)
_WORD_SIZES = re.compile(r"\bx(?:86[-_])?64\b|\bx86\b")
_THOUSANDS = re.compile(r"(?<![\d.,])(?<!\d )([1-9]\d{0,2})((?: \d{3})+)(?= ?[a-z€$£%])")
_CLOCK_FACE = re.compile(r"\b(12|24)[ -]?(?:h|hr|hour)s?[ -](?=time|clock|format|notation)")
_RATIO = re.compile(r"(?<![\w./])\d+(?:/\d+)+(?![\w./]|-\d)")
_ACCELERATION = re.compile(r"(?<=\d) ?m/s(?:\u00b2|\^2|2|/s)(?!\w)")
_COMMON = 16  # the largest part of what is read as a fraction, unless its top is one
_PRODUCT = re.compile(r"\b(?!0x)(\d+(?:\.\d+)?)x(?=\d)(?!10 ?\^)")
_MIXED = re.compile(
    rf"\b({_SMALL}|\d+) and (a|one|two|three) (third|quarter|fourth|fifth|sixth|eighth|tenth)s?\b(?! of\b)"
)
_JOINED = re.compile(rf"\b({_SMALL})(?= and (?:{_SMALL})\b)")
_PART_OF = re.compile(
    rf"\ba (third|fifth|sixth|eighth|tenth)(?: of an?(?= (?:{_MEASURES}|hour|day|week|year)\b)|(?= of\b))"
)
_PARTS = {"third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "eighth": 8, "tenth": 10}
_HUNDREDTH = re.compile(rf"\b({_ONES})[ -]hundredth\b")
_GRAND = re.compile(rf"(?<=\d)( ?)grand\b|\b({_SMALL})[ -]grand\b")
_SECOND = re.compile(
    r"\b(a|every) second(?= [a-z])(?! (?:ago|or|to|of|and|in|per|for|at|later|before|after|when|while|the|an?|is|but"
    r"|with|on|from|if|as)\b)"
)
_A_MEASURE = re.compile(
    rf"(?<!half )(?<!quarter )(?<!half of )(?<!quarter of )(?<!thirds of )(?<!quarters of )"
    rf"\ban? (?=(?:(?:us|uk|imperial|metric|standard) )?"
    rf"(?:{_MEASURES})\b)"
)
# What is counted is known to the reader already: "which of the two", "the three of them".
_DEFINITE = re.compile(r"\b(?:(?<=the )|(?<=which )|(?<=these )|(?<=those ))(?:two|three|four)\b")
_FEW = frozenset(("two", "three", "four"))
_PAIR = re.compile(r"\ba pair of\b")
# What takes two anyway: "multiply two matrices", "between two doses", "the union of two sets".
_TWO = re.compile(
    r"\b(between|(?:multiply|multiplying|add|adding|join|joining)(?= (?:two|2) (?:vectors|matrices|numbers|integers"
    r"|fractions|polynomials|tables|collections)\b(?! (?:of|to)\b))|(?:union|intersection|product) of) (?:two|2)"
    r"(?= ([a-z]+s)\b(?! (?:and|or|to)\b))"
)
_TAKING_TWO = vocabulary("between multiply multiplying add adding join joining of")
_TWICE = frozenset(("two", "2"))
_ANOTHER = re.compile(r"\bone(?= [a-z]+ (?:to|into|from) (?:another|the other)\b)")
# Not "the second hand" of a watch.
_SECOND_HAND = re.compile(r"(?<!\bthe )(?<!\bmy )(?<!\bits )\bsecond[ -]hand(?= [a-z])")
_CARAT = re.compile(r"(?<![\w.,$€£])(8|9|10|14|18|2[0-4])k\b")
_CARATS = vocabulary("gold carat karat carats karats")
_AGE = r"(?:[3-9]|1[0-2]|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
# Who asks for words that a child understands hardly means a number: "like I'm five", "explain it to a ten-year-old".
LIKE_A_CHILD = re.compile(
    r"\beli5\b"
    r"|(?<!\bfeel )(?<!\bfeels )(?<!\bfelt )(?<!\blook )(?<!\blooks )"
    rf"\b(?:like|as if|as though) (?:i'?m|i am|i was|i were)(?: an?)? {_AGE}(?:[ -]years?[ -]old)?\b"
    r"(?![.:/-]?\w)(?! (?:and|or|to|foot|feet|minutes?|hours?|days?|weeks?|months?|percent|people)\b|%)"
    r"|(?P<said>\b(?:explain|describe)(?:ed|d)?\b(?:(?! to\b| giv)[^.?!]){0,60} (?:to|like)(?: an?)? )"
    rf"(?P<age>{_AGE})[ -]years?[ -]olds?\b"
)
_CHILDLIKE = vocabulary("eli5 like if though old olds")
_ZERO = re.compile(r"\bzero\b(?!-| (?:degrees|point|percent)\b)")

_PER = re.compile(r"\bper cent\b|\bmiles (?:per|an) hour\b|\b(?:kilomet(?:re|er)s|km) (?:per|an) hour\b")
_PER_UNITS = {"p": "percent", "m": "mph", "k": "kmh"}
# Units of two words, of which the second is a unit of something else.
_OF_TWO_WORDS = re.compile(
    r"\b(?:fl\.? ?oz|fluid ounces?|sq\.? ?ft|square (?:foot|feet)|nautical miles?"
    r"|(?P<metres>sq\.? ?m|square met(?:re|er)s?)|(?:kilo|mega)watt[ -]hours?)\b"
)
_ONE_WORD = {"f": "floz", "s": "sqft", "n": "nmi", "k": "kwh", "m": "mwh"}
_FIRST_OF_TWO = vocabulary("fl fluid sq square nautical kilowatt megawatt kilowatt-hour kilowatt-hours")
_AREA = re.compile(r"(?<=\d)( ?)m(?:2|\u00b2)(?!\w)")
# A percentage that only the second of two numbers names: "from 34 to 21 percent".
_SHARED = re.compile(
    r"(?<![\w.,/:-])(\d+(?:\.\d+)?)"
    r"(?= (?:to|and|or|rather than|instead of|-) \d+(?:\.\d+)? ?(?:%|percent\b|per cent\b))"
)
_OUT_OF_HUNDRED = re.compile(
    r"(?<![\w.,/])(\d+) (?:in|out of)(?: an?| one| every)? (?:100|hundred)\b"
    rf"(?! (?:and|thousand|words?|miles?|kilomet(?:re|er)s|met(?:re|er)s|km|{'|'.join(sorted(PERIODS))})\b)"
)
_SHARING = vocabulary("percent cent hundred 100")
# What is counted by the million, whose "m" is no metre: "8m rows".
_MILLIONS = re.compile(
    r"(?<=\d)( ?)m(?=[ -](?:rows?|lines?|records?|users?|subscribers?|people|customers?|entries|documents?|items?"
    r"|views?|parameters?|params|tokens?|requests?|messages?|events?|downloads?|followers?|inhabitants|residents)\b)"
)
_CODES = vocabulary("usd eur gbp jpy inr cny aud cad nzd chf")
_CODE_BEFORE = re.compile(rf"\b({'|'.join(sorted(_CODES))}) (?=\d)")
_LEAP = re.compile(r"\bleap seconds?\b")
_WHOLE_AND_PART = re.compile(r"(?<![\d.,/])(\d{1,6}) ([1-9])/([2-9])(?![\d/])")
_BOUNDING = vocabulary(
    "more fewer less over above under below least most than exceeding exceeds beyond older younger minimum maximum"
    " min max higher greater larger longer better lower smaller shorter"
)
_BEFORE = re.compile(
    r"(?:(?P<from>\bat least|(?<!\d)(?<!\d )\bmin|\bno(?:t)? (?:less|fewer|younger) than|>=|≥|\bminimum(?: of)?)"
    r"|(?P<to>\bat (?:the )?most|\bno(?:t)? (?:more|older|longer) than|\bup to|<=|≤|\bmax|\bmaximum(?: of)?)"
    r"|(?P<above>\b(?:more|greater|longer|older|higher|larger) than|\bover|\babove|\bexceed(?:s|ing)|\bbeyond|>)"
    r"|(?P<below>\b(?:less|fewer|shorter|younger|lower|smaller) than|\bunder|\bbelow|<)) ?$"
)
_BEHIND = re.compile(
    r"(?: [a-z]+| ?[€$£%])? (?:or (?:(?P<more>more|over|above|older|higher|greater|larger|longer|better|up)"
    r"|(?:less|fewer|under|below|younger|lower|smaller|shorter))|(?P<least>minimum)|(?:maximum|max|tops|at most))\b"
    r"(?! \d)"
)
_SPAN = 24  # characters before a number that may hold its bound
_KINDS = {"above": 1, "below": -1, "from": 2, "to": -2}


def plain(text: str, words: SplitText) -> str:
    """`text`, in lower case, with its odd figures written plainly; `words` are the words it came from."""
    bag = words.bag
    if not bag.isdisjoint(_CHILDLIKE):
        text = LIKE_A_CHILD.sub(_childs_age, text)
    if words.digits:
        text = _with_digits(text, bag)
    if "grand" in bag:
        text = _GRAND.sub(lambda match: f"{match[2] or ''} thousand", text)
    if "and" in bag and not bag.isdisjoint(DIGITS):
        text = _JOINED.sub(lambda match: _written(match[1]), _MIXED.sub(_mixed, text))
    if "hundredth" in bag:
        text = _HUNDREDTH.sub(lambda match: f"{DIGITS[match[1]] * 100}th", text)
    if "second" in bag:
        text = _SECOND_HAND.sub("2~ hand", text)
        text = _SECOND.sub(lambda match: f"{match[1]} 2th", _LEAP.sub("leap", text))
    if not bag.isdisjoint(_PARTS):
        text = _PART_OF.sub(lambda match: f"1/{_PARTS[match[1]]}", text)
    if not bag.isdisjoint(_FEW):
        text = _DEFINITE.sub(lambda match: f"{DIGITS[match[0]]}~", text)
    if not (bag.isdisjoint(_TWICE) or bag.isdisjoint(_TAKING_TWO)):
        text = _TWO.sub(_two, text)
    if "one" in bag:
        text = _ANOTHER.sub("a", text)
    if "pair" in bag:
        text = _PAIR.sub("2~", text)
    if "zero" in bag:
        text = _ZERO.sub("0~", text)
    if ("a" in bag or "an" in bag) and not bag.isdisjoint(_MEASURED):
        text = _A_MEASURE.sub("1~ ", text)
    return text


def _with_digits(text: str, bag: frozenset[str]) -> str:
    if not bag.isdisjoint(_CARATS):
        text = _CARAT.sub(r"\1 carat", text)
    text = _NAMED.sub(" ", _SOUNDS.sub(" ", text))
    if " " in text:
        text = _THOUSANDS.sub(lambda match: match[1] + match[2].replace(" ", ""), text)
    if "x" in text:
        text = _WORD_SIZES.sub(lambda match: "64 bits" if match[0].endswith("64") else "32 bits", text)
        text = _PRODUCT.sub(r"\1 x ", text)
    if "12" in text or "24" in text:
        text = _CLOCK_FACE.sub(r"\1 ", text)
    if "/" in text:
        text = _ACCELERATION.sub(" mpss", text)
        text = _RATIO.sub(_ratio, text)
    if " m" in text or "m " in text or "m-" in text:
        text = _MILLIONS.sub(r"\1 million", text)
    return _AREA.sub(r"\1sqm", text)


def _childs_age(match: re.Match[str]) -> str:
    age = match["age"]
    return f"{match['said']}{DIGITS.get(age, age)}~ years" if age else " "


def _two(match: re.Match[str]) -> str:
    """A number that goes without saying; "between two weeks and three" is a range."""
    noun = match[2]
    return match[0] if noun in UNITS or noun[:-1] in SCALES else f"{match[1]} 2~"


def _ratio(match: re.Match[str]) -> str:
    """A ratio as numbers of their own; "3/4" and "1/50" stay fractions, and "24/7" an idiom."""
    parts = match[0].split("/")
    if len(parts) > 2:
        return ", ".join(parts)
    top, under = (int(part[:9]) for part in parts)
    if top == 1 or (top <= _COMMON and under <= _COMMON) or match[0] == "24/7":
        return match[0]
    return " / ".join(parts)


def _mixed(match: re.Match[str]) -> str:
    whole = int(match[1]) if match[1].isdigit() else _value(match[1])
    top = 1 if match[2] == "a" else DIGITS[match[2]]
    return f"{whole + top / _PARTS[match[3]]:.15g}"


def _written(word: str) -> str:
    return "1~" if word == "one" else str(_value(word))


def _value(word: str) -> int:
    return sum(DIGITS[part] for part in re.split(r"[ -]", word))


def joined(text: str, words: SplitText) -> str:
    """`text`, its number words now digits, with one number for "1 1/2" and one word for "miles per hour"."""
    if "per" in words.bag or "hour" in words.bag:
        text = _PER.sub(lambda match: _PER_UNITS[match[0][0]], text)
    if not words.bag.isdisjoint(_FIRST_OF_TWO):
        text = _OF_TWO_WORDS.sub(_unit_of_two, text)
    if "%" in text or not words.bag.isdisjoint(_SHARING):
        text = _OUT_OF_HUNDRED.sub(r"\1 percent", _SHARED.sub(r"\1%", text))
    if not words.bag.isdisjoint(_CODES):
        text = _CODE_BEFORE.sub(r"\1", text)
    return _WHOLE_AND_PART.sub(_sum, text) if "/" in text else text


def _unit_of_two(match: re.Match[str]) -> str:
    return "sqm" if match["metres"] else _ONE_WORD[match[0][0]]


def _sum(match: re.Match[str]) -> str:
    whole, top, bottom = map(int, match.groups())
    return f"{whole + top / bottom:.15g}" if top < bottom else match[0]


def is_bounded(words: SplitText) -> bool:
    """Return True if a text may hold bounds."""
    return not words.bag.isdisjoint(_BOUNDING) or any(sign in words.lower for sign in "<>≤≥")


def bound(text: str, start: int, end: int) -> int:
    """How the number at `start` bounds: 1 for more than it, 2 for it or more, below zero for less, 0 for neither."""
    found = _BEFORE.search(text, max(0, start - _SPAN), start)
    if found is not None:
        return _KINDS[found.lastgroup or ""]
    behind = _BEHIND.match(text, end)
    return 0 if behind is None else 2 if behind["more"] or behind["least"] else -2
