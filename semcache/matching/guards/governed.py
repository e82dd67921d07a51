"""Prepositions that a word governs and that say one thing behind it: "protect from" and "protect against".

Knows verbs, and the nouns and adjectives right behind which such a preposition stands. Invariant: a preposition that no
listed word governs is left as it is.
"""

from __future__ import annotations

from collections.abc import Container

# The words, and the prepositions behind them, all of which say what the first says. An object may stand between.
_VERBS = """
protect protects protecting protected shield defend guard secure: from against
integrate integrating integrated connect connecting connected link linking linked sync syncing pair pairing: with to
share sharing shared compare comparing compared: with to
replace replacing replaced substitute substituting: with by
exchange exchanging exchanged swap swapping swapped: for to with
insure insuring insured cover covers covered vaccinate vaccinated: for against
apply applying applied register registering subscribe subscribing: for to
"""
# Nouns, adjectives and verbs, with the preposition right behind them.
_OTHERS = """
protection safe immunity: from against
solution solutions answer answers key alternative alternatives: to for
ticket tickets visa visas up: for to
talk talking talked speak speaking spoke chat chatting react reacts reacting: to with
happen happens happened happening: to with
comparison married similar identical related relation compatible: with to
effective vaccine vaccines vaccination cure cures remedy remedies medicine medicines: for against
medication treatment treatments: for against
insurance coverage exercise exercises drug drugs antidote: for against
allergic: to against for
compete competing competed: with against
suffer suffers suffering: from with
"""
_REACH = 4  # words before the preposition


def _table(lines: str) -> dict[tuple[str, str], str]:
    """The first preposition of its line for each word and preposition."""
    found: dict[tuple[str, str], str] = {}
    for line in lines.strip().split("\n"):
        words, _, prepositions = line.partition(": ")
        first, *others = prepositions.split()
        found |= {(word, other): first for word in words.split() for other in others}
    return found


_BY_VERB, _BY_OTHER = _table(_VERBS), _table(_OTHERS)
# Behind these "against" is as good as "for" or "from", or as none: to appeal against a fine is to appeal it.
_UNOPPOSED = frozenset(word for (word, other), first in (_BY_VERB | _BY_OTHER).items() if "against" in (other, first))
_UNOPPOSED |= {"appeal", "appeals", "appealing", "appealed"}


def plain(preposition: str, words: tuple[str, ...], place: int, prepositions: Container[str]) -> str:
    """The preposition at this place of the words, or the first of those that say the same behind the word it is of."""
    if not place:
        return preposition
    found = _BY_OTHER.get((words[place - 1], preposition))
    if found is not None:
        return found
    for before in reversed(words[max(0, place - _REACH) : place]):
        found = _BY_VERB.get((before, preposition))
        if found is not None:
            return found
        if before in prepositions:
            break
    return preposition


def is_unopposed(words: tuple[str, ...], place: int) -> bool:
    """Return True if the "against" at this place is behind a word such as "protect" or "vaccine"."""
    return not _UNOPPOSED.isdisjoint(words[max(0, place - _REACH) : place])
