"""Pairs of no domain in particular, which measure how much of the embedder's general quality fine-tuning keeps.

Knows the authored groups that the verifier learns from (`semcache.train.recipe.authored`), and asks an encoder for
near prompts. Invariant: no text of these pairs is among the texts that are named, so nothing here was trained on.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

from semcache.train import mining, splits
from semcache.train.pairs import Pair
from semcache.train.recipe import authored
from semcache.train.text_identity import caseless

if TYPE_CHECKING:
    from semcache.types import Matrix

GROUPS = 250
TRAPS, NEAR = "rewordings and near misses", "rewordings and near prompts"


def general(
    encode: Callable[[Sequence[str]], Matrix],
    *,
    without: AbstractSet[str] = frozenset(),
    groups: int = GROUPS,
    seed: int = 7,
) -> dict[str, list[Pair]]:
    """Two sets that share their pairs of one answer, a prompt and a rewording of it.

    The pairs of different answers are a text that was written to be mistaken for the prompt, or another group's prompt
    that `encode`, which gives unit rows, puts near; a set without any is left out. `without` holds texts that must not
    be in it (`caseless`).
    """
    rng = random.Random(seed)
    unseen = [
        group
        for group in authored.groups()
        if group.different and without.isdisjoint(caseless(text) for text in _texts(group))
    ]
    chosen = rng.sample(unseen, min(groups, len(unseen)))
    same = [Pair(group.prompt, rng.choice(group.same), True) for group in chosen]
    traps = [Pair(group.prompt, rng.choice(group.different)[1], False) for group in chosen]
    texts = list(dict.fromkeys(text for pair in same for text in (pair.one, pair.two)))
    near = mining.mine(same, encode(texts), texts, splits.numbered(same)) if texts else []
    return {name: same + different for name, different in ((TRAPS, traps), (NEAR, near)) if different}


def _texts(group: authored.AuthoredGroup) -> Iterator[str]:
    yield group.prompt
    yield from group.same
    yield from (text for _, text in group.different)
