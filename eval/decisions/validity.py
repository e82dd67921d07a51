"""Does a strategy keep its promise? A thousand synthetic streams of each kind, judged by the truth they were made from.

Knows strategies by their protocol and nothing of texts or vectors. Invariant: a stream counts as above its target by
what was expected of the answers served, not by the luck of their outcomes.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import groupby

import numpy as np

from eval.decisions import resuming, synthetic
from eval.decisions.contenders import VERIFIED, Contract, contenders, pack
from eval.decisions.report import Section, Table, between, percent
from eval.decisions.synthetic import KINDS, Kind
from semcache.config.packs import Category, Pack
from semcache.learning import labelling
from semcache.matching import decide
from semcache.matching.label_noise import LabelNoise
from semcache.matching.strategies.certified import CertifiedThreshold
from semcache.protocols import Threshold
from semcache.simulate.simulation_result import interval
from semcache.types import Candidate, Card, Controls, Forward, Serve, Verify

BURN_IN = 200  # hits by the contract "hit", requests by "request"
_LENGTH = 2000
_WINDOW = 200  # requests
_TARGET = 0.02
_BATCH = 25
KNOWING = "certified, told of the noise"  # as it is after the judge's errors were counted on a gold set
# The share of the streams that each of them meets: the baselines fit anew at nearly every request.
_WHO: tuple[tuple[str, Contract, float], ...] = (
    ("vcache", "request", 0.02),
    ("per-category", "hit", 0.02),
    ("per-category", "request", 0.02),
    ("certified", "hit", 1.0),
    ("certified", "request", 1.0),
    (KNOWING, "hit", 1.0),
    (VERIFIED, "hit", 1.0),
)
_CONTROLS = Controls()


@dataclass(frozen=True, slots=True)
class Kept:
    """How one stream went. `recovery` counts requests after the change until the last window meets the target."""

    ever: bool
    final: bool
    hits: int
    wrong: float
    of: int
    recovery: int | None


@dataclass(frozen=True, slots=True)
class Batch:
    """Streams of one kind through one strategy: those of `count` seeds from `first`."""

    name: str
    contract: Contract
    kind: Kind
    target: float
    first: int
    count: int

    @property
    def about(self) -> tuple[str, Contract, Kind]:
        """The parameters that the batches of a row share."""
        return self.name, self.contract, self.kind


def run(batch: Batch) -> list[Kept]:
    """How each stream of a batch went."""
    return [kept(*batch.about, _LENGTH, batch.target, seed) for seed in range(batch.first, batch.first + batch.count)]


def section(chosen: argparse.Namespace, command: str, told: Callable[[int, int], None]) -> Section:
    """All kinds of streams, by strategy."""
    who = [one for one in _WHO if (name := one[0].split(",")[0]) in contenders() and name in chosen.contenders]
    rows, facts = [], {}
    batches = [
        Batch(name, contract, kind, _TARGET, first, min(_BATCH, chosen.seed + count - first))
        for name, contract, share in who
        for kind in _kinds(name)
        for count in [max(1, round(share * chosen.count))]
        for first in range(chosen.seed, chosen.seed + count, _BATCH)
    ]
    done = resuming.computed(run, batches, processes=chosen.jobs, minutes=chosen.minutes, told=told)
    for (name, contract, kind), parts in groupby(zip(batches, done, strict=True), lambda one: one[0].about):
        found = [each for _, part in parts for each in part]
        rows.append([f"{name} ({contract})", kind, str(len(found)), *_cells(found)])
        facts[f"{name}/{contract}/{kind}"] = [sum(each.ever for each in found), len(found)]
    about = [
        command,
        f"streams of {_LENGTH} requests, target {percent(_TARGET, 1)}%, seeds from {chosen.seed}",
        f"above: at any time after {BURN_IN} hits (contract hit) or requests (contract request) the expected error of "
        "all served so far exceeds the target; in brackets 95% intervals by Wilson",
        f"recovery: requests after the change until the expected error over the last {_WINDOW} requests meets the "
        "target for good; median and 95th percentile over streams",
        "strategies start without labels from this traffic and without any prior of their own but what ships",
        "where the local verifier is asked, the texts tell more than the features do, with a standard deviation of "
        f"{synthetic.UNREADABLE} log-odds, and it errs at equal words about as often as the one that ships does with "
        "hands that it never read; a dull one errs several times as often, a blind one says what would be right for "
        "another request, and a loud one finds nearly everything the same: of these the prior that ships knows "
        "nothing",
    ]
    heads = [
        "",
        "stream",
        "streams",
        "ever above %",
        "above at the end %",
        "hits %",
        "expected error %",
        "realised / target",
        "recovery p50",
        "p95",
    ]
    return Section("validity", "Validity: is the target kept?", about, [Table("Synthetic streams", heads, rows)], facts)


def _kinds(name: str) -> tuple[Kind, ...]:
    if name == KNOWING:
        return tuple(synthetic.NOISE)
    return (*KINDS, *synthetic.MISLEADING) if name == VERIFIED else KINDS


def kept(name: str, contract: Contract, kind: Kind, length: int, target: float, seed: int) -> Kept:
    """One stream through a fresh strategy."""
    stream = synthetic.make(kind, length, seed, unseen=synthetic.UNREADABLE if name == VERIFIED else 0.0)
    policy = _pack(name.split(",", maxsplit=1)[0], target, contract).of("default")
    served = _served(_threshold(name, kind, contract, target), policy, stream)
    wrong = np.where(served, stream.wrong, 0.0)
    hits = np.cumsum(served)
    of = hits if contract == "hit" else np.arange(1, length + 1)
    running = np.cumsum(wrong) / np.maximum(1, of)
    ever = running[of >= BURN_IN] > target
    return Kept(
        bool(ever.any()),
        bool(len(ever) and ever[-1]),
        int(hits[-1]),
        float(wrong.sum()),
        int(of[-1]),
        None if stream.change is None else _recovery(wrong, served, contract, target, stream.change),
    )


def _threshold(name: str, kind: Kind, contract: Contract, target: float) -> Threshold:
    contender = contenders()[name.split(",", maxsplit=1)[0]]
    given = _pack(name.split(",", maxsplit=1)[0], target, contract)
    if name != KNOWING:
        return contender.make(given)
    share = synthetic.NOISE[kind]
    return CertifiedThreshold(given, noise=LabelNoise(kind=share, harsh=share))


@cache
def _pack(name: str, target: float, contract: Contract) -> Pack:
    return pack(contenders()[name], target, contract)


def _served(
    threshold: Threshold, policy: Category, stream: synthetic.Synthetic
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    cards = [Card(i, b"", b"", "default", "", 0.0, math.inf) for i in range(int(stream.entry.max()) + 1)]
    traits = [tuple(row) for row in stream.features.tolist()]
    served = np.zeros(len(stream.entry), bool)
    draws, said = stream.draw.tolist(), stream.said.tolist()
    for at, (entry, score) in enumerate(zip(stream.entry.tolist(), stream.score.tolist(), strict=True)):
        candidate = Candidate(cards[entry], score, features=traits[at])
        decision = _decided(threshold, candidate, draws[at], said[at])
        decide.note(threshold, "default", decision)
        hit = decision if isinstance(decision, Serve) else None
        served[at] = hit is not None
        if hit is not None and not hit.audit:
            continue
        known = hit or decision.nearest
        chance = hit.chance if hit else 1.0
        label = synthetic.label(stream, at, known.features, decision.p_correct, served=hit is not None, chance=chance)
        unread = hit is None and labelling.is_unread(label, policy)
        threshold.observe(labelling.read(label, said[at]) if unread else label)
    return served


def _decided(threshold: Threshold, candidate: Candidate, draw: float, said: float) -> Serve | Forward:
    """The decision on a candidate, after the local verifier's P(same) where the threshold asks for it."""
    verdict = threshold.judge(candidate, "default", controls=_CONTROLS, draw=draw)
    decision = decide.followed(verdict, candidate, draw)
    if isinstance(decision, Verify):
        terms = decide.RequestTerms("default", _CONTROLS, now=0.0, draw=draw)
        return decide.verified(decision, said, allowed=0.0, terms=terms, threshold=threshold)
    return decision or Forward(verdict.why, nearest=candidate, p_correct=verdict.p_correct)


