"""Strategies that decide whether a neighbour is good enough to be served; one file each, named in policy packs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from semcache.policy import Pack
from semcache.protocols import Threshold
from semcache.thresholds.static import StaticThreshold

__all__ = ["STRATEGIES", "StaticThreshold"]

STRATEGIES: Mapping[str, Callable[[Pack], Threshold]] = {"static": StaticThreshold}
