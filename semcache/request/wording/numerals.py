"""Numbers and units in other writing: exact equalities only.

"1,000" is 1000, "twenty five" is 25, "3 per cent" is 3%, "half a gigabyte" is 0.5 GB. Knows no conversion:
512 MB stays.
Invariant: a quantity never changes; what has two readings ("4k", "5 pounds", "300K", "one") stays as it is.
"""

from __future__ import annotations

import re

from semcache.request.text import vocabulary
from semcache.request.wording.arithmetic import operated
from semcache.request.wording.calendar_forms import CUES as CALENDAR
from semcache.request.wording.calendar_forms import dated
from semcache.request.wording.cues import folded, has_digit, holds
from semcache.request.wording.eras import CUES as ERAS
from semcache.request.wording.eras import unnamed
from semcache.request.wording.scales import lettered, scaled, thousands
from semcache.request.wording.spelled_numbers import NAMED, NUMBERS, SCALES, in_digits
from semcache.request.wording.unit_names import ALONE, FIRST_WORDS, WRITTEN, symbol
from semcache.runtime.late_pattern import late

_ORDINALS = {
    1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth", 6: "sixth", 7: "seventh", 8: "eighth", 9: "ninth",
    10: "tenth", 11: "eleventh", 12: "twelfth", 13: "thirteenth", 14: "fourteenth", 15: "fifteenth", 16: "sixteenth",
    17: "seventeenth", 18: "eighteenth", 19: "nineteenth", 20: "twentieth",
}  # fmt: skip
_ENDINGS = {
    **{f"{number}{'st' if number == 1 else 'nd' if number == 2 else 'rd' if number == 3 else 'th'}": word
       for number, word in _ORDINALS.items()},
}  # fmt: skip
_UNIT = "|".join(map(re.escape, WRITTEN))
_NUMBER = r"\d+(?:\.\d+)?"


def _starts(unlike: str) -> str:
    """A pattern for a number that does not stand behind one of these; opens with the digit, to be found fast."""
    return rf"\d(?<!{unlike}\d)\d*(?:\.\d+)?"


_LOOSE, _PRICED, _BARE = _starts(r"[\w.,/:]"), _starts(r"[\w.,/:$-]"), _starts(r"[\w.,/:$\u20ac\u00a3-]")

_GROUPED = late(r"(?<![\w.,/:$-])([$\u20ac\u00a3]?)(\d{1,3}(?:,\d{3})+)(?![\d,]*\d|[\w/:-])")
_PERCENT = late(rf"({_LOOSE})(?: ?%(?![\w%(])| (?:percent|per cent|per-cent|pct)(?![\w-]))", re.IGNORECASE)
_DEGREES = late(
    rf"({_LOOSE}) ?(?:\u00b0 ?|\u00ba ?|degrees? )(celsius|centigrade|fahrenheit|c|f)(?![\w-])",
    re.IGNORECASE,
)
_MEASURED = late(
    rf"({_BARE})([ -]?)({_UNIT})(?![\w/'\u00b2\u00b3]|-(?!old\b|long\b|tall\b|high\b"
    rf"|wide\b))(?!\.\w)",
    re.IGNORECASE,
)
_POUNDS = late(rf"({_BARE})[ -](pounds? sterling|pounds?|quid)(?![\w-]| per\b)", re.IGNORECASE)
_WHOLE = "cup|teaspoon|tablespoon|mile|litre|liter|pint|tank|pound|day|year|page|glass|bottle|inch|tsp|tbsp"
_HALF = late(
    rf"(?<![\w/.])(?:(?:an? )?half (?:of )?an?|an? half|1/2(?: (?:of )?an?)?) ({_UNIT}|{_WHOLE}|million"
    rf"|billion|dozen)(?![\w-])",
    re.IGNORECASE,
)
_FRACTIONS = {
    "\u00bd": "1/2", "\u00bc": "1/4", "\u00be": "3/4", "\u2153": "1/3", "\u2154": "2/3", "\u215b": "1/8",
    "\u215c": "3/8", "\u215d": "5/8", "\u215e": "7/8", "\u2155": "1/5", "\u2156": "2/5", "\u2157": "3/5",
    "\u2158": "4/5",
}  # fmt: skip
_SIGN = late(f"((?:(?<=\\d) ?)?)([{''.join(_FRACTIONS)}])")
_PARTS = {"half": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "eighth": 8, "tenth": 10}
_SEVERAL = late(
    r"(?<![\w'-])(two|three|four|five|seven|[23457])[ -](third|quarter|fourth|fifth|sixth|eighth|tenth)s(?![\w'-])",
    re.IGNORECASE,
)
_SINGLE = late(
    r"(?<![\w'-])(?:an?|one|1)[ -](third|quarter|fourth|fifth|eighth|tenth)(?= of (?:an? |the |my |your |all )?\w"
    r"| (?:cup|teaspoon"
    r"|tablespoon|tank|mile|pound|tsp|tbsp|inch)s?\b)",
    re.IGNORECASE,
)
_OF_A = late(rf"(?<![\w/.-])(\d/\d{{1,2}}) of an? (?=(?:{_WHOLE})\b)", re.IGNORECASE)
_MONEY = vocabulary("""
    price prices cost costs pay pays paid salary fee fees money note coin coins worth buy yen euro euros dollar dollars
    spend spent earn rent tip fine budget bank tax loan invest exchange cheap expensive afford wage deposit currency
    """)
