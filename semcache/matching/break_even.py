"""Break-even of the semantic tier by category, and the relaxed error target while a backend is overloaded.

Pure: it gets counts, costs and times as arguments, and knows no request and no threshold. Invariant: a category is
closed only on evidence and is still tried now and then; a target is relaxed neither beyond the pack's limit nor beyond
a certificate.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum

from semcache.types.evidence import Interval, wilson

_FEW = 200
_EVERY = 50
_MEMORY = 20_000
_PROBE = 50
_HALF_LIFE = 10.0  # seconds

CORE_SECOND = 0.05 / 3600  # US dollars: what large clouds ask for a virtual core


class Profitability(StrEnum):
    """The verdict on whether looking up by meaning is worth its cost."""

    PAYS = "pays"
    UNCLEAR = "unclear"  # too few lookups, or the break-even rate lies within the interval of the hit rate
    LOSES = "loses"


@dataclass(frozen=True, slots=True)
class LookupCosts:
    """Mean costs in US dollars: a lookup by meaning, a model call, a replay, a verification, a wrong answer."""

    lookup: float
    llm: float
    fetch: float = 0.0
    verify: float = 0.0
    wrong: float = 0.0


@dataclass(frozen=True, slots=True)
class Balance:
    """The accounts of a category.

    `lookups` and `hits` are those by meaning since the start; `hit_rate` is the recent one. `break_even` is a hit rate,
    more than 1 if none can pay. `saved` is in US dollars, net of lookups, verifications, audits and wrong answers.
    """

    lookups: int
    hits: int
    hit_rate: Interval
    break_even: float
    saved: float
    outlook: Profitability
    open: bool


def break_even(costs: LookupCosts, *, grey: float = 0.0, audit: float = 0.0, error: float = 0.0) -> float:
    """The hit rate from which it pays: (lookup + grey * verify + audit * llm) / (llm - fetch - error * wrong).

    `grey` and `audit` are the shares of lookups that are verified, and that are served but asked of the model as well;
    `error` is the error per hit. Infinite where a hit saves nothing. This is the break-even of the category-aware cache
    (arXiv 2510.26835), time of lookup over time saved, in money and with errors priced.
    """
    gain = costs.llm - costs.fetch - error * costs.wrong
    return (costs.lookup + grey * costs.verify + audit * costs.llm) / gain if gain > 0.0 else math.inf


@dataclass(slots=True)
class _RecentSums:
    """Sums over about the last 20,000 lookups of a category, or since it was closed."""

    lookups: float = 0.0
    hits: float = 0.0
    lookup_cost: float = 0.0
    verified: float = 0.0
    verify_cost: float = 0.0
    calls: float = 0.0
    call_cost: float = 0.0
    audits: float = 0.0
    judged: float = 0.0
    wrong: float = 0.0

    def scale(self, factor: float) -> None:
        for one in fields(self):
            setattr(self, one.name, getattr(self, one.name) * factor)


@dataclass(slots=True)
class _CategoryAccount:
    lately: _RecentSums
    lookups: int = 0
    hits: int = 0
    saved: float = 0.0
    open: bool = True


class Economics:
    """The break-even of every category, from live costs.

    A category is closed when, after at least 200 lookups, the upper end of the 95% interval of its hit rate lies below
    the break-even rate. One request in 50 is then still looked up; when 200 of these give no such verdict, it is open
    again.
    `wrong_cost` prices a wrong answer by category, in US dollars; a replay costs nothing.
    """

    def __init__(self, *, wrong_cost: Mapping[str, float] | None = None) -> None:
        self._wrong_cost = dict(wrong_cost or {})
        self._accounts: dict[str, _CategoryAccount] = {}

    def open(self, category: str, draw: float) -> bool:
        """Return True to look this request up by meaning; `draw` is uniform in [0, 1)."""
        account = self._accounts.get(category)
        return account is None or account.open or draw < 1.0 / _PROBE

    def looked_up(self, category: str, *, hit: bool, llm: float, lookup: float, verify: float | None = None) -> None:
        """Note a lookup by meaning; exact hits need none.

        `llm` is the cost of the model call that it saved or that followed, 0 where it is unknown; `lookup` and `verify`
        are the costs of these steps, `verify` None where nothing was verified.
        """
        account = self._account(category)
        lately = account.lately
        if lately.lookups >= _MEMORY:
            lately.scale(0.5)
        lately.lookups += 1
        lately.lookup_cost += lookup
        if verify is not None:
            lately.verified += 1
            lately.verify_cost += verify
        if llm > 0.0:
            lately.calls += 1
            lately.call_cost += llm
        account.lookups += 1
        account.saved -= lookup + (verify or 0.0)
        if hit:
            lately.hits += 1
            account.hits += 1
            account.saved += llm
        if account.lookups % _EVERY == 0:
            self._review(category, account)

    def audited(self, category: str, *, correct: bool | None, llm: float) -> None:
        """Note that a served hit was asked of the model too, at this cost; None: its correctness is unknown."""
        account = self._account(category)
        account.lately.audits += 1
        account.saved -= llm
        if correct is not None:
            account.lately.judged += 1
        if correct is False:
            account.lately.wrong += 1
            account.saved -= self._wrong_cost.get(category, 0.0)

    def standing(self, category: str) -> Balance:
        """Where a category stands; of one never looked up nothing is known, and it is open."""
        account = self._accounts.get(category) or _CategoryAccount(_RecentSums())
        lately = account.lately
        needed = self._break_even(category, lately)
        rate = wilson(lately.hits, lately.lookups)
        return Balance(
            account.lookups, account.hits, rate, needed, account.saved, _outlook(lately, rate, needed), account.open
        )

    def _account(self, category: str) -> _CategoryAccount:
        return self._accounts.setdefault(category, _CategoryAccount(_RecentSums()))

    def _break_even(self, category: str, lately: _RecentSums) -> float:
        if not lately.calls:
            return 0.0
        costs = LookupCosts(
            lookup=lately.lookup_cost / lately.lookups,
            llm=lately.call_cost / lately.calls,
            verify=lately.verify_cost / lately.verified if lately.verified else 0.0,
            wrong=self._wrong_cost.get(category, 0.0),
        )
        return break_even(
            costs,
            grey=lately.verified / lately.lookups,
            audit=lately.audits / lately.lookups,
            error=lately.wrong / lately.judged if lately.judged else 0.0,
        )

    def _review(self, category: str, account: _CategoryAccount) -> None:
        outlook = self.standing(category).outlook
        if account.open and outlook is Profitability.LOSES:
            account.open = False
            # Its probes speak for themselves; what they cost is assumed to be as before until they show it.
            account.lately = _RecentSums()
        elif not account.open and account.lately.lookups >= _FEW:
            if outlook is Profitability.LOSES:
                account.lately.scale(0.5)
            else:
                account.open = True


def _outlook(lately: _RecentSums, rate: Interval, needed: float) -> Profitability:
    if lately.lookups < _FEW or not lately.calls or rate.low <= needed <= rate.high:
        return Profitability.UNCLEAR
    return Profitability.LOSES if rate.high < needed else Profitability.PAYS


class Relaxation:
    """How far to stretch the error target while a backend is overloaded; one instance a backend.

    The load is a moving average, halved every ten seconds, of max(queue / queue_max, p95 / slo). Stretching
    starts when it reaches `start` and ends when it is below `low`, so that it does not flicker; in between it is in
    proportion, u = clip((load - low) / (high - low), 0, 1).
    """

    def __init__(self, *, low: float = 0.6, start: float = 0.8, high: float = 1.0) -> None:
        if not 0.0 <= low <= start <= high or low == high:
            raise ValueError(f"low {low}, start {start}, high {high}: they must not fall, low must be less than high")
        self._low, self._start, self._high = low, start, high
        self._at: float | None = None
        self._stretching = False
        self.load = 0.0

    def observe(self, now: float, *, queue: float, queue_max: float, p95: float = 0.0, slo: float = math.inf) -> None:
        """Note the queue and its limit, and the 95th percentile of latency and its objective, in seconds.

        `now` is a monotonic time in seconds; a time before the last one counts as that one.
        """
        load = max(queue / queue_max, p95 / slo)
        elapsed = math.inf if self._at is None else max(0.0, now - self._at)
        self.load = load + (self.load - load) * 0.5 ** (elapsed / _HALF_LIFE)
        self._at = now if self._at is None else max(now, self._at)
        self._stretching = self.load >= (self._low if self._stretching else self._start)

    @property
    def share(self) -> float:
        """u: 0 where nothing is stretched, 1 where the target is stretched all the way."""
        return min(1.0, (self.load - self._low) / (self._high - self._low)) if self._stretching else 0.0

    def target(self, target: float, relax_to: float | None, certified: float | None) -> float:
        """The error target for now, between `target` and the pack's `relax_to`.

        `certified` is the highest error target that the category can be held to on audits of its own traffic; without
        one (None) nothing is stretched.
        """
        return stretched(target, relax_to, certified, self.share)


def stretched(target: float, relax_to: float | None, certified: float | None, share: float) -> float:
    """The error target that is this `share` of the way from `target` to `relax_to`, and not beyond `certified`."""
    if relax_to is None or certified is None:
        return target
    return max(target, min(target + share * (relax_to - target), relax_to, certified))
