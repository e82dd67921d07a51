"""The calls of one run, in their order: each looked up, executed where it has to be, recorded, and remembered.

Knows results and histories; executing a tool is an argument. Invariant: every call that has ended is in the run's
history before the next one is looked up, also one that failed or whose result cannot be kept; a stateful tool's
result is kept only where no other call was under way, and what may act on the run's environment is executed after the
calls that were only answered, and is kept for nobody where one of them comes to another result than was said; what a
tool raises is raised.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Awaitable, Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from inspect import isawaitable
from threading import Lock
from typing import Any, Protocol

from semcache.agents.run import Json
from semcache.agents.tools.found_result import FoundResult, ToolReason
from semcache.agents.tools.history import History
from semcache.agents.tools.parallel_calls import ParallelCalls
from semcache.agents.tools.rules import ToolRules, declarations

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Skipped:
    """A call that was answered and not executed: what executes it, with which arguments, and what was said."""

    execute: Callable[[Mapping[str, Any]], Any]
    arguments: Mapping[str, Any]
    told: Json


class CallCache(Protocol):
    """The part of `ToolResults` that a run uses."""

    rules: ToolRules

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
        """The result of a call of a run with this history, if it needs no execution."""

    def record(self, found: FoundResult, result: Json, *, failed: bool = False, alone: bool = True) -> object:
        """Keep the result of a call that was executed, `alone` or beside others of the run."""


@dataclass(slots=True)
class _CallOfRun:
    """A call that was looked up: it is answered, or its result is to be set."""

    found: FoundResult
    result: Json

    @property
    def answered(self) -> bool:
        return self.found.outcome == "hit"


class ToolRun:
    """One run of an agent; made by `ToolResults.run`. Safe to use from several threads, as for parallel calls.

    `found` says how the call was answered that was looked up last.
    """

    found: FoundResult | None

    def __init__(
        self,
        results: CallCache,
        history: History,
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        tenant: str = "default",
        user: str | None = None,
    ) -> None:
        self.history, self.found = history, None
        self._results, self._declared, self._tenant, self._user = results, declarations(tools), tenant, user
        self._lock, self._under_way = Lock(), ParallelCalls()
        self._skipped: list[_Skipped] = []

    def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        execute: Callable[[Mapping[str, Any]], Json],
        *,
        versions: Mapping[str, str] | None = None,
    ) -> Json:
        """The tool's result, from here as plain JSON, or from `execute`, which is given the arguments."""
        with self._call(tool, arguments, versions) as call:
            if call.answered:
                self._skip(call, execute, arguments)
            else:
                with closing(self._to_make_up(call)) as left:
                    for skipped in left:
                        self._made_up(call, skipped, skipped.execute(skipped.arguments))
                call.result = execute(arguments)
        return call.result

    async def acall(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        execute: Callable[[Mapping[str, Any]], Awaitable[Json]],
        *,
        versions: Mapping[str, str] | None = None,
    ) -> Json:
        """The same where the tool has to be awaited."""
        with self._call(tool, arguments, versions) as call:
            if call.answered:
                self._skip(call, execute, arguments)
            else:
                with closing(self._to_make_up(call)) as left:
                    for skipped in left:
                        made = skipped.execute(skipped.arguments)
                        self._made_up(call, skipped, await made if isawaitable(made) else made)
                call.result = await execute(arguments)
        return call.result

    @contextmanager
    def _call(
        self, tool: str, arguments: Mapping[str, Any], versions: Mapping[str, str] | None
    ) -> Iterator[_CallOfRun]:
        """A call from its lookup to its place in the history; what is executed inside is recorded."""
        number = self._under_way.begin()
        try:
            found = self._look(tool, arguments, versions)
            call = _CallOfRun(found, found.result)
            try:
                yield call
            except BaseException:
                # It may have changed something before it failed.
                self._results.record(call.found, None, failed=True)
                self._done(tool, arguments, {"failed": secrets.token_hex()})
                raise
            if not call.answered:
                self._results.record(call.found, call.result, alone=self._under_way.alone(number))
            self._done(tool, arguments, call.result)
        finally:
            self._under_way.end(number)

    def _skip(self, call: _CallOfRun, execute: Callable[[Mapping[str, Any]], Any], given: Mapping[str, Any]) -> None:
        if call.found.acts:
            with self._lock:
                self._skipped.append(_Skipped(execute, given, call.result))

    def _to_make_up(self, call: _CallOfRun) -> Generator[_Skipped]:
        """The calls that were answered and not executed, to be executed before this one, once.

        Where one fails, it and those after it are left for the next call that acts.
        """
        if not call.found.acts:
            return
        with self._lock:
            skipped, self._skipped = self._skipped, []
        try:
            while skipped:
                yield skipped[0]
                del skipped[0]
        finally:
            with self._lock:
                self._skipped = [*skipped, *self._skipped]

    def _made_up(self, call: _CallOfRun, skipped: _Skipped, made: Json) -> None:
        """Compare what a skipped call came to with what was said of it: where it is something else the run diverges.

        It is then in a state that no other run is in, and the result of `call` is its own.
        """
        if _same(made, skipped.told) or call.found.why is ToolReason.DIVERGED:
            return
        _log.warning("a call made up for before one of %s came to another result than was said", call.found.tool)
        self.found = call.found = replace(call.found, why=ToolReason.DIVERGED, key=b"")
        with self._lock:
            self.history = self.history.after("", {}, {"diverged": secrets.token_hex()}, self._results.rules)

    def _look(self, tool: str, arguments: Mapping[str, Any], versions: Mapping[str, str] | None) -> FoundResult:
        declared = self._declared.get(tool)
        whose, whom = self._tenant, self._user
        self.found = self._results.lookup(
            tool, arguments, self.history, declaration=declared, tenant=whose, user=whom, versions=versions
        )
        return self.found

    def _done(self, tool: str, arguments: Mapping[str, Any], result: Json) -> None:
        declared, rules = self._declared.get(tool), self._results.rules
        with self._lock:
            try:
                self.history = self.history.after(tool, arguments, result, rules, declared)
            except (TypeError, ValueError, RecursionError):
                # What cannot be compared is like nothing else.
                self.history = self.history.after(tool, {}, {"unreadable": secrets.token_hex()}, rules, declared)


def _same(made: Json, told: Json) -> bool:
    try:
        return bool(made == told)
    except Exception:
        # What cannot be compared is like nothing else.
        return False
