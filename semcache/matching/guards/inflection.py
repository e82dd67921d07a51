"""Inflection: two texts of the same words in other forms, such as "who leads the army?" and "who led the army?".

Compares their tenses, gerunds, plurals of another sense, and participles that feel and that make felt. Invariant: texts
are told apart only where nothing but endings, determiners, auxiliaries and conjunctions differs.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

from semcache.matching.guards import gerunds, tenses
from semcache.matching.guards.either_tense import TenseChange, is_report
from semcache.matching.guards.lemmas import is_participle, is_past, lemma_of
from semcache.matching.guards.plural_senses import other_sense
from semcache.matching.guards.tenses import BE, DETERMINERS, HAVE, ClauseTense
from semcache.request.text import SplitText, vocabulary
from semcache.request.text import read as read_text
from semcache.request.wording.verbs import is_base

_MOST = 12  # words that stand in one of two texts only
_JOINING = vocabulary("when after if once as to")
_PASSING = vocabulary("now currently just already ever yet still today")
_LOOSE = (
    DETERMINERS
    | BE
    | HAVE
    | _JOINING
    | _PASSING
    | vocabulary("do does did done doing be been being will who what which where how who's what's where's how's i've")
    | vocabulary("we've they've you've i'm we're they're it's")
)
_CONTRARY = frozenset(
    map(frozenset, (("past", "present"), ("past", "progressive"), ("perfect", "present"), ("perfect", "progressive")))
)
_DONE = vocabulary("done doing being")
_BEHIND = BE | vocabulary("be been being get got gets getting i'm he's she's they're we're you're")
# Verbs of what is felt: one who is "-ed" feels what another, who is "-ing", makes felt.
_FELT = vocabulary(
    """
    alarm amaze amuse annoy astonish baffle bewilder bore captivate charm confuse convince daunt depress devastate
    disappoint discourage disgust disturb embarrass encourage engage entertain enchant excite exhaust fascinate frighten
    frustrate horrify humiliate inspire insult interest intimidate intrigue irritate motivate move offend overwhelm
    please puzzle reassure refresh relax satisfy shock startle stimulate surprise tempt terrify threaten thrill tire
    touch trouble upset develop
    """
)
# Verbs of what people do to one another: who was "-ed" suffered what one who was "-ing" did.
_DONE_TO_OTHERS = vocabulary(
    """
    abuse accuse arrest assault attack betray blackmail bully chase cheat date evict exploit fire follow ghost hack
    harass haunt hire hit hunt insult interview invite kidnap manipulate mock punish rob sabotage scam scold shoot
    stalk sue tease threaten track train treat
    """
)


class _Forms(NamedTuple):
    """The words that stand in one of two texts only, by their lemmas.

    `ours` and `theirs` have the same lemmas, but for "used to". `passive`: one text alone says "being".
    """

    ours: dict[str, str]
    theirs: dict[str, str]
    passive: bool


def compare(query: str, cached: str) -> str | None:
    """The disagreement of two texts that differ in inflection alone; None without one, and for all other texts."""
    one, two = read_text(query), read_text(cached)
    forms = _forms(one, two)
    if forms is None:
        return None
    return (
        _by_form(forms, one.words, two.words)
        or gerunds.compare(query, cached)
        or _by_tense(forms, one, two, zip(tenses.read(query), tenses.read(cached), strict=False))
    )


def _forms(one: SplitText, two: SplitText) -> _Forms | None:
    """The words by which the texts differ; None if that is more than forms of the same words, or nothing."""
    left, right = one.bag - two.bag, two.bag - one.bag
    if not left.isdisjoint(_LOOSE) or not right.isdisjoint(_LOOSE):
        left, right = left - _contracts(right), right - _contracts(left)
    if (not left and not right) or len(left) + len(right) > _MOST:
        return None
    ours, theirs = _by_lemma(left), _by_lemma(right)
    if ours.keys() != theirs.keys() and not _used_to(ours, theirs, one.words, two.words):
        return None
    return _Forms(ours, theirs, "being" in left or "being" in right)


def _by_form(forms: _Forms, one: tuple[str, ...], two: tuple[str, ...]) -> str | None:
    """The participle, or the plural, that says another thing than the form in the other text."""
    for lemma, form in forms.ours.items():
        other = forms.theirs.get(lemma, form)
        if form == other:
            continue
        if (lemma in _FELT and (_feels(form, other) or _feels(other, form))) or other_sense(form, other, one, two):
            return f"{form} / {other}"
        if lemma in _DONE_TO_OTHERS and _is(form, one) and _is(other, two) and _is_doing(form) != _is_doing(other):
            return f"{form} / {other}"
    return None


def _is(form: str, words: tuple[str, ...]) -> bool:
    """Return True if this form stands behind one of "to be"."""
    return any(one in _BEHIND and two == form for one, two in pairwise(words))


def _is_doing(form: str) -> bool:
    return form.endswith("ing")


def _feels(form: str, other: str) -> bool:
    """Return True for "boring" and "bored"."""
    return form.endswith("ing") and is_past(other)


def _by_tense(
    forms: _Forms, one: SplitText, two: SplitText, clauses: Iterable[tuple[ClauseTense, ClauseTense]]
) -> str | None:
    """The tenses of the first clause that is of another time; None without one, or if it is a report of any tense."""
    verbs = frozenset(lemma for lemma in forms.ours if is_base(lemma))
    if forms.passive:
        verbs |= {lemma_of(word) for word in one.bag & two.bag if is_participle(word)}
    said = one.bag | two.bag
    for ours, theirs in clauses:
        change = TenseChange(frozenset((ours.tense, theirs.tense)), ours.asked, verbs, said)
        if change.tenses not in _CONTRARY or ours.asked != theirs.asked:
            continue
        if not verbs and said.isdisjoint(_DONE) and change.tenses != {"past", "present"}:
            continue
        if is_report(change, one.words) or is_report(change, two.words):
            return None
        return f"{ours.tense} / {theirs.tense}"
    return None


def _contracts(words: frozenset[str]) -> set[str]:
    """The pronouns of contractions, "i" of "i'm"."""
    return {word.partition("'")[0] for word in words if "'" in word}


def _by_lemma(words: frozenset[str]) -> dict[str, str]:
    """The words of one text only, each by its lemma."""
    return {lemma_of(word): word for word in words if word not in _LOOSE}


def _used_to(first: dict[str, str], second: dict[str, str], one: tuple[str, ...], two: tuple[str, ...]) -> bool:
    """Return True if one text alone says "used to", and nothing else is another word."""
    for lemmas, others, said in ((first, second, one), (second, first, two)):
        if lemmas.get("use") == "used" and ("used", "to") in pairwise(said):
            return lemmas.keys() - {"use"} == others.keys()
    return False
