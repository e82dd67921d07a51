"""The probation of a language model's verdicts: what may be served before the results of some verdicts are known.

An unknown model is first believed as large models are, but only for so few entries that the target bears it if its
verdicts are worth nothing. Pure. Invariant: the risks of the entries that were served on probation, as they were before
any verdict, add up to the grant at most, unless the first alone exceeds it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_SETTLED = 12  # verdicts with a known result before which next to nothing is served
_VENTURE = 25.0  # hits, whose target the entries of the first ones may spend if verdicts are worth nothing


class VerdictProbation:
    """The probation in all categories together. `grants` is this process's share of what may be ventured."""

    def __init__(self, grants: float) -> None:
        self._grants = grants
        self.known = 0  # verdicts whose result is known
        self._ventured: dict[int, float] = {}  # by entry, P(wrong) before any verdict

    @property
    def over(self) -> bool:
        """True if enough results are known."""
        return self.known >= _SETTLED

    def allows(self, entry_id: int, before: float, target: float) -> bool:
        """Return True if this entry, with P(correct) `before` any verdict, may be served: again, or in the grant."""
        spent = sum(self._ventured.values())
        begun = not spent or entry_id in self._ventured
        return begun or spent + 1.0 - before <= self._grants * _VENTURE * target

    def served(self, entry_id: int, before: float) -> None:
        """Take notice of an entry that was served on probation, with P(correct) `before` any verdict."""
        self._ventured.setdefault(entry_id, 1.0 - before)

    def note(self) -> str:
        """A sentence for operators."""
        return f"on probation: the results of {self.known} verdicts are known, of {_SETTLED} that are needed"

    def state(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "known": self.known,
            "ventured": [[entry_id, risk] for entry_id, risk in self._ventured.items()],
        }

    def restored(self, state: Mapping[str, Any]) -> VerdictProbation:
        """Return one like this in the state that `state` gave."""
        made = VerdictProbation(self._grants)
        made.known = int(state.get("known", 0))
        made._ventured = {int(entry_id): float(risk) for entry_id, risk in state.get("ventured", [])}
        return made
