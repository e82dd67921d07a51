"""Edits of qualifiers: for whom, where, on what, on which terms; and of the owner of a thing.

Knows tables of qualifiers by what they can stand behind. Invariant: a qualifier is added at the end of a prompt of
one sentence that has none of its axis, so that it narrows the whole and not the last word.
"""

from __future__ import annotations

import random
import re

from semcache.train.synthesize.edit_rule import changing_rules
from semcache.train.synthesize.prose_edits import Lexicon, alternatives, capital, single, split_end, words

# What anything that is done or asked about may be narrowed to; each line is one axis.
_AXES = (
    ("in Germany", "in the UK", "in the United States", "in Canada", "in Japan", "in Australia", "in India"),
    ("for children", "for adults", "for seniors", "for teenagers", "for babies"),
    ("for students", "for businesses", "for the self-employed", "for charities", "for pensioners", "for veterans"),
    ("online", "by phone", "in person", "by post", "in the app"),
    ("on weekends", "on weekdays", "on public holidays", "at night", "during the holidays"),
    ("for free", "without a receipt", "without a subscription", "without an account", "without internet access"),
    ("during pregnancy", "while breastfeeding", "with a broken arm", "as a diabetic", "with a pacemaker"),
)  # fmt: skip
_CODE_AXES = (
    ("in Python", "in JavaScript", "in Java", "in C++", "in Rust", "in Go", "in Ruby", "in R"),
    ("on Windows", "on Linux", "on macOS"),
    ("without using a"
     " loop", "without any library", "with recursion", "in one line", "in place", "without regular expressions"),
    ("for a large file", "for an empty list", "for negative numbers", "for nested lists", "for unicode text"),
)  # fmt: skip
_CARE_AXES = (
    ("in children", "in adults", "in the elderly", "in newborns", "in pregnant women", "in dogs", "in cats"),
    ("in men", "in women"),
    ("in its early stage", "in its late stage"),
)  # fmt: skip
_ACCOUNT = re.compile(
    r"\b(?:account|card|order|subscription|membership|payment|refund|transfer|insurance|ticket|loan|bill|pin"
    r"|top.?up|contract|booking|discount)s?\b",
    re.IGNORECASE,
)
_DEED = re.compile(
    r"^(?:how (?:do|can|could|would) (?:i|we|you) |how to |can i |is it possible to |am i allowed to "
    r"|do i need to |do i have to |how much does it cost to "
    r"|how long does it take to |what do i need to |what is the best way to |where can i |when can i "
    r"|is there a (?:fee|limit|charge) )",
    re.IGNORECASE,
)
_CARE = re.compile(
    r"\b(?:symptoms?|treatments?|causes?|complications|diagnose|diagnosis|prevent|outlook|risk)\b", re.IGNORECASE
)
_CODE = re.compile(
    r"\b(?:python|function|string|list|array|dictionary|regex|sql|pandas|numpy|sort|tuple|java|file|csv|json)s?\b",
    re.IGNORECASE,
)
_ALREADY = re.compile(
    r"\b(?:for|in|on|at|with|without|during|as|while|via|using|from|by|online)\b(?! (?:a|the|my|to)\b)|\b(?:and"
    r"|or|if|when|because|that)\b",
    re.IGNORECASE,
)


_PYTHON = re.compile(
    r"\b(?:python|pandas|numpy|data ?frame|matplotlib|django|scipy|sklearn|flask|pyqt\w*|tkinter|dict|tuple"
    r"|list comprehension)s?\b",
    re.IGNORECASE,
)


def _axes(text: str) -> tuple[tuple[str, ...], ...]:
    if _CARE.search(text):
        return _CARE_AXES
    if _CODE.search(text):
        return _CODE_AXES[1:] if _PYTHON.search(text) else _CODE_AXES
    if _DEED.match(text) and (_ACCOUNT.search(text) or not re.search(r"\bmy\b|\bsay\b|\bwe call\b|\?.", text)):
        return _AXES
    return ()


def _added(text: str, rng: random.Random) -> str | None:
    """With a qualifier at the end."""
    core, end = split_end(text)
    if len(text) > 120 or not single(text) or _ALREADY.search(core):
        return None
    axes = _axes(core)
    if not axes:
        return None
    return f"{core} {rng.choice(rng.choice(axes))}{end}"


