"""The check set that ships beside the verifier: synthetic pairs of prompts written for it.

Knows the prompts and the synthesizer; holds no row of any data set. Invariant: the seed decides the set.
"""

from __future__ import annotations

import random
from importlib.resources import files

from semcache.train.pairs import Pair
from semcache.train.synthesize import synthesize

SEED = 2
EACH = 6


def check_set() -> list[Pair]:
    """Pairs of both labels, as many of either; no prompt of theirs is ever trained on by the recipe."""
    prompts = files("semcache.train.recipe").joinpath("prompts.txt").read_text(encoding="utf-8").splitlines()
    found = list(synthesize(prompts, seed=SEED, each=EACH))
    rng = random.Random(SEED)
    of = [[pair for pair in found if pair.same is same] for same in (True, False)]
    count = min(map(len, of))
    chosen = [pair for pairs in of for pair in rng.sample(pairs, count)]
    rng.shuffle(chosen)
    return chosen
