"""Faults of the cache that a request survives: counted and logged where they happen.

Knows nothing of requests. Invariant: noting a fault never fails.
"""

from __future__ import annotations

import logging

from semcache.cache.response_cache import ResponseCache

_log = logging.getLogger(__name__)


def log_fault(cache: ResponseCache, component: str) -> None:
    """Count the exception that is being handled, and log it with its traceback."""
    cache.meter.faults.labels(component).inc()
    _log.warning("a fault of the %s was survived by forwarding", component, exc_info=True)
