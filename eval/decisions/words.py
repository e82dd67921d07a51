"""A language model's word, weighed: recorded verdicts, simulated models on streams, and bad and changing ones.

Knows caches, streams and strategies, and prints nothing. Invariant: every word that is asked for is counted at its
price, and what is served is judged by the truth of its data set.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from eval.decisions import hindsight, recorded_words, resuming, streams, synthetic, synthetic_words
from eval.decisions.contenders import VERIFIED, contenders, pack, verifier
from eval.decisions.report import Section, Table, between, middle, percent
from eval.decisions.synthetic_words import WORDS, WordKind
from eval.embedded import embedded
from eval.markdown import of_target, target_note
from semcache import AsyncSemanticCache
from semcache.cache.opening import open_components
from semcache.cache.opening_choices import Opening, VerdictTerms
from semcache.config.packs import Pack
from semcache.matching.judged_tier import JudgedTier
from semcache.matching.label_noise import LabelNoise
from semcache.matching.strategies import ByCategory
from semcache.matching.strategies.certified import CertifiedThreshold
from semcache.matching.verification import ConfiguredVerifier, EntryOf, Verifiers
from semcache.models.verifiers import local_verifier
from semcache.runtime.telemetry import Meter
from semcache.simulate import Arrival, Experiment, Simulator
from semcache.simulate.simulated_verdicts import VerdictAsking
from semcache.simulate.simulation_result import interval
from semcache.types import Outcome, Why

# Of a word, in calls, by the model that the requests name: some 300 tokens read and one written, for 50 read and 300
# written at four times as much; and by a small model at a twelfth of its price.
PRICE, SMALL_PRICE = 0.25, 0.02
_SHARE_AFTER = 0.08  # of the doubts that 2% of upstream spend allows asking about, at the price of the same model
_PROMPT = 0.04  # of a call that is called off, in calls: its prompt
_TARGET = 0.01
_BURN_IN = 200
_LENGTH = 2000
_VALID = 0.02  # target of the synthetic streams, as in `validity`
_BATCH = 25
_JUDGES = ("none", "98 of 100 right", "99 of 100 right", "99, told noise of 10%", "99, untold noise of 10%", "recorded")
_NOISELESS = "99 of 100 right"
_MODES = ("first", "hedged", "after")


@dataclass(frozen=True, slots=True)
class StreamJob:
    """One order of one stream, with one model that is asked."""

    stream: str
    judge: str
    length: int
    seed: int


@dataclass(frozen=True, slots=True)
class ValidityJob:
    """Synthetic streams with one kind of words: those of `count` seeds from `first`."""

    kind: WordKind
    first: int
    count: int


@dataclass(frozen=True, slots=True)
class StreamRun:
    """Shares of requests, but for `error`, which is of hits by meaning or on a word."""

    hits: float
    error: float
    judged: float
    asked: float
    net: float
    net_small: float
    possible: float
    static: float
    semantic: float


def section(chosen: argparse.Namespace, command: str, told: Callable[[int, int], None]) -> Section:
    """Recorded verdicts on traps, streams with simulated and recorded words, and validity with bad ones."""
    facts: dict[str, object] = {}
    tables = [_recorded_table(facts), *_stream_tables(chosen, facts, told), _validity_table(chosen, facts, told)]
    about = [
        command,
        f"target {percent(_TARGET, 1)}% per hit by meaning and on a word; {percent(_VALID, 1)}% on synthetic streams",
        f"a word counts as {PRICE} of a call by the model that requests name, as {SMALL_PRICE} by a small one, of "
        f"which the same words are assumed; a call that is called off counts as {_PROMPT}, and audits in full",
        "the local verifier is asked first, as shipped; `hedged` serves what `first` serves, without the wait; `after` "
        "asks about what was forwarded anyway",
    ]
    return Section("words", "A language model's word, weighed", about, tables, facts)


# Recorded verdicts


def _recorded_table(facts: dict[str, object]) -> Table:
    rows = []
    for mode, learning in (("off", False), ("first", False), ("first", True)):
        served, asked = asyncio.run(_asked_for_pairs(mode, learning=learning))
        right, traps = served[True], served[False]
        facts[f"fow_cache/{mode}/{learning}"] = {"right": right, "traps": traps, "asked": asked}
        rows.append(
            [
                f"{mode}{', misses recorded' if learning else ''}",
                between(interval(right["served"], right["of"]), 1),
                between(interval(traps["served"], traps["of"]), 1),
                of_target(traps["served"], right["served"] + traps["served"], _TARGET),
                str(right["judged"]),
                str(right["never sought"]),
                str(asked),
            ]
        )
    heads = [
        "mode",
        "rightful served %",
        "traps served %",
        "realised / target",
        "on a word",
        "rightful not sought",
        "asked",
    ]
    note = (
        "Not sought: refused before any neighbour was looked for, as live, personal, or of a category of its own. "
        f"{target_note(_TARGET).capitalize()}."
    )
    return Table("fow_cache with recorded verdicts: one cache, a tenant for each pair", heads, rows, note)


class _Recorded:
    """The recorded model: what it was not asked about then, it is not sure of."""

    def __init__(self) -> None:
        self._words = {(one.asked, one.cached): one.p_yes for one in recorded_words.recorded("fow_cache")}
        self.asked = 0

    async def same(self, query: str, cached_query: str, cached_answer: str) -> float:  # noqa: ARG002
        self.asked += 1
        return self._words.get((query, cached_query), 0.5)


async def _asked_for_pairs(mode: str, *, learning: bool) -> tuple[dict[bool, Counter[str]], int]:
    model, pairs = _Recorded(), recorded_words.recorded("fow_cache")
    served: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}

    def verifiers(given: Pack, entry_of: EntryOf, meter: Meter) -> Verifiers:
        return Verifiers({**local_verifier(given, None), "llm": ConfiguredVerifier(model, 1.5)}, entry_of, meter=meter)

    with tempfile.TemporaryDirectory() as folder:
        words = VerdictTerms("first" if mode == "first" else "off")
        opening = Opening(data=str(Path(folder)), seed=7, verifiers=verifiers, verdicts=words)
        async with AsyncSemanticCache(await open_components(opening)) as cache:
            for number, pair in enumerate(pairs):
                kept = await cache.lookup(pair.cached, tenant=f"t{number}")
                await cache.record(kept, f"Answer {number}.")
            await cache.settle()
            for number, pair in enumerate(pairs):
                found = await cache.lookup(pair.asked, tenant=f"t{number}")
                count = served[pair.same]
                count["of"] += 1
                count["served"] += found.answer is not None
                count["judged"] += found.why is Why.JUDGED
                count["never sought"] += found.outcome is Outcome.BYPASS or found.why is Why.EXACT_ONLY
                if learning and (found.answer is None or found.audit):
                    await cache.record(found, f"Answer {number}." if pair.same else f"Another answer than {number}.")
                    await cache.settle()
    return served, model.asked


# Streams


def _stream_tables(
    chosen: argparse.Namespace, facts: dict[str, object], told: Callable[[int, int], None]
) -> list[Table]:
    names = [name for name in chosen.streams if name in ("natural", "zipf", "clinc150", "banking77", "covidq")]
    jobs = [
        StreamJob(name, judge, chosen.length, chosen.seed * 1000 + order)
        for name in names
        for judge in _JUDGES
        for order in range(chosen.permutations)
    ]
    done = dict(zip(jobs, resuming.computed(_stream, jobs, processes=chosen.jobs, told=told), strict=True))
    heads = [
        "model",
        "mode",
        "hits %",
        "of the possible %",
        "wrong %",
        "realised / target",
        "of noiseless hits %",
        "asked %",
        "net %",
        "net, small model %",
        "way to the oracle %",
        "way, small %",
    ]
    tables = []
    for name in names:
        rows = []
        for judge in _JUDGES:
            for mode in _MODES if judge != "none" else ("first",):
                runs = [done[job][mode] for job in jobs if (job.stream, job.judge) == (name, judge)]
                facts[f"{name}/{judge}/{mode}"] = [
                    [one.hits, one.possible, one.error, one.asked, one.net, one.net_small, one.semantic] for one in runs
                ]
                rooms = [max(1e-9, one.possible - one.static) for one in runs]
                ways = [(one.net - one.static) / room for one, room in zip(runs, rooms, strict=True)]
                small = [(one.net_small - one.static) / room for one, room in zip(runs, rooms, strict=True)]
                rows.append(
                    [
                        judge,
                        mode if judge != "none" else "",
                        middle([one.hits for one in runs]),
                        middle([one.hits / one.possible for one in runs]),
                        middle([one.error for one in runs], 2),
                        _of_target(runs),
                        middle(kept) if (kept := _of_noiseless(done, name, judge, mode)) else "",
                        middle([one.asked for one in runs]),
                        middle([one.net for one in runs]),
                        middle([one.net_small for one in runs]),
                        middle(ways, 0),
                        middle(small, 0),
                    ]
                )
        note = (
            "Median and range over orders; realised / target is that of all orders together. Of noiseless hits: "
            f"divided by those of `{_NOISELESS}`, by order; at least half should be left with told noise. Way: from "
            "the best static threshold in hindsight within the target (0) to an oracle (100), net of the price of "
            "words and of audits."
        )
        tables.append(Table(f"{name}, {chosen.length} requests, {chosen.permutations} orders", heads, rows, note))
    return tables


def _of_target(runs: Sequence[StreamRun]) -> str:
    """The error of the hits of all orders as a multiple of the target; empty where nothing was served."""
    semantic = sum(one.semantic for one in runs)
    return f"{sum(one.error * one.semantic for one in runs) / semantic / _TARGET:.2f}" if semantic else ""


def _of_noiseless(done: Mapping[StreamJob, Mapping[str, StreamRun]], stream: str, judge: str, mode: str) -> list[float]:
    """The hits with a noisy judge as shares of those without its noise, order by order; none for other judges."""
    if "noise" not in judge:
        return []
    noisy = [job for job in done if (job.stream, job.judge) == (stream, judge)]
    return [done[job][mode].hits / max(1e-9, done[replace(job, judge=_NOISELESS)][mode].hits) for job in noisy]


def _stream(job: StreamJob) -> dict[str, StreamRun]:
    """What each mode makes of one order of a stream."""
    arrivals = streams.permuted(streams.build(job.stream, job.length, seed=7), job.seed)
    vectors = embedded([one.text for one in arrivals])
    swept = hindsight.static(arrivals, vectors, "always")
    fitting = [one.exact + one.semantic for one in swept if not one.semantic or one.wrong / one.semantic <= _TARGET]
    static = max(fitting, default=0) / len(arrivals)
    possible = _possible(arrivals)
    found = {}
    for mode in ("first", "after"):
        noise = 0.1 if "noise" in job.judge else 0.0
        believed = LabelNoise(noise, noise) if ", told" in job.judge else LabelNoise()
        given = pack(contenders()[VERIFIED], _TARGET, "hit")
        asking = (
            None
            if job.judge == "none"
            else VerdictAsking(
                _asked_of(job, arrivals),
                "after" if mode == "after" else "first",
                _SHARE_AFTER if mode == "after" else 1.0,
                believed,
            )
        )
        cache = Simulator(
            given,
            ByCategory(given, noise=believed),
            rng=random.Random(f"draws:{job.seed}"),
            experiment=Experiment(judge_noise=noise),
            verify=verifier(),
            asking=asking,
        )
        said = cache.run(arrivals, vectors)
        counts, asked = said.summary(), 0 if cache.verdicts is None else cache.verdicts.asked
        judged = sum(1 for why in said.why if why is Why.JUDGED)
        spared = counts["requests"] - counts["backend_calls"]
        requests = counts["requests"]
        found[mode] = StreamRun(
            counts["hit_rate"],
            counts["wrong"] / max(1, counts["semantic"]),
            judged / requests,
            asked / requests,
            (spared - PRICE * asked) / requests,
            (spared - SMALL_PRICE * asked) / requests,
            possible,
            static,
            counts["semantic"] / requests,
        )
    once = found["first"]
    off = _PROMPT * once.judged
    return {**found, "hedged": replace(once, net=once.net - off, net_small=once.net_small - off)}


def _asked_of(job: StreamJob, arrivals: list[Arrival]) -> Callable[[str, str], float]:
    answers = {one.text: one.answer for one in arrivals}
    share = 0.98 if job.judge.startswith("98") else 0.99

    def ask(asked: str, cached: str) -> float:
        same = answers[asked] == answers[cached]
        if job.judge == "recorded":
            return recorded_words.drawn(job.stream, asked, cached, same=same, seed=job.seed)
        right = random.Random(f"{job.seed}:{asked}:{cached}").random() < share
        return 0.9 if same == right else 0.1

    return ask


def _possible(arrivals: list[Arrival]) -> float:
    seen: set[str] = set()
    repeated = 0
    for one in arrivals:
        repeated += one.answer in seen
        seen.add(one.answer)
    return repeated / len(arrivals)


# Validity


def _validity_table(chosen: argparse.Namespace, facts: dict[str, object], told: Callable[[int, int], None]) -> Table:
    jobs = [
        ValidityJob(kind, first, min(_BATCH, chosen.seed + chosen.count - first))
        for kind in WORDS
        for first in range(chosen.seed, chosen.seed + chosen.count, _BATCH)
    ]
    done = resuming.computed(_valid, jobs, processes=chosen.jobs, told=told)
    rows = []
    for kind in WORDS:
        found = [one for job, part in zip(jobs, done, strict=True) if job.kind == kind for one in part]
        hits, wrong = sum(one[1] for one in found), sum(one[2] for one in found)
        above = sum(one[0] for one in found)
        facts[f"validity/{kind}"] = [above, len(found), sum(one[4] for one in found), sum(one[5] for one in found)]
        rows.append(
            [
                kind,
                str(len(found)),
                between(interval(above, len(found)), 1),
                between(interval(sum(one[4] for one in found), len(found)), 1),
                between(interval(sum(one[5] for one in found), len(found)), 1),
                percent(hits / (len(found) * _LENGTH), 1),
                percent(wrong / max(1.0, hits)),
                f"{wrong / max(1.0, hits) / _VALID:.2f}",
                percent(sum(one[3] for one in found) / (len(found) * _LENGTH), 1),
            ]
        )
    heads = ["words", "streams", "ever above %", "on words alone %", "ever an error too many %"]
    heads += ["hits %", "expected error %", "realised / target", "asked %"]
    note = (
        f"Above: at any time after {_BURN_IN} hits the expected errors of all hits so far, by meaning and on a word, "
        "exceed what the target allows for them. On words alone: those of hits on a word, after as many of these "
        f"as the target allows one error for ({1.0 / _VALID:.0f}). An error too many: at any time, from the first hit "
        "on, all hits have one expected error more than the target allows for them. Of outcomes no method could keep "
        f"this: one wrong hit of the first {1.0 / _VALID - 1.0:.0f} is above the target."
    )
    return Table(f"Synthetic streams of {_LENGTH} requests, steady", heads, rows, note)


def _valid(job: ValidityJob) -> list[tuple[bool, int, float, int, bool, bool]]:
    """If each stream was ever above its target, its hits, the errors expected of them, and how often it asked.

    Then if hits on words alone were ever above it, and if all hits ever had one error more than it allows.
    """
    given = pack(contenders()["certified"], _VALID, "hit")
    found = []
    for seed in range(job.first, job.first + job.count):
        stream = synthetic.make("steady", _LENGTH, seed)
        said, expected = synthetic_words.words(job.kind, stream, seed)
        threshold, tier = CertifiedThreshold(given), JudgedTier(given)
        served, judged, asked = synthetic_words.served(threshold, tier, stream, said)
        wrong = np.where(judged, expected, np.where(served, stream.wrong, 0.0))
        hits = np.cumsum(served)
        running = np.cumsum(wrong) / np.maximum(1, hits)
        ever = bool((running[hits >= _BURN_IN] > _VALID).any())
        words = np.cumsum(judged)
        excess = np.cumsum(np.where(judged, wrong - _VALID, 0.0))
        alone = bool((excess[words * _VALID >= 1.0] > 0.0).any())
        beyond = bool((np.cumsum(np.where(served, wrong - _VALID, 0.0)) > 1.0).any())
        found.append((ever, int(hits[-1]), float(wrong.sum()), asked, alone, beyond))
    return found
