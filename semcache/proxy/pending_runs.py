"""The runs of agents whose outcome is not known yet, the oldest of which go where there are too many.

Pure. Invariant: there are never more than `RUNS` of them, and of their newest requests never more than `BYTES`.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from semcache.agents.found_plan import FoundPlan

RUNS = 4096
BYTES = 32 << 20


@dataclass(slots=True)
class PendingRun:
    """A run whose outcome is not known: its conversation so far, and the plan that was served in it last.

    `planned` says that a model chose some of its calls, so that there is something to learn from it, and `unfit` why
    there is not: a request of it left the model no choice of calls, or an answer of it could not be read.
    """

    tenant: str
    agent: str
    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]]
    found: FoundPlan | None = None
    whole: bool = False
    planned: bool = False
    size: int = 0  # bytes of its newest request
    tokens: int = 0  # completion tokens that models spent on it
    unfit: str = ""
    user: str | None = None  # whose it is, where users share nothing
    must_call: bool = False  # its newest request left the model no answer in words


class PendingRuns:
    """Runs by id. `size` is the bytes of their newest requests."""

    def __init__(self) -> None:
        self._runs: OrderedDict[str, PendingRun] = OrderedDict()
        self.size = 0

    def __len__(self) -> int:
        return len(self._runs)

    def get(self, run: str) -> PendingRun | None:
        """The run of that id, None where it is not known."""
        return self._runs.get(run)

    def is_complete(self, run: str) -> bool:
        """True for a run whose end was seen."""
        pending = self._runs.get(run)
        return pending is not None and pending.whole

    def note(self, run: str, pending: PendingRun) -> None:
        """Put a run in the place of what was known of it."""
        old = self._runs.get(run)
        if old is not None:
            pending.found = pending.found or old.found
            pending.planned = pending.planned or old.planned
            pending.unfit = pending.unfit or old.unfit
            pending.tokens += old.tokens
            self.forget(run)
        self._runs[run] = pending
        self.size += pending.size
        while len(self._runs) > RUNS or self.size > BYTES:
            self.forget(next(iter(self._runs)))

    def forget(self, run: str) -> None:
        """Forget a run; unknown ids are ignored."""
        gone = self._runs.pop(run, None)
        self.size -= gone.size if gone is not None else 0
