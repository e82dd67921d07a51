"""Overload control: the engine's throughput, and early rejection of requests that would wait too long.

Knows tokens and seconds, which are given. Throughput is an exponential average. Early rejection under predicted
overload is Mooncake's (Qin et al. 2025, section 6): a request that would be answered too late is refused before any
work is spent on it, with the time after which it may come again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from semcache.errors import RequestRejected

_MEMORY = 0.9


@dataclass(frozen=True, slots=True)
class OverloadRefusal:
    """The reason of a rejection, and after how many whole seconds the request may be sent again, at least 1."""

    reason: str
    retry_after: int


class Overloaded(RequestRejected):
    """A request that would be answered too late; `retry_after` is in whole seconds."""

    def __init__(self, overload: OverloadRefusal) -> None:
        message = f"the engine is overloaded: {overload.reason}; try again in {overload.retry_after} s"
        super().__init__(503, message, code="overloaded")
        self.retry_after = overload.retry_after


class Throughput:
    """The measured speed of an engine."""

    def __init__(self) -> None:
        self._rate = 0.0  # tokens computed per second
        self._answer = 0.0

    @property
    def rate(self) -> float:
        """Tokens computed per second, 0 while unknown."""
        return self._rate

    @property
    def answer(self) -> float:
        """Tokens that an answer has on average, 0 while unknown."""
        return self._answer

    def ended(self, tokens: int) -> None:
        """Take notice of a whole answer."""
        self._answer = _MEMORY * self._answer + (1 - _MEMORY) * tokens if self._answer else float(tokens)

    def step(self, tokens: int, seconds: float) -> None:
        """Take notice of a step."""
        if tokens and seconds > 0:
            seen = tokens / seconds
            # A step of few tokens says little about how fast many would be; it counts for what it computed.
            weight = (1 - _MEMORY) * min(1.0, tokens / 64)
            self._rate = seen if not self._rate else (1 - weight) * self._rate + weight * seen

    def wait(self, tokens: float) -> float:
        """Seconds to compute so many tokens, 0 while the speed is unknown."""
        return tokens / self._rate if self._rate else 0.0


def refusal(
    pace: Throughput, *, queued: int, tokens: float, max_waiting: int, max_wait: float
) -> OverloadRefusal | None:
    """The refusal of a request behind `queued` others with `tokens` still to compute before it; None to accept it."""
    wait = pace.wait(tokens)
    if queued >= max_waiting:
        return OverloadRefusal(f"{queued} requests wait already", max(1, math.ceil(wait / max(1, queued) * 4)))
    if wait > max_wait:
        reason = f"it would wait about {wait:.3g} s, and {max_wait:g} s are allowed"
        return OverloadRefusal(reason, max(1, math.ceil(wait - max_wait)))
    return None
