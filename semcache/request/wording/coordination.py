"""Order that means nothing: the two sides of a comparison, and nouns beside each other.

Invariant: verbs in sequence, directions, ratios and names keep their order.
"""

from __future__ import annotations

import re

from semcache.config.calendar_names import MONTHS, SHORT_MONTHS, WEEKDAYS
from semcache.request.text import LIGHT, vocabulary
from semcache.request.wording.coordinates import coordinated, is_described
from semcache.request.wording.cues import begun
from semcache.request.wording.fronted import moved
from semcache.request.wording.product_parts import apart
from semcache.request.wording.routes import routed
from semcache.request.wording.verbs import is_base
from semcache.runtime.late_pattern import late

_STOP = (
    r"(?= (?:in|for|when|on|at|using|regarding|with|if|from|according|during|under|as|by|based|while|since|to|is|are"
    r"|was|were|do|does|did|can|has|have)\b"
    r"|[.?!,;\n]|$)"
)
_PART = r"(?!(?:and|or|vs|versus|is|are|was|were|do|does|did|can|has|have|which|that|who|how|why|not)\b)[^\s,.?!;]+"
_SIDE = rf"({_PART}(?: {_PART}){{0,5}}?)"
_PAIRED = late(
    rf"(?<!\bratio )\b(between) (?!\d){_SIDE} (?:and|or|versus) (?!\d+(?:\.\d+)?(?:[ ?.!,]|$)){_SIDE}{_STOP}"
)
_COMPARED = late(rf"^(compare|comparing|contrast|compare and contrast) {_SIDE} (?:and|versus|vs) {_SIDE}{_STOP}")
_COMMON = late(rf"^what (do|did) {_SIDE} and {_SIDE} have in common$")
_EITHER = late(
    rf"^((?:which|what|who) (?:one )?(?:is|are|was) (?:\w+er|better|worse|more \w+|less \w+)),?:? {_SIDE} or {_SIDE}$"
)
_EITHER_HEAD = late(r"(?:which|what|who) (?:one )?(?:is|are|was|were) (?:\w+er|better|worse|more|less)\b", re.I)
# What is better to do: verbs of one object, so that their order says nothing.
_BETTER = late(
    r"^((?:is|was|would) it (?:be )?(?:\w+er|more \w+|less \w+|worse) (?:for me )?to) (\w+) or"
    r" (?:to )?(\w+)((?: [^,.?!;]+)?)$"
)
_VERSUS = late(
    rf"^((?:explain|compare|discuss|describe|contrast) )?(?!(?:which|what|who|how|is|are|do|does|can|should"
    rf"|would|did)\b){_SIDE} (versus|vs) {_SIDE}(?=$|[:,.?]| (?:on|in|for|at|when|with)\b)"
)
_CHOICE = late(
    rf"^{_SIDE} (?:or|versus|vs|and) {_SIDE}(?:,|:|\?|\.| \u2013)? ((?:which|what|who) (?:one )?(?:is|are"
    rf"|was|were) (?:\w+er|better|worse|more"
    r" \w+|less \w+))$"
)
_ALIKE = late(
    rf"^(how (?:far apart|similar|different|alike|close|compatible|closely related) (?:are|were)) {_SIDE} and"
    rf" {_SIDE}{_STOP}"
)
_BETWEEN_OF = late(
    rf"\b(sum|product|least common multiple|lowest common multiple|lcm|gcd|hcf|greatest common (?:divisor|factor)"
    rf"|highest common factor"
    rf"|average|mean|midpoint|union|intersection|combination|mixture|mix|marriage|relationship|comparison|dot"
    rf" product) of {_SIDE} and"
    rf" {_SIDE}{_STOP}"
)
_WITH = late(
    rf"^((?:how |why )?(?:is|are|was|were)) {_SIDE} (interchangeable with|synonymous with"
    rf"|identical to|equivalent to"
    rf"|related to"
    rf"|equal to|similar to|the same as|different from|married to|at war with|allied with) {_SIDE}{_STOP}"
)
_COMBINED = late(
    rf"\b((?:mix|mixing|combine|combining|blend|blending|add|sync|synchronize|link"
    rf"|connect|swap|pair|mixed"
    rf"|balance) ){_SIDE} and {_SIDE}(?= (?:together|with each other|in|on|for|to get)\b|[.?!,;]|$)"
)
_TOGETHER = late(
    rf"\b((?:take|taking|eat|eating|drink|use|using|wear|store|keep|plant|grow|wash|cook|install|run|play"
    rf"|serve|see|visit|study|learn|put|buy)"
    rf" ){_SIDE} and {_SIDE}(?= (?:together|at the same time|with each other|side by side|simultaneously|next to"
    rf" each other)\b)"
)
_WOULD_WIN = late(
    rf"^(who (?:would win|wins|is stronger)(?: in a fight)?|which (?:wins|would win)),? (?:between )?{_SIDE} (?:or"
    rf"|and|versus) {_SIDE}$"
)
_DIFFERS = late(
    rf"^((?:how (?:does|do|did|is|are) (?=.*(?:differ|compare))|what (?:distinguishes|differentiates|separates) "
    rf"|how (?:do|can) i (?:tell|distinguish|differentiate) ))"
    rf"{_SIDE} (differ from|different from|compare to|compare with|compared to|compare against|from) {_SIDE}{_STOP}"
)
_SEQUENCE = vocabulary(
    """
    before after then from until till into first second last respectively order sequence ratio followed than
    composition compose concatenate concatenation concatenating join joins joined joining matrix matrices
    rate rates conversion conversions
    convert converting minus divided subtract subtracting division university institute ministry department school
    college faculty academy act house lord lords bureau museum journal movie film book novel song lyrics band album
    game show series title called named quote episode brand company store translate spell rhyme word words phrase
    either neither without
    composite group grouped grouping index indexes indices layer layered layering layers merge merged merging multiply
    multiplied multiplying nest nested nesting partition partitioned partitioning pipe piped piping plot plotting rank
    ranked ranking sorted sorting zip zipped zipping apply applied applying table chart graph
    """
)
# To sort, but not "what sort of".
_SORTS = late(r"\bsort\b(?! of\b)")
# Of these the first side is the left one.
_UNEVEN = late(
    r"\b(?:cartesian|cross|exterior|kronecker|outer|semidirect|tensor|vector|wedge|wreath) products?\b"
    r"|\b(arr|array|col|commit|df|dict|file|frame|list|set|str|string|table)_?[1-9a-b] and \1_?[1-9a-b]\b",
    re.IGNORECASE,
)
# Who is to find a difference takes one from the other; who asks what it is compares them.
_TAKEN_AWAY = late(
    r"\b(?:calculate|check|compute|find|get|list|print|return|see|show|take|view) (?:me )?the differences? between\b"
)
# What stands behind these may be one title.
_TITLING = vocabulary(
    "wrote written writes sang sung sings directed directs starred stars starring acted painted composed"
)

