"""Pairs without a label, on which a network learns the predictions of its teachers.

A written group labels some of its pairs; the others, and neighbours among texts that were written apart, are as near as
what a cache has to tell apart, and nobody has to read them (Thakur et al. 2021, "Augmented SBERT", section 3.1).
Knows groups, questions and prompts; asks an encoder for neighbours. Invariant: equal texts and seed give equal pairs,
and none of them is labelled.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, product
from typing import TYPE_CHECKING

from semcache.train.recipe import mixture

if TYPE_CHECKING:
    from semcache.train.recipe.authored import AuthoredGroup
    from semcache.train.recipe.mixture import Embed, MinedPair

TOO_NEAR = 0.985  # cosine: such texts differ by a letter, or in nothing
AMONG_DIFFERENT, BESIDE_SAME = 6, 4  # pairs of a group: of two different texts, and of a rewording with one

TextPair = tuple[str, str]


def within(groups: Iterable[AuthoredGroup], seed: int) -> Iterator[TextPair]:
    """Pairs of each group that is trained on, drawn at random."""
    rng = random.Random(seed)
    for group in groups:
        different = [text for _, text in group.different]
        for some, count in (
            (list(combinations(different, 2)), AMONG_DIFFERENT),
            (list(product(group.same, different)), BESIDE_SAME),
        ):
            rng.shuffle(some)
            yield from some[:count]


def near(texts: Sequence[str], embed: Embed, count: int, least: float) -> Iterator[TextPair]:
    """Each text with its `count` nearest ones of a cosine of at least `least`, every pair once."""
    found = set[tuple[int, int]]()
    for here, places, scores in mixture.nearest(embed(texts), count):
        for place in map(int, places):
            if place != here and least <= scores[place] <= TOO_NEAR:
                found.add((min(here, place), max(here, place)))
    for one, two in sorted(found):
        yield texts[one], texts[two]


def unknown(pairs: Iterable[TextPair], labelled: Iterable[MinedPair], seed: int) -> list[TextPair]:
    """The pairs that have no label, each once, in random order."""
    known = {frozenset((one.pair.one, one.pair.two)) for one in labelled}
    found = {frozenset(pair): pair for pair in pairs}
    left = sorted(pair for texts, pair in found.items() if len(texts) == 2 and texts not in known)
    random.Random(seed).shuffle(left)
    return left
