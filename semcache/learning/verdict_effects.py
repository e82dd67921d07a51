"""The effects of a verdict: right answers share an answer class, wrong ones are rejected, and errors are counted.

Knows entries and the accounts of break-even, nothing of judges. Invariant: a verdict takes effect in this process at
once, and in the store at the next `write`; writes that a failing store did not take are repeated.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from semcache.matching.profitability import ProfitabilityMonitor
from semcache.protocols import Entries, Rejections
from semcache.runtime.telemetry import Meter
from semcache.storage.live_entries import LiveEntries
from semcache.types import Rejection
from semcache.types.evidence import Label, LabelSource

GREY = 0.05  # P(correct) from which a neighbour might be served one day
_TOGETHER = 5_000  # rejections that are written at once


class VerdictStore(Entries, Rejections, Protocol):
    """The part of a store in which verdicts take effect."""


class VerdictEffects:
    """Applies verdicts of judges and models. One instance a process."""

    def __init__(
        self, store: VerdictStore, live: LiveEntries, profitability: ProfitabilityMonitor, meter: Meter
    ) -> None:
        self._store = store
        self._live = live
        self._profitability = profitability
        self._meter = meter
        self._aliases: dict[int, int] = {}
        self._rejections: list[Rejection] = []

    def apply(self, label: Label, fresh_id: int, *, correct: bool) -> Label:
        """Return the label with its verdict, which takes effect at once.

        `fresh_id` is the entry with the answer that the label was judged by, 0 if it was not stored.
        """
        label = replace(label, correct=correct)
        self._meter.labelled(label)
        self._profitability.judged(label)
        if correct and fresh_id and fresh_id not in self._aliases:
            card = self._live.registry.get(label.entry_id)
            answer = label.answer if card is None else card.answer_class
            self._aliases[fresh_id] = answer
            self._live.share(fresh_id, answer)
        elif not correct and label.source is not LabelSource.REASKED and (label.served or label.p_correct >= GREY):
            self._reject(label.entry_id, label.exact)
            if label.served:
                self._meter.false_hits.labels(label.category, label.source.value).inc()
        return label

    def differ(self, entry_id: int, exact: bytes) -> None:
        """Take an entry for the wrong one for a request, as a language model said and no fresh answer has shown."""
        self._reject(entry_id, exact)

    def _reject(self, entry_id: int, exact: bytes) -> None:
        """Take an entry for the wrong one for a request, and those that have the same answer."""
        alike = [card.id for card in self._live.registry.alike(entry_id) if card.exact != exact]
        rejections = [Rejection(one, exact) for one in (entry_id, *alike)]
        self._rejections += rejections
        self._live.registry.reject(rejections)

    async def write(self, now: float) -> None:
        """Write the changes by verdicts. Raises StoreError; changes that are not written are tried again later."""
        rejections = self._rejections[:_TOGETHER]
        if rejections:
            await self._store.reject(rejections, now=now)
            del self._rejections[: len(rejections)]
        for fresh_id, answer in list(self._aliases.items()):
            await self._store.alias(fresh_id, answer, now=now)
            del self._aliases[fresh_id]