_CODES = {"eur": "\u20ac", "gbp": "\u00a3", "usd": "US$"}
_CODED = late(rf"(?<![\w.,/:$-])(?:(EUR|GBP|USD) ?({_NUMBER})|({_NUMBER}) ?(EUR|GBP|USD))(?![\w-])", re.IGNORECASE)
_DOLLARS = late(
    rf"({_PRICED})[ -](dollars?|euros?|bucks)(?![\w-])(?! (?:bill|note|store|tree|coin|general))",
    re.IGNORECASE,
)
_SPACED = late(r"(\d(?<![\w.,/:$-]\d)(?<!\d \d)\d{0,2}(?: \d{3})* 000)(?![\d,.]*\d|[\w/:-]| \d)")
_BARE_POINT = late(r"(\.(?<![\w.,/:$-]\.)\d+)(?=[\s%?!,]|[a-zA-Z]|$)")
_DOZENS = late(r"(?<![\w'-])(an?|0\.5|\d{1,3}) dozen(?! of\b)(?![\w-])", re.IGNORECASE)
_APOSTROPHE = late(r"(\d(?<![\w.,/:$-]\d)\d\d0)'s(?!\w)")
_HOUR_PARTS = late(r"(?<![\w/.-])(1/4|1/2|3/4)(?: of)?(?: an)? hour(?![\w-])", re.IGNORECASE)
_MINUTES = {"1/4": "15", "1/2": "30", "3/4": "45"}
_FEET = (" soldier", " massage", " pain", " patrol", " bath", " race", " model", " fetish", " doctor")
_COUNTED = (
    " people", " users", " followers", " dollars", " euros", " subscribers", " views", " inhabitants", " records",
)  # fmt: skip
_ONE = late(
    r"1(?<=[a-z] 1)(?<!type 1)(?<!chapter 1)(?<!version 1)(?<!part 1)(?<!level 1)(?<!day 1)(?<!number 1)(?<!war 1)"
    r"(?<!week 1)(?= [a-z]{3,}(?! per\b))"
)
_ORDINAL = late(r"(\d(?<![\w.,/:-]\d)\d?(?:st|nd|rd|th))(?![\w-])", re.IGNORECASE)
_SUFFIX = late(r"\d[ -]?([a-zA-Z]+[23]?|[%\u00b0\u00ba\u00b5\u03bc])")
_HUNDREDTHS = frozenset(("%", "percent", "per", "pct"))
_TEMPERATURES = frozenset(("\u00b0", "\u00ba", "degree", "degrees"))
_DEGREE_SCALES = frozenset(("celsius", "centigrade", "fahrenheit"))
# Of these "20 C" is a rate, and "10 F" a capacity.
_CHARGED = vocabulary("lipo battery batteries capacitor capacitors capacitance coulombs farads discharge")
_CURRENCIES = frozenset(("dollar", "dollars", "euro", "euros", "bucks", "pound", "pounds", "quid"))
_PARTED = vocabulary(
    "half third thirds quarter quarters fourth fourths fifth fifths sixths eighth eighths tenth tenths"
)
_SUFFIXES = (
    _HUNDREDTHS
    | _TEMPERATURES
    | _CURRENCIES
    | FIRST_WORDS
    | {"k", "\u00b5", "\u03bc", "st", "nd", "rd", "th", *SCALES}
    | {*_CODES}
)


