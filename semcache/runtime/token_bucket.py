"""A token bucket: so much a second, and some saved up.

Knows nothing of what is counted. Invariant: never more than `burst` tokens at once; the clock is an argument.
"""

from __future__ import annotations


class TokenBucket:
    """A token bucket: `rate` tokens a second, at most `burst` of them saved up. Pure: the clock is an argument."""

    __slots__ = ("_at", "_burst", "_held", "_rate")

    def __init__(self, rate: float, burst: float, now: float) -> None:
        self._rate, self._burst = rate, burst
        self._held, self._at = (burst if rate else 0.0), now

    def take(self, now: float, *, leaving: float = 0.0) -> bool:
        """Take a token if there is one beside those left for others. `now` is a monotonic time in seconds."""
        self._held = min(self._burst, self._held + max(0.0, now - self._at) * self._rate)
        self._at = now
        if self._held < 1.0 + leaving:
            return False
        self._held -= 1.0
        return True
