"""Profitability of lookups by meaning, by category, as the live cache sees it.

Knows finished requests and verdicts, and turns seconds into money. What is known is this process's own: workers of one
store decide for themselves. Invariant: a request is counted once, however often its outcome is told; a category whose
model calls have no known cost stays open.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from semcache.config.packs import Pack
from semcache.matching.break_even import CORE_SECOND, Balance, Economics
from semcache.types import Forward, Lookup, Outcome, Recorded, Serve, Why
from semcache.types.evidence import Label, LabelSource

_REMEMBERED = 10_000
_NOT_SOUGHT = frozenset([Why.NO_CACHE, Why.UNPROFITABLE])


class ProfitabilityMonitor:
    """The costs and savings of every category of a pack. One instance a process."""

    def __init__(self, pack: Pack) -> None:
        self._pack = pack
        self._books = Economics(wrong_cost={name: one.wrong_cost for name, one in pack.categories.items()})
        self._calls: dict[str, tuple[int, float]] = {}  # model calls of known cost, and US dollars they cost
        self._noted: OrderedDict[str, None] = OrderedDict()

    def open(self, category: str, draw: Callable[[], float]) -> bool:
        """Return True to look up by meaning; a closed category is still tried at times, as `draw` in [0, 1) says."""
        return self._books.open(category, 1.0) or self._books.open(category, draw())

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
        self._books.looked_up(row.category, hit=hit, llm=cost, lookup=seconds * CORE_SECOND, verify=lookup.verified)

    def judged(self, label: Label) -> None:
        """Note a verdict; only audits of served hits tell what errors cost."""
        if label.source is LabelSource.AUDIT and label.served:
            self._books.audited(label.category, correct=label.correct, llm=self._call(label.category))

    def standing(self, category: str) -> Balance:
        """Where a category stands."""
        return self._books.standing(category)

    def balances(self) -> dict[str, Balance]:
        """Where every category of the pack stands."""
        return {name: self.standing(name) for name in self._pack.categories}

    def _call(self, category: str) -> float:
        """The mean cost of a model call in US dollars, 0 where none is known."""
        count, total = self._calls.get(category, (0, 0.0))
        return total / count if count else 0.0
