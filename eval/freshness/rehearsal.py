"""Rehearsal of TTL policies: on classes of known speed, and on questions that are asked again along the years.

Knows how answers moved, which the policies do not. Invariant: every policy sees the same requests of a seed.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from eval.freshness.sets import Row, Timeline
from semcache.config.packs import Category, Pack, load
from semcache.request.prompt_volatility import KINDS
from semcache.retention.freshness import LearnedFreshness, Volatility
from semcache.types import Endpoint, Request

if TYPE_CHECKING:
    from semcache.types import Vector

DAY, YEAR = 86400.0, 365.25 * 86400.0
LASTS = {Volatility.NEVER: math.inf, Volatility.SLOW: 4 * YEAR, Volatility.FAST: 0.5 * YEAR}  # by FreshQA's definitions
FIRST, LAST = 2016.0, 2021.2  # what SituatedQA's annotators could see


def pack(ttl: float, stale: float, change_every: float | None = None) -> Pack:
    """One category with this highest TTL, this staleness budget, and this prior mean time between changes."""
    return msgspec.structs.replace(
        load("default"),
        categories={"default": Category(name="default", ttl=ttl, stale=stale, change_every=change_every)},
    )


def request(text: str) -> Request:
    """A chat request."""
    return Request(Endpoint.CHAT, "model", {}, text, b"")


class Known(LearnedFreshness):
    """The learned lives with kinds worked out beforehand, for speed."""

    def __init__(self, of: Pack, kinds: Mapping[str, Volatility]) -> None:
        super().__init__(of)
        self._kinds = kinds

    def kind(self, text: str, vector: Vector | None = None) -> Volatility:  # noqa: ARG002
        return self._kinds[text]


def lives(truth: Sequence[Volatility], ttls: Sequence[float]) -> Row:
    """Quantiles of the TTL (days) by true class, and the share of stale answers if reuse falls evenly into each life.

    A class's answers change after exponential times with the means of `LASTS`; entries count by their life.
    """
    by = {kind: [ttl / DAY for one, ttl in zip(truth, ttls, strict=True) if one == kind] for kind in KINDS}
    stale = sum(
        ttl - LASTS[one] * -math.expm1(-ttl / LASTS[one])
        for one, ttl in zip(truth, ttls, strict=True)
        if LASTS[one] < math.inf
    )
    return {
        "quantiles": {
            str(kind): [float(np.quantile(each, q)) for q in (0.1, 0.5, 0.9)] for kind, each in by.items() if each
        },
        "mean_days": sum(ttls) / len(ttls) / DAY,
        "stale": stale / max(1e-9, sum(ttls)),
    }


def rates(questions: Sequence[Timeline], kinds: Mapping[str, Volatility]) -> dict[str, float]:
    """Changes a year of the questions of each kind, from their first known answer on."""
    found = {}
    for kind in KINDS:
        mine = [one.starts for one in questions if kinds.get(one.question) == kind]
        years = sum(LAST - max(FIRST, starts[0]) for starts in mine if starts[0] < LAST)
        found[str(kind)] = sum(FIRST < start < LAST for starts in mine for start in starts[1:]) / years
    return found


def simulate(
    questions: Sequence[Timeline],
    ttl: Callable[[str], float],
    learn: Callable[[float, bool, str], None],
    *,
    requests: int,
    noise: float,
    seed: int,
) -> Row:
    """Ask again and again along the years; popularity falls as 1 / rank, change days within a bare year are drawn."""
    rng = random.Random(seed)
    moves = [
        [start + rng.uniform(-0.5, 0.5) if start % 1 == 0.5 else start for start in one.starts] for one in questions
    ]
    ranks = [1 / (rank + 1) for rank in range(len(questions))]
    times = sorted(rng.uniform(FIRST, LAST) for _ in range(requests))
    cached: dict[int, tuple[float, float, int]] = {}
    asked = hits = stale = 0
    for now, number in zip(times, rng.choices(range(len(questions)), ranks, k=requests), strict=True):
        answer = sum(move <= now for move in moves[number])
        if answer == 0:
            continue  # nobody wrote down what held then
        asked += 1
        text = questions[number].question
        old = cached.get(number)
        if old is not None and now < old[1]:
            hits += 1
            stale += old[2] != answer
            continue
        if old is not None:
            exposure, changed = (now - old[0]) * YEAR, old[2] != answer or rng.random() < noise
            learn(exposure, changed, text)
        cached[number] = (now, now + ttl(text) / YEAR, answer)
    return {"hits": hits / asked, "stale": stale / max(1, hits)}


def rehearse(questions: Sequence[Timeline], kinds: Mapping[str, Mapping[str, Volatility]], seeds: int) -> list[Row]:
    """Every policy on the same requests: two thirds of the questions change."""
    moving = [one for one in questions if one.kind in (Volatility.SLOW, Volatility.FAST)]
    still = [one for one in questions if one.kind == Volatility.NEVER]
    found: dict[tuple[str, float | None, float], list[Row]] = defaultdict(list)
    for seed in range(seeds):
        rng = random.Random(seed)
        chosen = rng.sample(moving, 80) + rng.sample(still, 40)
        rng.shuffle(chosen)
        for days in (1, 7, 30, 90, 365):
            run = simulate(chosen, lambda *_, days=days: days * DAY, lambda *_: None, requests=4000, noise=0, seed=seed)  # type: ignore[misc]
            found[f"fixed {days} d", None, 0.0].append(run)
        plans = [(name, stale, 0.0) for stale in (0.01, 0.02, 0.05) for name in kinds]
        plans += [("embedding", 0.02, 0.1), ("embedding", 0.02, 0.3)]
        for name, stale, noise in plans:
            fresh = Known(pack(365 * DAY, stale, LASTS[Volatility.SLOW]), kinds[name])

            def life(text: str, fresh: Known = fresh) -> float:
                return fresh.ttl(request(text), "default")

            def learn(exposure: float, changed: bool, text: str, fresh: Known = fresh) -> None:
                fresh.observe("default", exposure, changed, fresh.kind(text))

            found[name, stale, noise].append(simulate(chosen, life, learn, requests=4000, noise=noise, seed=seed))
    return [
        {
            "policy": name,
            "target": stale,
            "noise": noise,
            **{
                key: [float(np.mean([run[key] for run in runs])), float(np.std([run[key] for run in runs], ddof=1))]
                for key in ("hits", "stale")
            },
        }
        for (name, stale, noise), runs in found.items()
    ]
