"""A call of a tool that is looked up, and what decides whether its result may be reused.

Pure. Invariant: two calls have the same key only where tool, schema, arguments, owner, the versions of what they read
and, for a stateful tool, every call before are equal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from semcache.agents.result_signs import may_be_error
from semcache.agents.run import MAX_ARGUMENTS, MAX_RESULT, Json, digest
from semcache.agents.tools.found_result import FoundResult, ToolReason
from semcache.agents.tools.history import OWN_STATE, History, identity
from semcache.agents.tools.rules import Effect, ToolRule
from semcache.agents.tools.versions import overlap
from semcache.request.secrets import has_secret

_encoder = msgspec.json.Encoder(order="sorted")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a run with this history. `declaration` is the tool as it declares itself.

    `versions` are those of resources as the caller knows them (an ETag, a commit). `told_apart` is what else tells
    results apart, such as credentials. A tool that its server has not `listed` is unknown, whatever a pack says.
    """

    tool: str
    arguments: Mapping[str, Any]
    history: History
    declaration: Mapping[str, Any] | None = None
    tenant: str = "default"
    user: str | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    told_apart: Json = None
    listed: bool = True


def unanswerable(rule: ToolRule | None, call: ToolCall) -> FoundResult | None:
    """The miss of a call that is never answered from here; None for one that may be."""
    tenant, tool = call.tenant, call.tool
    if rule is None:
        return FoundResult("miss", ToolReason.UNKNOWN, tenant=tenant, tool=tool)
    if rule.effect is Effect.WRITES:
        changed = rule.touched(call.arguments) or ("*",)
        return FoundResult("miss", ToolReason.WRITES, tenant=tenant, tool=tool, changed=changed)
    made = _encoded(call.arguments)
    if made is None or len(made) > MAX_ARGUMENTS:
        why = ToolReason.FAULT if made is None else ToolReason.TOO_LARGE
        return FoundResult("miss", why, tenant=tenant, tool=tool)
    if rule.private and not call.user:
        return FoundResult("miss", ToolReason.NO_USER, tenant=tenant, tool=tool)
    return None


def key_of(salt: str, rule: ToolRule, call: ToolCall, own: Sequence[Any]) -> bytes:
    """The key of a result; `own` is what the tools act on, and the versions of what the call reads, as known here."""
    resources = rule.touched(call.arguments)
    state = call.history.state.hex() if rule.effect is Effect.STATE else ""
    whose = [call.tenant, call.user if rule.private else None]
    told = [call.versions.get(one) for one in resources]
    made: tuple[Any, ...] = (
        call.tool,
        call.declaration,
        call.arguments,
        resources,
        told,
        own,
        rule.effect.value,
        state,
    )
    made += (call.told_apart,) if call.told_apart is not None else ()
    return digest(salt, whose, *made)


def refusal(rule: ToolRule, call: ToolCall) -> ToolReason | None:
    """The reason to execute a call although its result may be known."""
    if rule.effect is Effect.STATE:
        # The state holds every call so far: who asks again is in another state, and comes to the end of the path.
        return None
    resources = rule.touched(call.arguments)
    told = bool(resources) and all(one in call.versions for one in resources)
    if not told and overlap(resources or ("*",), call.history.changed):
        return ToolReason.AFTER_WRITE
    return ToolReason.AGAIN if identity(call.tool, call.arguments) in call.history.calls else None


def cold(
    rule: ToolRule, call: ToolCall, key: bytes, why: ToolReason | None = None, *, apart: bool = False
) -> FoundResult:
    """The miss of a call whose result is to be kept under `key`.

    What a run reads of its own environment after it moved that is nobody else's, and with `apart` what it reads after
    any change of its own: that has no key.
    """
    stateful = rule.effect is Effect.STATE
    own = why is ToolReason.AFTER_WRITE and (apart or bool({"*", OWN_STATE} & call.history.changed))
    kept_under = b"" if own else key
    found = FoundResult(
        "miss", why or ToolReason.COLD, key=kept_under, ttl=rule.ttl, tenant=call.tenant, tool=call.tool
    )
    return replace(found, stateful=stateful, user=call.user if rule.private else None)


def hit(rule: ToolRule, call: ToolCall, key: bytes, payload: bytes, *, age: float, ttl: float) -> FoundResult:
    """The hit of a call whose result, as JSON, is `payload`; `age` and `ttl` are in seconds."""
    stateful = rule.effect is Effect.STATE
    why = ToolReason.READ if rule.effect is Effect.READS else ToolReason.STATE
    result = msgspec.json.decode(payload)
    return FoundResult("hit", why, result, max(0.0, age), key, max(0.0, ttl), call.tenant, call.tool, stateful=stateful)


def payload_of(found: FoundResult, result: Json, *, failed: bool, alone: bool) -> bytes | ToolReason:
    """The result as it is kept, or why it is not. `alone`: no other call of the run was under way meanwhile."""
    if not found.key:
        return found.why
    if found.stateful and not alone:
        return ToolReason.PARALLEL
    if failed or may_be_error(result):
        return ToolReason.FAILED
    payload = _encoded(result)
    if payload is None:
        return ToolReason.FAULT
    text = payload.decode()
    if len(text) > MAX_RESULT:
        return ToolReason.TOO_LARGE
    return ToolReason.CREDENTIAL if has_secret(text) else payload


def _encoded(value: Json) -> bytes | None:
    """The value as JSON; None for what is none, such as NaN, a set or half of a character.

    Written as something else it would be taken for that.
    """
    try:
        written = _encoder.encode(value)
        return written if msgspec.json.decode(written) == value else None
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        return None
