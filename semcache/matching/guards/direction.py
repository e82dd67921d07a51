"""The guard for direction and role: the same words the other way round ask something else.

Reads what a thing comes from and goes to, what is compared with what, and word order: two words or phrases that have
changed places between otherwise equal surroundings. Parses no grammar; what `order` can put back has not moved.
Invariant: what stands on both sides of "and", "or" and the like has no order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from semcache.matching.guards import (
    actors,
    attachments,
    channels,
    nationalities,
    opposed_sides,
    persons,
    roles,
    steps_in_order,
    voices,
)
from semcache.matching.guards.base import GuardFinding, ReadingGuard
from semcache.matching.guards.order import BEING, settled
from semcache.matching.guards.swapped_phrases import swap
from semcache.request import pointing
from semcache.request.assertions import exchanged
from semcache.request.text import LIGHT, READINGS, stem, vocabulary
from semcache.request.text import read as read_text
from semcache.runtime.scoped_memo import scoped_cache
from semcache.types import Conflict

_SOURCE = frozenset(("from",))
_TARGET = vocabulary("to into onto towards toward")
_PIVOTS = _SOURCE | _TARGET | {"than"}
# Behind these, "to" begins a verb: "required to declare family gifts" names no target.
_GOVERNING = vocabulary(
    "need needs needed have has had having want wants wanted able unable allowed required supposed obliged"
    " how try trying possible legal safe order"
)
# Words that end a noun phrase, beside the pivots.
_ENDS = LIGHT | vocabulary(
    """
    without via per through under over after before between during using until because while
    leaving departing starting
    """
)
# Words that may come before the thing itself.
_SKIPPED = vocabulary("a an the my your our his her their its this that these those some any another")
_SYMMETRIC = vocabulary(
    "between vs versus difference differences different compare compared comparing comparison differ similar"
    " similarities same"
    " distance far close near apart relationship relation related relate compatible match equal equals equivalent both"
    " together married marry interact combine combined mix mixed share common conflict overlap correlation"
    " unterschied unterschiede zwischen différence différences diferencia diferencias diferença diferenças differenza"
    " differenze verschil"
)
# Whose a thing is; "our" and "the" may be "my".
_OWNERS = {"my": "mine", "our": "mine", "your": "yours", "his": "theirs", "her": "theirs", "their": "theirs"}
# Nouns that say nothing of which way: "from my savings account" and "to savings" are opposed by "savings".
_GENERIC = vocabulary("account card one money cash device site website file app other place thing side point")
_PERSONS = vocabulary("i you we he she they")
_MODALS = vocabulary("will would can could should shall may might must have has had ever always still")
_AM = vocabulary("am is are was were")
_BEGUN = vocabulary("started used")  # "get started" is what the asker does
_ASKER = vocabulary("i we")
_ASKERS = vocabulary("me us")
_OWN = _ASKER | _ASKERS
_OTHERS = vocabulary("he she they it who that which nobody anyone someone anybody somebody everyone")
_TELLING = vocabulary("tell know")
_COMPARATIVES = vocabulary("more less better worse fewer")
_DEGREE = 3  # words before "than" among which the degree is looked for
_SHORTEST = 4  # letters that no comparative in "-er" is as short as
_FEWEST = 4 / 5  # share of the content words of either prompt that both must hold for word order to mean anything
_ENOUGH = 4  # content words in common; fewer are said in any order
_LONGEST = 60  # words; longer prompts are read as far as that


_Phrases: TypeAlias = frozenset[frozenset[str]]
_Turns: TypeAlias = tuple[_Phrases, _Phrases, tuple[tuple[frozenset[str], frozenset[str]], ...], frozenset[str]]
_NO_TURNS: _Turns = (frozenset(), frozenset(), (), frozenset())
_NO_DEEDS: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())


class DirectionReading(NamedTuple):
    """The directions and roles in a text.

    `sources` and `targets` are what follows "from" and "to"; `than` pairs what a comparison compares; `owners` are
    those that possessives name, in order. `acting` is what a person does, `undergoing` what is done to one; `doing` is
    what the asker does to others, `suffering` what others do to the asker; `countries` are told apart from peoples;
    `roles` are the agents and patients of each verb, `sides` what stands before and behind each "to", `voice` is who
    does and who suffers, and `persons` who is to do what.
    """

    words: tuple[str, ...]
    bag: frozenset[str]
    sources: frozenset[frozenset[str]]
    targets: frozenset[frozenset[str]]
    than: tuple[tuple[frozenset[str], frozenset[str]], ...]
    degrees: frozenset[str]
    symmetric: bool
    owners: tuple[str, ...]
    acting: frozenset[str]
    undergoing: frozenset[str]
    doing: frozenset[str]
    suffering: frozenset[str]
    countries: nationalities.CountryReading
    roles: Mapping[roles.Deed, roles.Roles]
    sides: tuple[opposed_sides.Sides, ...]
    voice: voices.Voice
    persons: persons.Deeds
    attached: attachments.Attachments
    actors: actors.Actors
    sequence: steps_in_order.StepOrder


class DirectionGuard(ReadingGuard[DirectionReading]):
    """Vetoes prompts in which two things have changed places."""

    name = "direction"

    def read(self, text: str) -> DirectionReading:
        """The reading of `text`."""
        return read(text)

    def compare(self, one: DirectionReading, two: DirectionReading, query: str, cached: str, /) -> Conflict | None:
        """Compare what comes from where, what exceeds what, and the order of equal words."""
        found = None if one.symmetric or two.symmetric else self._opposed(one, two, query, cached)
        if found is None and (turned := voices.exchanged(one.voice, two.voice)):
            return Conflict(self.name, f"who does and to whom it is done, or what is said and meant: {turned}")
        if found is None and (ways := channels.exchanged(query, cached)):
            return Conflict(self.name, ways)
        if found is None and pointing.exchanged(query, cached):
            return Conflict(self.name, "what is pointed to stands elsewhere")
        if found is None and len(one.bag & two.bag) > _ENOUGH:
            left, right = _common(query, cached), _common(cached, query)
            if left != right and exchanged(left, right):
                return Conflict(self.name, "words changed places", False)
        return found

    def _opposed(self, one: DirectionReading, two: DirectionReading, query: str, cached: str) -> Conflict | None:
        why = (
            _ends_exchanged(one, two)
            or _countries_exchanged(one, two, query, cached)
            or _comparison_turned(one, two)
            or _deeds_exchanged(one, two)
            or _sides_exchanged(one, two)
        )
        if why is not None:
            return Conflict(self.name, why)
        swapped = _words_swapped(one, two, query, cached)
        return None if swapped is None else Conflict(self.name, *swapped)


def _ends_exchanged(one: DirectionReading, two: DirectionReading) -> str | None:
    """The phrase that one text comes from and the other goes to, as an explanation."""
    if not ((one.sources and two.targets) or (one.targets and two.sources)):
        return None
    ours, theirs = one.targets - one.sources, two.targets - two.sources
    found = _turned(one.sources, theirs, one.targets) | _turned(two.sources, ours, two.targets)
    return f"from and to {' '.join(sorted(min(found, key=sorted)))}" if found else None


def _countries_exchanged(one: DirectionReading, two: DirectionReading, query: str, cached: str) -> str | None:
    places = nationalities.exchanged(one.countries, two.countries, query, cached)
    return f"{' and '.join(sorted(places))} changed places" if places else None


def _comparison_turned(one: DirectionReading, two: DirectionReading) -> str | None:
    """The explanation of a comparison the other way round, or of things that are named as somebody else's."""
    if one.than and two.than and one.degrees == two.degrees and compared_otherwise(one, two):
        return "compared the other way round"
    if one.bag == two.bag and len(one.owners) == len(two.owners) and sorted(one.owners) != sorted(two.owners):
        return f"{' '.join(one.owners)} / {' '.join(two.owners)}"
    return None


