"""The cost of a decision: guards, features and strategy over eight candidates, and the learning of one label.

Knows a clock. Invariant: every query is a text that was never read before, its neighbours are those of a cache of
thousands of entries, and the timed code is that of the live cache between the index search and its decision.
"""

from __future__ import annotations

import argparse
import gc
import math
import random
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from eval.decisions.contenders import contenders, pack
from eval.decisions.data import questions
from eval.decisions.report import Section, Table
from eval.embedded import embedded
from semcache.matching import decide, features, guards, surroundings
from semcache.protocols import Threshold
from semcache.types import Candidate, Card, Controls
from semcache.types.evidence import Label, LabelSource

_ENTRIES, _QUERIES, _LABELS, _NEIGHBOURS = 6000, 2000, 2000, 8
_RECENT = 200  # queries whose neighbours are still remembered
_TAUGHT = 20  # entries that share the labels, so that each has many
_TIMED = ("vcache", "vcache + predictive", "per-category", "certified")
_CONTROLS = Controls()


@dataclass(frozen=True, slots=True)
class _Query:
    text: str
    found: list[Candidate]
    answers: list[bool]


def section(chosen: argparse.Namespace, command: str, told: Callable[[int, int], None]) -> Section:
    """Microseconds, by strategy."""
    queries = _queries(chosen.seed)
    guarded = pack(contenders()["per-category + guards"], 0.01, "hit").of("default").guards
    parts = [
        ("guards and features alone, neighbours not read lately", *_quantiles(_pairs(queries, guarded)), "", ""),
        ("the same, neighbours read lately", *_quantiles(_pairs(queries[-_RECENT:], guarded, again=" ")), "", ""),
    ]
    names = [name for name in _TIMED if name in contenders()]
    facts: dict[str, list[float]] = {}
    for done, name in enumerate(names, 1):
        given = pack(contenders()[name], 0.01, "hit")
        threshold = contenders()[name].make(given)
        updates = _teach(threshold, queries[:_LABELS])
        decisions = _decide(threshold, queries[_LABELS:], guarded)
        parts.append((f"decision, {name}", *_quantiles(decisions), *_quantiles(updates)))
        facts[name] = [*_raw(decisions), *_raw(updates)]
        told(done, len(names))
    about = [
        command,
        f"{_QUERIES} questions of qqp never read before, {_NEIGHBOURS} neighbours each among {_ENTRIES} entries, after "
        f"{_LABELS} labels; seed {chosen.seed}",
        "a decision starts with the candidates of the index: comparing and guarding unread texts is part of it",
        "microseconds of processor time, one thread; a label is taken in and then used once, for a strategy may put "
        "off its sums until then",
        "the aims are at most 300 us for guards, features and decision at the median, and 1000 us for a label",
    ]
    heads = ["", "decision p50", "p99", "label p50", "p99"]
    return Section("cost", "Cost of a decision and of a label", about, [Table("Microseconds", heads, parts)], facts)


def _queries(seed: int) -> list[_Query]:
    pool = list(questions("qqp", "report"))
    random.Random(seed).shuffle(pool)
    kept, asked = pool[:_ENTRIES], pool[_ENTRIES : _ENTRIES + _LABELS + _QUERIES]
    scores = embedded([one.text for one in asked]) @ embedded([one.text for one in kept]).T
    cards = [Card(i + 1, b"", b"", "default", one.text, 0.0, math.inf) for i, one in enumerate(kept)]
    nearest = np.argsort(-scores, axis=1)[:, :_NEIGHBOURS]
    return [
        _Query(
            one.text,
            [Candidate(cards[j], float(scores[i, j])) for j in nearest[i]],
            [kept[j].answer == one.answer for j in nearest[i]],
        )
        for i, one in enumerate(asked)
    ]


def _pairs(queries: list[_Query], names: tuple[str, ...], again: str = "") -> list[float]:
    taken = []
    for query in queries:
        text = query.text + again  # a text that no guard has read
        started = time.thread_time()
        for candidate, around in zip(query.found, surroundings.around(query.found), strict=True):
            guards.conflicts(text, candidate.card.text, names)
            features.of(text, replace(candidate, around=around))
        taken.append(time.thread_time() - started)
    return taken


def _decide(threshold: Threshold, queries: list[_Query], names: tuple[str, ...]) -> list[float]:
    taken = []
    _forget()
    gc.collect()
    for query in queries:
        text = query.text
        started = time.thread_time()
        terms = decide.RequestTerms("default", _CONTROLS, now=1.0, draw=0.5)
        decide.semantic(query.found, text, terms, threshold, lambda one, two: guards.conflicts(one, two, names))
        taken.append(time.thread_time() - started)
    return taken


def _forget() -> None:
    """Make every text one that was never read."""
    readers = (
        "semcache.matching.guards",
        "semcache.matching.features",
        "semcache.request.text",
        "semcache.request.kinds",
    )
    modules = [module for name, module in sys.modules.items() if name.startswith(readers)]
    for found in [value for module in modules for value in vars(module).values()]:
        if hasattr(found, "cache_clear"):
            found.cache_clear()


def _teach(threshold: Threshold, queries: list[_Query]) -> list[float]:
    taken = []
    for seq, query in enumerate(queries, 1):
        candidate, right = query.found[0], query.answers[0]
        entry = seq % _TAUGHT + 1
        traits = features.of(query.text, replace(candidate, around=surroundings.around(query.found)[0]))
        featured = Candidate(replace(candidate.card, id=entry), candidate.score, features=traits)
        label = Label(
            float(seq), "default", "default", entry, entry, b"", candidate.score, traits, 0.5,
            right, LabelSource.MISS, served=False, seq=seq,
        )  # fmt: skip
        started = time.thread_time()
        threshold.observe(label)
        threshold.judge(featured, "default", controls=_CONTROLS, draw=0.5)
        taken.append(time.thread_time() - started)
    return taken


def _raw(taken: list[float]) -> list[float]:
    return [round(1e6 * float(np.quantile(taken, q)), 1) for q in (0.5, 0.99)]


def _quantiles(taken: list[float]) -> tuple[str, str]:
    middle, high = _raw(taken)
    return f"{middle:.0f}", f"{high:.0f}"
