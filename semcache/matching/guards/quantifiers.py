"""The guard for quantifiers and degrees: all is not some, at least is not at most, the cheapest is not the fastest.

Reads bounds on numbers, how much of a thing is meant, if things are taken together or one by one, exclusiveness
("only"), frequency and superlatives. The numbers themselves are the numbers guard's business, opposites the negation
guard's.
Invariant: two different readings of one kind conflict; what only one text says is at most a doubt, unless it is all
that tells the texts apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from semcache.matching.guards import exclusive
from semcache.matching.guards.base import ReadingGuard
from semcache.matching.guards.spelled import SPELT
from semcache.matching.guards.units import PERIODS
from semcache.request.text import LIGHT, SplitText, all_the_difference, differing, lexicon, stem, vocabulary
from semcache.request.text import read as read_text
from semcache.types import Conflict

_NUMBER = (
    rf"[$€£₹]?\d|(?:{'|'.join(sorted(SPELT - {'couple'}, key=len, reverse=True))})\b"
    rf"|an?\ (?:few|{'|'.join(sorted(PERIODS))})\b"
)
_BOUND = re.compile(
    rf"""\b(?:
      (?P<lower>at\ least|at\ (?:the\ )?minimum|(?:no|not)\ (?:less|fewer|lower|under)\ than
        |a?\ ?minimum\ (?:of|number|amount|age)|(?<!\d)(?<!\d[\ -])min\b
        |upwards\ of|or\ (?:more|over|above|older|higher|longer|later)\b|(?<!over\ )and\ (?:over|above|up)\b
        |(?:more|greater|higher|longer|older|larger|bigger|over|above|exceeding|beyond)\ (?:than\ )?(?=(?:{_NUMBER})))
    | (?P<upper>at\ (?:the\ )?most|at\ (?:the\ )?maximum|(?:no|not)\ (?:more|greater|higher|longer)\ than
      |a?\ ?maximum\ (?:of|number|amount|age)|max\b
        |up\ to(?=\ (?:{_NUMBER}))|or\ (?:less|fewer|under|below|younger|lower|shorter|earlier|sooner)\b|and\ under\b
          |as\ (?:many|much)\ as(?=\ (?:{_NUMBER}))
        |(?:less|fewer|lower|shorter|younger|smaller|under|below|within|inside)\ (?:than\ )?(?=(?:{_NUMBER})))
    | (?P<exact>exactly|precisely)(?=\ (?:{_NUMBER}))
    | (?P<later>after)(?=\ (?:{_NUMBER})[\w\ .,-]{{0,20}}\b(?:second|minute|min|hour|hr|day|week|month|year)s?\b)
    )""",
    re.VERBOSE,
)
_BOUNDS = vocabulary(
    "least most minimum maximum min max no not or and more greater higher longer older larger bigger over above"
    " exceeding"
    " after beyond upwards up less fewer lower shorter younger smaller under below within inside"
    " exactly precisely many much"
)
# "June 2nd or later" is not June 2nd.
_OPEN = _BOUNDS | vocabulary("later earlier sooner")
_SHARES = lexicon(
    "all=every,each,entire,whole,everything,everyone,everybody one=single"
    " some=several,multiple,certain,something,someone,somebody,part"
    " most=majority,mostly none=no,neither few=fewer many both either any"
)
_ALIKE = frozenset(
    map(
        frozenset,
        (
            ("any", "some"),
            ("any", "none"),
            ("some", "few"),
            ("some", "many"),
            ("all", "both"),
            ("one", "any"),
            ("one", "either"),
            ("one", "none"),
        ),
    )
)
_NO_NUMBER = vocabulary(
    """no any every each which the this that these those a an new old other another is it
    some can could should would may must do does did if"""
)
_ORDERING = vocabulary("recommend suggest propose name me us")  # "suggest a book", "tell me a joke"
# What not all do, and what all do not do.
_NOT_ALL = re.compile(r"(?:\bnot|n't) (?P<share>all|every\w*|both|each)\b")
_ALL_NOT = re.compile(
    r"\b(?P<share>all|every\w*|both|each)\b(?: (?:the |of |my |our |these |those )*[\w'-]+)?(?: \w+)?(?: not\b|n't\b)"
)
# "All the time" and "some day" quantify nothing.
_VAGUE = frozenset(("time", "day", "thing", "way", "best"))
_OFTEN = lexicon(
    "always=constantly,continuously sometimes=occasionally usually=normally,typically,generally never"
    " rarely=seldom,hardly often=frequently,regularly"
)
_LATER = frozenset(("later",))
_ONLY = frozenset(exclusive.ONLY)
_ONLY_OR_EVEN = _ONLY | {"even"}
_WITH_ONLY = re.compile(rf"\bwith only (?={_NUMBER})")  # is with no more than that, said or not
_AS_GOOD_AS_ONLY = vocabulary("just merely alone purely simply but")
_NEAR_OFTEN = frozenset(map(frozenset, (("always", "usually"), ("often", "usually"), ("often", "sometimes"))))
_DEGREES = lexicon(
    "cheapest best=top,greatest,finest,ideal worst fastest=quickest easiest=simplest largest=biggest"
    " newest=latest slowest"
    " smallest oldest youngest longest shortest tallest highest lowest richest poorest strongest weakest safest"
    " hottest coldest"
    " heaviest lightest nearest=closest earliest hardest deepest brightest smartest healthiest priciest=dearest widest"
    " thinnest thickest loudest quietest funniest happiest saddest prettiest ugliest rarest cleanest"
)
_MOST = vocabulary(
    "expensive affordable popular common important effective efficient dangerous difficult beautiful famous successful"
    " powerful reliable useful valuable profitable secure accurate recent likely"
)
_SAME_DEGREE = {"most expensive": "priciest", "most affordable": "cheapest", "least expensive": "cheapest",
                "most recent": "newest", "most difficult": "hardest", "least affordable": "priciest"}  # fmt: skip
_HEIGHTS = frozenset(("tallest", "highest"))
# From their foot, or from the sea.
_MEASURED_TWICE = vocabulary("mountain mountains peak peaks volcano volcanoes summit summits")
_WHERE_IT_TELLS = vocabulary("world world's earth earth's planet globe hawaii hawaiian")
# One for all of them, or one for each.
_TOGETHER = re.compile(
    r"\b(?:altogether|all together|in total|in all|jointly|collectively)\b"
    r"|\b(?:one|single|common|joint|shared|combined|overall) (?:[\w-]+ ){1,3}?(?:for|covering|across|about) "
    r"(?:all|both|everyone|everybody|them|(?:the|our|my) (?:whole|entire)|all of (?:the|these|those|them|us))\b"
)
_ONE_BY_ONE = re.compile(
    r"\b(?:each|apiece|separately|individually|respectively)\b"
    r"|\bper (?:person|head|capita|item|piece|unit|copy|guest|child|ticket|seat|user|participant)\b"
)
_TOGETHER_OR_NOT = vocabulary(
    "altogether together total jointly collectively one single common joint shared combined overall in each apiece"
    " separately individually respectively per"
)
# The same one for each is one for all.
_SAME_FOR_EACH = re.compile(r"\b(?:same|one|single|common|shared)\b[^.?!]{1,60} each\b")
_TRIGGERS = frozenset((*_SHARES, *_OFTEN, *_DEGREES, *_ONLY, "least")) | _ORDERING
_SOME = 6  # content words by which texts may differ for a finding to tell them apart


class QuantifierReading(NamedTuple):
    """`bounds` and `degrees` are what their names say, `shares` the quantifier of each noun, `often` how often.

    `only_of` is of what a text says that it is the only one, `denied` tells "not all" from "all not". `taken` is how
    several things are: "together", "one by one", or "" where a text does not say so, or says both.
    """

    bounds: frozenset[str]
    shares: dict[str, str]
    often: str
    only: bool
    degrees: frozenset[str]
    taken: str = ""
    only_of: exclusive.Focus = ""
    denied: str = ""


_NOTHING = QuantifierReading(frozenset(), {}, "", False, frozenset())


class QuantifierGuard(ReadingGuard[QuantifierReading]):
    """Vetoes prompts about other bounds, shares, frequencies and superlatives."""

    name = "quantifiers"

    def read(self, text: str) -> QuantifierReading:
        """The reading of `text`."""
        return read(text)

    def compare(self, one: QuantifierReading, two: QuantifierReading, query: str, cached: str, /) -> Conflict | None:
        """Compare how much, how many and how far both texts mean."""
        if one == two:
            return None
        # Of texts that have little in common, each may bound something else, or count otherwise.
        telling = len(differing(query, cached)) <= _SOME
        if _opposed(one.bounds, two.bounds):
            return Conflict(self.name, f"{_show(one.bounds, two.bounds)} bound", telling)
        if telling and one.taken and two.taken and one.taken != two.taken:
            return Conflict(self.name, _show((one.taken,), (two.taken,)))
        if one.denied and two.denied and one.denied != two.denied and not _more_differs(query, cached):
            return Conflict(self.name, _show((one.denied,), (two.denied,)))
        for noun, share in one.shares.items():
            other = two.shares.get(noun, share)
            if other != share and frozenset((share, other)) not in _ALIKE:
                return Conflict(self.name, f"{min(share, other)} / {max(share, other)} {noun}", telling)
        if one.often and two.often and one.often != two.often:
            near = frozenset((one.often, two.often)) in _NEAR_OFTEN
            return Conflict(self.name, _show((one.often,), (two.often,)), telling and not near)
        if one.degrees and two.degrees and one.degrees.isdisjoint(two.degrees) and not _as_high(one, two, query):
            return Conflict(
                self.name, _show(one.degrees, two.degrees), all_the_difference(query, cached, _said(query, cached))
            )
        if one.only != two.only and read_text(cached if one.only else query).bag.isdisjoint(_AS_GOOD_AS_ONLY):
            return Conflict(self.name, "only one says only", all_the_difference(query, cached, _ONLY_OR_EVEN))
        if telling and one.only_of and two.only_of and one.only_of != two.only_of:
            return Conflict(self.name, "only is said of another thing")
        if one.bounds - _LATER != two.bounds - _LATER and "exact" not in one.bounds | two.bounds:
            alone = "or" in read_text(query).bag ^ read_text(cached).bag and all_the_difference(query, cached, _OPEN)
            return Conflict(self.name, f"{_show(one.bounds, two.bounds)} bound", alone)
        return None


def _as_high(one: QuantifierReading, two: QuantifierReading, query: str) -> bool:
    """Return True for the highest and the tallest of what has one height."""
    bag = read_text(query).bag
    return one.degrees | two.degrees == _HEIGHTS and (
        bag.isdisjoint(_MEASURED_TWICE) or bag.isdisjoint(_WHERE_IT_TELLS)
    )


def _more_differs(query: str, cached: str) -> bool:
    """Return True if texts differ by more than where "not" stands."""
    return any(word != "not" and not word.endswith("n't") for word in differing(query, cached))


def _opposed(one: frozenset[str], two: frozenset[str]) -> bool:
    """Return True for bounds that exclude each other; "after 30 days" is one only against "within 30 days"."""
    if _LATER in (one, two) and "upper" not in one ^ two:
        return False
    return bool(one and two) and one.isdisjoint(two)


def read(text: str) -> QuantifierReading:
    """The quantifiers in `text`."""
    words = read_text(text)
    bag = words.bag
    bounds = frozenset[str]()
    if not bag.isdisjoint(_BOUNDS):
        bounds = frozenset(match.lastgroup or "" for match in _BOUND.finditer(words.lower))
    taken = "" if bag.isdisjoint(_TOGETHER_OR_NOT) else _taken(words.lower)
    if bag.isdisjoint(_TRIGGERS):
        return QuantifierReading(bounds, {}, "", False, frozenset(), taken) if bounds or taken else _NOTHING
    often = next((kind for word, kind in _OFTEN.items() if word in bag), "")
    only = _is_exclusive(words)
    only_of = exclusive.focus(words) if only else ""
    return QuantifierReading(bounds, _shares(words), often, only, _degrees(words), taken, only_of, _denied(words.lower))


def _denied(lower: str) -> str:
    """Return the denial of all: that all do it ("not all"), or that any does ("all not"); "" for neither."""
    if _NOT_ALL.search(lower) is not None:
        return "not all"
    return "all not" if _ALL_NOT.search(lower) is not None else ""


def _taken(lower: str) -> str:
    together, apart = _TOGETHER.search(lower) is not None, _ONE_BY_ONE.search(lower) is not None
    apart = apart and _SAME_FOR_EACH.search(lower) is None
    return "" if together == apart else "together" if together else "one by one"


def _is_exclusive(words: SplitText) -> bool:
    return not words.bag.isdisjoint(_ONLY) and _WITH_ONLY.search(words.lower) is None


def _shares(words: SplitText) -> dict[str, str]:
    found: dict[str, str] = {}
    every = words.words
    for place, word in enumerate(every):
        share = _SHARES.get(word)
        if word in ("a", "an") and place and every[place - 1] in _ORDERING:
            share = None if every[place + 1 : place + 2] and every[place + 1] in _SHARES else "one"
        if word == "one" and place and every[place - 1] in _NO_NUMBER:
            continue
        if share is None or (word == "part" and every[place + 1 : place + 2] != ("of",)):
            continue
        noun = next((stem(other) for other in every[place + 1 : place + 5] if other not in LIGHT), "")
        if noun and noun not in _VAGUE and found.setdefault(noun, share) != share:
            found[noun] = "any"
    return found


def _degrees(words: SplitText) -> frozenset[str]:
    found = {_DEGREES[word] for word in words.bag if word in _DEGREES}
    if "most" in words.bag or "least" in words.bag:
        for one, two in zip(words.words, words.words[1:], strict=False):
            if one in ("most", "least") and two in _MOST:
                found.add(_SAME_DEGREE.get(f"{one} {two}", f"{one} {two}"))
    return frozenset(found)


def _said(query: str, cached: str) -> frozenset[str]:
    """The words of both texts that make a superlative."""
    bag = read_text(query).bag ^ read_text(cached).bag
    return frozenset(word for word in bag if word in _DEGREES or word in _MOST or word in ("most", "least"))


def _show(one: Iterable[str], two: Iterable[str]) -> str:
    return " / ".join(sorted((" ".join(sorted(one)) or "no", " ".join(sorted(two)) or "no")))
