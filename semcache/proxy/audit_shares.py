"""Fair shares of the audits of a second: by tenant, and within a tenant by whoever asks.

Pure: fed with times. Invariant: whoever has lately had no more than an equal share of the audits, in a tenant of which
that is true as well, finds half of what is saved up untouched by the others; who has had more takes what is left.
"""

from __future__ import annotations

from collections.abc import Hashable

from semcache.runtime.token_bucket import TokenBucket

_SPAN = 10.0  # seconds after which what was had counts half, and who has not asked since is forgotten
_MOST = 4096  # names that share


class _Shares:
    """The audits that each of some names has lately had."""

    def __init__(self) -> None:
        self._had: dict[Hashable, float] = {}
        self._seen: set[Hashable] = set()
        self._total = 0.0

    def is_within(self, name: Hashable) -> bool:
        """Return True for a name that has had no more than an equal share."""
        sharing = len(self._had) + (name not in self._had)
        return self._had.get(name, 0.0) * sharing <= self._total

    def note(self, name: Hashable, amount: float) -> None:
        """Count what a name has had, 0 for one that was refused: it is one of those who share."""
        if name in self._had or len(self._had) < _MOST:
            self._had[name] = self._had.get(name, 0.0) + amount
            self._seen.add(name)
            self._total += amount

    def age(self) -> bool:
        """Let what was had count half; return True if anybody is left."""
        self._had = {name: self._had[name] / 2 for name in self._seen}
        self._seen = set()
        self._total = sum(self._had.values())
        return bool(self._had)


class AuditShares:
    """The audits of one process: `rate` a second. The clock is an argument."""

    def __init__(self, rate: float, now: float) -> None:
        burst = max(1.0, rate)
        self._bucket = TokenBucket(rate, burst, now)
        self._kept = burst / 2 if burst >= 2.0 else 0.0
        self._aged = now
        self._tenants = _Shares()
        self._askers: dict[Hashable, _Shares] = {}

    def is_within(self, tenant: str, asker: Hashable, now: float) -> bool:
        """Return True for an asker who has lately had no more than an equal share, in a tenant that has neither."""
        if now - self._aged >= _SPAN:
            self._aged = now
            self._tenants.age()
            self._askers = {name: shares for name, shares in self._askers.items() if shares.age()}
        askers = self._askers.get(tenant)
        return self._tenants.is_within(tenant) and (askers is None or askers.is_within(asker))

    def take(self, tenant: str, asker: Hashable, now: float) -> bool:
        """Take an audit if there is one for this asker."""
        within = self.is_within(tenant, asker, now)
        taken = self._bucket.take(now, leaving=0.0 if within else self._kept)
        self._tenants.note(tenant, taken)
        if tenant in self._askers or len(self._askers) < _MOST:
            self._askers.setdefault(tenant, _Shares()).note(asker, taken)
        return taken
