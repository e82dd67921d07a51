"""Function words of a question: modal verbs, tense, prepositions, and the role of the question word.

Questions with the same content words may differ in these alone. Reads the modal verb, the tense of the first auxiliary,
the prepositions between content words, and whether "who", "what" or "which" is the subject. Parses no grammar.
Invariant: texts whose content words differ are never compared.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from semcache.matching.guards import completed, governed, inflection
from semcache.matching.guards.base import GuardFinding
from semcache.matching.guards.tenses import DETERMINERS, REQUIRED, asked_directly
from semcache.matching.guards.timetable import DAYS, MONTHS
from semcache.request.text import LIGHT, READINGS, differing, lexicon, stem, vocabulary
from semcache.request.text import read as read_text
from semcache.runtime.scoped_memo import scoped_cache

_MODALS = lexicon(
    "must=required,obliged,obligated,mandatory,compulsory,obligatory,necessary,obligation,needs"
    " can=could,may,might,able,allowed,permitted,possible,permissible,permission should=ought,advisable,recommended"
)
_OBLIGING = vocabulary("have has had need")  # before "to"
_TENSES = lexicon("past=was,were,did present=is,are,am,do,does future=will,shall")
# These have no tense of their own, or one that speaks of past and present alike.
_TIMELESS = vocabulary("has have had can could would should may might must ought been")
# What these were of things gone by, they still are.
_LASTING = vocabulary("difference differences meaning definition")
# "In", "on", "at" and "of" are often said for one another.
_PREPOSITIONS = lexicon("to=into,onto,towards,toward from for with without by about against over under through")
# "Insurance for Spain" and "insurance when going to Spain" are the same; "write for" and "write to" are not.
_FOR_AND_TO = frozenset(("for", "to"))
# "Open Tuesday through Sunday"
_TO_AND_THROUGH = {"to", "through"}
_CALENDAR = frozenset((*DAYS, *MONTHS))
# What is by somebody is not about, for or against them.
_AGAINST_BY = frozenset(("about", "for", "against"))
# Light verbs that say how somebody stands to a thing.
_STANCES = lexicon("have=has,had want=wants,wanted need=needs,needed like=likes,liked")
_MOST = 6  # words by which texts of the same content words may differ: modal verbs, and endings of others
_SHORT = 15  # words; in longer texts more than one preposition will do
_AUXILIARIES = vocabulary(
    "do does did is are was were am be been being has have had will would shall should can could may might must"
)
_BEGINNING = vocabulary("first originally original initially")
# Of an order: when it is to be done, or how long, or for how many.
_ABOUT_NUMBERS = vocabulary("for in at after")
_TENSED = frozenset(_TENSES) | DETERMINERS | {"being"}
_DOING = vocabulary("do does did")
_WHO = vocabulary("who whom what which whose")
_SUBJECTS = vocabulary("who what which")
_NEAR = 4  # words within which the verb of such a subject stands
_ASKING = _WHO | vocabulary("when where why how what's who's where's")
_ENDINGS = ("ing", "ed", "es", "s", "e")


class GrammarReading(NamedTuple):
    """`verbs` are the content words without the endings of verbs, `slots` the preposition before each content word.

    `tense` is that of a question, "" for any other text. `role` is what a question word is: "subject", "object", or ""
    where that cannot be told. `stance` is the light verb of what "who", "what" or "which" stands for. `closed` is that
    the text asks for yes or no, `counted` are the prepositions before the numbers of an order, `words` are all words.
    """

    modal: str
    tense: str
    role: str
    stance: str
    verbs: tuple[str, ...]
    slots: tuple[tuple[str, str], ...]
    closed: bool
    counted: tuple[tuple[str, str], ...]
    words: frozenset[str]


@scoped_cache(maxsize=READINGS)
def read(text: str) -> GrammarReading:
    """The light words of a text."""
    words = read_text(text)
    said = words.words
    modal = next((_MODALS[word] for word in said if word in _MODALS), "")
    if any(one in _OBLIGING and two == "to" for one, two in pairwise(said)):
        modal = "must"
    first = next((word for word in said if word in _TENSES or word in _TIMELESS), "")
    verbs: list[str] = []
    slots: list[tuple[str, str]] = []
    before = ""
    stance, stands = _stance(said)
    for place, word in enumerate(said):
        if word in _PREPOSITIONS and len(said) <= _SHORT:
            before = governed.plain(_PREPOSITIONS[word], said, place, _PREPOSITIONS)
        elif word in LIGHT or place == stands:
            before = before if word in DETERMINERS else ""
        elif word not in _MODALS:
            verbs.append(_bare(stem(word)))
            slots.append((before, word))
            before = ""
    return GrammarReading(
        modal,
        _TENSES.get(first, "") if said[:1] and (said[0] in _AUXILIARIES or said[0] in _ASKING) else "",
        _role(said, words.bag),
        stance,
        tuple(verbs),
        tuple(slots),
        said[:1] != () and said[0] in _AUXILIARIES,
        _counted(said) if words.digits else (),
        words.bag,
    )


def compare(query: str, cached: str) -> GuardFinding | None:
    """The disagreement of two texts' light words, those of a "tell me" aside."""
    query, cached = asked_directly(query), asked_directly(cached)
    one, two = read(query), read(cached)
    if {one.tense, two.tense} == {"past", "present"} and _asks_for_beginning(one, two):
        return GuardFinding(f"{one.tense} / {two.tense}")
    inflected = inflection.compare(query, cached) or completed.compare(query, cached)
    if inflected is not None:
        return GuardFinding(inflected)
    if not one.verbs or sorted(one.verbs) != sorted(two.verbs) or len(differing(query, cached)) > _MOST:
        return None
    related = _related_otherwise if one.verbs == two.verbs else _by_another
    return _asked_otherwise(one, two) or related(one, two)


