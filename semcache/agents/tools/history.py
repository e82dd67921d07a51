"""The history of a run's calls: enough to know the state it is in, and whether it repeats a call.

Pure. Invariant: two histories have the same `state` only if they began in the same environment and every call and every
result since were equal, in the same order; nothing is ever taken out of a history.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from semcache.agents.run import Json, NoRun, PlanReason, digest, turns_of
from semcache.agents.tools.rules import UNKNOWN, Effect, ToolRules, declarations

OWN_STATE = "own state"  # what a stateful call has moved, which no declared resource is


@dataclass(frozen=True, slots=True)
class History:
    """The calls of one run.

    `state` is a path of the tree of all runs (TVCACHE): 16 bytes over the path so far, the call and its result. `calls`
    are the calls made, `changed` the resources that they may have changed, "*" among them for tools that are not
    declared, and `OWN_STATE` for stateful ones.
    """

    state: bytes
    calls: frozenset[bytes] = frozenset()
    changed: frozenset[str] = frozenset()

    @classmethod
    def begin(cls, environment: Json = "") -> History:
        """A run that has called nothing yet. `environment` says what its tools act on, and how that began."""
        return cls(digest("begin", environment))

    @classmethod
    def of(
        cls,
        messages: Sequence[Mapping[str, Any]],
        rules: ToolRules,
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        environment: Json = "",
    ) -> History:
        """The history in a conversation of chat messages. Raises NoRun for one that is not whole."""
        declared = declarations(tools)
        history = cls.begin(environment)
        try:
            for turn in turns_of(messages)[0]:
                for call in turn.calls:
                    history = history.after(call.tool, call.arguments, call.result, rules, declared.get(call.tool))
        except (AttributeError, TypeError, ValueError, KeyError, RecursionError) as error:
            raise NoRun(PlanReason.UNREADABLE) from error
        return history

    def after(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        result: Json,
        rules: ToolRules,
        declaration: Mapping[str, Any] | None = None,
    ) -> History:
        """The history with one call more, executed or replayed. Raises TypeError or ValueError for what is no JSON."""
        rule = rules.of(tool, declaration) or UNKNOWN
        call = identity(tool, arguments)
        changed = self.changed
        if rule.effect is Effect.WRITES:
            changed |= set(rule.touched(arguments)) or {"*"}
        elif rule.effect is Effect.STATE:
            changed |= {OWN_STATE}
        return History(digest(self.state.hex(), call.hex(), result), self.calls | {call}, changed)


def identity(tool: str, arguments: Mapping[str, Any]) -> bytes:
    """16 bytes that are the same for the same call, however its arguments are ordered."""
    return digest(tool, arguments)