_BINOMIALS = vocabulary("""
    rock-roll bed-breakfast search-rescue search-replace find-replace cut-paste copy-paste drag-drop trial-error
    cause-effect supply-demand research-development war-peace crime-punishment pride-prejudice romeo-juliet
    sense-sensibility hit-run drum-bass rhythm-blues divide-conquer lost-found life-death law-order
    truth-reconciliation mergers-acquisitions terms-conditions plug-play wash-wear food-beverage mac-cheese
    fish-chips gin-tonic time-again black-white back-forth up-down push-pull pull-push read-write stop-go
    double-triple barnes-noble procter-gamble ernst-young standard-poor simon-garfunkel
    """)
_FIRST = late(r"(?:the|a|an|my|your) ")
_PREPOSITIONS = vocabulary("in on for with of from at to when using")


def ordered(text: str, words: list[str], bag: frozenset[str]) -> str:
    """The text with its symmetric pairs in alphabetical order, and a fronted phrase or a part's program at its end."""
    text = routed(moved(text, words[0]))
    text = _with_related_sides(apart(text), bag)
    if bag.isdisjoint(_CONJUNCTIONS) or not bag.isdisjoint(_POINTING) or _UNEVEN.search(text):
        return text
    text = _with_joined_pairs(_asked_first(text, words[0]), bag)
    if "between" in bag:
        if not bag.isdisjoint(_DATES) and not text.startswith("what is the difference "):
            return text
        if not bag.isdisjoint(_DIRECTED) or _TAKEN_AWAY.search(text):
            return text
        text = _PAIRED.sub(_between, text)
    chosen = _compared_or_chosen(text, words[0], bag)
    return _with_other_sides(text, words[0], bag) if chosen is None else chosen


def _with_related_sides(text: str, bag: frozenset[str]) -> str:
    """The text with the sides of "is a similar to b" and of "how does a differ from b" in order."""
    if bag.isdisjoint(_RELATING):
        return text
    return begun(_DIFFERS, _related, begun(_WITH, _related, text))


def _asked_first(text: str, first: str) -> str:
    """The text with what is asked before the things to choose from, and those who fight in order."""
    if (" which " in text or " what " in text or " who " in text) and (match := _CHOICE.match(text)):
        text = f"{match[3]} {match[1]} or {match[2].rstrip(':,')}"
    if first in ("who", "which"):
        text = begun(_WOULD_WIN, lambda match: _pair(match, 2, 3, "{1} {0}", "or"), text)
    return text


def _with_joined_pairs(text: str, bag: frozenset[str]) -> str:
    """The text with pairs in order that are alike, added, mixed or used together."""
    if "and" not in bag or not bag.isdisjoint(_ORDINAL_WORDS) or not bag.isdisjoint(_MATRICES):
        return text
    text = begun(_ALIKE, lambda match: _pair(match, 2, 3, "{1} {0}", "and"), text)
    text = _BETWEEN_OF.sub(lambda match: _pair(match, 2, 3, "{1} of {0}", "and"), text)
    if bag.isdisjoint(_PARTS_OF_DATA):
        text = _COMBINED.sub(lambda match: _pair(match, 2, 3, "{1}{0}", "and"), text)
    if not bag.isdisjoint(_JOINTLY):
        text = _TOGETHER.sub(lambda match: _pair(match, 2, 3, "{1}{0}", "and"), text)
    return text


