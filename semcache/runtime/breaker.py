"""Circuit breaker: a part that fails is left alone for a while, so that its failures cost a request nothing.

Pure: the clock is an argument. Invariant: after a failure the part is asked again after at most `longest` seconds.
"""

from __future__ import annotations


class Breaker:
    """Open after a failure, for a pause that doubles up to `longest` seconds; closed again by a success."""

    __slots__ = ("_longest", "_pause", "_shortest", "_until", "error", "late")

    def __init__(self, *, shortest: float = 0.5, longest: float = 15.0) -> None:
        self._shortest = shortest
        self._longest = longest
        self._pause = 0.0
        self._until = 0.0
        self.error: str | None = None
        self.late = False  # what opened it was no failure but a time limit

    def closed(self, now: float) -> bool:
        """Return True if the part may be asked. `now` is a monotonic time in seconds."""
        return now >= self._until

    def failed(self, now: float, error: Exception) -> bool:
        """Note a failure; return True if it opened now. Calls that were under way when it opened tell nothing new."""
        if now < self._until:
            return False
        self._pause = min(self._longest, self._pause * 2 or self._shortest)
        self._until = now + self._pause
        self.error = f"{type(error).__name__}: {error}"
        self.late = isinstance(error, TimeoutError)
        return True

    def succeeded(self) -> None:
        """Note a success."""
        self._pause = 0.0
        self._until = 0.0
        self.error = None
        self.late = False
