"""The calls of one run that are under way, and which of them overlapped another.

The state in which a call was executed is known only where no other call of its run was under way meanwhile.
Pure, and safe to use from several threads. Invariant: of two calls that overlap, neither was alone.
"""

from __future__ import annotations

from threading import Lock


class ParallelCalls:
    """The calls under way. A call begins before it is looked up, and ends when it is in its run's history."""

    def __init__(self) -> None:
        self._alone: dict[int, bool] = {}
        self._begun = 0
        self._lock = Lock()

    def begin(self) -> int:
        """Begin a call; return its number."""
        with self._lock:
            alone = not self._alone
            self._alone = dict.fromkeys(self._alone, False)
            self._begun += 1
            self._alone[self._begun] = alone
            return self._begun

    def alone(self, number: int) -> bool:
        """Return True if no other call was under way at any time since this one began."""
        with self._lock:
            return self._alone[number]

    def end(self, number: int) -> None:
        """End a call."""
        with self._lock:
            del self._alone[number]
