"""Session affinity: the replica that a session was sent to last, until a while after its last request.

Invariant: at most `_MOST` sessions, the least recently used forgotten first.
"""

from __future__ import annotations

from collections import OrderedDict

_MOST = 100_000


class Sessions:
    """Maps (tenant, session) to a replica's name for `ttl` seconds after its last use. Times are monotonic seconds."""

    def __init__(self, ttl: float = 600.0) -> None:
        self._ttl = ttl
        self._homes: OrderedDict[tuple[str, str], tuple[str, float]] = OrderedDict()

    def home(self, tenant: str, session: str, now: float) -> str | None:
        """The replica of a session; None for a new or forgotten one, or no session at all."""
        found = self._homes.get((tenant, session)) if session else None
        return found[0] if found is not None and now <= found[1] else None

    def settle(self, tenant: str, session: str, replica: str, now: float) -> None:
        """Note where a session is; without a session this does nothing."""
        if not session:
            return
        self._homes[tenant, session] = (replica, now + self._ttl)
        self._homes.move_to_end((tenant, session))
        if len(self._homes) > _MOST:
            self._homes.popitem(last=False)