def _deeds_exchanged(one: DirectionReading, two: DirectionReading) -> str | None:
    """Who does in one text what is done to them in the other."""
    if (one.doing & two.suffering) - two.doing or (two.doing & one.suffering) - one.doing:
        return "done by the asker and done to the asker"
    if one.acting & two.undergoing or two.acting & one.undergoing:
        return "done by and done to"
    return None


def _sides_exchanged(one: DirectionReading, two: DirectionReading) -> str | None:
    """Who is to do what to whom, and what stands on which side of a "to"."""
    if verb := persons.exchanged(one.persons, two.persons):
        return f"who is to {verb}"
    if deed := roles.exchanged(one.roles, two.roles):
        return f"who and whom: {deed}"
    if done := actors.exchanged(one.actors, two.actors):
        return f"who does it: {done}"
    if things := opposed_sides.exchanged(one.sides, two.sides):
        return f"{' and '.join(sorted(things))} changed places"
    return steps_in_order.exchanged(one.sequence, two.sequence) or attachments.exchanged(one.attached, two.attached)


def _words_swapped(one: DirectionReading, two: DirectionReading, query: str, cached: str) -> GuardFinding | None:
    """The phrases of texts of nearly the same words that changed places."""
    common = len(one.bag & two.bag)
    if common < 2 or common < _FEWEST * max(len(one.bag), len(two.bag)):
        return None
    shared = one.bag & two.bag
    if [word for word in one.words if word in shared] == [word for word in two.words if word in shared]:
        return None
    found = swap(one.words, two.words, shared)
    return found if found is not None and _in_order(query, shared) != _in_order(cached, shared) else None


