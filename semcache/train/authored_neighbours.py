"""Authored pairs that lie near a domain's prompts.

Rules edit words; rewordings in other words, and the near misses that people take for them, have to be written by hand.
Of the authored groups (`semcache.train.recipe.authored`) those are taken whose prompt lies nearest to any of the
domain's. Knows groups and an encoder, no rule and no model. Invariant: equal prompts, encoder and options give equal
pairs.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from semcache.errors import InvalidArgument
from semcache.train.pairs import Pair
from semcache.train.recipe import authored
from semcache.train.synthesize.generate import Counts
from semcache.train.synthesize.pair_filter import rejection_reason

if TYPE_CHECKING:
    from semcache.types import Matrix

GROUPS = 2000
EACH = 3
_LOOKED_AT = 3000  # prompts of the domain: more of them hardly change which groups are near
_BLOCK = 1024

Encode = Callable[[Sequence[str]], "Matrix"]


def authored_neighbours(
    prompts: Iterable[str],
    encode: Encode,
    *,
    groups: int | None = None,
    each: int = EACH,
    seed: int = 0,
    counts: Counts | None = None,
) -> Iterator[Pair]:
    """Up to `each` pairs of either label from each of the `groups` groups that are nearest to the prompts.

    None takes a group a prompt, `GROUPS` at most, so that few prompts do not drown in what is hardly near. `encode`
    gives unit rows. Each pair says in `made` which topic it is of. `counts` is kept up to date. Raises InvalidArgument
    for fewer than one group or pair.
    """
    if (groups is not None and groups < 1) or each < 1:
        raise InvalidArgument(f"groups={groups}, each={each}: at least one of either has to be asked for")
    rng, counts = random.Random(seed), Counts() if counts is None else counts
    texts = _sample(prompts, rng)
    if not texts:
        return
    groups = min(GROUPS, len(texts)) if groups is None else groups
    known = list(authored.groups())
    nearness = _best(encode([group.prompt for group in known]), encode(texts))
    for place in sorted(range(len(known)), key=lambda place: -nearness[place])[:groups]:
        for pair in _of(known[place], each, rng):
            why = rejection_reason(pair)
            if why is None:
                counts.kinds[pair.kind] += 1
                yield pair
            else:
                counts.dropped[why] += 1


def _of(group: authored.AuthoredGroup, each: int, rng: random.Random) -> Iterator[Pair]:
    made = f"written:{group.topic}"
    texts = [group.prompt, *group.same]
    alike = list(combinations(texts, 2))
    for one, two in rng.sample(alike, min(each, len(alike))):
        yield Pair(one, two, True, "reworded", made)
    for kind, text in rng.sample(group.different, min(each, len(group.different))):
        yield Pair(rng.choice(texts), text, False, kind, made)


def _sample(prompts: Iterable[str], rng: random.Random) -> list[str]:
    """A fair draw of a stream of any length."""
    drawn: list[str] = []
    for number, text in enumerate(prompts):
        if number < _LOOKED_AT:
            drawn.append(text)
        elif (place := rng.randrange(number + 1)) < _LOOKED_AT:
            drawn[place] = text
    return drawn


def _best(rows: Matrix, others: Matrix) -> Matrix:
    """For each of `rows`, shape (n, dim), the highest cosine with any of `others`, shape (m, dim): shape (n,)."""
    return np.concatenate([(rows[at : at + _BLOCK] @ others.T).max(1) for at in range(0, len(rows), _BLOCK)])
