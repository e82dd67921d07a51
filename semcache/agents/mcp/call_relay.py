"""The relay of one session of the Model Context Protocol: it answers calls of tools, and passes everything else on.

Knows JSON-RPC messages as dicts, the session's history and the shared results; sockets and processes are others'.
A session is a run: what its client has asked before is asked of the server again, and what may act on the session's
environment is executed after the calls that were only answered. Invariant: every request has exactly
one response; an error, an interim result and what was cancelled are never kept; of a tool that the server has not
listed since it last said that its list has changed nothing is answered.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from semcache.agents.tools.found_result import FoundResult, ToolReason
from semcache.agents.tools.history import History
from semcache.agents.tools.parallel_calls import ParallelCalls
from semcache.agents.tools.rules import ToolRules, declarations
from semcache.agents.tools.shared_results import SharedFound, SharedToolResults
from semcache.agents.tools.tool_call import ToolCall

Message: TypeAlias = dict[str, Any]
Send: TypeAlias = Callable[[Message], Awaitable[None]]

_log = logging.getLogger(__name__)
STATUS = "semcache/cache-status"
_OWN = "semcache-own-"
_PATIENCE = 10.0  # seconds in which a server lists its tools
_MAKE_UP = 60.0  # seconds in which it executes a call that was only answered before
_AGAIN = 60.0  # seconds until a server that listed none in that time is asked again
_PAGES, _TRIES = 100, 3
_CALLS = 10_000  # of a session, after which its history begins anew
_UNLISTED = ToolRules()  # what a pack says of a tool that its server does not list counts for nothing
_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
_OF_ONE_CALL = frozenset(["progressToken", "traceparent", "tracestate", "claudecode/toolUseId"])  # and new with each


@dataclass(slots=True)
class PendingCall:
    """A call that the server works on; `number` is that of the calls under way, `listed` the tool as it was listed."""

    number: int
    made: SharedFound
    tool: str
    arguments: Mapping[str, Any]
    listed: Mapping[str, Any] | None


@dataclass(slots=True)
class SessionIdentity:
    """Whose results a session may share: its `tenant`, and the `user` whose credentials the server is given.

    `server` is what the server says of itself, and the version of the protocol that was agreed.
    """

    tenant: str
    user: str
    server: list[Any] = field(default_factory=list)


class CallRelay:
    """One session. `to_client` and `to_server` send a message."""

    def __init__(
        self, results: SharedToolResults, identity: SessionIdentity, *, to_client: Send, to_server: Send
    ) -> None:
        self._results, self._identity = results, identity
        self._to_client, self._to_server = to_client, to_server
        self._history = History.begin([identity.tenant, identity.user])
        self._made, self._under_way = 0, ParallelCalls()
        self._skipped: list[tuple[Message, Message]] = []  # calls that were only answered, and with what
        self._pending: dict[Any, PendingCall] = {}
        self._beginnings: set[Any] = set()
        self._declared: dict[str, Mapping[str, Any]] | None = None
        self._own: dict[str, asyncio.Future[Message]] = {}
        self._asked = self._changes = 0
        self._ask_after = 0.0
        self._begun: Message = {}  # what the client said of itself
        self._token = secrets.token_hex()

    async def from_client(self, message: Message) -> None:
        """Answer a message of the client, or pass it on."""
        method, params = message.get("method"), message.get("params")
        if method == "initialize" and "id" in message:
            self._beginnings.add(_id(message["id"]))
            self._begun = _bare(params) if isinstance(params, dict) else {}
        elif method == "notifications/cancelled" and isinstance(params, dict):
            await self._over(self._pending.pop(_id(params.get("requestId")), None))
        elif method == "tools/call" and isinstance(params, dict) and await self._answered(message.get("id"), params):
            return
        await self._to_server(message)

    async def from_server(self, message: Message) -> None:
        """Pass a message of the server on, and keep the result that it holds."""
        number = message.get("id")
        if "method" in message:
            if message["method"] == "notifications/tools/list_changed":
                self._declared, self._changes = None, self._changes + 1
        elif isinstance(number, str) and number in self._own:
            waiting = self._own.pop(number)
            if not waiting.done():
                waiting.set_result(message)
            return
        elif _id(number) in self._beginnings:
            self._beginnings.discard(_id(number))
            told = message.get("result")
            if isinstance(told, dict):
                self._identity.server = [told.get("serverInfo"), told.get("protocolVersion")]
        elif (pending := self._pending.pop(_id(number), None)) is not None:
            message = await self._recorded(pending, message)
        await self._to_client(message)

    async def close(self) -> None:
        """Note that what is under way may have been done, or not."""
        for pending in self._pending.values():
            await self._over(pending)
        self._pending.clear()

    # Inside

    async def _answered(self, number: Any, params: Message) -> bool:
        """Answer a call from here; else remember it, and return False."""
        tool, arguments, meta = params.get("name"), params.get("arguments"), params.get("_meta")
        arguments = {} if arguments is None else arguments
        plain = set(params) <= {"name", "arguments", "_meta"}
        if number is None or not isinstance(tool, str) or not isinstance(arguments, dict):
            return False
        # An id that a client uses again is that of its last request.
        self._beginnings.discard(_id(number))
        await self._over(self._pending.pop(_id(number), None))
        begun, listed = self._under_way.begin(), None
        try:
            listed = (await self._declarations()).get(tool)
            whose = self._identity
            call = ToolCall(
                tool, arguments, self._history, listed, whose.tenant, whose.user, told_apart=self._told_apart(meta),
                listed=listed is not None,
            )  # fmt: skip
            made = await self._results.lookup(call)
        except Exception:
            _log.warning("a call of the tool %s could not be looked up, and is passed on", tool, exc_info=True)
            if await self._made_up() is None:
                self._after(begun, tool, arguments, {"refused": self._made}, listed)
                await self._refused(number)
                return True
            self._after(begun, tool, arguments, {"passed on": self._made}, listed)
            return False
        found = made.found
        if found.outcome == "hit" and plain and isinstance(found.result, dict):
            if found.acts:
                self._skipped.append((params, found.result))
            self._after(begun, tool, arguments, found.result, listed)
            status = f"semcache; hit; ttl={int(found.ttl)}; detail={found.why.value}"
            await self._to_client({"jsonrpc": "2.0", "id": number, "result": _marked(found.result, status)})
            return True
        alike = await self._made_up() if found.acts else True
        if alike is None:
            await self._results.record(made, None, failed=True)
            self._after(begun, tool, arguments, {"refused": self._made}, listed)
            await self._refused(number)
            return True
        if not alike:
            made = replace(made, found=replace(found, why=ToolReason.DIVERGED, key=b""))
        if self._has_roots(meta):
            made = replace(made, found=replace(made.found, key=b""))
        if not plain:
            # A task, or the answer to what the server asked back: whatever comes of it is no result of this call alone.
            made = SharedFound(
                FoundResult("miss", made.found.why, tenant=found.tenant, tool=tool, changed=found.changed),
                begun=made.begun,
            )
        self._pending[_id(number)] = PendingCall(begun, made, tool, arguments, listed)
        return False

    def _told_apart(self, meta: Any) -> list[Any]:
        """The marks that tell results apart, whatever the tool: who asks whom, and what both say of themselves."""
        told = meta if isinstance(meta, dict) else {"": meta} if meta is not None else {}
        said = {name: one for name, one in told.items() if name not in _OF_ONE_CALL}
        own = self._token if self._has_roots(meta) else None
        return [self._identity.user, *self._identity.server, self._begun, said, own]

    def _has_roots(self, meta: Any) -> bool:
        """Return True if the server may ask the client for its folders, on which any result may depend."""
        given = meta.get(_CAPABILITIES) if isinstance(meta, dict) else None
        begun = self._begun.get("capabilities")
        return any(isinstance(one, dict) and "roots" in one for one in (given, begun))

    async def _recorded(self, pending: PendingCall, message: Message) -> Message:
        """Keep a response, and mark it with how its call was answered."""
        result = message.get("result")
        said = result if isinstance(result, dict) else {"isError": True}
        failed = bool(said.get("isError")) or said.get("resultType") not in (None, "complete")
        alone = self._under_way.alone(pending.number)
        why = await self._results.record(pending.made, result, failed=failed, alone=alone)
        self._ended(pending, result if not failed else {"failed": self._made})
        if not isinstance(result, dict):
            return message
        kept = "; stored" if why is ToolReason.RECORDED else ""
        detail = pending.made.found.why if why in (ToolReason.RECORDED, pending.made.found.why) else why
        return {**message, "result": _marked(result, f"semcache; fwd=miss{kept}; detail={detail.value}")}

    def _ended(self, pending: PendingCall, result: Any) -> None:
        self._after(pending.number, pending.tool, pending.arguments, result, pending.listed)

    def _after(
        self, number: int, tool: str, arguments: Mapping[str, Any], result: Any, listed: Mapping[str, Any] | None
    ) -> None:
        """End the call of that number: it is in the history."""
        self._made += 1
        history = self._history
        if self._made % _CALLS == 0:
            begun = History.begin([self._identity.tenant, self._identity.user, self._made])
            history = replace(begun, changed=history.changed)
        rules = self._results.rules if listed is not None else _UNLISTED
        try:
            self._history = history.after(tool, arguments, result, rules, listed)
        except (TypeError, ValueError, RecursionError):
            # What cannot be compared is like nothing else.
            self._history = history.after(tool, {}, {"unreadable": self._made}, rules, listed)
        self._under_way.end(number)

    async def _over(self, pending: PendingCall | None) -> None:
        """Note a call that nobody waits for any more: it may have changed something, and may yet."""
        if pending is not None:
            await self._results.record(pending.made, None, failed=True)
            self._ended(pending, {"cancelled": self._made})

    async def _declarations(self) -> Mapping[str, Mapping[str, Any]]:
        """The tools of the server by name, asked of it where they are not known."""
        now = asyncio.get_running_loop().time
        if self._declared is None and now() >= self._ask_after:
            with suppress(TimeoutError):
                async with asyncio.timeout(_PATIENCE):
                    self._declared = await self._listed()
            if self._declared is None:
                # Every call would wait as long for a server that does not list its tools, or never ends to.
                self._ask_after = now() + _AGAIN
        return self._declared or {}

    async def _listed(self) -> dict[str, Mapping[str, Any]] | None:
        """All pages of the server's tools; None where it says none, or they change each time."""
        for _ in range(_TRIES):
            changes, found, cursor, seen = self._changes, list[Any](), None, set[str]()
            for _ in range(_PAGES):
                reply = await self._page(cursor)
                if reply is None:
                    return None
                found += reply.get("tools") or []
                cursor = reply.get("nextCursor")
                if not isinstance(cursor, str) or cursor in seen:
                    break
                seen.add(cursor)
            if changes == self._changes:
                return declarations([one for one in found if isinstance(one, dict)])
        return None

    async def _made_up(self) -> bool | None:
        """Execute the calls that were only answered; False where one of them came to another result than was said.

        The session is then in a state that no other is in. None where one failed: that and those after it are left.
        """
        skipped, self._skipped = self._skipped, []
        alike: bool | None = True
        try:
            while skipped and alike is not None:
                params, told = skipped[0]
                meta = {name: one for name, one in (params.get("_meta") or {}).items() if name != "progressToken"}
                result = await self._request("tools/call", {**params, "_meta": meta}, _MAKE_UP)
                if result is None:
                    alike = None
                    continue
                alike = alike and _bare(result) == _bare(told)
                del skipped[0]
        finally:
            self._skipped = [*skipped, *self._skipped]
        if not alike:
            self._history = self._history.after("", {}, {"diverged": secrets.token_hex()}, self._results.rules)
        return alike

    async def _refused(self, number: Any) -> None:
        """Answer a call that is not made, since what it builds on could not be executed."""
        said = "an earlier call of this session, which was answered from the cache, cannot be executed now"
        await self._to_client({"jsonrpc": "2.0", "id": number, "error": {"code": -32603, "message": said}})

    async def _page(self, cursor: Any) -> Message | None:
        """One page of the server's tools, None where it says none in time."""
        return await self._request("tools/list", None if cursor is None else {"cursor": cursor}, _PATIENCE)

    async def _request(self, method: str, params: Message | None, seconds: float) -> Message | None:
        """The result of a request of the relay's own; None for an error, and where none comes in time."""
        self._asked += 1
        number = f"{_OWN}{self._asked}"
        waiting = self._own[number] = asyncio.get_running_loop().create_future()
        given = {} if params is None else {"params": params}
        await self._to_server({"jsonrpc": "2.0", "id": number, "method": method, **given})
        try:
            async with asyncio.timeout(seconds):
                reply = await waiting
        except TimeoutError:
            return None
        finally:
            self._own.pop(number, None)
        result = reply.get("result")
        return result if isinstance(result, dict) else None


def _bare(result: Message) -> Message:
    return {name: one for name, one in result.items() if name != "_meta"}


def _id(number: Any) -> Any:
    """A request's id as a key: 1 and "1" are two, and what is no id is like nothing."""
    return (type(number).__name__, number) if isinstance(number, int | str) else object()


def _marked(result: Message, status: str) -> Message:
    meta = result.get("_meta")
    return {**result, "_meta": {**(meta if isinstance(meta, dict) else {}), STATUS: status}}
