"""Freshness: the TTL of an answer, and serving it stale while it is asked for anew.

Pure; the clock is the caller's. Invariant: a TTL counts from creation, and nothing here ever extends one.
"""

from semcache.request.prompt_volatility import VolatilityModel, is_relative, may_change_daily
from semcache.retention.freshness.fixed import FixedFreshness
from semcache.retention.freshness.learned import FreshnessOutlook, LearnedFreshness
from semcache.types import Volatility

__all__ = [
    "FixedFreshness",
    "FreshnessOutlook",
    "LearnedFreshness",
    "Volatility",
    "VolatilityModel",
    "is_relative",
    "may_change_daily",
]
