"""Synthetic streams whose truth is known: for every request the probability that its nearest neighbour is right.

Knows features and no strategy. Invariant: the log-odds of a right neighbour are linear in the features, plus an effect
of the stream, one of the entry and, where asked for, a part that no feature shows and a local verifier reads; so that a
strategy that learns can estimate them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from semcache.matching import features
from semcache.matching.surroundings import NEAR
from semcache.types.evidence import Label, LabelSource

if TYPE_CHECKING:
    from numpy.typing import NDArray

Kind: TypeAlias = Literal[
    "steady", "noise 10%", "noise 30%", "shift", "adversarial", "blind verifier", "loud verifier", "dull verifier"
]
KINDS: tuple[Kind, ...] = ("steady", "noise 10%", "noise 30%", "shift", "adversarial")
MISLEADING: tuple[Kind, ...] = ("blind verifier", "loud verifier", "dull verifier")
NOISE: dict[Kind, float] = {"noise 10%": 0.1, "noise 30%": 0.3}
_ENTRIES = 40
_DROP = 3.0  # of the log-odds, at the shift
# Standard deviation of what the texts tell and no feature shows: without it likeness would tell nearly all that a
# verifier can, and the pairs that it is surest of would be no surer than others that are as like.
UNREADABLE = 2.5
# The local verifier knows the true log-odds up to this standard deviation and says P(same) as one does that was
# trained on labels of which so many are taken to be wrong: at equal words it then errs about as often as the one that
# ships does with hands that it never read.
_HEARING, _UNSURE = 0.6, 0.008
_DULL = 1.8  # standard deviation of one that hears badly
_LOUD = 2.5  # log-odds by which one that is too sure says "the same"
_LATENT = 101  # of the seed of what no feature shows, so that all else of a stream is the same without it
_USUAL = {"rivals": 0.69, "length": 0.2, "brevity": 0.2}


@dataclass(frozen=True, slots=True)
class Synthetic:
    """A stream. `wrong` is 1 - P(right) as constructed (0 or 1 where the order follows the outcomes), `right` the
    outcome, `change` the place of the first request after a shift, or None; `said` is a local verifier's P(same)."""

    entry: NDArray[np.int64]
    score: NDArray[np.float64]
    features: NDArray[np.float64]
    wrong: NDArray[np.float64]
    right: NDArray[np.bool_]
    heard: NDArray[np.bool_]
    draw: NDArray[np.float64]
    said: NDArray[np.float64]
    change: int | None


def label(
    stream: Synthetic, at: int, values: tuple[float, ...], p_correct: float | None, *, served: bool, chance: float
) -> Label:
    """The label of a request of the stream, as its judge heard it: of an audited hit, or of a miss."""
    entry = int(stream.entry[at])
    return Label(
        at=float(at),
        category="default",
        tenant="default",
        entry_id=entry,
        answer=entry,
        exact=b"",
        score=float(stream.score[at]),
        features=values,
        p_correct=p_correct,
        correct=bool(stream.heard[at]),
        source=LabelSource.AUDIT if served else LabelSource.MISS,
        served=served,
        chance=chance,
        seq=at + 1,
    )


def make(kind: Kind, length: int, seed: int, *, unseen: float = 0.0) -> Synthetic:
    """One stream of this kind. `unseen` is the standard deviation of the log-odds that no feature shows.

    After a "shift", at its middle, the log-odds of every neighbour are lower. In "adversarial" order all right
    neighbours come first, and then all wrong ones. What a "blind verifier" says has nothing to do with the truth, a
    "loud verifier" finds nearly everything the same, and a "dull verifier" errs several times as often, at equal words,
    as the one that ships; these are steady otherwise.
    """
    rng = np.random.default_rng([seed, (*KINDS, *MISLEADING).index(kind)])
    ranks = 1.0 / np.arange(1, _ENTRIES + 1)
    entry = rng.choice(_ENTRIES, size=length, p=ranks / ranks.sum()) + 1
    nearness = rng.uniform(0.5, 5.0, length)
    overlap = np.clip(1.0 / (1.0 + np.exp(-(nearness - 2.5 + rng.normal(0.0, 1.0, length)))), 0.0, 1.0)
    effects = rng.normal(0.0, 0.7, _ENTRIES + 1)
    odds = rng.normal(0.0, 0.7) + effects[entry] + 1.8 * (nearness - 2.0) + 1.5 * (overlap - 0.5)
    if unseen:
        odds += np.random.default_rng([seed, _LATENT]).normal(0.0, unseen, length)
    change = None
    if kind == "shift":
        change = length // 2
        odds[change:] -= _DROP
    wrong = 1.0 / (1.0 + np.exp(odds))
    right = rng.random(length) >= wrong
    order = np.arange(length)
    if kind == "adversarial":
        order = np.argsort(~right, kind="stable")
        change, wrong = int(right.sum()), (~right).astype(float)
    heard = right != (rng.random(length) < NOISE.get(kind, 0.0))
    table = _features(rng, nearness, overlap)
    draw = rng.random(length)
    true = rng.permutation(odds) if kind == "blind verifier" else odds + _LOUD * (kind == "loud verifier")
    heard_up_to = _DULL if kind == "dull verifier" else _HEARING
    said = _UNSURE + (1.0 - 2.0 * _UNSURE) / (1.0 + np.exp(-(true + rng.normal(0.0, heard_up_to, length))))
    return Synthetic(
        entry[order],
        (1.0 - np.exp(-nearness))[order],
        table[order],
        wrong[order],
        right[order],
        heard[order],
        draw,
        said[order],
        change,
    )


def _features(
    rng: np.random.Generator, nearness: NDArray[np.float64], overlap: NDArray[np.float64]
) -> NDArray[np.float64]:
    n = len(nearness)
    lacking = np.log1p(np.round(5.0 * (1.0 - overlap)))
    margin = np.clip(rng.normal(0.1, 0.1, n), 0.0, 0.3)
    given = {
        "nearness": nearness,
        "margin": margin,
        "vote": -np.log(0.05 + np.exp(-margin / NEAR)),
        "overlap": overlap,
        "spelling": np.clip(overlap + rng.normal(0.0, 0.1, n), 0.0, 1.0),
        "missing": lacking,
        "surplus": lacking,
    }
    return np.stack([given.get(name, np.full(n, _USUAL.get(name, 0.0))) for name in features.NAMES], axis=1)