def _asked_otherwise(one: GrammarReading, two: GrammarReading) -> GuardFinding | None:
    """Another role of the question word, another modal verb, or another tense.

    Where more than yes or no is asked for, "can", "should" and "must" are often said for one another.
    """
    if one.role and two.role and one.role != two.role:
        return GuardFinding(f"{one.role} / {two.role}")
    if one.modal and two.modal and one.modal != two.modal and one.closed and two.closed:
        return GuardFinding(f"{one.modal} / {two.modal}")
    if one.tense and two.tense and one.tense != two.tense and one.words.isdisjoint(_LASTING):
        alone = one.words ^ two.words <= _TENSED
        return GuardFinding(f"{one.tense} / {two.tense}", alone and "future" not in (one.tense, two.tense))
    return None


def _related_otherwise(one: GrammarReading, two: GrammarReading) -> GuardFinding | None:
    """Another preposition before the same word or number, or another stance to the same things."""
    alone = one.words ^ two.words <= _FOR_AND_TO
    for (left, word), (right, other) in zip(one.slots, two.slots, strict=True):
        if {left, right} == _TO_AND_THROUGH and (word in _CALENDAR or word[0].isdigit()):
            continue
        if left and right and left != right and word == other and (alone or {left, right} != _FOR_AND_TO):
            return GuardFinding(f"{left} / {right}")
    if one.stance and two.stance and one.stance != two.stance:
        return GuardFinding(f"{one.stance} / {two.stance}")
    for (left, number), (right, other) in zip(one.counted, two.counted, strict=False):
        if number == other and left != right and "for" in (left, right):
            return GuardFinding(f"{left} / {right} {number}")
    return None


def _by_another(one: GrammarReading, two: GrammarReading) -> GuardFinding | None:
    """The preposition before a word in texts that have their words in other orders, where one is "by"."""
    theirs = {word: before for before, word in two.slots if before}
    for before, word in one.slots:
        other = theirs.get(word, before)
        if before and other != before and "by" in (before, other) and _AGAINST_BY & {before, other}:
            return GuardFinding(f"{before} / {other} {word}")
    return None


def _counted(said: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """The prepositions before the numbers of an order, "in 10 minutes" or "for 10 minutes"; none of a question."""
    if said[0] in _AUXILIARIES or not _ASKING.isdisjoint(said):
        return ()
    return tuple([(one, two) for one, two in pairwise(said) if two[0].isdigit() and one in _ABOUT_NUMBERS])


def _asks_for_beginning(one: GrammarReading, two: GrammarReading) -> bool:
    """Return True if the texts differ in that one of them asks when, or how, a thing first was: "did X first start"."""
    past, present = (one, two) if one.tense == "past" else (two, one)
    begun = [verb for verb in past.verbs if verb not in _BEGINNING]
    return len(begun) < len(past.verbs) and sorted(begun) == sorted(present.verbs)


def _role(said: tuple[str, ...], bag: frozenset[str]) -> str:
    """The role that a question asks for: the one that acts, or the one that is acted on."""
    if "by" in bag:
        by = said.index("by")
        if by == len(said) - 1 or said[by + 1] in _WHO:
            return "subject"
        passive = by > 1 and said[by - 1].endswith(("ed", "en")) and not bag.isdisjoint(("is", "are", "was", "were"))
        return "object" if passive and said[0] in _WHO and bag.isdisjoint(_DOING) else ""
    if not said or said[0] not in _WHO:
        return ""
    if bag.isdisjoint(_AUXILIARIES):
        if said[0] != "who" and not bag.isdisjoint(REQUIRED):
            return ""
        return "object" if said[1:2] == ("to",) else "subject"
    return "object" if not _DOING.isdisjoint(said[1:6]) else ""


def _stance(said: tuple[str, ...]) -> tuple[str, int]:
    """How the subject of a question stands to a thing, "who has", "which country wants", and where that is said."""
    if not said or said[0] not in _SUBJECTS:
        return "", -1
    for place, word in enumerate(said[1:_NEAR], 1):
        if word in _STANCES:
            obliged = _STANCES[word] == "have" and said[place + 1 : place + 2] == ("to",)
            return "need" if obliged else _STANCES[word], place
        if word in LIGHT:
            break
    return "", -1


def _bare(word: str) -> str:
    """A word without the ending of a verb, at least three letters of it."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word