_SHARES = {"half": ".5", "quarter": ".25", "three quarters": ".75", "3/4": ".75", "1/4": ".25", "1/2": ".5"}
_AND_A_HALF = late(
    rf"(?<![\w.,/-])(\d+|an?|one) (?:({_UNIT}|{_WHOLE}) )?and (a half|a quarter|three quarters|3/4|1/4|1/2)"
    rf"(?: ({_UNIT}|times|million|billion|years?))?(?![\w'-])(?! of\b)",
    re.IGNORECASE,
)
_MIXED_PARTS = late(rf"(?<![\w.,/-])(\d+)[ -](1/2|1/4|3/4)(?= (?:{_UNIT}|million|billion|times)\b)", re.IGNORECASE)
_SHARES_BEHIND = tuple([f" and {part}" for part in ("a half", "a quarter", "three quarters", "3/4", "1/4", "1/2")])
_FEW = {"one": "1", "zero": "0", "1": "1"}
_BEFORE_UNIT = late(
    rf"(?<![\w'-])(one|zero)(?=[ -](?:{_UNIT}|degrees?|percent|per cent|%|pounds?|dollars?|euros?)(?![\w'-]))",
    re.IGNORECASE,
)
_ALONE = late(
    rf"(?<![\w'./-])(?:{'|'.join(sorted(map(re.escape, ALONE), key=len, reverse=True))})(?![\w'/-])", re.IGNORECASE
)
_HYPHENATED = late(
    rf"(?<![\w'-])({'|'.join(sorted(NUMBERS, key=len, reverse=True))})-({_UNIT}|day|week|month|year|hour"
    rf"|minute|second|mile|inch|foot|cup)"
    r"(?![\w'])(?!-old)",
    re.IGNORECASE,
)
_TWICE = late(r"\b(twice|thrice)(?= (?:an?|per|each|every|daily|weekly|monthly|in|as) )", re.IGNORECASE)
_MEMORY = late(r"(?<=[KMGT]B )((?:of )?)ram\b", re.IGNORECASE)
_WHOLE_NUMBER = late(r"(\d(?<![\w.]\d)\d*)\.0+(?= (?:[-+*/\u00d7\u00f7]|x|plus|minus|times|divided|multiplied) )")
_IN = late(r"\d in ")
_INCHES = late(
    rf"({_PRICED}) in(?= (?:wide|tall|long|thick|deep|pizza|monitor|screen|tv|laptop"
    r"|tablet|pipe|nail|screw|ruler|tile|board|rim|wheel"
    r"|waist|diameter|display|cake|frame)s?\b)",
    re.IGNORECASE,
)
_CENTS = late(r"([$\u20ac\u00a3]\d+)\.00(?!\d)")
_SIGN_BEHIND = late(rf"({_PRICED}) ?([$\u20ac\u00a3])(?!\w)")
_FEET_INCHES = late(
    r"(?<![\w.,/-])(\d) ?(?:feet|foot|ft\.?|')(?: and|,)? ?(\d{1,2}) ?(?:inches|inch|in\b\.?|\"|''|(?= tall| "
    r"person| man| woman))",
    re.IGNORECASE,
)
_DEGREE_SIGN = late(
    r"(?<![\w.,/:])(-?\d+(?:\.\d+)?) ?(?:\u00b0|\u00ba|deg(?:rees?)?\b\.?)(?! ?[CcFf]\b| ?(?:celsius"
    r"|fahrenheit|centigrade))(?![\w])",
    re.IGNORECASE,
)
_SCALE_LETTER = late(r"(?<![\w.,/:$-])(-?\d{2,3}(?:\.\d+)?) ?([CF])(?![\w-])")
_BARE_SCALE = late(r"\b(?:degrees? )?(celsius|centigrade|fahrenheit)\b", re.IGNORECASE)
_NUMBER_SIGN = late(r"(?<!\S)#(\d+)(?![\w])")
_PER = late(
    r" (?<=[a-z\d] )(?<! in )(?<!thin )(?<!half )(?<! make )(?<! has )(?<! does )"
    r"(?:an?|each|every) (day|week|month|year|hour|minute|second|night)(?=$| (?!or\b|and\b"
    r"|ago\b|before\b|after\b|later\b|in\b)|[?.,])"
)
_COUNTS = frozenset(("many", "much", "times", "hours", "minutes", "calories", "often", "twice"))


