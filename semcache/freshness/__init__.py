"""How long an answer lives, and what may be served after that.

Pure; the clock is the caller's. Invariant: a TTL counts from creation, and nothing here ever extends one.
"""

from semcache.freshness.fixed import FixedFreshness
from semcache.freshness.hazard import Volatility
from semcache.freshness.learned import LearnedFreshness, Outlook, Past
from semcache.freshness.revalidate import Age, Refetches, usable
from semcache.request.prompt_volatility import VolatilityModel, is_relative, may_change_daily

__all__ = [
    "Age",
    "FixedFreshness",
    "LearnedFreshness",
    "Outlook",
    "Past",
    "Refetches",
    "Volatility",
    "VolatilityModel",
    "is_relative",
    "may_change_daily",
    "usable",
]