_EXCHANGE = {
    one: [other for other in axis if other != one]
    for axis in (*_AXES[:3], _AXES[4], *_CODE_AXES[:3], *_CARE_AXES)
    for one in axis
}
_GROUPS = """
personal, business
beginners, advanced users, experts
new customers, existing customers
students, teachers, businesses, seniors
children, adults, teenagers, seniors
monthly, annual, weekly
single, joint
online, in store, over the phone
desktop, mobile
free, premium, enterprise
physical, virtual
disposable, standard
domestic, international
local, national, international
abroad, at home
overseas, at home
men, women, children
indoor, outdoor
economy class, business class, first class
one way, round trip
a new, a used
small, large
full-time, part-time
public, private
standard delivery, express delivery, next day delivery
commercial, residential
homeowners, renters
undergraduate, postgraduate
beginner, intermediate, advanced
childhood, adult
type 1, type 2
vegan, vegetarian, gluten free
european, american, asian
high school, college, elementary school
weekday, weekend
"""


_PHRASE = re.compile(
    r",? \b(?:in (?:Germany|the UK|the US|the United States|Canada|Europe|India|Japan|Australia|China|France"
    r"|Python|JavaScript|Java|C\+\+|Ruby|bash|numpy|pandas)"
    r"|for (?:beginners|children|students|kids|adults|seniors|businesses|free)|on (?:Windows|Linux|macOS|Android"
    r"|weekends)|abroad|overseas|online|by phone"
    r"|in (?:children|adults|pregnant women|women|men)|while (?:abroad|traveling|travelling|pregnant)"
    r"|during pregnancy|over the phone)(?=[?.!]*$)",
    re.IGNORECASE,
)


def _removed(text: str, _: random.Random) -> str | None:
    """Without the qualifier at the end."""
    match = _PHRASE.search(text)
    if match is None or len(text[: match.start()].split()) < 3:
        return None
    if match[0].lower().endswith(("python", "numpy", "pandas")) and _PYTHON.search(text[: match.start()]):
        return None
    return text[: match.start()] + text[match.end() :]


_OWNERS = (
    "my wife's",
    "my husband's",
    "my son's",
    "my mother's",
    "my company's",
    "my friend's",
    "someone else's",
    "my old",
    "my second",
)
_OWNED = re.compile(
    r"(?<!\bin )(?<!\bof )\bmy (?=(?:card|account|pin|phone|order|car|password|credit|bank|bill|flight|passport"
    r"|balance|subscription|insurance|address"
    r"|reservation|appointment|salary|rent|email|laptop|transfer|payment|identity|app|ticket|luggage|paycheck"
    r"|taxes|calendar|top.?up|license)\b)",
    re.IGNORECASE,
)
_ACTORS = (
    "my son",
    "my employer",
    "a friend",
    "my wife",
    "my business partner",
    "a tenant",
    "someone without an account",
    "a minor",
)
_ACTOR = re.compile(
    r"^(?P<lead>(?:can|could|may|how can|where can|when can) )i (?=(?!get help|ask|have\b|be\b|do\b|my\b)\w+)",
    re.IGNORECASE,
)


def _owner(text: str, rng: random.Random) -> str | None:
    found = list(_OWNED.finditer(text))
    if len(found) != 1 or len(words(text).all) > 25:
        return None
    match = found[0]
    new = rng.choice(_OWNERS) + " "
    return text[: match.start()] + (capital(new) if match[0][0] == "M" else new) + text[match.end() :]


def _actor(text: str, rng: random.Random) -> str | None:
    match = _ACTOR.match(text)
    if (
        match is None
        or re.search(r"\b(?:my|me|myself|i|i'm)\b", text[match.end() :], re.IGNORECASE)
        or not single(text)
    ):
        return None
    return f"{match['lead']}{rng.choice(_ACTORS)} {text[match.end() :]}"


RULES = changing_rules(
    scope_added=_added,
    scope_changed=Lexicon(_EXCHANGE, proper=True),
    scope_group=Lexicon(alternatives(_GROUPS)),
    scope_removed=_removed,
    person_owner=_owner,
    person_actor=_actor,
)
