"""Who is compared: a strategy, the guards it may use, and how the cache around it is set up.

Knows the strategies by name; a strategy that the package does not have is left out. Invariant: all contenders meet the
same arrivals in the same order, with the same seed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, Literal, TypeAlias

import msgspec

from eval.decisions import streams
from eval.embedded import embedded
from semcache.config import packs
from semcache.config.packs import Pack
from semcache.matching.strategies import STRATEGIES
from semcache.matching.strategies.per_category import PerCategoryThreshold
from semcache.matching.strategies.vcache import VCacheThreshold
from semcache.models.verifiers import offline_verifier
from semcache.protocols import Threshold
from semcache.simulate import Arrival, Experiment, Simulator
from semcache.types import Candidate, Controls, Verdict
from semcache.types.evidence import Label, Standing, State

Contract: TypeAlias = Literal["hit", "request"]
Insertion: TypeAlias = Literal["always", "when-wrong"]
Prior: TypeAlias = Mapping[str, Any]  # a saved state

FAITHFUL, VERIFIED = "vcache", "certified + verifier"
_FOREVER = 1e9  # seconds: nothing grows old in these streams


@dataclass(frozen=True, slots=True)
class Contender:
    """`make` builds the strategy, which keeps any of `contracts`; a `prior` is learned from the other half of the set.

    A mere `rung` of the ladder is run at one target alone. Without the `exact` tier a repeated question meets itself in
    the index, as in vCache, which has no such tier.
    """

    make: Callable[[Pack], Threshold]
    guards: bool = True
    neighbours: int = 8
    exact: bool = True
    prior: bool = False
    contracts: tuple[Contract, ...] = ("hit", "request")
    ladder: str = ""
    rung: bool = False
    verified: bool = False


def contenders() -> dict[str, Contender]:
    """Everyone who can be run, the ablation ladder in its order."""
    vcache = Contender(
        VCacheThreshold, guards=False, neighbours=1, exact=False, contracts=("request",), ladder="as published"
    )
    log_grid = partial(VCacheThreshold, log_grid=True)
    predictive = partial(VCacheThreshold, predictive=True)
    found = {
        FAITHFUL: vcache,
        "vcache + log grid": replace(vcache, make=log_grid, ladder="log-spaced grid", rung=True),
        "vcache + predictive": replace(vcache, make=predictive, ladder="posterior predictive", rung=True),
        "vcache + exact": replace(vcache, make=predictive, exact=True, ladder="and an exact tier", rung=True),
        "per-category": Contender(PerCategoryThreshold, guards=False, neighbours=1, prior=True, ladder="pooled budget"),
        "per-category + guards": Contender(PerCategoryThreshold, prior=True, ladder="+ guards", rung=True),
    }
    certified = STRATEGIES.get("certified")
    if certified is not None:
        found["certified - guards"] = Contender(certified, guards=False, ladder="certified, without guards", rung=True)
        found["certified, nearest"] = Contender(certified, neighbours=1, ladder="certified, one neighbour", rung=True)
        found["certified"] = Contender(certified, ladder="certified, as shipped")
        found[VERIFIED] = Contender(certified, ladder="certified, asking the small verifier", verified=True)
    return found


def pack(contender: Contender, target: float, contract: Contract) -> Pack:
    """The default pack with one target and contract for every category, without limits of time, room or length."""
    given = packs.load("default")
    changes: dict[str, Any] = {
        "contract": contract,
        "target": None,
        "cache": True,
        "semantic": True,
        "ttl": _FOREVER,
        "quota": 10**9,
        "max_chars": 10**6,
        "verify": "verifier" if contender.verified else "off",
    }
    if not contender.guards:
        changes["guards"] = ()
    categories = {name: msgspec.structs.replace(one, **changes) for name, one in given.categories.items()}
    return msgspec.structs.replace(given, target=target, categories=categories)


def simulator(
    contender: Contender, given: Pack, insertion: Insertion, seed: int, prior: Prior, *, noise: float = 0.0
) -> Simulator:
    """A cold cache of this contender."""
    threshold = contender.make(given)
    if contender.prior:
        threshold.restore(prior)
    return Simulator(
        given,
        threshold,
        rng=random.Random(f"draws:{seed}"),
        experiment=Experiment(insertion, contender.neighbours, noise),
        verify=verifier() if contender.verified else None,
    )


@cache
def verifier() -> Callable[[str, str], float | None] | None:
    """The local verifier that ships: P(same) of two texts, None of such as it does not read."""
    return offline_verifier(packs.load("default"), None)


def seen_by(contender: Contender, arrivals: Sequence[Arrival]) -> Sequence[Arrival]:
    """The arrivals as this contender meets them: without the exact tier no two have the same text."""
    if contender.exact:
        return arrivals
    return [replace(one, text=f"{one.text} #{place}") for place, one in enumerate(arrivals)]


def learned(stream: str, length: int, guards: bool) -> Prior:
    """The prior that `per-category` learns from the other half of a stream's set, all of it sent to the backend."""
    arrivals = streams.permuted(streams.build(stream, length, "prior"), 0)
    silent = Contender(lambda _: _Silent(), guards=guards, neighbours=8 if guards else 1)
    run = simulator(silent, pack(silent, 0.01, "hit"), "always", 0, {})
    run.run(arrivals, embedded([one.text for one in arrivals]))
    threshold = run.threshold
    assert isinstance(threshold, _Silent)
    return PerCategoryThreshold.fit(run.pack, threshold.labels).state()


class _Silent:
    """`protocols.Threshold` that serves nothing and keeps the labels."""

    def __init__(self) -> None:
        self.labels: list[Label] = []

    def floor(self, category: str, controls: Controls) -> float:  # noqa: ARG002
        return -1.0

    def promising(self, candidates: Sequence[Candidate], text: str, category: str) -> Sequence[bool]:  # noqa: ARG002
        return [True] * len(candidates)

    def judge(
        self,
        candidate: Candidate,
        category: str,  # noqa: ARG002
        *,
        controls: Controls,  # noqa: ARG002
        draw: float,  # noqa: ARG002
        tenant: str = "",  # noqa: ARG002
    ) -> Verdict:
        return Verdict(False, max(0.0, candidate.score))

    def note(
        self,
        category: str,
        p_correct: float | None,
        *,
        served: bool,
        audited: bool,
        candidate: Candidate | None = None,
    ) -> None: ...

    def observe(self, label: Label) -> None:
        self.labels.append(label)

    def standing(self, category: str) -> Standing:  # noqa: ARG002
        return Standing("silent", State.FIXED, 0.0, 1.0)

    def state(self) -> dict[str, Any]:
        return {}

    def restore(self, state: Mapping[str, Any]) -> None: ...