_SHARED = ("third", "quarter", "fourth", "fifth", "sixth", "eighth", "tenth")
_NUMBER_WORDS = tuple(NUMBERS)
_UNITY = frozenset(("one", "zero", "an", "a"))
_PERIODS = tuple(
    [f"{each} {time}" for each in (" a", " an", " each", " every")
     for time in ("day", "week", "month", "year", "hour", "minute", "second", "night")]
)  # fmt: skip
_DIGIT = late(r"\d")
_CUES = (
    _PARTED | NAMED | _COUNTS | CALENDAR | ERAS | frozenset(ALONE) | frozenset(name.split(" ")[0] for name in ALONE)
    | vocabulary("half quarter quarters dozen point zero twice thrice celsius fahrenheit centigrade")
)  # fmt: skip


def numbered(text: str, bag: frozenset[str]) -> str:
    """The text with numbers in digits and units in their symbols; `bag` holds its words in lower case."""
    if text.isascii() and bag.isdisjoint(_CUES) and "-" not in text and _DIGIT.search(text) is None:
        return text
    text = _with_plain_fractions(text, bag)
    text = in_digits(dated(unnamed(text, bag), bag), bag)
    text = _with_plain_words(text, bag)
    if not has_digit(text):
        return text
    text = operated(_figures(text, bag), bag)
    return _MEMORY.sub(r"\1RAM", text) if "ram" in bag else text


def _with_plain_fractions(text: str, bag: frozenset[str]) -> str:
    """The text with signs and names of fractions as "2/3" and "1/4"."""
    if not text.isascii():
        text = _SIGN.sub(_fraction, text)
    if (not bag.isdisjoint(_PARTED) or "-" in text) and holds(folded(text), _SHARED):
        text = _SEVERAL.sub(_several, text)
        text = _SINGLE.sub(lambda match: f"1/{_PARTS[folded(match[1])]}", text)
    return text


