"""Who acts: the asker, or one of those whom the asker calls "my".

"My neighbour hit my car" is not "I hit my neighbour's car", and "let my friend use my account" is not "use my friend's
account". Parses no grammar: what stands behind "I", "me to" and "my" followed by a noun.
Invariant: two texts are told apart only by a verb of both that another does in each, where both name the one that acts
in either of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from semcache.matching.guards.lemmas import is_past, lemma_of
from semcache.request.text import LIGHT, SplitText, stem, vocabulary
from semcache.request.wording.verbs import is_base, third_person

_Acting: TypeAlias = Mapping[str, frozenset[str]]

_ASKER = "i"
_ASKERS = vocabulary("i we")
_OBJECTS = vocabulary("me us")
_OWN = vocabulary("my our")
_MODALS = vocabulary(
    """
    will would can could should shall may might must do does did not never just always still ever already also have has
    had won't don't doesn't didn't can't cannot couldn't wouldn't shouldn't to
    """
)
_ASKING = vocabulary("do does did can could will would should shall may might must let make help have see watch")
_GETTING = vocabulary("get gets got getting have has had having want")  # "get my account deleted"
# Behind these and "to" stands what is to be done.
_GOVERNING = vocabulary("have need want like try hope plan wish refuse agree")
# What both sides do, and verbs that say too little: "get my son vaccinated" is "my son gets vaccinated".
_UNTOLD = vocabulary(
    """
    marry meet date divorce match share live talk speak fight play argue live travel split agree get have be do make let
    need want help go come start stop begin end keep change open close charge connect sync run move turn work book
    """
)
# Behind these and whom "my" names, "to" says what that one does; "use my savings to pay" says what for.
_URGING = vocabulary(
    """
    ask tell teach get want allow help force make permit enable invite convince persuade expect require remind train
    order encourage advise like beg trust authorize authorise for
    """
)
_LONGEST = 30  # words
_NOUNS = 2  # words of a noun phrase behind "my"
_NOBODY: frozenset[str] = frozenset()


class Actors(NamedTuple):
    """`acting` are those who do what a verb says, "i" for the asker; `named` are all whom the text calls "my"."""

    acting: _Acting
    named: frozenset[str]


_NOTHING = Actors({}, _NOBODY)


def read(text: SplitText) -> Actors:
    """Those who act in a text; nobody in a long one, or one that calls nobody "my"."""
    words = text.words
    if len(words) > _LONGEST or text.bag.isdisjoint(_OWN):
        return _NOTHING
    acting: dict[str, set[str]] = {}
    named: set[str] = set()
    for place, word in enumerate(words):
        if word in _ASKERS or (word in _OBJECTS and words[place + 1 : place + 2] == ("to",)):
            _add(words, place + 1, _ASKER, acting, sure=True)
        elif word in _OWN:
            asked = place > 0 and words[place - 1] in _ASKING
            done_to = place > 0 and words[place - 1] in _GETTING
            for end in range(place + 2, min(place + 2 + _NOUNS, len(words) + 1)):
                noun = words[end - 1]
                if noun in LIGHT:
                    break
                named.add(stem(noun))
                if done_to and words[end : end + 1] and is_past(words[end]):
                    break
                if words[end : end + 1] == ("to",) and not (place and lemma_of(words[place - 1]) in _URGING):
                    break
                if not noun.endswith("'s") and _add(words, end, stem(noun), acting, sure=asked):
                    break
    return Actors({verb: frozenset(who) for verb, who in acting.items()}, frozenset(named))


def exchanged(one: Actors, two: Actors) -> str | None:
    """The verb that another does in each text, where both name whoever is not the asker; None if there is none."""
    known = (one.named & two.named) | {_ASKER}
    for verb, ours in one.acting.items():
        theirs = two.acting.get(verb)
        if theirs and ours.isdisjoint(theirs) and ours | theirs <= known and verb not in _UNTOLD:
            return verb
    return None


def _add(words: tuple[str, ...], start: int, who: str, acting: dict[str, set[str]], *, sure: bool) -> bool:
    """Note the verb at `start`, behind its auxiliaries, and what it governs; return True if there is one."""
    place = start
    while place < len(words) and words[place] in _MODALS:
        sure, place = True, place + 1
    if place >= len(words):
        return False
    verb = _verb(words[place], sure=sure)
    if verb is None:
        return False
    if verb in _GOVERNING and words[place + 1 : place + 2] == ("to",):
        return _add(words, place + 1, who, acting, sure=True)
    acting.setdefault(verb, set()).add(who)
    return True


def _verb(word: str, *, sure: bool) -> str | None:
    """The base of a verb; a bare form counts only where it is `sure` that a verb stands there."""
    if is_past(word) or third_person(word) is not None:
        return lemma_of(word)
    return word if sure and is_base(word) else None
