"""Who does what to whom: the agents and patients of the verbs of a question.

"Who taught Aristotle" and "Who did Aristotle teach" hold the same words; so do "Did Rome conquer Greece" and "Was Rome
conquered by Greece". Parses no grammar: an auxiliary or a question word tells where a subject stands, and the forms of
a verb tell where it ends. A word that may be a verb is read as one; what matters is read in both texts alike.
Knows no meaning but that some verbs say the same of both sides.
Invariant: two texts are told apart only by a verb of both whose agent and patient have changed places.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from semcache.matching.guards.order import BEING, PARTICIPLES
from semcache.request.text import LIGHT, stem, vocabulary
from semcache.request.wording.verbs import IRREGULAR, is_base, past_tense, third_person

Deed: TypeAlias = tuple[str, str]  # the base form of a verb, and the preposition behind it if it has one
_Phrase: TypeAlias = frozenset[str]
_Words: TypeAlias = tuple[str, ...]


class Roles(NamedTuple):
    """The stems of the content words of those who do a deed, and of those to whom it is done."""

    agents: _Phrase
    patients: _Phrase


_AUXILIARIES = vocabulary(
    """
    do does did don't doesn't didn't can could will would shall should may might must
    can't cannot couldn't won't wouldn't shouldn't
    """
)
_BEING = BEING - {"being"} | vocabulary("isn't aren't wasn't weren't")
_CLAUSE = vocabulary("if when because that whether why how since while after before")
_WHO = vocabulary("who whom what")
_WHICH = vocabulary("which what whose")
# Words that may come before the thing itself, and words that end a phrase though they are not light.
_SKIPPED = vocabulary("a an the my our your his her their its this that these those some any another all most more")
_ENDS = vocabulary("during without via per through between among before after until since because while under")
_PREPOSITIONS = vocabulary("to from on at for into onto over of in under off up down out after before about")
# Of these the two sides say the same ("does A border B"), or may stand either way ("north of B lies A").
_UNTOLD = vocabulary(
    """
    marry meet date divorce match equal border neighbour neighbor adjoin touch face fight play rhyme intersect mix
    combine converge connect join link share interact differ compare contrast resemble overlap correlate converse
    correspond contact merge collide belong have get need want lie stand sit rest be do
    """
)
# What causes and what comes before, in other words; of some, who does it in the first suffers it in the second.
_CAUSE, _COME_BEFORE = ("cause", ""), ("come", "before")
_MEANING: Mapping[Deed, Deed] = {
    **dict.fromkeys((("lead", "to"), ("bring", "about"), ("result", "in"), ("trigger", "")), _CAUSE),
    **dict.fromkeys((("precede", ""), ("happen", "before"), ("occur", "before"), ("go", "before")), _COME_BEFORE),
}
_CONVERSE: Mapping[Deed, Deed] = {
    **dict.fromkeys((("result", "from"), ("stem", "from"), ("arise", "from"), ("come", "of")), _CAUSE),
    **dict.fromkeys((("follow", ""), ("come", "after"), ("happen", "after"), ("go", "after")), _COME_BEFORE),
}
_CAUSES = vocabulary("cause causes reason reasons")
_EFFECTS = vocabulary("effect effects consequence consequences outcome result results")
_FURTHER = vocabulary("succeed exceed")  # verbs that the dictionary lacks a form of
_LONGEST = 30  # words; in longer prompts a verb is too often taken for another's
_REACH = 8  # words of a subject
_PHRASE = 5  # words of an object
_BY = 4  # words behind a participle within which "by" names the agent
_OF = (("of",), ("for",), ("behind",))
_ASKED: _Phrase = frozenset(("?",))  # what the question asks for
_NOBODY: _Phrase = frozenset()


def read(words: _Words) -> Mapping[Deed, Roles]:
    """The roles of each deed in the words, in lower case, of a text; none in a long text, or beside "or"."""
    found: dict[Deed, Roles] = {}
    if len(words) > _LONGEST or "or" in words:
        return found
    for place, word in enumerate(words):
        if word in _AUXILIARIES:
            _inverted(words, place, found)
        elif word in _BEING:
            _passive(words, place, found)
        elif word in _WHO or word in _WHICH:
            _asking(words, place, found)
        elif (word in _CAUSES or word in _EFFECTS) and words[place + 1 : place + 2] in _OF:
            _of(words, place, found)
        elif (not place or words[place - 1] in _CLAUSE) and "and" not in words:
            _stated(words, place, found)
    return found


def exchanged(one: Mapping[Deed, Roles], two: Mapping[Deed, Roles]) -> str | None:
    """The verb whose agent and patient in one text are its patient and agent in the other, None if there is none."""
    for deed, ours in one.items():
        theirs = two.get(deed)
        if theirs is None or deed[0] in _UNTOLD:
            continue
        done, suffered = ours.agents & theirs.patients, ours.patients & theirs.agents
        kept = (ours.agents & theirs.agents) | (ours.patients & theirs.patients)
        if done and suffered and (done | suffered) - _ASKED and not kept - _ASKED:
            return " ".join(filter(None, deed))
    return None


def _inverted(words: _Words, place: int, found: dict[Deed, Roles]) -> None:
    """A subject between an auxiliary and its verb: "does A eat B", "what did A eat", "can A be eaten by B"."""
    asked = _fronted(words, place)
    subject: list[str] = []
    for at in range(place + 1, min(place + 1 + _REACH, len(words))):
        word = words[at]
        if word == "be":
            _done_to(words, at, frozenset(subject), found)
            return
        if word in LIGHT:
            continue
        if (subject or asked) and _is_base(word):
            _done(words, at, word, frozenset(subject) or asked, asked if subject else _NOBODY, found)
        subject.append(stem(word))


def _asking(words: _Words, place: int, found: dict[Deed, Roles]) -> None:
    """A question word that is the subject or stands before it: "who taught B", "which animals eat B"."""
    behind = words[place + 1] if place + 1 < len(words) else ""
    if words[place] in _WHO and behind not in LIGHT and (base := _inflected(behind)):
        _done(words, place + 1, base, _ASKED, _NOBODY, found)
    if words[place] not in _WHICH:
        return
    subject: list[str] = []
    for at in range(place + 1, min(place + 1 + _REACH, len(words))):
        word = words[at]
        if word in _AUXILIARIES or word in _BEING:
            return
        if word in LIGHT:
            continue
        base = None
        if subject:
            plain = words[at - 1].endswith("s") and _is_base(word)
            base = word if plain else _past(word) if words[at - 1].endswith("s") else _inflected(word)
        if base:
            _done(words, at, base, frozenset(subject), _NOBODY, found)
        subject.append(stem(word))


def _stated(words: _Words, place: int, found: dict[Deed, Roles]) -> None:
    """A statement that begins at `place`: "my dog bit the neighbour", "A leads to what", "A bought by B"."""
    subject: list[str] = []
    for at in range(place, min(place + _REACH, len(words))):
        word = words[at]
        if word in LIGHT:
            if word not in _SKIPPED and word != "of":
                return
            continue
        if subject and (base := _inflected(word)):
            if words[at + 1 : at + 2] == ("by",):
                _add(found, (base, ""), Roles(_phrase(words, at + 2) or _ASKED, frozenset(subject)))
            else:
                _done(words, at, base, frozenset(subject), _ASKED if words[-1] in _WHO else _NOBODY, found)
        subject.append(stem(word))


def _of(words: _Words, place: int, found: dict[Deed, Roles]) -> None:
    """A noun that asks: "the causes of B", "the effects of A"."""
    named = _phrase(words, place + 2)
    if named and words[place - 1] != "and":
        _add(found, _CAUSE, Roles(_ASKED, named) if words[place] in _CAUSES else Roles(named, _ASKED))


def _passive(words: _Words, place: int, found: dict[Deed, Roles]) -> None:
    """A deed that is done to a subject: "was A eaten by B", "who was eaten by B"."""
    subject: list[str] = []
    for at in range(place + 1, min(place + 1 + _REACH, len(words))):
        word = words[at]
        if _participle(word):
            if subject:
                _done_to(words, at - 1, frozenset(subject), found)
            else:
                _done_to(words, place, _fronted(words, place), found)
            return
        if word not in LIGHT:
            subject.append(stem(word))


def _done(words: _Words, at: int, base: str, agents: _Phrase, asked: _Phrase, found: dict[Deed, Roles]) -> None:
    """The deed of the verb at `at`, if it is done to anything: to what stands behind it, or to what is asked for."""
    behind, preposition = at + 1, ""
    if behind < len(words) and words[behind] in _PREPOSITIONS:
        preposition, behind = words[behind], behind + 1
    patients = _phrase(words, behind)
    if asked and preposition and patients:
        # "What did B defeat at C" asks whom, not where.
        preposition, patients = "", asked
    if patients := patients or asked:
        _add(found, (base, preposition), Roles(agents, patients - agents))


def _done_to(words: _Words, place: int, patients: _Phrase, found: dict[Deed, Roles]) -> None:
    """The deed whose participle stands behind `place`, adverbs left out, and who is named behind "by"."""
    at = place + 1
    while at < len(words) and words[at].endswith("ly"):
        at += 1
    base = _participle(words[at]) if at < len(words) else None
    if not base or not patients:
        return
    behind = at + 1
    by = next((number for number in range(behind, min(behind + _BY, len(words))) if words[number] == "by"), -1)
    preposition = words[behind] if by == behind + 1 and words[behind] in _PREPOSITIONS else ""
    agents = _NOBODY
    if by >= 0:
        agents = _phrase(words, by + 1) or _ASKED
    elif words[0] == "by":
        agents = _ASKED
    _add(found, (base, preposition), Roles(agents - patients, patients))


def _add(found: dict[Deed, Roles], deed: Deed, roles: Roles) -> None:
    if deed in _CONVERSE:
        deed, roles = _CONVERSE[deed], Roles(roles.patients, roles.agents)
    deed = _MEANING.get(deed, deed)
    known = found.get(deed)
    found[deed] = roles if known is None else Roles(known.agents | roles.agents, known.patients | roles.patients)


def _fronted(words: _Words, place: int) -> _Phrase:
    """The thing asked for if it is named before the auxiliary at `place`: "who did", "which animals do"."""
    for at in range(place - 1, max(-1, place - _PHRASE), -1):
        if words[at] in _WHO or words[at] in _WHICH:
            return _ASKED | frozenset([stem(word) for word in words[at + 1 : place] if word not in LIGHT])
        if words[at] in LIGHT:
            break
    return _NOBODY


def _phrase(words: _Words, start: int) -> _Phrase:
    """The stems of the noun phrase at `start`."""
    found: list[str] = []
    for word in words[start : start + _PHRASE]:
        if word in LIGHT or word in _ENDS or word.endswith("ly"):
            if word == "of" if found else word in _SKIPPED:
                continue
            break
        found.append(stem(word))
    return frozenset(found)


def _is_base(word: str) -> bool:
    return word in _FURTHER or is_base(word)


def _inflected(word: str) -> str | None:
    """The base of a form of the present or the past."""
    return third_person(word) or _past(word)


def _past(word: str) -> str | None:
    if base := IRREGULAR.get(word) or past_tense(word):
        return base
    return next((base for base in (word[:-2], word[:-1]) if _is_base(base)), None) if word.endswith("ed") else None


def _participle(word: str) -> str | None:
    """The base of a form that may be a participle."""
    if word in PARTICIPLES:
        return IRREGULAR.get(word, word)
    return IRREGULAR.get(word) if word.endswith("n") else _past(word) if word.endswith("ed") else None
