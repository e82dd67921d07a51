"""The hits of late, so that a person's report on one teaches more than that it came.

Knows decisions and the label log, nothing of judges. Invariant: a hit teaches by one report, and the oldest are
forgotten, so that memory is bounded.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace

from semcache.learning import labelling
from semcache.learning.corroboration import REPORT
from semcache.learning.label_log import LabelLog
from semcache.runtime.telemetry import Meter
from semcache.types import Lookup, Outcome, Serve
from semcache.types.evidence import Label, LabelSource

_REMEMBERED = 10_000


class ServedHits:
    """The last hit by meaning on each entry that this process has served."""

    def __init__(self, log: LabelLog, meter: Meter, *, clock: Callable[[], float]) -> None:
        self._log = log
        self._meter = meter
        self._clock = clock
        self._labels: OrderedDict[int, Label] = OrderedDict()

    def remember(self, lookup: Lookup, served: Serve) -> None:
        """Note a hit."""
        if served.how is Outcome.SEMANTIC and lookup.key is not None:
            self._labels[served.card.id] = labelling.of_hit(lookup, served, at=self._clock())
            if len(self._labels) > _REMEMBERED:
                self._labels.popitem(last=False)

    async def feedback(self, entry_id: int, *, correct: bool, change: int = 0) -> bool:
        """Learn a person's report about an entry, durably; False if not lately served here. Raises StoreError.

        `change` is the number of one that another worker has heard: all that have served the entry label their hits,
        and one of these labels teaches.
        """
        known = self._labels.pop(entry_id, None)
        if known is None:
            return False
        origin = f"{REPORT}{change}" if change else ""
        label = replace(
            known, at=self._clock(), source=LabelSource.FEEDBACK, chance=0.0, correct=correct, origin=origin
        )
        try:
            await self._log.append([label])
        except Exception:
            # Whoever says so again is to be heard; who is cancelled was heard.
            self._labels.setdefault(entry_id, known)
            raise
        self._meter.labelled(label)
        return True
