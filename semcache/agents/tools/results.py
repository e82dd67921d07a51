"""The cache of tool results: look a call up before it is executed, record its result afterwards.

Knows rules and histories; the clock is an argument, and results are kept in the memory of this process alone.
Invariant: `lookup` never raises, and never answers an unknown tool, a tool that writes, another tenant's call, or a
call that this run has made before: so a run is replayed at most as many results as there are different calls, and
what waits for a change by asking again reaches the tool.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from semcache.agents.run import Json
from semcache.agents.tools.calling import ToolRun
from semcache.agents.tools.found_result import FoundResult, ToolReason
from semcache.agents.tools.history import History
from semcache.agents.tools.result_memory import ResultMemory, StoredResult
from semcache.agents.tools.rules import ToolRules
from semcache.agents.tools.tool_call import ToolCall, cold, hit, key_of, payload_of, refusal, unanswerable
from semcache.agents.tools.versions import Versions

_log = logging.getLogger(__name__)


class ToolResults:
    """The tool results of one process. `salt` keys digests, `limit` is in bytes of memory."""

    def __init__(
        self,
        rules: ToolRules,
        *,
        salt: bytes,
        clock: Callable[[], float] = time.time,
        limit: int = 64 << 20,
        note: Callable[[str], None] = lambda _why: None,
    ) -> None:
        self.rules, self._salt, self._clock, self._note = rules, salt.hex(), clock, note
        self._memory, self._versions = ResultMemory(limit), Versions()
        self.counts: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._memory)

    def lookup(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        history: History,
        *,
        declaration: Mapping[str, Any] | None = None,
        tenant: str = "default",
        user: str | None = None,
        versions: Mapping[str, str] | None = None,
    ) -> FoundResult:
        """The result of a call of a run with this history, if it needs no execution.

        `declaration` is the tool's entry in the request. `versions` are those of resources as the caller knows them (an
        ETag, a commit): a result is reused only under the same ones.
        """
        try:
            found = self._lookup(ToolCall(tool, arguments, history, declaration, tenant, user, versions or {}))
        except Exception:
            _log.warning("a call of the tool %s could not be looked up, and is executed", tool, exc_info=True)
            found = FoundResult("miss", ToolReason.FAULT, tenant=tenant, tool=tool, changed=("*",))
        self._count(found.why)
        return found

    def record(self, found: FoundResult, result: Json, *, failed: bool = False, alone: bool = True) -> ToolReason:
        """Keep the result of a call that was executed; says why not where it is not kept.

        `alone` says that no other call of the run was under way meanwhile. Whatever the call changes counts as changed
        from now on, for every run of its tenant. Raises nothing.
        """
        if found.changed:
            self._versions.change(found.tenant, found.changed)
        why = self._record(found, result, failed=failed, alone=alone)
        self._count(why)
        return why

    def run(
        self,
        messages: Sequence[Mapping[str, Any]] = (),
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        environment: Json = "",
        tenant: str = "default",
        user: str | None = None,
    ) -> ToolRun:
        """The calls of one run, that begins, or goes on after these chat messages; `tools` are what it declares.

        `environment` says what stateful tools act on, and how that began. Raises NoRun for messages that are not whole.
        """
        history = History.of(messages, self.rules, tools=tools, environment=environment)
        return ToolRun(self, history, tools=tools, tenant=tenant, user=user)

    def change(self, *resources: str, tenant: str = "default") -> None:
        """Say that these changed by another hand: no result that read them is reused."""
        self._versions.change(tenant, resources)

    def purge(self, *, tenant: str | None = None, tool: str | None = None, user: str | None = None) -> int:
        """Forget results; returns how many."""
        return self._memory.purge(tenant=tenant, tool=tool, user=user)

    # Inside

    def _lookup(self, call: ToolCall) -> FoundResult:
        rule = self.rules.of(call.tool, call.declaration)
        refused = unanswerable(rule, call)
        if refused is not None or rule is None:
            return refused or FoundResult("miss", ToolReason.UNKNOWN)
        key = key_of(self._salt, rule, call, self._versions.of(call.tenant, rule.touched(call.arguments)))
        why, now = refusal(rule, call), self._clock()
        kept = self._memory.get(key, now) if why is None else None
        if kept is None:
            return cold(rule, call, key, why)
        return hit(rule, call, key, kept.payload, age=now - kept.created, ttl=rule.ttl)

    def _record(self, found: FoundResult, result: Json, *, failed: bool, alone: bool) -> ToolReason:
        payload = payload_of(found, result, failed=failed, alone=alone)
        if isinstance(payload, ToolReason):
            return payload
        now = self._clock()
        kept = StoredResult(payload, now, now + found.ttl, found.tenant, found.tool, found.user)
        return ToolReason.RECORDED if self._memory.put(found.key, kept) else ToolReason.TOO_LARGE

    def _count(self, why: ToolReason) -> None:
        self.counts[why.value] += 1
        self._note(why.value)
