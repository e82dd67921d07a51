"""The result of looking up a tool's call, with the reason for it.

Invariant: a miss carries everything that `ToolResults.record` needs, and nothing of the call's arguments.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from semcache.agents.run import Json


class ToolReason(StrEnum):
    """The reason that a call was answered from here, is to be executed, or that its result is not kept."""

    READ = "read"
    STATE = "state"
    COLD = "cold"
    UNKNOWN = "unknown-tool"
    WRITES = "writes"
    AGAIN = "asked-again"
    AFTER_WRITE = "after-write"
    TOO_LARGE = "too-large"
    NO_USER = "no-user"
    FAILED = "failed"
    CREDENTIAL = "credential"
    RECORDED = "recorded"
    CHANGING = "changing"
    PARALLEL = "parallel"
    DIVERGED = "diverged"
    FAULT = "fault"


@dataclass(frozen=True, slots=True)
class FoundResult:
    """The result of a lookup: hand it back to `record` with the result of a call that was executed.

    `outcome` is "hit" or "miss"; `result` is JSON, `age` in seconds. `changed` are the resources that executing the
    call changes. `key` is b"" where the result is not to be kept. A `stateful` tool's is kept only if no other call of
    its run was under way meanwhile. `user` is whose alone it is, None for a tenant's.
    """

    outcome: str
    why: ToolReason
    result: Json = None
    age: float = 0.0
    key: bytes = b""
    ttl: float = 0.0
    tenant: str = "default"
    tool: str = ""
    changed: tuple[str, ...] = ()
    stateful: bool = False
    user: str | None = None

    @property
    def acts(self) -> bool:
        """True for a call that may act on the environment of its run, as all but reads may."""
        return self.stateful or (not self.key and self.why is not ToolReason.CHANGING)
