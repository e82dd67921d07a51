"""The label log with all that it teaches, restored from a store: for who serves, and for who only shows what is known.

The one place in which learners are made from a pack. Invariant: equal terms and an equal store give equal knowledge.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from semcache.config.packs import Pack
from semcache.learning.changed_promises import LabelOrigins
from semcache.learning.label_log import LabelLog, LearningStore, LearningTiers
from semcache.matching.judged_tier import JudgedTier
from semcache.matching.label_noise import FAITHFUL, LabelNoise
from semcache.matching.strategies import ByCategory
from semcache.matching.strategies.certified.belief_prior import BeliefPrior
from semcache.matching.wording_tier import WordingTier
from semcache.retention.freshness import LearnedFreshness
from semcache.runtime.telemetry import Meter


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningTerms:
    """The terms under which labels are learned from.

    `noise` is that of the judge, `priors` those of the embedder, by profile, and `grants` this process's share of the
    errors granted to first answers. `english` is True for an embedder made for English alone.
    """

    pack: Pack
    origins: LabelOrigins = field(default_factory=LabelOrigins)
    noise: LabelNoise = FAITHFUL
    priors: Mapping[str, BeliefPrior] = field(default_factory=dict)
    grants: float = 1.0
    english: bool = True


async def restored_log(store: LearningStore, terms: LearningTerms, meter: Meter) -> LabelLog:
    """Return the log whose learners know every label of the store. Raises StoreError."""
    pack, noise, grants, origins = terms.pack, terms.noise, terms.grants, terms.origins

    def strategy() -> ByCategory:
        return ByCategory(pack, noise=noise, priors=terms.priors, grants=grants, english=terms.english)

    freshness = LearnedFreshness(pack, embedder_id=origins.embedder)
    tiers = LearningTiers(WordingTier(pack, noise=noise), JudgedTier(pack, noise=noise, grants=grants))
    log = LabelLog(store, strategy(), freshness, tiers, pack, meter, origins=origins)
    await log.restore(strategy)
    return log