def _with_plain_words(text: str, bag: frozenset[str]) -> str:
    """The text with numbers and units that are words still in figures: "twice", "an hour and a half", "a dozen"."""
    lower = folded(text)
    if "-" in text and any(part.endswith(_NUMBER_WORDS) for part in lower.split("-")[:-1]):
        text = _HYPHENATED.sub(lambda match: f"{NUMBERS[folded(match[1])]} {match[2]}", text)
    if "twice" in bag or "thrice" in bag:
        text = _TWICE.sub(lambda match: "2 times" if match[1].lower() == "twice" else "3 times", text)
    if ("half" in bag or "quarter" in bag or "quarters" in bag) and holds(lower, _SHARES_BEHIND):
        text = _AND_A_HALF.sub(_mixed, text)
    if ("one" in lower or "zero" in lower) and not bag.isdisjoint(_UNITY):
        text = _BEFORE_UNIT.sub(lambda match: _FEW[folded(match[1])], text)
    if not bag.isdisjoint(ALONE):
        text = _ALONE.sub(lambda match: ALONE[folded(match[0])], text)
    if "/" in text:
        text = _MIXED_PARTS.sub(lambda match: match[1] + _SHARES[match[2]], text)
    if "half" in bag or "1/2" in text:
        text = _HALF.sub(_halved, text)
    if "dozen" in bag:
        text = _DOZENS.sub(_dozens, text)
    if not bag.isdisjoint(_DEGREE_SCALES):
        text = _DEGREES.sub(_degrees, text)
        text = _BARE_SCALE.sub(lambda match: "\u00b0F" if match[1][0] in "fF" else "\u00b0C", text)
    if not bag.isdisjoint(_COUNTS) and holds(text, _PERIODS):
        text = _PER.sub(r" per \1", text)
    return text


def _degrees(match: re.Match[str]) -> str:
    return f"{match[1]} \u00b0{'F' if match[2][0] in 'fF' else 'C'}"


def _mixed(match: re.Match[str]) -> str:
    whole, before, parts, after = match.groups()
    if whole.lower() in ("a", "an") and not before:
        return match[0]
    number = whole if whole.isdigit() else "1"
    unit = before or after
    return f"{number}{_SHARES[parts.lower().removeprefix('a ')]}{f' {unit}' if unit else ''}"


def _figures(text: str, bag: frozenset[str]) -> str:
    """The text with one writing of each number that has digits, and of the unit behind it."""
    text = _with_plain_parts(_with_plain_signs(_with_plain_digits(text), bag))
    suffixes = frozenset([suffix.lower() for suffix in _SUFFIX.findall(text)])
    if suffixes.isdisjoint(_SUFFIXES) and bag.isdisjoint(_CODES):
        return text
    return _with_plain_suffixes(text, suffixes, bag)


def _with_plain_digits(text: str) -> str:
    """The text with numbers such as "1,000", "1 000", ".5" and "5.0" as "1000", "0.5" and "5"."""
    if "," in text:
        text = _GROUPED.sub(lambda match: match[1] + match[2].replace(",", ""), text)
    if " 000" in text:
        text = _SPACED.sub(lambda match: match[1].replace(" ", ""), text)
    if "." in text:
        text = _BARE_POINT.sub(r"0\1", text)
    if "0's" in text:
        text = _APOSTROPHE.sub(r"\1s", text)
    if "#" in text:
        text = _NUMBER_SIGN.sub(r"number \1", text)
    if ".0 " in text:
        text = _WHOLE_NUMBER.sub(r"\1", text)
    return text


def _with_plain_signs(text: str, bag: frozenset[str]) -> str:
    """The text with inches, money, feet and degrees by one sign or name each."""
    if " in " in text and _IN.search(text):
        text = _INCHES.sub(r"\1 inches", text)
    if ".00" in text:
        text = _CENTS.sub(r"\1", text)
    if "$" in text or not text.isascii():
        text = _SIGN_BEHIND.sub(r"\2\1", text)
        text = lettered(text)
    if "ft" in bag or "feet" in bag or "foot" in bag or "'" in text:
        text = _FEET_INCHES.sub(r"\1 ft \2 inches", text)
    if ("C" in text or "F" in text) and bag.isdisjoint(_CHARGED):
        text = _SCALE_LETTER.sub("\\1 \u00b0\\2", text)
    if not text.isascii() or "deg" in text.lower():
        text = _DEGREE_SIGN.sub(r"\1 degrees", text)
    return text


