"""Profitability of lookups by meaning, by category, as the live cache sees it.

Knows finished requests and verdicts, and turns seconds into money. The data is this process's own: workers of one store
decide for themselves. Invariant: a request is counted once, however often its outcome is reported; a category whose
model calls have no known cost stays open, and the requests of one class of tenants close it for no other.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace

from semcache.config.packs import Pack
from semcache.matching.break_even import CORE_SECOND, Balance, Economics
from semcache.types import Forward, Lookup, Outcome, Recorded, Serve, Why
from semcache.types.evidence import Label, LabelSource

_REMEMBERED = 10_000
_CLASSES = 1_000  # of tenants; of more, the one that asked longest ago is forgotten
_NOT_SOUGHT = frozenset([Why.NO_CACHE, Why.UNPROFITABLE])


class ProfitabilityMonitor:
    """The costs and savings of every category of a pack. One instance a process."""

    def __init__(self, pack: Pack) -> None:
        self._pack = pack
        self._wrong_cost = {name: one.wrong_cost for name, one in pack.categories.items()}
        self._books = Economics(wrong_cost=self._wrong_cost)  # of all tenants, for operators
        self._own: OrderedDict[str, Economics] = OrderedDict()  # by class of tenants, that decide
        self._calls: dict[str, tuple[int, float]] = {}  # model calls of known cost, and US dollars they cost
        self._noted: OrderedDict[str, None] = OrderedDict()

    def open(self, category: str, draw: Callable[[], float], tenant: str = "default") -> bool:
        """Return True to look up by meaning; a closed category is still tried at times, as `draw` says."""
        own = self._own.get(self._pack.class_of(tenant))
        return own is None or own.open(category, 1.0) or own.open(category, draw())

    def note(self, lookup: Lookup, row: Recorded) -> None:
        """Note a request's outcome, of which `row` is recorded."""
        decision = lookup.decision
        hit = isinstance(decision, Serve) and decision.how is Outcome.SEMANTIC
        missed = isinstance(decision, Forward) and decision.outcome is Outcome.MISS and decision.why not in _NOT_SOUGHT
        if row.spent_cost > 0.0:
            count, total = self._calls.get(row.category, (0, 0.0))
            self._calls[row.category] = count + 1, total + row.spent_cost
        if lookup.vector is None or not (hit or missed) or lookup.request_id in self._noted:
            return
        self._noted[lookup.request_id] = None
        if len(self._noted) > _REMEMBERED:
            self._noted.popitem(last=False)
        timings = lookup.timings
        seconds = timings.embed + timings.search + timings.guard
        cost = row.saved_cost or row.spent_cost or self._call(row.category)
        for books in (self._books, self._books_of(lookup.request.scope.tenant)):
            books.looked_up(row.category, hit=hit, llm=cost, lookup=seconds * CORE_SECOND, verify=lookup.verified)

    def judged(self, label: Label) -> None:
        """Note a verdict; only audits of served hits show the cost of errors."""
        if label.source is LabelSource.AUDIT and label.served:
            for books in (self._books, self._books_of(label.tenant)):
                books.audited(label.category, correct=label.correct, llm=self._call(label.category))

    def standing(self, category: str) -> Balance:
        """Where a category stands with all tenants; it is open if it is to any of them."""
        balance = self._books.standing(category)
        return replace(balance, open=not self._own or any(one.open(category, 1.0) for one in self._own.values()))

    def balances(self) -> dict[str, Balance]:
        """Where every category of the pack stands."""
        return {name: self.standing(name) for name in self._pack.categories}

    def _books_of(self, tenant: str) -> Economics:
        name = self._pack.class_of(tenant)
        if name not in self._own:
            self._own[name] = Economics(wrong_cost=self._wrong_cost)
            if len(self._own) > _CLASSES:
                self._own.popitem(last=False)
        self._own.move_to_end(name)
        return self._own[name]

    def _call(self, category: str) -> float:
        """The mean cost of a model call in US dollars, 0 if none is known."""
        count, total = self._calls.get(category, (0, 0.0))
        return total / count if count else 0.0