def _compared_or_chosen(text: str, first: str, bag: frozenset[str]) -> str | None:
    """The text with the sides in order of a comparison, of what is in common or of a choice; None for another text."""
    if first in ("compare", "comparing", "contrast"):
        return begun(_COMPARED, _compared, text)
    if first == "what" and "common" in bag:
        return begun(_COMMON, lambda match: f"what {match[1]} {_sorted(match[2], match[3])} have in common", text)
    if first in ("which", "what", "who") and "or" in bag:
        return begun(_EITHER, lambda match: f"{match[1]} {_sorted(match[2], match[3], 'or')}", text)
    return None


def _with_other_sides(text: str, first: str, bag: frozenset[str]) -> str:
    """The text with things to do, opponents and any other nouns beside each other in order."""
    if first in ("is", "was", "would") and "or" in bag:
        text = begun(_BETTER, _better, text)
    if "versus" in bag or "vs" in bag:
        text = begun(_VERSUS, lambda match: (match[1] or "") + _sorted(match[2], match[4], match[3]), text)
    if (
        bag.isdisjoint(_SEQUENCE)
        and not _SORTS.search(text)
        and ("both" in bag or bag.isdisjoint(_TITLING))
        and not _EITHER_HEAD.match(text)
    ):
        text = coordinated(text, _BINOMIALS)
    return text


def _pair(match: re.Match[str], one: int, two: int, form: str, word: str) -> str:
    """The match with two of its groups in alphabetical order; as it is where something binds to one of them only."""
    first, second = match[one], match[two]
    if not _free(first, second, match.string[match.end() :]) or {first, second} & LIGHT:
        return match[0]
    if " " in second and is_base(second.split(" ")[0].lower()):
        return match[0]
    if f"{first}-{second}" in _BINOMIALS or f"{second}-{first}" in _BINOMIALS:
        return match[0]
    return form.format(_sorted(first, second, word), match[1])


def _related(match: re.Match[str]) -> str:
    verb, one, relation, two = match.groups()
    if {one.lower(), two.lower()} & _PRONOUNS or not _PREPOSITIONS.isdisjoint(f"{one} {two}".split()):
        return match[0]
    first, second = sorted((one, two), key=lambda side: (_key(side), side))
    return f"{verb}{'' if verb.endswith(' ') else ' '}{first} {relation} {second}"


_PRONOUNS = vocabulary("it this that they he she i you we there these those one")
_CONJUNCTIONS = vocabulary("and or versus vs")
_JOINTLY = vocabulary("together other same side simultaneously")
_POINTING = vocabulary("former latter respectively first second last")
_ORDINAL_WORDS = vocabulary("before after then order")  # beside `_POINTING`
_MATRICES = vocabulary("matrix matrices")  # whose product turns on their order
# From one to the other: "flights between Friday and Monday".
_DATES = frozenset([*MONTHS, *SHORT_MONTHS, *WEEKDAYS]) | vocabulary("""
    christmas easter thanksgiving halloween ramadan diwali hanukkah midnight noon morning afternoon evening night dawn
    dusk sunrise sunset spring summer autumn fall winter today tomorrow yesterday now
    """)
# Of one to the other, or less the other.
_DIRECTED = vocabulary("""
    rate rates conversion conversions set change growth increase decrease divergence transition minus subtract rise fall
    azimuth bearing delta diff diffs direction directions entropy exchange heading interpolate interpolation transfer
    transfers
    """)
_PARTS_OF_DATA = vocabulary(
    "column columns string strings cell cells name names file files list lists branch array arrays"
)
_RELATING = vocabulary(
    """
    interchangeable synonymous identical equivalent related equal similar same different married
    war allied differ compare compared
    """
    " distinguishes differentiates separates tell distinguish differentiate"
)


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
    return f"{head} {_sorted(one, two)}"


def _better(match: re.Match[str]) -> str:
    asked, one, two, rest = match.groups()
    if not (is_base(one) and is_base(two)):
        return match[0]
    return f"{asked} {_sorted(one, two, 'or')}{rest}"


def _compared(match: re.Match[str]) -> str:
    head, one, two = match.groups()
    if not _free(one, two, match.string[match.end() :]):
        return match[0]
    return f"{head} {_sorted(one, two)}"


def _free(one: str, two: str, rest: str) -> bool:
    """Return True if nothing binds to one side only: no preposition in the first, no "and" behind the second.

    An adjective before the first side may be of both.
    """
    if is_described(one.split(" ")) or is_described(two.split(" ")):
        return False
    if not _PREPOSITIONS.isdisjoint(one.split()) or rest.startswith((" and ", ",")) or " and " in rest[:40]:
        return False
    return not rest.startswith((" from ", " to ")) and bool(one.strip()) and bool(two.strip())
