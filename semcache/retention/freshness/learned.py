"""Learned freshness: the pack's TTL, shortened by how often similar answers were seen to change.

With h the upper credible bound of the rate of change, an answer is out of date after t seconds with a probability of 1
- exp(-h t); the TTL is the t at which that reaches the category's `stale`.

Pure; reads the prompt, the pack and the observations. Invariant: no TTL exceeds the pack's or the caller's, and it
counts from an answer's creation.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from semcache.config.packs import Category, Pack
from semcache.request.eligibility import is_answered_by_material
from semcache.request.prompt_volatility import VolatilityModel, is_relative
from semcache.retention.freshness.fixed import shortened
from semcache.retention.freshness.hazard import NOISE, RATES, HazardPosterior, HazardPrior, Hazards, prior_quantile
from semcache.types import Request, Volatility

if TYPE_CHECKING:
    from semcache.types import Vector

_ALIKE: Mapping[Volatility, float] = dict.fromkeys(Volatility, 1.0)


@dataclass(frozen=True, slots=True)
class FreshnessOutlook:
    """The freshness of one category and volatility, as operators see it.

    `ttl` and `change_every` (mean time between changes) are seconds; of `observations` re-asked answers `differing`
    were not the same, both fading with age.
    """

    kind: Volatility
    ttl: float
    change_every: float
    observations: float
    differing: float


class LearnedFreshness:
    """`protocols.Freshness` that learns."""

    def __init__(self, pack: Pack, *, embedder_id: str | None = None) -> None:
        """`embedder_id` names where vectors come from.

        Those of another embedder than the shipped model's are ignored (None: they are the model's).
        """
        self._pack = pack
        self._embedder_id = embedder_id
        self._hazards = Hazards(NOISE)

    def kind(self, text: str, vector: Vector | None = None) -> Volatility:
        """How fast the answer to a prompt changes; `vector`, its embedding, makes this more certain."""
        if is_relative(text):
            return Volatility.RELATIVE
        model = VolatilityModel.shipped()
        known = self._embedder_id is None or self._embedder_id == model.embedder_id
        return model.kind(text, vector if known else None)

    def ttl(self, request: Request, category: str, vector: Vector | None = None) -> float:
        """Seconds; 0 means do not store."""
        policy = self._pack.of(category)
        if not policy.learn_ttl or policy.ttl <= 0:
            return shortened(policy.ttl, request)
        kind = self.kind(request.text, vector)
        if kind == Volatility.RELATIVE and not policy.live:
            if not is_answered_by_material(request):
                return 0.0
            kind = Volatility.SLOW
        return shortened(self._ttl(category, kind), request)

    def observe(self, category: str, exposure: float, changed: bool, kind: Volatility = Volatility.SLOW) -> None:
        """Learn from an answer that was asked for again when it was `exposure` seconds old.

        Raises InvalidArgument for an exposure that is negative or not finite.
        """
        self._hazards.observe(category, kind, exposure, changed)

    def outlook(self, category: str) -> list[FreshnessOutlook]:
        """The freshness of a category, one row a volatility."""
        policy = self._pack.of(category)
        if policy.ttl <= 0:
            return []
        rows = []
        for kind in Volatility:
            known = self._known(category, kind)
            ttl = 0.0 if kind == Volatility.RELATIVE and not policy.live else self._ttl(category, kind)
            ttl = ttl if policy.learn_ttl else policy.ttl
            rows.append(FreshnessOutlook(kind, ttl, 1 / known.mean, known.observations, known.differing))
        return rows

    def state(self) -> dict[str, Any]:
        """The observations, as JSON has them; {} without any."""
        return self._hazards.state()

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` gave. Raises ValueError for a state that is not its own."""
        self._hazards.restore(state)

    def _ttl(self, category: str, kind: Volatility) -> float:
        policy = self._pack.of(category)
        # Until an answer is out of date with probability `stale`.
        return min(policy.ttl, -math.log1p(-policy.stale) / self._known(category, kind).upper)

    def _known(self, category: str, kind: Volatility) -> HazardPosterior:
        return self._hazards.posterior(category, kind, self._prior(self._pack.of(category)), self._pack.confidence)

    def _prior(self, policy: Category) -> HazardPrior:
        """Without a stated `change_every`, that under which the pack's `ttl` is right for slowly changing answers.

        A category for prompts about the present has a TTL meant for them: no kind of prompt shortens it.
        """
        if policy.change_every is not None:
            rate = 1 / policy.change_every
        else:
            rate = -math.log1p(-policy.stale) / policy.ttl / prior_quantile(self._pack.confidence)
        return HazardPrior(rate, _ALIKE if policy.live else RATES)