def _with_plain_parts(text: str) -> str:
    """The text with parts of an hour in minutes, and "one" in words where it counts no unit."""
    if "/" in text:
        text = _HOUR_PARTS.sub(lambda match: f"{_MINUTES[match[1]]} minutes", text)
        text = _OF_A.sub(r"\1 ", text)
    if "1 " in text:
        text = _ONE.sub(_one, text)
    return text


def _with_plain_suffixes(text: str, suffixes: frozenset[str], bag: frozenset[str]) -> str:
    """The text with one writing of what stands behind its numbers; `suffixes` are the first words of that."""
    if "k" in suffixes:
        text = thousands(text)
    if not suffixes.isdisjoint(SCALES):
        text = scaled(text)
    if not suffixes.isdisjoint(_HUNDREDTHS):
        text = _PERCENT.sub(r"\1%", text)
    if not suffixes.isdisjoint(_TEMPERATURES):
        text = _DEGREES.sub(_degrees, text)
    if not suffixes.isdisjoint(_CODES) or not bag.isdisjoint(_CODES):
        text = _CODED.sub(_money, text)
    if not suffixes.isdisjoint(_CURRENCIES):
        text = _DOLLARS.sub(lambda match: ("\u20ac" if match[2][0] in "eE" else "$") + match[1], text)
        money = not bag.isdisjoint(_MONEY)
        text = _POUNDS.sub(lambda match: _pounds(match, money), text)
    if not suffixes.isdisjoint(FIRST_WORDS):
        text = _MEASURED.sub(_measured, text)
    if not suffixes.isdisjoint(("st", "nd", "rd", "th")):
        text = _ORDINAL.sub(lambda match: _ENDINGS.get(match[1].lower(), match[1]), text)
    return text


def _halved(match: re.Match[str]) -> str:
    unit = match[1].lower()
    if unit == "hour":
        return "30 minutes"
    if unit == "minute":
        return "30 seconds"
    return "6" if unit == "dozen" else f"0.5 {match[1]}"


def _fraction(match: re.Match[str]) -> str:
    start = match.start()
    mixed = start and match.string[start - 1].isdigit()
    return (" " if mixed else match[1]) + _FRACTIONS[match[2]]


def _dozens(match: re.Match[str]) -> str:
    return "12" if match[1][0] in "aA" else "6" if match[1] == "0.5" else str(12 * int(match[1]))


def _several(match: re.Match[str]) -> str:
    above, below = NUMBERS.get(folded(match[1])) or int(match[1]), _PARTS[folded(match[2])]
    coins = above == 2 and match[2].lower() == "quarter"
    return f"{above}/{below}" if above < below and not coins else match[0]


def _one(match: re.Match[str]) -> str:
    following = match.string[match.end() + 1 :].split(" ", 1)[0].strip(".,?!").lower()
    return match[0] if following in FIRST_WORDS or following in SCALES or following in _SUFFIXES else "one"


def _money(match: re.Match[str]) -> str:
    return _CODES[folded(match[1] or match[4])] + (match[2] or match[3])


def _pounds(match: re.Match[str], money: bool) -> str:
    if money or not match[2].lower().startswith("pound") or "sterling" in match[2].lower():
        return f"\u00a3{match[1]}"
    return f"{match[1]} lb"


def _measured(match: re.Match[str]) -> str:
    number, gap, written = match.groups()
    low = written.lower()
    plain = symbol(written)
    rest = match.string[match.end() :]
    if plain is None or (gap == "-" and len(low) < 2):
        return match[0]
    if low == "s" and len(number) == 4:
        return match[0]
    if low == "foot" and rest.startswith(_FEET):
        return match[0]
    if low in ("g", "m") and (gap == "" and number in "2345" if low == "g" else rest.startswith(_COUNTED)):
        return match[0]
    if low == "second" and (gap == "-" or number == "1"):
        return match[0]
    return f"{number} {plain}"
