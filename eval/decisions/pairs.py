"""Pairs at shipped defaults: each pair alone in a fresh cache, the first question cached, the second one asked.

`fow_cache` is a test set: it is run as the pack ships and nothing is ever chosen by it. Invariant: what is decided here
is what the live cache decides about a single entry, eligibility, category, guards and threshold included.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from eval.decisions.data import Pair, pairs, split
from eval.decisions.report import Section, Table, between
from eval.embedded import embedded
from eval.markdown import of_target, target_note
from semcache.config import packs as policy
from semcache.config.packs import Category, Pack
from semcache.matching import decide, guards
from semcache.matching.strategies import ByCategory
from semcache.models.verifiers import offline_verifier
from semcache.protocols import Threshold
from semcache.request import categorize, eligibility
from semcache.simulate.simulation_result import interval
from semcache.types import Candidate, Card, Controls, Endpoint, Forward, Request, Serve, Verify

Said: TypeAlias = Callable[[str, str], float | None]
_SAMPLE = 5000
_CONTROLS = Controls()


class Cache:
    """The decision of a cache with one entry, whose strategies have learned nothing but what ships."""

    def __init__(self, pack: Pack, threshold: Threshold | None = None, *, said: Said | None = None) -> None:
        """`said` is the local verifier: P(same) of the asked and the cached question. Without it nobody is asked."""
        rows = categorize.example_texts(pack)
        self._pack = pack
        self._threshold = threshold or ByCategory(pack)
        self._said = said
        self._categories = categorize.build(pack, embedded([text for _, text in rows]) if rows else [])

    def served(self, some: Sequence[Pair]) -> list[bool]:
        """For each pair, whether the second question gets the answer to the first."""
        return [isinstance(one, Serve) for one in self.decisions(some)]

    def decisions(self, some: Sequence[Pair]) -> list[Serve | Forward | None]:
        """The decision on each pair; None where nothing is sought."""
        cached, asked = embedded([one.cached for one in some]), embedded([one.asked for one in some])
        scores = (cached * asked).sum(axis=1)
        found = []
        for pair, one, two, score in zip(some, cached, asked, scores.tolist(), strict=True):
            kept = self._pack.of(self._categories.near(one, pair.cached)[0])
            near = [self._pack.of(name) for name in self._categories.near(two, pair.asked)]
            open_ = kept.name in [each.name for each in near if each.cache and each.semantic]
            sought = open_ and _eligible(pair.cached, kept) and _eligible(pair.asked, near[0])
            found.append(self._decision(pair, kept, near[0], min(1.0, score)) if sought else None)
        return found

    def _decision(self, pair: Pair, kept: Category, policy: Category, score: float) -> Serve | Forward:
        card = Card(1, b"", b"", kept.name, pair.cached, 0.0, math.inf)
        terms = decide.RequestTerms(policy.name, _CONTROLS, now=1.0, draw=0.5)
        decision = decide.semantic(
            [Candidate(card, score)],
            pair.asked,
            terms,
            self._threshold,
            lambda query, cached: guards.conflicts(query, cached, policy.guards),
        )
        if not isinstance(decision, Verify):
            return decision
        p_same = None if self._said is None else self._said(pair.asked, pair.cached)
        if p_same is None:
            return decide.unread(decision, terms.draw) or decide.refused(decision)
        return decide.verified(decision, p_same, allowed=decision.risk or 0.0, terms=terms, threshold=self._threshold)


def section(chosen: argparse.Namespace, command: str, told: Callable[[int, int], None]) -> Section:
    """All three sets, by kind."""
    pack = policy.load("default")
    cache = Cache(pack, said=offline_verifier(pack, None))
    half = [one for one in pairs("qqp") if split(one.group) == "report"]
    sets = {
        "fow_cache": list(pairs("fow_cache")),
        "qqp": random.Random(chosen.seed).sample(half, min(_SAMPLE, len(half))),
        "paws_wiki": list(pairs("paws_wiki")),
    }
    rows, errors, facts = [], [], {}
    for done, (name, some) in enumerate(sets.items(), 1):
        served = cache.served(some)
        for kind, same, counted in _kinds(some, served):
            rows.append([name, kind, "should be served" if same else "trap", str(len(counted)), _rate(counted)])
            facts[f"{name}/{kind}/{same}"] = [sum(counted), len(counted)]
        errors.append([name, *_error([pair.same for pair, hit in zip(some, served, strict=True) if hit], pack.target)])
        told(done, len(sets))
    about = [
        command,
        f"the shipped pack `default` and embedder, each pair alone; of qqp {_SAMPLE} pairs of the reporting half, seed "
        f"{chosen.seed}",
        "95% intervals by Wilson; the aim on fow_cache is at least 35% of rightful hits at no more than 2% of traps",
    ]
    table = Table("Served, by kind of pair", ["set", "kind", "", "pairs", "served %"], rows)
    realised = Table(
        "Error of hits and its target", ["set", "hits", "wrong", "realised / target"], errors, _sentence(pack.target)
    )
    return Section("pairs", "Pairs: rightful hits and traps at shipped defaults", about, [table, realised], facts)


def _error(right: Sequence[bool], target: float) -> list[str]:
    wrong = len(right) - sum(right)
    return [str(len(right)), str(wrong), of_target(wrong, len(right), target)]


def _sentence(target: float) -> str:
    return (
        f"{target_note(target).capitalize()}. The labels of `qqp` are noisy: their errors are counted as the cache's."
    )


def _kinds(some: Sequence[Pair], served: Sequence[bool]) -> Iterable[tuple[str, bool, list[bool]]]:
    for same in (True, False):
        of = [(pair, hit) for pair, hit in zip(some, served, strict=True) if pair.same is same]
        yield "all", same, [hit for _, hit in of]
        kinds = sorted({pair.kind for pair, _ in of} - {"all"})
        for kind in kinds:
            yield kind, same, [hit for pair, hit in of if pair.kind == kind]


def _eligible(text: str, category: Category) -> bool:
    request = Request(Endpoint.CHAT, "", {}, text, b"")
    return (
        eligibility.ineligible(request, category) is None and eligibility.semantic_eligible(request, category) is None
    )


def _rate(counted: Sequence[bool]) -> str:
    return between(interval(sum(counted), len(counted)), 1)
