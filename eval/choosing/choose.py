"""The choice of the model that answers: the cheapest whose predicted loss of quality the budget allows.

Two strategies: `route` decides before anything is asked; `cascade` asks the small model, looks at its answer, and asks
the reference where that does not do. Draws are arguments. Invariant: whatever is not allowed goes to the reference, and
so does everything while too little is known; a choice names what it expects to lose and to cost.

The vocabulary is that of "Dynamic Model Routing and Cascading: A Survey": pre-generation and post-generation routing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from eval.choosing.loss_budget import LossBudget
from semcache.agents.multiplex.gap import QualityGap
from semcache.agents.multiplex.models import PricedModel, PricedModels
from semcache.agents.multiplex.signals import RoutingRequest
from semcache.types import Usage

_STRENGTH = 5.0  # answers that the expected length is worth before the first one
_NEW = 0.01  # what the last answer counts in the share of those that were kept
_PROBE = 0.0001  # by how much a request that was not tried raises that share, so that it is tried again


@dataclass(frozen=True, slots=True)
class MultiplexTerms:
    """The terms of a choice among models.

    `loss` is the quality that may be lost per request, `explore` the share of requests of which both models are asked
    to compare them, `tokens` the length of an answer before one was seen, `cautious` how many deviations are added to a
    predicted loss.
    """

    loss: float = 0.01
    strategy: Literal["route", "cascade"] = "cascade"
    explore: float = 0.05
    tokens: float = 250.0
    cautious: float = 0.25


@dataclass(frozen=True, slots=True)
class Choice:
    """Which model to ask. `loss` is what its answer is expected to lose, `cost` and `saving` are in US dollars.

    `check`: look at the answer with `Multiplexer.keep` before it is served. `compare`: ask the reference as well, and
    `learn` from both.
    """

    model: str
    why: Literal["reference", "cheaper", "cascade", "explore"]
    loss: float = 0.0
    cost: float = 0.0
    saving: float = 0.0
    check: bool = False
    compare: bool = False


class Multiplexer:
    """Chooses among models. One instance a kind of traffic and a process."""

    def __init__(self, models: PricedModels, terms: MultiplexTerms = MultiplexTerms()) -> None:
        self.models, self.terms = models, terms
        self.gaps = {one.name: QualityGap(max(0.0, models.best.quality - one.quality)) for one in models.others}
        self.budget = LossBudget(terms.loss)
        self._lengths: dict[tuple[str, str], tuple[float, float]] = {}
        self._kept = 1.0

    def choose(self, asked: RoutingRequest, draw: float) -> Choice:
        """The model for a request; `draw` is uniform in [0, 1)."""
        best = self.models.best
        dear = self.expected_cost(best, asked)
        if not self.gaps:
            return Choice(best.name, "reference", cost=dear)
        if draw < self.terms.explore:
            tried = self.models.others[int(draw / self.terms.explore * len(self.models.others))]
            return Choice(tried.name, "explore", cost=dear + self.expected_cost(tried, asked), compare=True)
        options = []
        for one in self.models.others:
            estimate = self.gaps[one.name].before(asked)
            cost = self.expected_cost(one, asked)
            options.append(
                Choice(one.name, "cheaper", self._cautious(estimate.mean, estimate.deviation), cost, dear - cost)
            )
        options.sort(key=lambda one: one.cost)
        if self.terms.strategy == "cascade":
            first = options[0]
            if self._kept * dear < first.cost:
                # Hardly an answer is kept: asking for them costs more than they spare.
                self._kept += _PROBE
                return Choice(best.name, "reference", cost=dear)
            return Choice(first.model, "cascade", first.loss, first.cost, first.saving, check=True)
        allowed = [one for one in options if self.budget.allows(one.loss, one.saving)]
        tightest = min(options, key=lambda one: one.loss / one.saving if one.saving > 0.0 else float("inf"))
        self.budget.see(tightest.loss, tightest.saving)
        return allowed[0] if allowed else Choice(best.name, "reference", cost=dear)

    def keep(self, asked: RoutingRequest, model: str, answer: str, relevance: float = 0.0) -> tuple[bool, float]:
        """Return whether this answer of a model may be served, and its expected loss.

        `relevance` is the cosine similarity of request and answer.
        """
        estimate = self.gaps[model].after(asked, answer, relevance)
        loss = self._cautious(estimate.mean, estimate.deviation)
        saving = self.expected_cost(self.models.best, asked)
        kept = bool(answer.strip()) and self.budget.allows(loss, saving)
        if self.budget.price > -math.inf:
            self._kept += _NEW * (kept - self._kept)
        self.budget.see(loss, saving)
        return kept, loss

    def learn(
        self, asked: RoutingRequest, model: str, answer: str | None, lost: float, *, relevance: float = 0.0,
        predicted: float | None = None,
    ) -> None:  # fmt: skip
        """Take a comparison with the reference; `lost` in [-1, 1] is its quality less that of the model's answer.

        `predicted` is the expected loss of an answer that was served, by which predictions are put right. Raises
        ValueError.
        """
        self.gaps[model].learn(asked, answer, lost, relevance)
        if predicted is not None:
            self.budget.compared(predicted, lost)

    def answered(self, asked: RoutingRequest, model: str, completion_tokens: int) -> None:
        """Note the length of an answer, from which the cost of the next one is expected."""
        for key in ((model, asked.category), (model, "")):
            count, total = self._lengths.get(key, (0.0, 0.0))
            self._lengths[key] = count * 0.999 + 1.0, total * 0.999 + completion_tokens

    def expected_cost(self, model: PricedModel, asked: RoutingRequest) -> float:
        """US dollars that an answer of this model is expected to cost."""
        tokens = asked.tokens or (len(asked.text) + 3) // 4
        return model.cost(Usage(tokens, round(self.expected_tokens(model.name, asked.category))))

    def expected_tokens(self, model: str, category: str) -> float:
        """Tokens of its answers: the category's mean, shrunk to the model's."""
        count, total = self._lengths.get((model, ""), (0.0, 0.0))
        overall = (_STRENGTH * self.terms.tokens + total) / (_STRENGTH + count)
        count, total = self._lengths.get((model, category), (0.0, 0.0))
        return (_STRENGTH * overall + total) / (_STRENGTH + count)

    def _cautious(self, mean: float, deviation: float) -> float:
        return mean + self.terms.cautious * deviation

    def state(self) -> dict[str, Any]:
        """The learned state, as JSON has it."""
        return {name: gap.state() for name, gap in self.gaps.items()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` gave; models that are gone are left out. Raises ValueError."""
        for name, gap in self.gaps.items():
            if name in state:
                gap.restore(state[name])
