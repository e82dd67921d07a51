"""Small made-up traffic: prompts whose vectors and answers are known, and thresholds of one mind."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from semcache.config.packs import Category, Pack
from semcache.simulate import Arrival
from semcache.types import Candidate, Controls, Verdict, Why
from semcache.types.evidence import Label, Standing, State

if TYPE_CHECKING:
    from semcache.types import Matrix

DIM = 16


def pack(**category: Any) -> Pack:
    """One category, without guards."""
    default = Category(name="default", guards=(), **category)
    return Pack(name="p", description="", share="tenant", target=0.01, min_margin=0.0, categories={"default": default})


def with_category(base: Pack, name: str, **category: Any) -> Pack:
    more = {**base.categories, name: Category(name=name, guards=(), **category)}
    return msgspec.structs.replace(base, categories=more)


class Fixed:
    """Serves above a score; remembers what it was told."""

    def __init__(self, floor: float, *, audit: float = 0.0, verify: bool = False) -> None:
        self.level, self.audit, self.verify = floor, audit, verify
        self.labels: list[Label] = []
        self.notes: list[tuple[str, float | None, bool]] = []

    def floor(self, category: str, controls: Controls) -> float:
        return self.level

    def promising(self, candidates: Sequence[Candidate], text: str, category: str) -> Sequence[bool]:
        return [True] * len(candidates)

    def judge(
        self,
        candidate: Candidate,
        category: str,
        *,
        controls: Controls,
        draw: float,
        tenant: str = "",
    ) -> Verdict:
        serve = candidate.score >= self.level
        verify = serve and self.verify
        return Verdict(serve and not verify, candidate.score, self.audit, verify, Why.UNCERTAIN)

    def note(
        self,
        category: str,
        p_correct: float | None,
        *,
        served: bool,
        audited: bool,
        candidate: Candidate | None = None,
    ) -> None:
        self.notes.append((category, p_correct, served))

    def observe(self, label: Label) -> None:
        self.labels.append(label)

    def standing(self, category: str) -> Standing:
        return Standing("fixed", State.FIXED, 0.01, self.level)

    def state(self) -> dict[str, Any]:
        return {}

    def restore(self, state: Mapping[str, Any]) -> None:
        return


def units(rows: Sequence[Sequence[float]]) -> Matrix:
    matrix = np.asarray(rows, np.float32)
    return np.asarray(matrix / np.linalg.norm(matrix, axis=1, keepdims=True), np.float32)


def traffic(
    seed: int,
    count: int,
    *,
    answers: int = 6,
    prompts: int = 30,
    tenants: Sequence[str] = ("a",),
    signatures: Sequence[bytes] = (b"",),
    categories: Sequence[str] = ("default",),
) -> tuple[list[Arrival], Matrix]:
    """A stream of `prompts` prompts over `answers` answers; prompts of one answer lie near each other."""
    rng, noise = random.Random(seed), np.random.default_rng(seed)
    centres = noise.normal(size=(answers, DIM))
    places = [rng.randrange(answers) for _ in range(prompts)]
    rows = [centres[place] + 0.3 * noise.normal(size=DIM) for place in places]
    picked = [rng.randrange(prompts) for _ in range(count)]
    arrivals = [
        Arrival(
            float(at),
            f"prompt {number}",
            f"answer {places[number]}",
            tenant=rng.choice(tenants),
            signature=rng.choice(signatures),
            category=rng.choice(categories),
        )
        for at, number in enumerate(picked)
    ]
    return arrivals, units(rows)[picked]
