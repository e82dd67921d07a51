"""The guard for negation and opposites: prompts that differ in polarity have different answers.

Reads negators, double negation, the idioms that only look negated, and words that exclude each other ("enable" against
"disable", "north" against "south"). "Not safe" equals "unsafe". It parses no grammar: scope is a few words.
Invariant: an opposite counts only when each text holds one side of it; a text that holds both ("on or off") is neutral.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

from semcache.matching.guards import converse, direction, governed, phrasal
from semcache.matching.guards.base import ReadingGuard
from semcache.matching.guards.direction import compared_otherwise
from semcache.matching.guards.opposites import (
    AXES,
    CONVERSE,
    DEALS,
    DEEDS,
    GROUPS,
    LOOSE,
    MILD,
    SETTINGS,
    STATES,
    SWITCHING,
    VERBS,
    WEAK,
    affixed,
)
from semcache.request.text import FEW, SplitText, content, differing, vocabulary
from semcache.request.text import read as read_text
from semcache.request.wording.cues import holds
from semcache.types import Conflict

_AUXILIARIES = vocabulary("do does did is are was were has have had can could would should must need might ai wo sha")
_CONTRACTED = frozenset(f"{aux}n't" for aux in _AUXILIARIES) | {"can't", "won't", "shan't", "don't"}
_BARE = frozenset(word.replace("'", "") for word in _CONTRACTED) - {"wont", "cant"} | {"cant", "wont", "dnt", "didnt"}
_NEGATORS = (
    _CONTRACTED
    | _BARE
    | vocabulary(
        "not never without no nor none neither nobody nothing nowhere cannot except excluding unless non"
        " unable impossible avoid avoiding"
    )
)
# Words by which a text may say "it does not work" without a negator; they excuse one in the other text.
_SOFT = vocabulary(
    "trouble problem problems issue issues error errors broken declined rejected missing stuck stopped"
    " wrong hard difficult"
    " hardly rarely barely seldom bad poor lost locked still yet instead rather only stop quit free less"
    " little few false"
    " denied deny disallowed forbidden prohibited illegal blocked hate dislike ignore skip prevent but"
    " fewer dead waiting overcome overcoming rid escape beat against"
    " pending delayed fail fails failed failing failure refuse refuses refused refusing lack lacks lacking"
)
_IDIOMS = re.compile(
    r"\b(?:why (?:not|don't (?:we|you)|dont (?:we|you))|whether or not|or not\b|not only|no matter"
    r"|no problem|not sure|no idea"
    r"|(?:i |we )?(?:do not|don't|dont|didn't) (?:know|understand|mind|get (?:how|why|what|it))|can(?:'|no)?t wait"
    r"|can't help|couldn't help|if (?:so|yes|not|no)\b|(?:do|does|is|can|will)/\w+n't|last but not least"
    r"|nothing but|non[- ]?stop|not to mention|no longer than"
    r"|(?:i|we)(?:'ve| have)? never (?:done|understand|understood|tried|had|seen|learned|learnt|used|written|made)"
    r" (?:this|that|it|one|any|before)\b"
    r"|not just|not yet sure|no wonder|no doubt|by no means|say no to|yes or no|do's and don'ts|dos and don'ts"
    r"|wouldn't it|don't worry|no less than|not too sure|never mind|nevermind|no rush|it's not like"
    r"|(?:,\s*|\s)(?:isn't|aren't|wasn't|weren't|don't|doesn't|didn't|won't|can't|couldn't|hasn't|haven't"
    r"|shouldn't|wouldn't)"
    r" (?:it|they|he|she|we|you|i|that|there)\s*\?\s*$|no\.\s?\d)"
)
# A yes-or-no question asked in the negative asks the same: "Can't I pay by card?"
_RHETORICAL = re.compile(
    r"^(?:\W*(?:is|are|was|were|do|does|did|ca|could|would|should|has|have|wo)n't)\b(?!\s+(?:work|use|go|let|send))"
)
# What says "without" and "except" in other words.
_LACKING = re.compile(r"\bw/o\b|\bin (?:the )?absence of\b")
_EXCEPTING = re.compile(r"\b(?:apart|aside) from\b|\bother than\b")
_EXCEPT = vocabulary("except excluding")
_BUT = re.compile(r"\b(?:all|every\w*|any\w*|each)\b(?: [\w'-]+){0,5}? but\b|\bbesides\b")
_AVOIDED = re.compile(r"\bbe avoided\b")
_PHRASED = ("w/o", "absence of", "apart from", "aside from", "other than", "be avoided")
# "Safe or no", "yes/no": a question, not a negation; "no. of players": a number.
_EITHER = re.compile(r"(?:\bor|/) ?(?:no|not|n)\W*$|\byes[ /,]+(?:or )?no\b|\by/n\b|\bno\. of\b")
_AGAINST = vocabulary("against for in favour favor of")
_PREFIXED = re.compile(r"^(?:un|dis|non|mis)(?=[a-z]{4})")
_NOT_PREFIXED = re.compile(
    r"^(?:under|until|unit|uni(?!n)|uncle|unto|discov|discuss|discount|dispatch|display|distan|distr|dispos"
    r"|discipl|disc|disp|disg"
    r"|disk|dism|distinct|misc|miss|mist|misery|disease|disab|dissert)"
)
# The end of the hours is asked for: "How late are you open?" is "When do you close?".
_OPEN_UNTIL = re.compile(
    r"\b(?:how late|(?:until?|till?) (?:when|what (?:time|hour)))\b.{0,80}\bopen\b|\bopen (?:until?|till?)\W*$"
)
_OPENING = frozenset(axis for axis, _ in AXES["open"])
_SIDED = frozenset(AXES)
_GROUPED = frozenset(GROUPS)
_NONE: frozenset[int] = frozenset()
_NO_WORDS: frozenset[str] = frozenset()
_LESSENING = vocabulary("less least")
_TROUBLE = re.compile(
    r"^\W*(?:(?:hi|hello|hey|help|please|sorry|so|but|and|ok|well)\b\W*)*(?:i|i'm|i've|we|my|the|it|it's|this|there|there's|some|someone)\b"
    r"(?!.*\b(?:if|unless)\b)"
)
_LITTLE = 3  # content words by which texts may differ, the opposites among them, for a weak opposite to count
_SOME = 4  # ... for a deal between parties of whom nothing is told
_MUCH = 8  # ... for a property, or the setting of a request
_SIDES_OF = {axis: frozenset(word for word, sides in AXES.items() if axis in dict(sides)) for axis in CONVERSE}
_SETTING = frozenset(GROUPS[word][0] for word in SETTINGS)
_ORDERING = frozenset((GROUPS["before"][0],))
_NEAR = 3  # words within which a second negator undoes the first


class _Sides(NamedTuple):
    """The side of each axis that a text holds, and the axes of verbs of which it holds a past participle or a deed."""

    signs: dict[int, int]
    states: frozenset[int]
    deeds: frozenset[int]


_NO_SIDES = _Sides({}, _NONE, _NONE)


class NegationReading(NamedTuple):
    """The polarity of a text.

    `sides` are (axis, sign) of the opposites a text holds one side of, `states` those of them that are past
    participles ("locked" asks for "unlock"), `deeds` those that are verbs of another form and no past tense; `members`
    are (group, member), `affixed` the sides of opposite affixes.
    """

    negated: bool
    soft: bool
    sides: dict[int, int]
    states: frozenset[int]
    deeds: frozenset[int]
    members: dict[int, frozenset[int]]
    stems: frozenset[str]
    against: bool
    affixed: dict[str, int]


_NOTHING = NegationReading(False, False, {}, _NONE, _NONE, {}, frozenset(), False, {})


class _Opposed(NamedTuple):
    """The axes on which two texts take opposite sides, and those on which they only seem to."""

    axes: list[int]
    turned: frozenset[int]


class NegationGuard(ReadingGuard[NegationReading]):
    """Vetoes prompts of opposite polarity and prompts that name opposites or different alternatives."""

    name = "negation"

    def read(self, text: str) -> NegationReading:
        """The reading of `text`."""
        return read(text)

    def compare(self, one: NegationReading, two: NegationReading, query: str, cached: str, /) -> Conflict | None:
        """Compare the polarity of both texts and the opposites they name."""
        opposed, turned = _opposed(one, two, query, cached)
        flips = len(opposed) or _affixes_opposed(one, two) or _prefixes_opposed(one, two, query, cached)
        if flips == 1 and compared_otherwise(direction.read(query), direction.read(cached)):
            flips = 0  # "Is A faster than B?" and "Is B slower than A?"
        negated = one.negated != two.negated
        if negated and flips == 1:
            flips, negated = 0, False  # "not safe" and "unsafe": the two cancel each other out
        if flips:
            return Conflict(self.name, f"opposites: {_words(query, cached)}", _surely(opposed, query, cached))
        return (
            (self._only_one_negated(one, two, query, cached) if negated else None)
            or self._only_one_against(one, two, query, cached)
            or self._alternatives(one, two, query, cached, turned=bool(turned))
        )

    def _only_one_negated(self, one: NegationReading, two: NegationReading, query: str, cached: str) -> Conflict | None:
        """The finding where one text is negated, unless the other says the same with a word such as "broken"."""
        plain, negated, other = (two, query, cached) if one.negated else (one, cached, query)
        if _excepts(other) and _EXCEPT.issuperset(read_text(negated).bag & _NEGATORS):
            return None
        others = (content(query) ^ content(cached)) - _NEGATORS
        if plain.soft and others:
            return None
        return Conflict(self.name, "only one is negated", _inverted(negated, others))

    def _only_one_against(self, one: NegationReading, two: NegationReading, query: str, cached: str) -> Conflict | None:
        if one.against != two.against and content(query) ^ content(cached) <= _AGAINST:
            return Conflict(self.name, "only one is against")
        return None

    def _alternatives(
        self, one: NegationReading, two: NegationReading, query: str, cached: str, *, turned: bool
    ) -> Conflict | None:
        """The finding where each text names a word of one group that the other does not: "north" and "south"."""
        for group, members in one.members.items():
            theirs = two.members.get(group, members)
            if members <= theirs or theirs <= members or (turned and group in _ORDERING):
                continue
            surely = group not in _SETTING or len(differing(query, cached)) <= _MUCH
            return Conflict(self.name, f"alternatives: {_words(query, cached)}", surely)
        return None


def _opposed(one: NegationReading, two: NegationReading, query: str, cached: str) -> _Opposed:
    if not (one.sides and two.sides):
        return _Opposed([], _NONE)
    opposed = [
        axis
        for axis, sign in one.sides.items()
        if two.sides.get(axis, sign) != sign
        and axis not in one.states & two.deeds
        and axis not in one.deeds & two.states
    ]
    if not WEAK.isdisjoint(opposed) and len(differing(query, cached)) > _LITTLE:
        opposed = [axis for axis in opposed if axis not in WEAK]
    turned = _turned(opposed, query, cached)
    return _Opposed([axis for axis in opposed if axis not in turned], turned)


def _affixes_opposed(one: NegationReading, two: NegationReading) -> int:
    """On how many axes of affixes the texts take opposite sides: "overpaid" and "underpaid"."""
    return sum(two.affixed.get(axis, sign) != sign for axis, sign in one.affixed.items())


def _prefixes_opposed(one: NegationReading, two: NegationReading, query: str, cached: str) -> int:
    """How many words one text prefixes with "un" and the like that stand bare in the other."""
    return _unprefixed(one.stems, query, cached) + _unprefixed(two.stems, cached, query)


def _turned(opposed: list[int], query: str, cached: str) -> frozenset[int]:
    """The axes on which the texts are opposed and yet say one thing, for the two sides have changed places."""
    found: set[int] = set()
    one, two = read_text(query), read_text(cached)
    for axis in opposed:
        if axis in DEALS:
            if converse.exchanged(one, two):
                found.add(axis)
        elif axis in CONVERSE and converse.compared(one, two, _SIDES_OF[axis]):
            found.add(axis)
    return frozenset(found)


def _surely(opposed: list[int], query: str, cached: str) -> bool:
    """Return True if opposites on these axes are more than another wording, as one in a clause of many may be."""
    much = len(differing(query, cached))
    if opposed and much > _MUCH and MILD.issuperset(opposed):
        return False
    if opposed and much > FEW and DEALS.issuperset(opposed):
        told = converse.exchanged(read_text(query), read_text(cached))
        return told is False or much <= _SOME
    return True


def read(text: str) -> NegationReading:
    """The polarity of `text` and the opposites it names."""
    words = read_text(text)
    bag = words.bag
    negated = (not bag.isdisjoint(_NEGATORS) or holds(words.lower, _PHRASED)) and _negated(words)
    soft = not bag.isdisjoint(_SOFT)
    held = _NO_SIDES if bag.isdisjoint(_SIDED) else _sides(words)
    sides = held.signs | phrasal.sides(words)
    members: dict[int, frozenset[int]] = {}
    for word in bag & _GROUPED:
        group, member = GROUPS[word]
        members[group] = members.get(group, frozenset()) | {member}
    stems = {
        _PREFIXED.sub("", word)
        for word in bag
        if word[0] in "udnm"
        and len(word) > 5
        and word not in AXES
        and _PREFIXED.match(word)
        and not _NOT_PREFIXED.match(word)
    }
    if not bag.isdisjoint(_UNDONE_WORDS):
        stems -= {
            word[2:] for word in bag & _UNDONE_WORDS if f"not {word}" in words.lower or f"n't {word}" in words.lower
        }
    affixes = _affixed(bag)
    if not (negated or soft or sides or members or stems or affixes):
        return _NOTHING
    return NegationReading(
        negated, soft, sides, held.states, held.deeds, members, frozenset(stems), _against(words), affixes
    )


def _against(words: SplitText) -> bool:
    """Return True if something is against something; a vaccine, or an appeal, against a thing is no objection to it."""
    return "against" in words.bag and not governed.is_unopposed(words.words, words.words.index("against"))


def _sides(words: SplitText) -> _Sides:
    bag = words.bag
    lessened = _NO_WORDS if bag.isdisjoint(_LESSENING) else _lessened(words.words)
    sides: dict[int, int] = {}
    both: set[int] = set()
    states: set[int] = set()
    deeds: set[int] = set()
    for word in bag & _SIDED:
        for axis, side in AXES[word]:
            sign = -side if word in lessened else side
            if sides.setdefault(axis, sign) != sign:
                both.add(axis)
            if axis in VERBS:
                if word in STATES:
                    states.add(axis)
                elif word in DEEDS:
                    deeds.add(axis)
    if not LOOSE.isdisjoint(sides) and bag.isdisjoint(SWITCHING):
        both |= LOOSE & sides.keys()
    if "slow" in bag and "speed" in bag:  # "speed up my slow site" asks for speed
        both |= sides.keys() & {axis for axis, _ in AXES["slow"]}
    if "open" in bag and not _OPENING.isdisjoint(sides) and _OPEN_UNTIL.search(words.lower) is not None:
        sides |= {axis: -sides[axis] for axis in _OPENING & sides.keys()}
    for axis in both:
        del sides[axis]
    return _Sides(sides, frozenset(states), frozenset(deeds - states))


def _lessened(words: tuple[str, ...]) -> frozenset[str]:
    """The words behind "less" and "least", which turn them into their opposites: "least expensive" is "cheapest"."""
    return frozenset(behind for word, behind in pairwise(words) if word in _LESSENING)


def _inverted(negated: str, others: frozenset[str]) -> bool:
    """Return True if a negation beyond doubt inverts what is asked; `others` are the other words that differ.

    Where much else differs it may be part of another wording, and "I can't find it" is a way to ask how to find it.
    """
    if not others:
        return True
    return len(others) <= FEW and _TROUBLE.match(read_text(negated).lower) is None


def _affixed(bag: frozenset[str]) -> dict[str, int]:
    """The side of each axis of affixes that a text holds."""
    sides: dict[str, int] = {}
    both: set[str] = set()
    for word in bag - _SIDED:
        for axis, sign in affixed(word):
            if sides.setdefault(axis, sign) != sign:
                both.add(axis)
    for axis in both:
        del sides[axis]
    return sides


def _excepts(text: str) -> bool:
    """Return True if a text says in other words what it excepts, "all but one"."""
    words = read_text(text)
    return not words.bag.isdisjoint(("but", "besides")) and _BUT.search(words.lower) is not None


def _unprefixed(stems: frozenset[str], text: str, other: str) -> int:
    """How many of the words that `text` prefixes with "un" and the like stand bare in `other` only."""
    return len((stems & read_text(other).bag) - read_text(text).bag) if stems else 0


def _negated(words: SplitText) -> bool:
    plain = _AVOIDED.sub("avoid", _EXCEPTING.sub("except", _LACKING.sub("without", words.lower)))
    plain = _IDIOMS.sub(" ", _EITHER.sub(" ", plain))
    plain = _RHETORICAL.sub(" ", plain)
    kept = words.words if plain == words.lower and plain.isascii() else read_text(plain).words
    places = [place for place, word in enumerate(kept) if word in _NEGATORS]
    pending: int | None = None
    count = 0
    for place in places:
        if pending is not None and place - pending <= _NEAR and kept[place] in _SIDED:
            continue  # "not impossible": the opposite is counted by its axis
        if pending is not None and place - pending <= _NEAR:
            count -= 1
            pending = None
        else:
            count += 1
            pending = place
    if count == 1 and pending is not None and pending + 1 < len(kept):
        tail = kept[pending + 1 : pending + 3]
        if kept[pending] in ("not", "isn't", "aren't", "no") and any(
            word.startswith("un") and word[2:] in _UNDONE for word in tail
        ):
            count -= 1
    return count > 0


_UNDONE = vocabulary("common usual likely reasonable necessary heard")
_UNDONE_WORDS = frozenset(f"un{word}" for word in _UNDONE)


def _words(query: str, cached: str) -> str:
    one, two = read_text(query).bag, read_text(cached).bag
    return f"{' '.join(sorted(one - two))} / {' '.join(sorted(two - one))}"