def read(text: str) -> DirectionReading:
    """The directions in `text`, and the order of its words."""
    words = read_text(text)
    stems = tuple([stem(word) for word in words.words[:_LONGEST]])
    said = words.words[:_LONGEST]
    owners = () if words.bag.isdisjoint(_OWNERS) else _owners(words.words)
    sources, targets, than, degrees = _NO_TURNS if words.bag.isdisjoint(_PIVOTS) else _turns(stems, said)
    acting, undergoing = _deeds(said)
    doing, suffering = _NO_DEEDS if words.bag.isdisjoint(_OWN) else _own_deeds(said)
    return DirectionReading(
        words=stems,
        bag=frozenset(stems) - LIGHT,
        sources=sources,
        targets=targets,
        than=than,
        degrees=degrees,
        symmetric=not words.bag.isdisjoint(_SYMMETRIC),
        owners=owners,
        acting=acting,
        undergoing=undergoing,
        doing=doing,
        suffering=suffering,
        countries=nationalities.read(words),
        roles=roles.read(words.words),
        sides=opposed_sides.read(words),
        voice=voices.read(text),
        persons=persons.read(text),
        attached=attachments.read(words),
        actors=actors.read(words),
        sequence=steps_in_order.read(words),
    )


def _owners(words: tuple[str, ...]) -> tuple[str, ...]:
    """Whose things are named, in order; nobody's where a "your" is said of anybody: "your own", "if your"."""
    for place, word in enumerate(words):
        if word == "your" and (_at(words, place + 1) == "own" or _at(words, place - 1) == "if"):
            return ()
    return tuple([_OWNERS[word] for word in words if word in _OWNERS])


def _turns(stems: tuple[str, ...], words: tuple[str, ...]) -> _Turns:
    """The sources, the targets, what is compared with what, and the degrees by which it is."""
    sources: set[frozenset[str]] = set()
    targets: set[frozenset[str]] = set()
    than: list[tuple[frozenset[str], frozenset[str]]] = []
    degrees: set[str] = set()
    for place, word in enumerate(words):
        if word not in _PIVOTS:
            continue
        behind = _phrase(stems, words, place + 1)
        if word in _SOURCE:
            sources.add(behind - _GENERIC)
        elif word in _TARGET:
            if word == "to" and place and words[place - 1] in _GOVERNING:
                continue
            targets.add(behind - _GENERIC)
        elif place > 1 and behind:
            at = _degree(words, place)
            than.append((frozenset(stems[:at]) - LIGHT, behind))
            degrees.add(stems[at])
    unnamed = frozenset((frozenset[str](),))
    return frozenset(sources) - unnamed, frozenset(targets) - unnamed, tuple(than), frozenset(degrees)


def _degree(words: tuple[str, ...], than: int) -> int:
    """Where the degree of a comparison stands: before "than", or before what it is a degree of ("a better choice")."""
    for place in range(than - 1, max(0, than - 1 - _DEGREE), -1):
        if words[place] in _COMPARATIVES or (words[place].endswith("er") and len(words[place]) > _SHORTEST):
            return place
    return than - 1


