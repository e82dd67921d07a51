"""Tool results in the store, shared by processes: look a call up before it is executed, record its result afterwards.

Knows rules, histories and the store; the clock and random bytes are arguments. A change is announced before it is
executed and again after it: what is read in between is neither kept nor taken from here, whichever process reads it.
Invariant: `lookup` never raises, and answers nothing that `ToolResults` would not; a tool that nobody declared counts
as one that changes everything.
"""

from __future__ import annotations

import logging
import secrets
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from semcache.agents.run import Json
from semcache.agents.tools.found_result import FoundResult, ToolReason
from semcache.agents.tools.rules import ToolRule, ToolRules
from semcache.agents.tools.tool_call import ToolCall, cold, hit, key_of, payload_of, refusal, unanswerable
from semcache.agents.tools.versions import family
from semcache.storage.stores.tool_rows import ResourceVersion, ToolResultRow, ToolResultStore

_log = logging.getLogger(__name__)
_EVERYTHING = "*"
_ANYTHING = "?"  # the newest change of all
_PATIENCE = 60.0  # seconds after which a change is over
_SWEEP = 600.0  # seconds between two looks for what has expired
_LONGEST = 400 * 86400.0  # seconds that a version is remembered, longer than any result is kept


@dataclass(frozen=True, slots=True)
class SharedFound:
    """The result of a lookup, and the versions under which it was made: hand it back to `record`.

    `begun` is the version that a change was announced with.
    """

    found: FoundResult
    names: tuple[str, ...] = ()
    seen: tuple[bytes, ...] = ()
    begun: bytes = b""


