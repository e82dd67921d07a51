"""The training mixture: synthetic pairs, and pairs mined in the sources by neighbourhood and label.

Knows prompts, their sets' labels and the guards; asks an encoder for neighbours. Invariant: equal prompts and seed give
equal pairs, no pair joins a held-out text with one that is trained on, and a pair that a guard vetoes is never said to
share an answer.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from semcache.matching import guards
from semcache.train.pairs import Pair

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from semcache.train.recipe.sources import SourcePrompt
    from semcache.types import Matrix

SURE_INTENT = 0.9  # how often prompts of one intent share an answer, where its answer depends on no detail
NEAR, TOO_NEAR, FAR = 24, 0.97, 0.5  # neighbours looked at; cosines beyond which labels mean little
_HARD = 0.75  # of the pairs of different answers, near ones; the others are drawn at random
_BLOCK = 1024

Embed = Callable[[Sequence[str]], "Matrix"]


@dataclass(frozen=True, slots=True)
class MinedPair:
    """A pair, the probability that its label is right, and whether it is held out."""

    pair: Pair
    sure: float
    held: bool


def neighbours(prompts: Sequence[SourcePrompt], embed: Embed, seed: int) -> Iterator[MinedPair]:
    """For each prompt a near one of another answer, and where there is one a paraphrase of the same intent."""
    rng = random.Random(seed)
    for held in (False, True):
        chosen = [prompt for prompt in prompts if prompt.held is held]
        by_answer: defaultdict[str, list[int]] = defaultdict(list)
        for place, prompt in enumerate(chosen):
            by_answer[prompt.answer].append(place)
        for here_at, places, scores in nearest(embed([prompt.text for prompt in chosen]), NEAR):
            here = chosen[here_at]
            others = [int(place) for place in places if _tells_apart(here, chosen[place], scores[place])]
            if others:
                # The nearest one is often one that the set's labels got wrong; farther ones keep the scale honest.
                among = sorted(others, key=lambda place: -scores[place])[: rng.choice((6, 6, NEAR))]
                there = chosen[rng.choice(among) if rng.random() < _HARD else rng.randrange(len(chosen))]
                if not _tells_apart(here, there, 0.0):
                    continue
                yield MinedPair(Pair(here.text, there.text, False, "neighbour", here.source), 1.0, held)
            alike = by_answer[here.answer]
            if len(alike) > 1 and not here.loose:
                place = rng.choice(alike)
                if place != here_at and scores[place] >= FAR and _silent(here.text, chosen[place].text):
                    pair = Pair(here.text, chosen[place].text, True, "intent", here.source)
                    yield MinedPair(pair, SURE_INTENT, held)


def nearest(vectors: Matrix, count: int) -> Iterator[tuple[int, NDArray[np.intp], NDArray[np.float32]]]:
    """The place of each unit vector of `vectors` (n, d), those of its `count` + 1 nearest, and its cosines with all.

    The vector itself is among the nearest, which are in no order.
    """
    for start in range(0, len(vectors), _BLOCK):
        scores = vectors[start : start + _BLOCK] @ vectors.T
        places = np.argpartition(-scores, min(count, len(vectors) - 1), axis=1)[:, : count + 1]
        yield from zip(range(start, start + len(scores)), places, scores, strict=True)


def synthetic(prompts: Sequence[SourcePrompt], make: Callable[[Sequence[str]], Iterable[Pair]]) -> Iterator[MinedPair]:
    """The pairs that `make` gives for the prompts, trained on and held out apart."""
    for held in (False, True):
        for pair in make([prompt.text for prompt in prompts if prompt.held is held]):
            yield MinedPair(pair, 1.0, held)


def balanced(found: Sequence[MinedPair], count: int, seed: int) -> list[MinedPair]:
    """At most `count` pairs, half of either label, and of each label no kind more often than needed."""
    rng = random.Random(seed)
    kinds: dict[bool, defaultdict[str, list[MinedPair]]] = {True: defaultdict(list), False: defaultdict(list)}
    for one in found:
        kinds[one.pair.same][one.pair.kind].append(one)
    chosen: list[MinedPair] = []
    for same, by_kind in kinds.items():
        left, places = count // 2, len(by_kind)
        for name in sorted(by_kind, key=lambda name: (len(by_kind[name]), name)):
            share = min(len(by_kind[name]), -(-left // places))
            chosen += rng.sample(by_kind[name], share)
            left, places = left - share, places - 1
        del same
    rng.shuffle(chosen)
    return chosen


def _tells_apart(one: SourcePrompt, two: SourcePrompt, score: float) -> bool:
    # Two sets may well ask the same under different names.
    if one.source != two.source:
        return False
    return one.answer != two.answer and not (one.loose and two.loose) and score < TOO_NEAR


def _silent(one: str, two: str) -> bool:
    return not any(conflict.veto for conflict in guards.conflicts(one, two, guards.GUARDS))


def swapped(rows: Iterable[tuple[str, str, bool, bool]]) -> Iterator[MinedPair]:
    """The labelled pairs of `sources.paraphrases`."""
    for one, two, same, held in rows:
        yield MinedPair(Pair(one, two, same, "paws", "paws_wiki"), 1.0, held)