def _deeds(words: tuple[str, ...]) -> tuple[frozenset[str], frozenset[str]]:
    """The verbs of which a person is the subject: those in the active, and those behind a form of "to be"."""
    acting: set[str] = set()
    undergoing: set[str] = set()
    for place, word in enumerate(words):
        if word in _PERSONS:
            behind = place + 1
            while _at(words, behind) in _MODALS:
                behind += 1
            verb = _at(words, behind)
            if verb in BEING or verb == "been":
                while _at(words, behind) in BEING:
                    behind += 1
                if _at(words, behind).endswith("ed") and words[behind] not in _BEGUN:
                    undergoing.add(_bare(words[behind]))
            elif verb.endswith("ed") and _at(words, place - 1) in _AM:
                undergoing.add(_bare(verb))
            elif verb and verb not in LIGHT:
                acting.add(_bare(verb))
    return frozenset(acting), frozenset(undergoing)


def _own_deeds(words: tuple[str, ...]) -> tuple[frozenset[str], frozenset[str]]:
    """The verbs that the asker is the subject of ("can I sue my boss"), and the object of ("can my boss sue me")."""
    doing: set[str] = set()
    suffering: set[str] = set()
    for place, word in enumerate(words):
        if word in _ASKER:
            behind = place + 1
            while _at(words, behind) in _MODALS or (_at(words, behind) == "to" and behind > place + 1):
                behind += 1
            if _is_deed(_at(words, behind)):
                doing.add(_bare(stem(_at(words, behind))))
        elif word in _ASKERS and _at(words, place - 1) == "to" and _at(words, place - 2).endswith("ed"):
            suffering.add(_bare(words[place - 2]))  # "the damage caused to me"
        elif word in _ASKERS and place and _is_deed(words[place - 1]):
            before = place - 2
            while before >= 0 and (words[before] in _MODALS or words[before] in ("to", "not")):
                before -= 1
            subject = _at(words, before)
            named = subject not in LIGHT and subject != "" and words[before + 1] != "to"
            if named or subject in _OTHERS:
                suffering.add(_bare(stem(words[place - 1])))
    return frozenset(doing), frozenset(suffering)


def _is_deed(word: str) -> bool:
    return word in _TELLING or (word not in LIGHT and word not in BEING and word.isalpha())


def _bare(verb: str) -> str:
    """A regular verb without its ending, so that "invite" and "invited" are one."""
    for ending in ("ed", "e"):
        if verb.endswith(ending):
            return verb[: -len(ending)]
    return verb


def _common(text: str, other: str) -> list[str]:
    """The content words that stand once in each text, in the plain order of the first."""
    theirs = _once(other)
    return [word for word in _once(text) if word in theirs]


@scoped_cache(maxsize=READINGS)
def _once(text: str) -> dict[str, None]:
    """The content words that stand once in a text, in plain order."""
    times = Counter([stem(word) for word in settled(text)[:_LONGEST] if word not in LIGHT])
    return {word: None for word, count in times.items() if count == 1}


def _in_order(text: str, shared: frozenset[str]) -> list[str]:
    """The words of these stems in the plain order of the text."""
    return [found for word in settled(text) if (found := stem(word)) in shared]


def _turned(
    sources: frozenset[frozenset[str]], targets: frozenset[frozenset[str]], own: frozenset[frozenset[str]]
) -> set[frozenset[str]]:
    """The phrases that one text comes from and the other goes to, save its `own` targets; one may extend another."""
    return {
        source & target
        for source in sources
        for target in targets
        if (source <= target or target <= source) and not any(source <= one or one <= source for one in own)
    }


def _phrase(stems: tuple[str, ...], words: tuple[str, ...], start: int) -> frozenset[str]:
    """Up to three content words from `start` on: the thing that a preposition governs."""
    found: list[str] = []
    for place in range(start, min(start + 5, len(stems))):
        word = words[place]
        if word in _SKIPPED and not found:
            continue
        if word in _ENDS or word in _PIVOTS or word[0].isdigit() or len(found) == 3:
            break
        found.append(stems[place])
    return frozenset(found)


def compared_otherwise(one: DirectionReading, two: DirectionReading) -> bool:
    """Return True if a comparison with "than" goes the other way round in `two`."""
    return any(
        (behind - right) & (left - before) and (right - behind) & (before - left)
        for before, behind in one.than
        for left, right in two.than
    )


def _at(words: tuple[str, ...], place: int) -> str:
    return words[place] if 0 <= place < len(words) else ""
