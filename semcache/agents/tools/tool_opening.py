"""Tool results of a cache: the rules of its pack, its salt and its clock, counted among its metrics.

Knows where a cache keeps its parts. Invariant: nothing of a result is written to the store.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import Counter

from semcache.agents.tools.results import ToolResults
from semcache.agents.tools.rules import Rules

if TYPE_CHECKING:
    from semcache.cache.maintenance import Parts


def open_tools(parts: Parts) -> ToolResults:
    """The tool results of a cache with these parts. Raises ConfigError for rules that cannot be read."""
    counts = Counter(
        "semcache_tool_calls_total",
        "Calls of tools looked up or recorded, by reason.",
        ["why"],
        registry=parts.meter.registry,
    )
    rules = Rules.read(parts.pack.tools)
    return ToolResults(rules, salt=parts.store.salt, clock=parts.clock, note=lambda why: counts.labels(why).inc())
