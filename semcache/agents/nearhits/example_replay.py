"""Replay of examples off-peak: which to have answered anew, and which of the answers to keep.

Pure. Invariant: an example is replayed at most `MOST` times, a worse answer never takes the place of a better one, and
replaying ends where what it would gain is less than what it costs.

The gain of a replay is the mean of (1 - quality of the answer) at its uses, times how often it is used (IC-Cache,
section 5; the model's cost is the same for all examples here). Which answer is best is what most of several say
(self-consistency, Wang et al. 2022, arXiv 2203.11171).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from semcache.agents.nearhits.example import NearExample

MOST = 5


def due(examples: Iterable[NearExample], now: float, *, least: float, limit: int = 32) -> list[NearExample]:
    """The examples to replay, those first that gain the most; `least` is the gain that pays for a replay."""
    worth = [(_gain(one, now), one) for one in examples if one.replays < MOST]
    worth = [(gain, one) for gain, one in worth if gain > least]
    return [one for _, one in sorted(worth, key=lambda pair: (-pair[0], pair[1].id))[:limit]]


def rated(texts: Sequence[str], same: Mapping[tuple[int, int], bool]) -> list[tuple[str, float]]:
    """Answers to one prompt with the share of them, itself included, that say the same; `same` is of pairs i < j."""
    agreeing = [1] * len(texts)
    for (one, other), agree in same.items():
        agreeing[one] += agree
        agreeing[other] += agree
    return [(text, count / len(texts)) for text, count in zip(texts, agreeing, strict=True)]


def replayed(example: NearExample, answers: Sequence[tuple[str, float]]) -> NearExample:
    """The example with the best of its own and these (answer, quality in [0, 1]); one replay more in any case."""
    best = max(answers, key=lambda one: one[1], default=(example.answer, example.quality))
    if best[1] <= example.quality or not best[0].strip():
        return replace(example, replays=example.replays + 1, gain=example.gain / 2)
    return replace(example, answer=best[0], quality=best[1], replays=example.replays + 1, gain=0.0)


def _gain(example: NearExample, now: float) -> float:
    """A better answer gains at uses that did not help; uses that did show that the example is still asked for."""
    return example.gain * (1.0 + example.utility(now)) if example.uses else 0.0
