"""Limits of API keys: requests and tokens a minute, dollars a day, refused with the time after which to come again.

Knows keys, counts and rows of outcomes; nothing of requests. Invariant: in no sixty seconds are more requests of a key
admitted than its limit; tokens and dollars are known only when a call has ended, so calls in flight may go beyond. A
key without limits costs one look-up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from semcache.errors import RateLimited
from semcache.proxy.auth import Caller
from semcache.proxy.key_counts import BUCKET, KeyCounts, Used
from semcache.runtime.durations import DAY
from semcache.runtime.telemetry import Meter
from semcache.types import ApiKey, Recorded

# The key that pays for what is done now, in this task and those that it starts.
_payer: ContextVar[str | None] = ContextVar("semcache_payer", default=None)


@dataclass(frozen=True, slots=True)
class KeyLimits:
    """Limits of one key: `requests` and `tokens` a minute, `dollars` a day (UTC); None for no limit."""

    requests: int | None = None
    tokens: int | None = None
    dollars: float | None = None

    @property
    def any(self) -> bool:
        """Return True if there is a limit."""
        return self.requests is not None or self.tokens is not None or self.dollars is not None


class KeyLimiter:
    """Admits requests within the limits of their keys. `usual` are those of a key that has none of its own.

    `hits` says that hits count as well: then a request is admitted before it is read, and otherwise only once the cache
    has no answer to it. Its tokens and dollars are counted either way: a hit, too, may have cost a model's verdict.
    """

    def __init__(
        self,
        counts: KeyCounts,
        meter: Meter,
        *,
        usual: KeyLimits = KeyLimits(),
        hits: bool = False,
        clock: Callable[[], float],
    ) -> None:
        self._counts, self._meter, self._usual, self._hits, self._clock = counts, meter, usual, hits, clock
        self._own: dict[str, KeyLimits] = {}

    def bound(self, usual: KeyLimits, *, hits: bool) -> None:
        """Take other limits for keys without their own; `replace` has to follow."""
        self._usual, self._hits = usual, hits

    def replace(self, keys: Iterable[ApiKey]) -> None:
        """Take the limits of the keys that the store holds now."""
        found, usual = {}, self._usual
        for key in keys:
            requests, tokens, dollars = key.requests_per_minute, key.tokens_per_minute, key.dollars_per_day
            if (requests, tokens, dollars) != (None, None, None):
                found[key.id] = KeyLimits(
                    usual.requests if requests is None else requests,
                    usual.tokens if tokens is None else tokens,
                    usual.dollars if dollars is None else dollars,
                )
        self._own = found

    def admit(self, caller: Caller) -> None:
        """Count a request that has just come, where hits count; its key pays from here on. Raises RateLimited."""
        if self._hits:
            self._take(caller)
        else:
            key, limits = self._of(caller)
            _payer.set(key if limits.any else None)

    def admit_miss(self, caller: Caller) -> None:
        """Count a request that the cache has no answer to. Raises RateLimited."""
        if not self._hits:
            self._take(caller)

    def may_spend(self, caller: Caller) -> bool:
        """Return True if a key has tokens and dollars left, for what is asked before the cache knows its answer."""
        key, limits = self._of(caller)
        if limits.tokens is None and limits.dollars is None:
            return True
        now = self._clock()
        return _refusal(replace(limits, requests=None), self._counts.used(key, now), now) is None

    def charge(self, row: Recorded) -> None:
        """Count the tokens and dollars of a request that was admitted in this task, or in the one that began it."""
        key = _payer.get()
        if key is None:
            return
        used = row.spent.prompt_tokens + row.spent.completion_tokens
        if self._hits:
            used += row.saved.prompt_tokens + row.saved.completion_tokens
        dollars = row.spent_cost + row.overhead
        if used or dollars:
            self._counts.add(key, self._clock(), tokens=used, dollars=dollars)

    def close(self) -> None:
        """Release the counts."""
        self._counts.close()

    def _of(self, caller: Caller) -> tuple[str, KeyLimits]:
        key = caller.key_id or "nobody"
        return key, self._own.get(key, self._usual)

    def _take(self, caller: Caller) -> None:
        key, limits = self._of(caller)
        if not limits.any:
            _payer.set(None)
            return
        now = self._clock()
        refused: list[RateLimited] = []

        def within(used: Used) -> bool:
            error = _refusal(limits, used, now)
            if error is not None:
                refused.append(error)
            return error is None

        self._counts.take(key, now, within)
        if refused:
            self._meter.limited.labels(refused[0].limit).inc()
            raise refused[0]
        _payer.set(key)


def _refusal(limits: KeyLimits, used: Used, now: float) -> RateLimited | None:
    """Return why one more request is too many, None if it is not."""
    if limits.dollars is not None and used.dollars >= limits.dollars:
        said = f"this API key has spent its {limits.dollars:g} US dollars of today (UTC)"
        after = DAY - now % DAY
        until = datetime.fromtimestamp(now + after, UTC).strftime("%Y-%m-%d %H:%M")
        return RateLimited(
            f"{said}; it may spend again from {until} UTC", limit="dollars", code="insufficient_quota", after=after
        )
    if limits.requests is not None and sum(used.requests) >= limits.requests:
        after = _until(used.requests, limits.requests - 1, now)
        return _per_minute("requests", limits.requests, after)
    if limits.tokens is not None and sum(used.tokens) >= limits.tokens:
        after = _until(used.tokens, limits.tokens - 1, now)
        return _per_minute("tokens", limits.tokens, after)
    return None


def _per_minute(name: str, most: int, after: float) -> RateLimited:
    # The oldest seconds are forgotten five at a time. No SDK waits longer than a minute before it tries again.
    after = min(60.0, after)
    said = f"this API key has used its {most} {name} of a minute; try again in {math.ceil(after)} s"
    return RateLimited(said, limit=name, code="rate_limit_exceeded", after=after)


def _until(counts: tuple[int, ...], most: int, now: float) -> float:
    """Return the seconds until at most `most` are left; `counts` are of the newest seconds first."""
    left = sum(counts)
    for back in range(len(counts) - 1, -1, -1):
        if left <= most:
            break
        left -= counts[back]
        gone = back
    # A bucket is forgotten when the newest is `len(counts)` younger.
    return (len(counts) - gone) * BUCKET - now % BUCKET
