"""Edits that exchange directions and roles: who does what to whom, from where to where.

Invariant: both sides of an exchange are found by words that order them ("from A to B", "A instead of B"), so that the
exchange cannot leave the meaning as it was.
"""

from __future__ import annotations

import random
import re

from semcache.request.text import vocabulary
from semcache.train.synthesize.edit_rule import changing_rules
from semcache.train.synthesize.prose_edits import Lexicon, cased, spans, words

_A = r"(?P<a>(?:the |a |an |my |your |one )?[\w$£€](?:[\w.#+'-]*[\w#+])?(?: [A-Z][\w-]+){0,2})"
_B = _A.replace("?P<a>", "?P<b>")
_NOT = r"(?!\b(?:it|that|this|be|get|do|me|them|him|her|us|you|one|what|start|go|now|each|time|scratch)\b)"
_ORDERED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\bfrom {_NOT}{_A} (?:to|into) (?!the same|the following|do\b|be\b|get\b|go\b|buy\b|make\b|use\b|see\b"
        rf"|pay\b|my own){_NOT}{_B}(?=[?.,!]|$| (?:in|on|for|by|using|with|and|cost|take|via|without)\b)",
        rf"\b(?:convert|change|exchange|translate|turn|transform|parse|cast|swap) {_NOT}{_A} (?:in|to|into"
        rf"|for) {_NOT}{_B}(?=[?.,!]|$| (?:in|using|with|without|on)\b)",
        r"\b(?:instead of|rather than) (?P<a>\w+)(?P<b>(?!))",
        rf"\b{_A} (?:instead of|rather than) {_NOT}{_B}(?=[?.,!]|$)",
        rf"\b{_NOT}{_A} (?:better|worse|more expensive|cheaper|faster|slower|larger|smaller|bigger|older|younger"
        rf"|taller|heavier|healthier|safer|stronger) than {_NOT}{_B}(?=[?.,!]|$)",
        r"\b(?:replace|substitute) (?P<a>'[^']*'|\"[^\"]*\"|[\w]+) (?:with|by) (?P<b>'[^']*'|\"[^\"]*\""
        r"|[\w]+)(?=[?.,!]|$| in\b)",
        rf"\b(?:subtract|minus) {_A} from {_B}(?=[?.,!]|$)",
        rf"\b(?:divide) {_A} by {_B}(?=[?.,!]|$)",
        r"\bfrom (?P<a>[A-Z][\w'’.-]*(?: [A-Z][\w'’.-]*){0,3}) to (?P<b>[A-Z][\w'’.-]*(?: [A-Z][\w'’.-]*){0,3})",
    )
)  # fmt: skip
_SYMMETRIC = re.compile(r"\b(?:distance|how far|difference|time difference|miles|between)\b", re.IGNORECASE)
_ROLES = """
buyer seller|lender borrower|landlord tenant|employer employee|teacher student|doctor patient|parent child
buyers sellers|landlords tenants|employers employees|doctors patients|teachers students|parents children
sender recipient|client server|driver passenger|plaintiff defendant|predator prey|predators prey
mother daughter|father son|customer company|host guest|cats dogs|men women|boys girls|husband wife
"""
_PAIRS = [tuple(pair.split()) for pair in _ROLES.replace("\n", "|").split("|") if pair.strip()]
_PARTNER = {one: two for pair in _PAIRS for one, two in (pair, pair[::-1])}
_ROLE = re.compile(rf"\b(?:{'|'.join(_PARTNER)})\b", re.IGNORECASE)
_VERBS = (
    r"(?:owes?|pays?|sends?|sues?|evicts?|bites?|beats?|defeats?|attacks?|infects?|lends?|teaches|helps?|eats?|affects?"
    r"|influences?|replaces?|follows?|includes?|contains?|calls?|kills?|invaded|defeated|conquered|colonized|attacked"
    r"|influenced|succeeded|married)"
)
_ACTS = re.compile(
    rf"(?:^|\b(?:if|when|why|that|does|did|do|can|could|should|must|may|how) )(?P<a>(?:a |the "
    rf"|my )?[A-Za-z]+) (?P<verb>{_VERBS}) (?P<b>(?:a |the |my )?[A-Za-z]+)(?=[?.!,]|$)",
    re.IGNORECASE,
)
_NO_SIDE = vocabulary(
    """
    who what which that it they this there i you we he she to not can will would did does do me him her them us
    and or
    """
)
_MINE = """
sent to | received from
transfer to | transfer from
transfer money to | transfer money from
transferred to | transferred from
borrow from | lend to
flight to | flight from
flights to | flights from
fly to | fly from
switch to | switch from
move to | move from
withdraw from | deposit into
append to | remove from
into my account | out of my account
into my | out of my
owe me | I owe
who do i owe | who owes me
call me | call my mother
tell me if | tell my wife if
can i send | can I receive
can i lend | can I borrow
sending money | receiving money
send money | receive money
incoming | outgoing
inbound | outbound
"""


_CUES = vocabulary(
    """
    from convert change exchange translate turn transform parse cast swap instead rather than replace substitute
    subtract minus divide
    """
)


def _swapped(text: str, rng: random.Random) -> str | None:
    """A and B, where something goes from A to B, exchanged."""
    if words(text).bag.isdisjoint(_CUES) or _SYMMETRIC.search(text):
        return None
    found = [match for pattern in _ORDERED for match in spans(pattern, text) if match["b"]]
    found = [
        match for match in found if match["a"].lower() != match["b"].lower() and not _amount(match["a"], match["b"])
    ]
    if not found:
        return None
    match = rng.choice(found)
    return (
        text[: match.start("a")]
        + match["b"]
        + text[match.end("a") : match.start("b")]
        + match["a"]
        + text[match.end("b") :]
    )


def _amount(one: str, two: str) -> bool:
    """Return True if exactly one of two is a number, as in "convert 5 into euros"."""
    return one[:1].isdigit() != two[:1].isdigit()


def _roles(text: str, rng: random.Random) -> str | None:
    """Two roles of one relation, each put for the other throughout."""
    present = words(text).bag & _PARTNER.keys()
    if len(present) < 2:
        return None
    pairs = sorted({tuple(sorted((one, _PARTNER[one]))) for one in present if _PARTNER[one] in present})
    if not pairs or re.search(r"\b(?:between|and|or|both)\b", text):
        return None
    pair = rng.choice(pairs)
    return _ROLE.sub(lambda m: cased(_PARTNER[m[0].lower()], m[0]) if m[0].lower() in pair else m[0], text)


def _acts(text: str, _: random.Random) -> str | None:
    match = _ACTS.search(text)
    if match is None:
        return None
    sides = [match["a"], match["b"]]
    if (
        any(part.lower() in _NO_SIDE for side in sides for part in side.split())
        or match["a"].lower() == match["b"].lower()
    ):
        return None
    return f"{text[: match.start('a')]}{match['b']} {match['verb']} {match['a']}{text[match.end('b') :]}"


def _table() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in filter(None, map(str.strip, _MINE.splitlines())):
        one, two = (part.strip() for part in line.split("|"))
        found.setdefault(one, []).append(two)
    return found


RULES = changing_rules(
    direction_ends=_swapped,
    direction_preposition=Lexicon(_table()),
    role_relation=_roles,
    role_sides=_acts,
)
