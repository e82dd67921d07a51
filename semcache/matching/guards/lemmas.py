"""Lemmas: the dictionary's form of a word, "go" for "went" and "glass" for "glasses", and which words are of the past.

Knows the verbs of wordings, strong forms beside them, and the dictionary; no clause and no grammar. Invariant: a word
of which no form is known loses an ending at most.
"""

from __future__ import annotations

from semcache.matching.guards.plural_senses import SENSES
from semcache.request.text import lexicon, stem
from semcache.request.wording.misspelt import dictionary
from semcache.request.wording.verbs import IRREGULAR, PAST, base_of, is_base, past_tense, third_person
from semcache.runtime.scoped_memo import scoped_cache

# Forms of the past that wordings leave alone.
_STRONG = lexicon(
    "bend=bent bleed=bled blow=blew,blown breed=bred cling=clung creep=crept deal=dealt dig=dug dream=dreamt feed=fed"
    " flee=fled hang=hung hide=hid lay=laid lend=lent light=lit ride=rode ring=rang,rung seek=sought shine=shone"
    " shrink=shrank slide=slid spin=spun stick=stuck sting=stung strike=struck sweep=swept swear=swore swing=swung"
    " tear=tore weep=wept withdraw=withdrew,withdrawn undo=undid undergo=underwent"
)
_VOWELS = frozenset("aeiouy")
_SINGULARS = frozenset(SENSES.values())


@scoped_cache(maxsize=8192)
def lemma_of(word: str) -> str:
    """The form of a dictionary, "go" for "went"; a word that is no known form is returned without its ending."""
    if (known := SENSES.get(word) or IRREGULAR.get(word) or _STRONG.get(word)) is not None:
        return known
    if word in _SINGULARS:
        return word
    if word.endswith("ing"):
        doing = base_of(word) or word
        return doing if is_base(doing) or not is_base(doing + "e") else doing + "e"
    stump = word[:-2]
    # "Hosted" and "rolled" are of no "hoste" and "rolle".
    if word not in PAST and ends_as_past(word) and _VOWELS.isdisjoint(stump[-2:]) and stump in dictionary():
        return stump
    base = third_person(word) or past_tense(word)
    if base is not None:
        return base
    return stump if word.endswith("oes") or ends_as_past(word) else stem(word)


def ends_as_past(word: str) -> bool:
    """Return True for the ending of a regular past, whatever the word: "booked", not "speed" or "red"."""
    return word.endswith("ed") and not word.endswith("eed") and len(word) > 4


def is_past(word: str) -> bool:
    """Return True for a form of the past of a verb that is known."""
    return past_tense(word) is not None or word in _STRONG


def is_participle(word: str) -> bool:
    """Return True for a form that may be a past participle of a verb that is known."""
    return word in IRREGULAR or is_past(word)
