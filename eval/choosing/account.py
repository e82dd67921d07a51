"""Accounts: calls, tokens and money by outcome, beside what the reference model alone would have cost.

Pure. Invariant: every call is counted once, under the outcome of the request that it was made for; what is saved is the
reference's price for the answer that was served, less all that was paid for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from semcache.agents.multiplex.models import PricedModels
from semcache.types import Usage


@dataclass(slots=True)
class Spending:
    """Sums of one outcome. Costs are US dollars, `reference` what the reference model would have cost."""

    requests: int = 0
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    reference: float = 0.0

    @property
    def saved(self) -> float:
        """US dollars, negative where more was paid than the reference alone would have cost."""
        return self.reference - self.cost

    def row(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "requests": self.requests,
            "calls": self.calls,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "spent_usd": round(self.cost, 6),
            "always_reference_usd": round(self.reference, 6),
            "saved_usd": round(self.saved, 6),
        }


@dataclass(slots=True)
class Account:
    """The spending of one process by outcome ("cheaper", "cascade", "escalated", "reference", "explore", "near", ...).

    The reference's tokens are those of its own call where it was asked, elsewhere those that the request and the served
    answer have: a prompt that was made longer for another model does not count for it.
    """

    models: PricedModels
    outcomes: dict[str, Spending] = field(default_factory=dict)

    def note(
        self, outcome: str, calls: Mapping[str, Usage], *, alone: Usage | None = None, background: bool = False
    ) -> float:
        """Take one request: its calls by model, and what the reference alone would have used; returns what was paid.

        `alone` may be left out where the reference was asked. `background` calls replace no call of a client, such as
        samples for comparison. Raises ValueError without any usage to compare with.
        """
        if alone is None:
            alone = calls.get(self.models.reference)
        if alone is None and not background:
            raise ValueError("say what the reference would have used: it was not asked")
        one = self.outcomes.setdefault(outcome, Spending())
        paid = 0.0
        for name, usage in calls.items():
            paid += self.models.of(name).cost(usage)
            one.prompt_tokens += usage.prompt_tokens
            one.completion_tokens += usage.completion_tokens
        one.requests += not background
        one.calls += len(calls)
        one.cost += paid
        if alone is not None and not background:
            one.reference += self.models.best.cost(alone)
        return paid

    def total(self) -> Spending:
        """All outcomes together."""
        whole = Spending()
        for one in self.outcomes.values():
            whole.requests += one.requests
            whole.calls += one.calls
            whole.prompt_tokens += one.prompt_tokens
            whole.completion_tokens += one.completion_tokens
            whole.cost += one.cost
            whole.reference += one.reference
        return whole

    def rows(self) -> dict[str, Any]:
        """The table of `semcache stats`: a row per outcome, and the total against always asking the reference."""
        return {"total": self.total().row(), **{name: one.row() for name, one in sorted(self.outcomes.items())}}
