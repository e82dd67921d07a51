"""A cache of tool results: of tools that only read, and of stateful ones after the very same calls.

`rules` says what a tool does, `history` what a run has called so far, `versions` how often what is read has changed,
`result_memory` holds results, `results` looks calls up and records them, `calling` runs the calls of one agent.
Invariant: a tool that nobody declared is never answered from here, and no run is replayed the same call twice.
"""

from semcache.agents.tools.calling import ToolRun
from semcache.agents.tools.found_result import FoundResult, ToolReason
from semcache.agents.tools.history import History
from semcache.agents.tools.results import ToolResults
from semcache.agents.tools.rules import Effect, ToolRule, ToolRules
from semcache.config.agent_packs import ToolSpec

__all__ = [
    "Effect",
    "FoundResult",
    "History",
    "ToolReason",
    "ToolResults",
    "ToolRule",
    "ToolRules",
    "ToolRun",
    "ToolSpec",
]
