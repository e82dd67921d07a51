"""Order that means nothing: the two sides of a comparison, nouns beside each other, a phrase moved to the front.

Invariant: verbs in sequence, directions, ratios and names keep their order.
"""

from __future__ import annotations

import re

from semcache.request.text import LIGHT, vocabulary

_STOP = (
    r"(?= (?:in|for|when|on|at|using|regarding|with|if|from|according|during|under|as|by|based|while|since|to|is|are"
    r"|was|were|do|does|did|can|has|have)\b"
    r"|[.?!,;\n]|$)"
)
_PART = r"(?!(?:and|or|vs|versus|is|are|was|were|do|does|did|can|has|have|which|that|who|how|why|not)\b)[^\s,.?!;]+"
_SIDE = rf"({_PART}(?: {_PART}){{0,5}}?)"
_PAIRED = re.compile(
    rf"\b(differences?|distinctions?|similarit(?:y|ies)|relationships?|relation|comparisons?|distance|contrasts?"
    rf"|correlation|choose|differentiate|distinguish|decide|overlap|boundary|border|connection|link)"
    rf" between {_SIDE} and {_SIDE}{_STOP}"
)
_COMPARED = re.compile(rf"^(compare|comparing|contrast|compare and contrast) {_SIDE} (?:and|versus|vs) {_SIDE}{_STOP}")
_COMMON = re.compile(rf"^what (do|did) {_SIDE} and {_SIDE} have in common$")
_EITHER = re.compile(
    rf"^((?:which|what|who) (?:one )?(?:is|are|was) (?:\w+er|better|worse|more \w+|less \w+)),? {_SIDE} or {_SIDE}$"
)
_NOUNS = re.compile(
    r"\b(with|of|for|in|about|both|containing|using|without) ([a-z]{3,}) and ([a-z]{3,})"
    r"(?= (?:in|on|for|at|with|is|are|have|has|from|during|using|do|does|by|to)\b|[.?!,;]|$)"
)
_SEQUENCE = vocabulary(
    """
    before after then from until till into first second last respectively order sequence ratio followed versus vs than
    convert converting minus divided subtract subtracting division university institute ministry department school
    college faculty academy act house lord lords bureau museum journal movie film book novel song lyrics band album
    game show series title called named quote episode brand company store translate spell rhyme word words phrase
    either neither without
    """
)
_BINOMIALS = vocabulary("""
    rock-roll bed-breakfast search-rescue search-replace find-replace cut-paste copy-paste drag-drop trial-error
    cause-effect supply-demand research-development war-peace crime-punishment pride-prejudice romeo-juliet
    sense-sensibility hit-run drum-bass rhythm-blues divide-conquer lost-found life-death law-order
    truth-reconciliation mergers-acquisitions terms-conditions plug-play wash-wear food-beverage mac-cheese
    fish-chips gin-tonic time-again black-white back-forth up-down push-pull pull-push read-write stop-go
    double-triple barnes-noble procter-gamble ernst-young standard-poor simon-garfunkel
    """)
_FRONTED = re.compile(
    r"^(in|on|with|using|for|during|at|under) ([^\s,.?!;:]+(?: [^\s,.?!;:]+){0,3}), "
    r"((?:how|what|who|where|when|why|which|is|are|do|does|can|should)\b[^,.?!;:\n]+)(\?)?$"
)
_FRONTED_BARE = re.compile(
    r"^(in|using|on) (\S*[^\s,.?!;:]) ((?:how do i|what is|what are|how does|why does|why is|who was|who is)\b"
    r"[^,.?!;:\n]+)(\?)?$"
)
_FIRST = re.compile(r"(?:the|a|an|my|your) ")
_PREPOSITIONS = vocabulary("in on for with of from at to when using")
_IDIOMS = vocabulary("short general fact case addition particular other order time contrast comparison")


def ordered(text: str, words: list[str], bag: frozenset[str]) -> str:
    """The text with its symmetric pairs in alphabetical order and a fronted phrase at its end."""
    if "," in text or words[0] in ("in", "using", "on"):
        text = _moved(text)
    if bag.isdisjoint(("and", "or", "versus", "vs")):
        return text
    if "between" in bag:
        text = _PAIRED.sub(_between, text)
    if words[0] in ("compare", "comparing", "contrast"):
        return _COMPARED.sub(_compared, text)
    if words[0] == "what" and "common" in bag:
        return _COMMON.sub(lambda match: f"what {match[1]} {_sorted(match[2], match[3])} have in common", text)
    if words[0] in ("which", "what", "who") and "or" in bag:
        return _EITHER.sub(lambda match: f"{match[1]} {_sorted(match[2], match[3], 'or')}", text)
    if "and" in bag and bag.isdisjoint(_SEQUENCE):
        text = _NOUNS.sub(_listed, text)
    return text


def _moved(text: str) -> str:
    match = _FRONTED.match(text) or _FRONTED_BARE.match(text)
    if match is None or match[2].split()[-1] in _IDIOMS or match[2] in ("that", "this", "it"):
        return text
    return f"{match[3]} {match[1]} {match[2]}{match[4] or ''}"


def _key(side: str) -> str:
    return _FIRST.sub("", side).casefold()


def _sorted(one: str, two: str, word: str = "and") -> str:
    first, second = sorted((one.strip(), two.strip()), key=lambda side: (_key(side), side))
    return f"{first} {word} {second}"


def _between(match: re.Match[str]) -> str:
    head, one, two = match.groups()
    rest = match.string[match.end() :]
    if not _free(one, two, rest):
        return match[0]
    return f"{head} between {_sorted(one, two)}"


def _compared(match: re.Match[str]) -> str:
    head, one, two = match.groups()
    if not _free(one, two, match.string[match.end() :]):
        return match[0]
    return f"{head} {_sorted(one, two)}"


def _free(one: str, two: str, rest: str) -> bool:
    """Return True if nothing binds to one side only: no preposition in the first, no "and" behind the second."""
    if not _PREPOSITIONS.isdisjoint(one.split()) or rest.startswith((" and ", ",")) or " and " in rest[:40]:
        return False
    return not rest.startswith((" from ", " to ")) and bool(one.strip()) and bool(two.strip())


def _listed(match: re.Match[str]) -> str:
    head, one, two = match.groups()
    if one in LIGHT or two in LIGHT or one.endswith("ing") or two.endswith(("ing", "ed")):
        return match[0]
    if f"{one}-{two}" in _BINOMIALS or f"{two}-{one}" in _BINOMIALS:
        return match[0]
    return f"{head} {min(one, two)} and {max(one, two)}"
