"""Tool results of a cache: the rules of its pack, its salt and its clock, counted among its metrics.

Knows the components of a cache. Invariant: nothing of a result is written to the store.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from semcache.agents.tools.results import ToolResults
from semcache.agents.tools.rules import ToolRules

if TYPE_CHECKING:
    from semcache.cache.components import Components


def open_tools(components: Components) -> ToolResults:
    """Return the tool results of a cache. Raises ConfigError for rules that cannot be read."""
    rules = ToolRules.read(components.pack.tools)
    salt, meter = components.store.salt, components.meter
    return ToolResults(rules, salt=salt, clock=components.clock, note=meter.tool_looked_up)
