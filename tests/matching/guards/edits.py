"""Edits that change what a question asks: one broad rule per kind, for any question that has a place for it.

A rule gives the edited question, or None where there is no such place. Nothing here knows the guards' tables.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable

Edit = Callable[[str, random.Random], str | None]
TwoEdits = Callable[[str, random.Random], tuple[str, str] | None]

_OPPOSITES = """
increase decrease|enable disable|activate deactivate|before after|more less|buy sell|add remove|start stop|first last
cheap expensive|safe unsafe|legal illegal|internal external|send receive|upload download|lock unlock|import export
advantages disadvantages|high low|long short|best worst|possible impossible|accept reject|maximum minimum|inside outside
"""
_PLACES = (
    "London", "Paris", "Berlin", "Madrid", "Rome", "Dublin", "Toronto", "Sydney", "Mumbai", "Tokyo", "Manchester",
    "Leeds",
)  # fmt: skip
_QUALIFIERS = (
    ("personal", "business"), ("monthly", "annual"), ("domestic", "international"), ("prepaid", "postpaid"),
    ("child", "adult"), ("beta", "stable"), ("basic", "premium"), ("student", "senior"), ("online", "in-store"),
    ("weekday", "weekend"), ("temporary", "permanent"), ("single", "joint"), ("part-time", "full-time"),
    ("Android", "iPhone"),
)  # fmt: skip
_FORMS = (
    " in JSON", " as a table", " in one sentence", " in French", " in Spanish", " for a child", " step by step",
    " as a bulleted list", " in simple terms", " as a poem", " in detail", " like I'm five",
)  # fmt: skip
_QUANTIFIERS = {
    "all": "some", "every": "some", "some": "all", "most": "all", "many": "few", "at least": "at most",
    "at most": "at least", "more than": "less than", "less than": "more than",
}  # fmt: skip
_PRODUCTS = re.compile(r"\b(Python|Java|Android|iOS|Windows|iPhone|Ubuntu|PHP|Angular|Excel|Django)\b(?! ?\d)")
_NOUN = re.compile(r"\b(?:my|the|a|an|your) (?=([a-z]{3,})\b(?! of\b))")


def number(text: str, rng: random.Random) -> str | None:
    """Another number in the place of one."""
    found = list(re.finditer(r"(?<![\w.])\d+(?![\w.])", text))
    if found:
        match = rng.choice(found)
        return text[: match.start()] + str(int(match[0]) + rng.randint(1, 9)) + text[match.end() :]
    return None


def date(text: str, rng: random.Random) -> str | None:
    return _ended(text, rng.choice((" in 2019", " on Monday", " next week", " in March", " last year", " at 5pm")))


def entity(text: str, rng: random.Random) -> str | None:
    return _ended(text, f" in {rng.choice(_PLACES)}")


def negation(text: str, rng: random.Random) -> str | None:
    """A negator behind the first auxiliary."""
    match = re.search(r"\b(can|could|should|do|does|did|is|are|was|will|would|has|have) (\w+) ", text)
    if match is None or text[: match.start()].strip():
        return None
    return f"{text[: match.end()]}not {text[match.end() :]}"


def antonym(text: str, rng: random.Random) -> str | None:
    pairs = [pair.split() for pair in _OPPOSITES.replace("\n", "|").split("|") if pair]
    both = [(one, two) for one, two in pairs] + [(two, one) for one, two in pairs]
    fitting = [(one, two) for one, two in both if re.search(rf"\b{one}\b", text) and not re.search(rf"\b{two}\b", text)]
    if not fitting:
        return None
    one, two = rng.choice(fitting)
    return re.sub(rf"\b{one}\b", two, text, count=1)


def direction(text: str, rng: random.Random) -> str | None:
    """What stands behind "from" and "to" exchanged."""
    match = re.search(r"\bfrom ((?:the |my |a )?\w+) to ((?:the |my |a )?\w+)", text)
    if match is None or match[1] == match[2]:
        return None
    return f"{text[: match.start()]}from {match[2]} to {match[1]}{text[match.end() :]}"


def quantifier(text: str, rng: random.Random) -> str | None:
    match = re.search(rf"\b({'|'.join(_QUANTIFIERS)})\b", text)
    return None if match is None else f"{text[: match.start()]}{_QUANTIFIERS[match[1]]}{text[match.end() :]}"


def version(text: str, rng: random.Random) -> str | None:
    """A version behind the name of a product."""
    match = _PRODUCTS.search(text)
    return None if match is None else f"{text[: match.end()]} {rng.randint(2, 14)}{text[match.end() :]}"


def form(text: str, rng: random.Random) -> str | None:
    return _ended(text, rng.choice(_FORMS))


def question(text: str, rng: random.Random) -> str | None:
    """Another question word in front of the same rest."""
    match = re.match(r"(how|when|where|why) (do|does|did|can|should|is|are|was|will)\b", text, re.IGNORECASE)
    if match is None:
        return None
    other = rng.choice([word for word in ("how", "when", "why") if word != match[1].lower()])
    return f"{other.capitalize() if text[0].isupper() else other}{text[match.end(1) :]}"


def ellipsis(text: str, rng: random.Random) -> str | None:
    """The question's last words behind "what about"."""
    words = text.rstrip("?!. ").split()
    return None if len(words) < 5 else f"What about {' '.join(words[-2:])}?"


def _ended(text: str, tail: str) -> str | None:
    stripped = text.rstrip("?!. ")
    return None if "?" in stripped or len(stripped.split()) > 14 else stripped + tail + text[len(stripped) :].strip()


def scope(text: str, rng: random.Random) -> tuple[str, str] | None:
    """Two qualifiers in front of one noun."""
    match = _NOUN.search(text)
    if match is None:
        return None
    one, two = rng.choice(_QUALIFIERS)
    return f"{text[: match.end()]}{one} {text[match.end() :]}", f"{text[: match.end()]}{two} {text[match.end() :]}"


def forms(text: str, rng: random.Random) -> tuple[str, str] | None:
    return _both(text, *rng.sample(_FORMS, 2))


def places(text: str, rng: random.Random) -> tuple[str, str] | None:
    one, two = rng.sample(_PLACES, 2)
    return _both(text, f" in {one}", f" in {two}")


def units(text: str, rng: random.Random) -> tuple[str, str] | None:
    many = rng.randint(2, 9)
    one, two = rng.sample(("days", "weeks", "months", "hours"), 2)
    return _both(text, f" within {many} {one}", f" within {many} {two}")


def _both(text: str, one: str, two: str) -> tuple[str, str] | None:
    left, right = _ended(text, one), _ended(text, two)
    return (left, right) if left and right else None


def _ended(text: str, tail: str) -> str | None:
    stripped = text.rstrip("?!. ")
    return None if "?" in stripped or len(stripped.split()) > 14 else stripped + tail + text[len(stripped) :].strip()


# Of one text, and of two texts that each get a value of their own.
ONE_SIDED: dict[str, Edit] = {
    edit.__name__: edit
    for edit in (number, date, entity, negation, antonym, direction, quantifier, version, form, question, ellipsis)
}
TWO_SIDED: dict[str, TwoEdits] = {edit.__name__: edit for edit in (scope, forms, places, units)}
