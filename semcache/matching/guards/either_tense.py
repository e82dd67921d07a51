"""Reports in either tense: "the app crashes" and "the app crashed" are one trouble, a plot is told as past or present.

Knows verbs of troubles and wishes, things that break, works and events. Invariant: what is said of a time, such as who
leads an army, is never taken for a report.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from semcache.matching.guards.lemmas import is_participle, lemma_of
from semcache.matching.guards.tenses import Tense
from semcache.request.text import vocabulary

# Somebody reports one and the same trouble, or says one and the same wish, in any tense: "it crashes", "it crashed".
_REPORTED = vocabulary(
    """
    crash freeze hang lag fail stop break lose forget see receive try hear notice feel hurt ache keep say show tell ask
    think want need wonder hope like love expect find seem look mean disconnect overheat leak lock misplace pop appear
    display flash flicker blink beep suspect reject decline restart shut drain hack clog
    block jam stall bounce refuse smell ring squeak grind rattle vibrate buzz cry cough vomit
    itch turn wilt rot fade drip bleed limp sneeze
    """
)
_MESSAGES = vocabulary("error errors exception exceptions warning warnings message messages noise noises nothing")
# What goes wrong with a thing, goes wrong in any tense.
_THINGS = vocabulary(
    """
    app apps application program website site page browser button link form server script query build test tests
    software update updates file email mail account phone laptop computer tablet pc screen display keyboard mouse
    printer router wifi internet connection network camera battery charger speaker headphones tv console engine car
    brakes fridge oven dishwasher washer heater boiler toilet tap sink alarm light lights fan drive disk game api
    """
)
_TELLERS = vocabulary("i we i'm i've we're we've")
_ASKERS = vocabulary("i we my our it")
# What people do in a work of art is told in either tense, and so is an event with a name of its own.
_STAGED = vocabulary("play sing star direct voice narrate write act portray")
_CLUBS = vocabulary("for at against with in")
_TOLD = vocabulary(
    """
    difference differences meaning definition movie film book books novel story episode season chapter series scene
    ending myth bible
    war wars battle revolution siege treaty massacre uprising rebellion ww1 ww2 wwi wwii reformation renaissance
    crusades plague holocaust
    """
)


class TenseChange(NamedTuple):
    """The tenses of one clause in two texts.

    `verbs` are the lemmas of verbs that stand in other forms, `said` the words of both texts, and `asked` is that the
    clause opens as a question does.
    """

    tenses: frozenset[Tense]
    asked: bool
    verbs: frozenset[str]
    said: frozenset[str]


def is_report(change: TenseChange, words: tuple[str, ...]) -> bool:
    """Return True if what is said in one tense is as well said in the other; `words` are those of one text."""
    if not change.said.isdisjoint(_TOLD) or ("the", "play") in pairwise(words):
        return True
    if words[0] == "who" and not change.verbs.isdisjoint(_STAGED) and words[2:3] and words[2] not in _CLUBS:
        return True
    trouble = not change.verbs.isdisjoint(_REPORTED)
    past_or_present = change.tenses == {"past", "present"}
    if change.asked:
        return trouble and not past_or_present and not change.said.isdisjoint(_ASKERS)
    if trouble or not change.said.isdisjoint(_MESSAGES) or ("get" in change.verbs and _gets_a_thing(words)):
        return True
    return past_or_present and not _THINGS.isdisjoint(words[:3])


def _gets_a_thing(words: tuple[str, ...]) -> bool:
    """Return True for "I get headaches", not for "I get married"."""
    place = next((place for place, word in enumerate(words) if lemma_of(word) == "get"), 0)
    return words[0] in _TELLERS and not any(map(is_participle, words[place + 1 : place + 2]))
