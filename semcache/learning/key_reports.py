"""Reports by API key: how many answers a key may take from the other keys of its tenant, and which reports teach.

Knows names of keys and counts, in this process. Invariant: in a tenant with several keys, one key takes at most `DAILY`
answers a day from the others, and its reports teach only as far as other keys report the same as often.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from typing import NamedTuple

from semcache.errors import RateLimited
from semcache.learning.corroboration import Corroboration
from semcache.runtime.durations import DAY

DAILY = 100  # reports of wrong answers by one key
_TENANTS = 4096


class Reporter(NamedTuple):
    """A key that reports, and the other keys of its tenant."""

    key: str
    others: tuple[str, ...] = ()


class KeyReports:
    """The reports of all keys."""

    def __init__(self) -> None:
        self._tenants: OrderedDict[str, Corroboration] = OrderedDict()
        self._today: Counter[str] = Counter()
        self._day = 0

    def admit(self, reporter: Reporter, now: float) -> None:
        """Count a report of a wrong answer. Raises RateLimited."""
        if not reporter.others:
            return
        day = int(now // DAY)
        if day != self._day:
            self._day, self._today = day, Counter()
        if self._today[reporter.key] >= DAILY:
            said = f"this API key has reported {DAILY} answers today (UTC); a trusted key may report more"
            raise RateLimited(said, limit="reports", code="rate_limit_exceeded", after=DAY - now % DAY)
        self._today[reporter.key] += 1

    def teaches(self, reporter: Reporter, tenant: str, category: str, *, correct: bool) -> bool:
        """Return True if this report of a right or wrong answer teaches what other keys are served; it is counted."""
        if not reporter.others:
            return True
        keys = self._tenants.setdefault(tenant, Corroboration())
        self._tenants.move_to_end(tenant)
        if len(self._tenants) > _TENANTS:
            self._tenants.popitem(last=False)
        for key in (*reporter.others, reporter.key):
            keys.saw(key)
        return keys.take_report(reporter.key, category, correct=correct)