def _recovery(
    wrong: np.ndarray[tuple[int], np.dtype[np.float64]],
    served: np.ndarray[tuple[int], np.dtype[np.bool_]],
    contract: Contract,
    target: float,
    change: int,
) -> int:
    """Requests until the window meets the target for good; those left of the stream if it never does."""
    ones = np.ones(_WINDOW)
    errors = np.convolve(wrong[change:], ones)[: len(wrong) - change]
    of = np.convolve(served[change:].astype(float), ones)[: len(errors)] if contract == "hit" else _WINDOW
    above = np.flatnonzero(errors > target * np.maximum(1.0, of))
    return int(above[-1]) + 1 if len(above) else 0


def _cells(found: list[Kept]) -> list[str]:
    count = len(found)
    times = [one.recovery for one in found if one.recovery is not None]
    error = sum(one.wrong for one in found) / max(1, sum(one.of for one in found))
    quantiles = [f"{np.quantile(times, q):.0f}" for q in (0.5, 0.95)] if times else ["", ""]
    return [
        between(interval(sum(one.ever for one in found), count), 1),
        between(interval(sum(one.final for one in found), count), 1),
        percent(sum(one.hits for one in found) / (count * _LENGTH), 1),
        percent(error),
        f"{error / _TARGET:.2f}",
        *quantiles,
    ]
