"""The log of when a server stopped answering and when it answered again, for whoever watches a process.

Knows times and errors, nothing of connections. Invariant: one line when it stops and one when it is over, however many
requests fail; no more than these two in `EVERY` seconds, and requests of which no line tells are counted in the next.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

EVERY = 60.0  # seconds
_log = logging.getLogger(__name__)


class OutageLog:
    """The log of the server called `name`. Times are those of `clock`, in seconds."""

    def __init__(self, name: str, clock: Callable[[], float]) -> None:
        self._name, self._clock = name, clock
        self._since: float | None = None  # of the outage that goes on
        self._failed = 0  # requests of it
        self._told = False  # a line has said that it goes on
        self._said_at: float | None = None
        self._unsaid = 0  # requests without an answer since the last line

    def begin(self) -> float:
        """Return the time at which a request is sent, for `answered`."""
        return self._clock()

    def failed(self, error: Exception) -> None:
        """Note a request that got no answer."""
        now = self._clock()
        if self._since is None:
            self._since = now
        self._failed += 1
        self._unsaid += 1
        if self._told or (self._said_at is not None and now - self._said_at < EVERY):
            return
        more = f"; {self._unsaid} calls have failed since the last such line" if self._unsaid > 1 else ""
        _log.warning("the upstream %s does not answer: %s%s", self._name, error, more)
        self._told, self._said_at, self._unsaid = True, now, 0

    def answered(self, sent: float) -> None:
        """Note that a request that was sent at that time was answered, with whatever status."""
        if self._since is None or sent < self._since:
            return
        if self._told:
            failed = "1 call" if self._failed == 1 else f"{self._failed} calls"
            seconds = self._clock() - self._since
            _log.warning("the upstream %s answers again, after %.0f s; %s failed", self._name, seconds, failed)
            self._unsaid = 0
        self._since, self._failed, self._told = None, 0, False