class SharedToolResults:
    """The tool results of a store. `scope` names what the tools act on.

    Results are those of one scope alone, and changes count for all who act on the same. With `apart` the tools begin
    anew with each run, so that what a run changes is its own, and no other sees it. `salt` keys digests. A change that
    nobody says the end of is over after a minute.
    """

    def __init__(
        self,
        store: ToolResultStore,
        rules: ToolRules,
        *,
        salt: bytes,
        scope: str,
        clock: Callable[[], float],
        apart: bool = False,
    ) -> None:
        self.rules, self.counts = rules, Counter[str]()
        self._store, self._salt, self._scope, self._clock = store, salt.hex(), scope, clock
        self._apart, self._swept = apart, -_SWEEP
        self._owed: dict[str, bytes] = {}  # names whose change the store does not know, each with a mark of its own

    async def lookup(self, call: ToolCall) -> SharedFound:
        """The result of a call, if it needs no execution; where it changes something, that is announced."""
        try:
            made = await self._lookup(call)
        except Exception:
            _log.warning("a call of the tool %s could not be looked up, and is executed", call.tool, exc_info=True)
            found = FoundResult("miss", ToolReason.FAULT, tenant=call.tenant, tool=call.tool, changed=(_EVERYTHING,))
            made = SharedFound(found)
        self._count(made.found.why)
        return made

    async def record(self, made: SharedFound, result: Json, *, failed: bool = False, alone: bool = True) -> ToolReason:
        """Keep the result of a call that was executed; says why not where it is not kept. Raises nothing.

        `alone` says that no other call of the run was under way meanwhile.
        """
        try:
            why = await self._record(made, result, failed=failed, alone=alone)
        except Exception:
            _log.warning("a result of the tool %s could not be kept", made.found.tool, exc_info=True)
            if made.found.changed:
                # Until it is known in the store that these changed, nothing is answered from here.
                self._owed.update(dict.fromkeys(_touching(made.found.changed), secrets.token_bytes(16)))
            why = ToolReason.FAULT
        self._count(why)
        return why

    async def change(self, *resources: str) -> None:
        """Say that these changed by another hand. Raises StoreError."""
        await self._store.change(self._scope, _touching(resources), self._version(), self._clock())

    async def close(self) -> None:
        """Leave nothing in the store that has expired. Raises nothing."""
        try:
            await self._sweep(self._clock())
        except Exception:
            _log.warning("expired results of tools could not be deleted", exc_info=True)

    # Inside

    async def _lookup(self, call: ToolCall) -> SharedFound:
        if owed := dict(self._owed):
            await self._store.change(self._scope, sorted(owed), self._version(), self._clock())
            # A name that came to be owed again meanwhile is still owed.
            for name, mark in owed.items():
                if self._owed.get(name) == mark:
                    del self._owed[name]
        rule = self.rules.of(call.tool, call.declaration) if call.listed else None
        refused = unanswerable(rule, call)
        if refused is not None or rule is None:
            refused = refused or FoundResult("miss", ToolReason.UNKNOWN, tenant=call.tenant, tool=call.tool)
            if refused.why is ToolReason.UNKNOWN:
                refused = replace(refused, changed=(_EVERYTHING,))
            return await self._announced(refused)
        names = _reading(rule, call)
        now, versions = self._clock(), await self._store.versions(self._scope, names)
        seen = tuple([versions.get(name, ResourceVersion()).version for name in names])
        key = key_of(self._salt, rule, call, [self._scope, *[one.hex() for one in seen]])
        if any(one.pending > now for one in versions.values()):
            return SharedFound(cold(rule, call, b"", ToolReason.CHANGING))
        why = refusal(rule, call)
        kept = await self._store.get(key, now) if why is None else None
        if kept is None:
            return SharedFound(cold(rule, call, key, why, apart=self._apart), names, seen)
        return SharedFound(hit(rule, call, key, kept.body, age=now - kept.created, ttl=kept.expires - now))

    async def _announced(self, found: FoundResult) -> SharedFound:
        if self._apart:
            found = replace(found, changed=())
        if not found.changed:
            return SharedFound(found)
        now, begun = self._clock(), secrets.token_bytes(16)
        version = ResourceVersion(begun, now + _PATIENCE)
        await self._store.change(self._scope, _touching(found.changed), version, now)
        return SharedFound(found, begun=begun)

    async def _record(self, made: SharedFound, result: Json, *, failed: bool, alone: bool) -> ToolReason:
        found, now = made.found, self._clock()
        if found.changed:
            names = _touching(found.changed)
            await self._store.settle(self._scope, names, self._version(), made.begun, now)
        payload = payload_of(found, result, failed=failed, alone=alone)
        if isinstance(payload, ToolReason):
            return payload
        versions = await self._store.versions(self._scope, made.names)
        present = [versions.get(name, ResourceVersion()) for name in made.names]
        if tuple([one.version for one in present]) != made.seen or any(one.pending > now for one in present):
            return ToolReason.CHANGING
        await self._store.put(
            ToolResultRow(found.key, found.tenant, found.tool, payload, now, now + min(found.ttl, _LONGEST), found.user)
        )
        if now - self._swept >= _SWEEP:
            await self._sweep(now)
        return ToolReason.RECORDED

    async def _sweep(self, now: float) -> None:
        self._swept = now
        await self._store.sweep(now, unchanged=now - _LONGEST)

    def _version(self) -> ResourceVersion:
        return ResourceVersion(secrets.token_bytes(16))

    def _count(self, why: ToolReason) -> None:
        self.counts[why.value] += 1


def _touching(resources: Sequence[str]) -> tuple[str, ...]:
    """The names whose versions a change renews: what it touches, the marks of their kinds, and that of any change."""
    kinds = {f"any {family(one)}" for one in resources if one != _EVERYTHING}
    return tuple(sorted({*resources, *kinds, _ANYTHING}))


def _reading(rule: ToolRule, call: ToolCall) -> tuple[str, ...]:
    """The names whose versions a read depends on."""
    names = {_EVERYTHING}
    for one in rule.touched(call.arguments):
        if one == _EVERYTHING:
            names.add(_ANYTHING)
        elif one == family(one):
            names.add(f"any {one}")
        else:
            names |= {one, family(one)}
    return tuple(sorted(names))
