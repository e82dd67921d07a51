"""Order that means nothing: the two sides of a comparison, nouns beside each other, a phrase moved to the front.

Invariant: verbs in sequence, directions, ratios and names keep their order.
"""

from __future__ import annotations

import re

from semcache.request.text import LIGHT, vocabulary
from semcache.request.wording.verbs import BASES

_STOP = (
    r"(?= (?:in|for|when|on|at|using|regarding|with|if|from|according|during|under|as|by|based|while|since|to|is|are"
    r"|was|were|do|does|did|can|has|have)\b"
    r"|[.?!,;\n]|$)"
)
_PART = r"(?!(?:and|or|vs|versus|is|are|was|were|do|does|did|can|has|have|which|that|who|how|why|not)\b)[^\s,.?!;]+"
_SIDE = rf"({_PART}(?: {_PART}){{0,5}}?)"
_PAIRED = re.compile(
    rf"\b(differences?|distinctions?|similarit(?:y|ies)|relationships?|relation|war|treaty|battle|conflict|match"
    rf"|game|rivalry|friendship|time difference|tension|alliance|gap|comparisons?|distance|contrasts?"
    rf"|correlation|choose|differentiate|distinguish|decide|overlap|boundary|border|connection|link)"
    rf"(?: in \w+)? between {_SIDE} and {_SIDE}{_STOP}"
)
_COMPARED = re.compile(rf"^(compare|comparing|contrast|compare and contrast) {_SIDE} (?:and|versus|vs) {_SIDE}{_STOP}")
_COMMON = re.compile(rf"^what (do|did) {_SIDE} and {_SIDE} have in common$")
_EITHER = re.compile(
    rf"^((?:which|what|who) (?:one )?(?:is|are|was) (?:\w+er|better|worse|more \w+|less \w+)),? {_SIDE} or {_SIDE}$"
)
_NOUNS = re.compile(
    r"\b(with|of|for|in|about|both|containing|using|without) ([a-z]{3,}) and ([a-z]{3,})"
    r"(?= (?:in|on|for|at|with|is|are|have|has|from|during|using|do|does|by|to|get|need|use|take|go|work|can"
    r"|should)\b|[.?!,;]|$)"
)
_RELATION = (
    r"related|connected|similar|different|the same|alike|neighbou?rs|friends|enemies|rivals|siblings|brothers"
    r"|sisters|cousins"
    r"|married|together|identical|interchangeable|compatible|synonyms|synonymous|linked|equal|equivalent|twins|allies|apart"
    r"|in love|at war|opposites|close|separate|both|each|ever|still|really|also|closely|good|bad|safe|dangerous"
    r"|healthy|vegan"
    r"|vegetarian|real|available|included|allowed|in the|on the|part of|members?|available|be|been|have"
)
_JOINED = re.compile(
    rf"\b(are|were|do|did|can|could|should|will|would|have|must|may) ((?:not )?){_SIDE} and {_SIDE}"
    rf"(?= (?:{_RELATION}|{'|'.join(sorted(BASES))})\b)"
)
_ALIKE = re.compile(
    rf"^(how (?:far apart|similar|different|alike|close|compatible|closely related) (?:are|were)) {_SIDE} and"
    rf" {_SIDE}{_STOP}"
)
_BETWEEN_OF = re.compile(
    rf"\b(sum|product|least common multiple|lowest common multiple|lcm|gcd|hcf|greatest common (?:divisor|factor)"
    rf"|highest common factor"
    rf"|average|mean|midpoint|union|intersection|combination|mixture|mix|marriage|relationship|comparison|dot"
    rf" product) of {_SIDE} and"
    rf" {_SIDE}{_STOP}"
)
_WITH = re.compile(
    rf"^(is|are|was|were) {_SIDE} (compatible with|interchangeable with|synonymous with|identical to|equivalent to"
    rf"|related to"
    rf"|equal to|similar to|the same as|different from|married to|at war with|allied with) {_SIDE}{_STOP}"
)
_COMBINED = re.compile(
    rf"\b((?:mix|mixing|combine|combining|blend|blending|merge|merging|multiply|add|sync|synchronize|link|connect|swap|pair|mixed"
    rf"|balance) ){_SIDE} and {_SIDE}(?= (?:together|with each other|in|on|for|to get)\b|[.?!,;]|$)"
)
_TOGETHER = re.compile(
    rf"\b((?:take|taking|eat|eating|drink|use|using|wear|store|keep|plant|grow|wash|cook|install|run|play|serve|see|visit|study|learn|put|buy)"
    rf" ){_SIDE} and {_SIDE}(?= (?:together|at the same time|with each other|side by side|simultaneously|next to"
    rf" each other)\b)"
)
_WOULD_WIN = re.compile(
    rf"^(who (?:would win|wins|is stronger)(?: in a fight)?|which (?:wins|would win)),? (?:between )?{_SIDE} (?:or"
    rf"|and|versus) {_SIDE}$"
)
_MORE = re.compile(
    rf"^(is|are|was|were|does|do|did|has|have|should i (?:buy|choose|get|use|learn|pick|take|eat|drink|study"
    rf"|visit)) {_SIDE} or {_SIDE}"
    r"(?= (?:better|worse|more|less|the (?:better|worse|more|bigger|best)|have (?:more|less|fewer)|has (?:more"
    r"|less|fewer)|first|taste|last"
    r"|contain|cost|healthier|cheaper|faster|bigger|larger|older|taller|safer|stronger|heavier|easier|harder|hotter|colder|longer|higher"
    r"|warmer|closer|smaller|younger|richer|deeper|denser|lighter|slower|cleaner|harder|worth|is|for)\b|$)"
)
_DIFFERS = re.compile(
    rf"^((?:how (?:does|do|did|is|are)|what (?:distinguishes|differentiates|separates)|how (?:do|can) i (?:tell"
    rf"|distinguish|differentiate)) )"
    rf"{_SIDE} (differ from|different from|from) {_SIDE}{_STOP}"
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
    r"^(in|on|with|using|for|during|at|under|without|after|before|from|since|within|near) ([^\s,.?!;:]+(?:"
    r" [^\s,.?!;:]+){0,3}), "
    r"((?:how|what|who|where|when|why|which|is|are|do|does|can|should|could|would|explain|describe|list|give|write|suggest|recommend|name|tell)\b[^,.?!;:\n]+)(\?)?$"
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
    if not bag.isdisjoint(_RELATING):
        text = _WITH.sub(_related, text)
        text = _DIFFERS.sub(_related, text)
    if bag.isdisjoint(("and", "or", "versus", "vs")):
        return text
    if "or" in bag:
        text = _MORE.sub(lambda match: _pair(match, 2, 3, "{1} {0}", "or"), text)
    if words[0] in ("who", "which"):
        text = _WOULD_WIN.sub(lambda match: _pair(match, 2, 3, "{1}, {0}", "or"), text)
    if "and" in bag and bag.isdisjoint(_ORDINAL_WORDS):
        text = _JOINED.sub(_subjects, text)
        text = _ALIKE.sub(lambda match: _pair(match, 2, 3, "{1} {0}", "and"), text)
        text = _BETWEEN_OF.sub(lambda match: _pair(match, 2, 3, "{1} of {0}", "and"), text)
        text = _COMBINED.sub(lambda match: _pair(match, 2, 3, "{1}{0}", "and"), text)
        if not bag.isdisjoint(_JOINTLY):
            text = _TOGETHER.sub(lambda match: _pair(match, 2, 3, "{1}{0}", "and"), text)
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


def _pair(match: re.Match[str], one: int, two: int, form: str, word: str) -> str:
    """The match with two of its groups in alphabetical order; as it is where something binds to one of them only."""
    first, second = match[one], match[two]
    if not _free(first, second, match.string[match.end() :]) or {first, second} & LIGHT:
        return match[0]
    if f"{first}-{second}" in _BINOMIALS or f"{second}-{first}" in _BINOMIALS:
        return match[0]
    return form.format(_sorted(first, second, word), match[1])


def _subjects(match: re.Match[str]) -> str:
    verb, negation, one, two = match.groups()
    if not {*one.split(), *two.split()}.isdisjoint(_UNFIT) or one in BASES or one.endswith("ing"):
        return match[0]
    if not _free(one, two, "") or f"{one}-{two}" in _BINOMIALS or f"{two}-{one}" in _BINOMIALS:
        return match[0]
    return f"{verb} {negation}{_sorted(one, two)}"


def _related(match: re.Match[str]) -> str:
    verb, one, relation, two = match.groups()
    if {one.lower(), two.lower()} & _PRONOUNS or not _PREPOSITIONS.isdisjoint(f"{one} {two}".split()):
        return match[0]
    first, second = sorted((one, two), key=lambda side: (_key(side), side))
    return f"{verb}{'' if verb.endswith(' ') else ' '}{first} {relation} {second}"


_PRONOUNS = vocabulary("it this that they he she i you we there these those one")
_UNFIT = _PRONOUNS | vocabulary("and or not if when who which what while then how why where")
_JOINTLY = vocabulary("together other same side simultaneously")
_ORDINAL_WORDS = vocabulary("respectively before after then first second last former latter order")
_NAMED = vocabulary(
    """
    marketing engineering accounting programming banking housing clothing training parking king ring spring
    wing string
    """
)
_RELATING = vocabulary(
    """
    compatible interchangeable synonymous identical equivalent related equal similar same different married
    war allied differ
    """
    " distinguishes differentiates separates tell distinguish differentiate"
)


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
    if (
        one in LIGHT
        or two in LIGHT
        or two.endswith("ed")
        or any(side.endswith("ing") and side not in _NAMED for side in (one, two))
    ):
        return match[0]
    if f"{one}-{two}" in _BINOMIALS or f"{two}-{one}" in _BINOMIALS:
        return match[0]
    return f"{head} {min(one, two)} and {max(one, two)}"
