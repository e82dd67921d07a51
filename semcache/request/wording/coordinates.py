"""Coordinated nouns in alphabetical order: "milk, eggs and flour" and "flour, milk and eggs".

Reads words from left to right and knows no grammar but words that end a noun phrase. Invariant: what may be a verb, a
clause, a quantity or one side of a longer phrase keeps its place.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from semcache.request.text import LIGHT, vocabulary
from semcache.request.wording.misspelt import dictionary
from semcache.request.wording.verbs import BASES, DOUBTFUL, PAST, PRESENT

_PREPOSITIONS = vocabulary(
    """
    in on for with of from at to when using without about into like than as by under over through during near per via
    against among between containing including around inside outside onto toward since until while where which who that
    because if whether but so while after before both either
    """
)
_AUXILIARIES = vocabulary(
    """
    is are was were do does did can could should would will shall may might must has have had be been being
    what who how why when where which whose whom
    """
)
_PRONOUNS = vocabulary("i you he she it we they me him her us them one this that these those there here")
# Behind these stands a verb.
_VERBAL = vocabulary("i you he she it we they to please not can could should would will may might must then just")
_DETERMINERS = vocabulary("a an the my your his her its our their some any this these those every each no")
_BEFORE = frozenset(("all", "both", "half"))  # determiners that stand before another one
_BE = frozenset(("is", "are", "was", "were"))
_SUBORDINATING = vocabulary("when if why because that while where whether how")
_PLACES = vocabulary("next left right close near opposite beside behind above below")
_COPULAS = vocabulary("is are was were do does did can could should would will may might must has have")
_MODALS = vocabulary("can could should would will may might must")
_ENDS = _PREPOSITIONS | _AUXILIARIES | _PRONOUNS
_ADJECTIVES = vocabulary("""
    free cheap expensive old new young big small large little long short high low hot cold warm cool good bad great
    best worst better worse black white red blue green yellow brown gray pink purple orange wild tame rich poor strong
    weak healthy unhealthy fresh dry wet raw cooked frozen fried baked vegan vegetarian organic local foreign native
    modern ancient medieval early late fast slow hard soft light heavy dark bright clean dirty safe dangerous easy
    difficult simple complex open closed public private common rare popular famous male female married single dead
    living electric electronic digital used broken open-source remote online offline top main major minor different
    similar various certain other many few several some all both extra spicy sweet sour bitter salty thin thick wide
    narrow deep shallow full empty quiet loud american british french german italian spanish chinese japanese indian
    """)
_ADJECTIVAL = ("able", "ible", "ful", "less", "ous", "ive", "iest", "ical")
_THINGS = vocabulary(
    """
    marketing engineering accounting programming banking housing clothing training parking king ring spring wing string
    bread seed weed bed shed reed feed speed red running swimming cycling hiking reading writing skiing jogging boxing
    """
)
_LONGEST = 4  # words of a phrase
_MOST = 8  # phrases
_MARKS = ",.?!;:"


class _Side(NamedTuple):
    """The words of one of the coordinated phrases, from `start` up to `stop`."""

    start: int
    stop: int


def coordinated(text: str, binomials: frozenset[str]) -> str:
    """The text with the nouns on both sides of its "and" or "or" in alphabetical order."""
    words = text.split(" ")
    low = [word.lower() for word in words]
    joints = [at for at, word in enumerate(low) if word in ("and", "or")]
    if not joints or len(joints) > 3:
        return text
    if len(joints) > 1:
        parts = [0, *_cuts(low, joints), len(words)]
        if len(parts) != len(joints) + 1:
            return text
        return " ".join(coordinated(" ".join(words[start:stop]), binomials) for start, stop in pairwise(parts))
    joint = joints[0]
    sides = _sides(low, joint)
    if sides is None:
        return text
    first, end = sides[0].start, sides[-1].stop
    if len(sides) == 2:
        pair = "-".join(" ".join(low[start:stop]) for start, stop in sides)
        if pair in binomials or "-".join(reversed(pair.split("-", 1))) in binomials:
            return text
    phrases = [" ".join(words[start:stop]).rstrip(",") for start, stop in sides]
    mark = words[end - 1][len(words[end - 1].rstrip(_MARKS)) :]
    phrases[-1] = phrases[-1].rstrip(_MARKS)
    ordered = sorted(phrases, key=lambda phrase: (_bare(phrase), phrase))
    if ordered == phrases:
        return text
    listed = f"{', '.join(ordered[:-1])} {words[joint]} {ordered[-1]}{mark}"
    return " ".join([*words[:first], listed, *words[end:]])


def _cuts(low: list[str], joints: list[int]) -> list[int]:
    """Where a preposition between two conjunctions begins another phrase; one place fewer than conjunctions."""
    return [
        found
        for one, two in pairwise(joints)
        if (found := next((at for at in range(one + 2, two - 1) if low[at] in _PREPOSITIONS), 0))
    ]


def _sides(low: list[str], joint: int) -> list[_Side] | None:
    """The coordinated phrases; None where one of them may be no noun."""
    stop = _stop(low, joint + 1, _subject_length(low, joint))
    sides = [_Side(joint + 1, stop)]
    # "Is a whale a fish or a mammal": the first side begins behind the subject.
    predicate = low[0] in _BE and low[joint] == "or" and stop == len(low)
    end = joint
    while True:
        start = _start(low, end, predicate=predicate)
        sides.insert(0, _Side(start, end))
        if not 0 < start < end or not low[start - 1].endswith(",") or len(sides) == _MOST:
            break
        end = start
    return sides if _of_nouns(low, sides) else None


def _subject_length(low: list[str], joint: int) -> int:
    """The words of a first side right behind an auxiliary, where the subject of a question stands; else 0."""
    start = joint
    while start and joint - start < _LONGEST and low[start - 1] not in _ENDS:
        start -= 1
    return joint - start if start and low[start - 1] in _COPULAS else 0


def _stop(low: list[str], start: int, subject: int) -> int:
    """Where the last side ends, which begins at `start`; a `subject` of so many words before it is as long."""
    end = min(len(low), start + (subject or _LONGEST))
    for at in range(start, end):
        word = low[at].rstrip(_MARKS)
        if word in _ENDS or (at > start and not subject and _ends_noun(word)):
            return at
        if low[at][-1:] in _MARKS:
            return at + 1
    return end


def _start(low: list[str], end: int, *, predicate: bool) -> int:
    """Where the side begins that ends at `end`; a `predicate` begins with its article."""
    start = end
    while start and end - start < _LONGEST and not _opens(low, start - 1, end):
        if start < end and (low[start - 1].endswith(",") or (predicate and low[start] in _DETERMINERS)):
            break
        start -= 1
    return start


def _of_nouns(low: list[str], sides: list[_Side]) -> bool:
    """Return True if these are noun phrases of one sentence, and none may be a verb or begin a clause of its own."""
    first, end = sides[0].start, sides[-1].stop
    if any(side.stop <= side.start for side in sides) or (first and _clause(low, first - 1, end)):
        return False
    if first > 1 and low[first - 1] == "of" and low[first - 2] in ("difference", "ratio", "quotient"):
        return False
    if first and low[first - 1] in _VERBAL and not _asks(low, first - 1):
        return False
    plain = [[word.rstrip(_MARKS) for word in low[start:stop]] for start, stop in sides]
    if all(len(side) == 1 and len(side[0]) == 1 for side in plain):
        return False  # "P and L", "Q and A"
    if any(word in _DETERMINERS for side in plain for word in side[2 if side[0] in _BEFORE else 1 :]):
        return False
    if not all(map(_is_noun, plain)) or len({side[0] in _DETERMINERS for side in plain}) > 1:
        return False
    if any(map(is_described, plain)):
        return False
    # "Add x and remove the y": the second side has a verb of its own.
    together = low[sides[-1].start - 1] == "and" or plain[0][0] not in BASES
    alone = first == 0 and len(low) == end
    verbal = plain[-1][0] in BASES and ((len(plain[-1]) > 1 and together) or alone)
    return not verbal and not (first == 0 and plain[0][0] in BASES)


def _clause(low: list[str], before: int, behind: int) -> bool:
    """Return True if the second side is the subject of a clause of its own: "I lend Ann money and Ben pays me"."""
    if behind >= len(low) or low[before] in _SUBORDINATING:
        return False
    word = low[behind].rstrip(_MARKS)
    # "Sits on a chair and Ben on the floor", "is left of the bank and the school right of it".
    if (word == low[before] and word in _PREPOSITIONS) or word in _PLACES:
        return True
    if low[before] in _COPULAS:
        return low[before] in _BE and word in _COPULAS
    if low[before] in _PREPOSITIONS and low[0] in _COPULAS and BASES.isdisjoint(low[1:before]):
        return False
    return word in _COPULAS or word in PRESENT or word in PAST or word in BASES


def _asks(low: list[str], at: int) -> bool:
    """Return True if a modal verb here opens a question, so that its subject follows."""
    return low[at] in _MODALS and (at == 0 or low[at - 1] in ("what", "why", "how", "when", "where"))


def _ends_noun(word: str) -> bool:
    """Return True for a word that stands behind a noun phrase and is no part of it."""
    return word in BASES or word in PRESENT or word in PAST or word in ("together", "both", "not")


def _opens(low: list[str], at: int, end: int) -> bool:
    """Return True if the phrase that ends at `end` begins behind this word."""
    word = low[at]
    return (
        word in _ENDS
        or word[-1:] in ".?!;:"
        or (at < end - 1 and (word in BASES or word in PAST))
        or (at < end and word in PRESENT and word not in DOUBTFUL and at > 0 and low[at - 1] in _AUXILIARIES)
        or word in ("and", "or")
    )


def is_described(side: list[str]) -> bool:
    """Return True if a side in words begins with an adjective, which before the first side may be of both.

    "Cheap laptops and phones" is not "phones and cheap laptops".
    """
    first = side[0].lower()
    return len(side) > 1 and (first in _ADJECTIVES or first.endswith(_ADJECTIVAL))


def _is_noun(side: list[str]) -> bool:
    last = side[-1]
    if (
        any(word in LIGHT and word not in _DETERMINERS for word in side)
        or side[0].isdigit()
        or (len(side) == 2 and side[-1][:1].isdigit() and side[0] in ("and", "or"))
    ):
        return False
    if (
        last in _DETERMINERS
        or (last.endswith("ly") and last[:-2] in dictionary())
        or (len(side) == 1 and (last.endswith(("ing", "ed")) and last not in _THINGS))
    ):
        return False
    return all(word for word in side)


def _bare(phrase: str) -> str:
    head, _, rest = phrase.partition(" ")
    return (rest if rest and head.lower() in _DETERMINERS else phrase).casefold()
