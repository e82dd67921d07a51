"""Replacing a component of an open cache, wherever it was wired in."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from semcache.cache.components import Components
from semcache.cache.response_cache import ResponseCache
from semcache.matching.profitability import ProfitabilityMonitor
from semcache.matching.verification import Verifiers
from semcache.protocols import Embedder, Threshold

T = TypeVar("T", bound=Threshold)


def replace_strategy(cache: ResponseCache, strategy: T) -> T:
    """Have everything in the cache decide by, and teach, another strategy."""
    one = cache.components
    _put(one, strategy=strategy)
    one.judged._strategy = strategy
    cache._strategy = one.lookup._strategy = one.maintenance._strategy = one.learner.log.strategy = strategy
    return strategy


def replace_embedder(cache: ResponseCache, embedder: Embedder) -> None:
    """Have the cache embed with another embedder of the same id."""
    _put(cache.components, embedder=embedder)
    cache.components.lookup._embedding._embedder = embedder


def replace_profitability(cache: ResponseCache, gate: ProfitabilityMonitor) -> ProfitabilityMonitor:
    """Have the cache ask other books whether looking up pays."""
    one = cache.components
    _put(one, profitability=gate)
    one.lookup._profitability = one.learner._comparisons._effects._profitability = gate
    return gate


def replace_verifiers(cache: ResponseCache, verifiers: Verifiers) -> None:
    """Have the cache ask others in the grey zone."""
    _put(cache.components, verifiers=verifiers)
    judged = cache.components.judged
    judged.asked.asking = replace(judged.asked.asking, verifiers=verifiers)


def share(cache: ResponseCache) -> None:
    """Have the cache believe that other workers serve from its store."""
    _put(cache.components, shared=True)
    cache.components.feedback._later = cache.components.background.start


def _put(components: Components, **changes: object) -> None:
    for name, value in changes.items():
        object.__setattr__(components, name, value)
