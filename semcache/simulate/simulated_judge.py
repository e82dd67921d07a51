"""The judge of a simulated cache: labels from the truth of the trace, flipped at the rate at which the judge errs.

Knows no vectors, and of entries only their cards. Invariant: the judge never changes whether an answer is right, and
the threshold learns from the judge's labels alone; these are the labels that the live cache would make.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from semcache.config.packs import Category
from semcache.learning import labelling
from semcache.learning.verdict_effects import GREY
from semcache.protocols import Threshold
from semcache.simulate.arrivals import Arrival
from semcache.simulate.simulated_verdicts import SimulatedVerdicts
from semcache.simulate.simulated_wordings import SimulatedWordings
from semcache.storage.entry_registry import EntryRegistry
from semcache.types import CacheKey, Endpoint, Forward, Lookup, Rejection, Request, Scope, Serve

if TYPE_CHECKING:
    from collections.abc import Callable

    from semcache.types.evidence import Label


@dataclass(frozen=True, slots=True)
class PendingDecision:
    """An arrival under decision: its number, counted from 0, its exact digest and its category."""

    number: int
    arrival: Arrival
    digest: bytes
    policy: Category

    def lookup(self, decision: Serve | Forward) -> Lookup:
        """The lookup that the live cache would remember of this decision."""
        scope, text = Scope(self.arrival.tenant), self.arrival.text
        request = Request(Endpoint.CHAT, "", {}, text, b"", scope=scope)
        key = CacheKey(scope, self.arrival.signature, self.digest, text, b"")
        return Lookup("", request, key, self.policy.name, decision)


@dataclass(frozen=True, slots=True)
class SimulatedTiers:
    """The tiers that labels teach; None for those that a simulation leaves out."""

    threshold: Threshold
    wordings: SimulatedWordings | None = None
    verdicts: SimulatedVerdicts | None = None

    def observe(self, label: Label, text: str) -> None:
        """Have each tier learn what is meant for it from a label of a request with this text."""
        if self.wordings is not None and self.wordings.observe(label, text):
            return
        plain = label if self.verdicts is None else self.verdicts.observe(label)
        if plain is not None:
            self.threshold.observe(plain)


class SimulatedJudge:
    """A source of labels for the tiers. `noise` is the probability that a label is the opposite of the truth.

    `read` gives the local verifier's P(same) of two texts, None for none.
    """

    def __init__(
        self,
        tiers: SimulatedTiers,
        registry: EntryRegistry,
        noise: float,
        rng: random.Random,
        read: Callable[[str, str], float | None] | None = None,
    ) -> None:
        self._tiers, self._registry, self._read = tiers, registry, read
        self._noise, self._rng = noise, rng

    def audit(self, pending: PendingDecision, served: Serve, *, right: bool) -> int:
        """Label a served answer that was audited; returns the answer class of the fresh answer, 0: its own."""
        label = labelling.of_hit(pending.lookup(served), served, at=pending.arrival.at)
        return self._learned([label], pending.arrival.text, lambda _: right)

    def miss(self, pending: PendingDecision, missed: Forward, right: Callable[[int], bool]) -> int:
        """Label the candidates of a miss; `right` says whether an entry has the same answer.

        Returns the answer class of the fresh answer, 0: its own.
        """
        at, lookup = pending.arrival.at, pending.lookup(missed)
        labels = labelling.of_miss(lookup, self._tiers.threshold, pending.policy, at=at)
        if self._read is not None:
            labels = [self._with_verdict(label, pending, self._read) for label in labels]
        return self._learned(labels, pending.arrival.text, right)

    def _with_verdict(self, label: Label, pending: PendingDecision, read: Callable[[str, str], float | None]) -> Label:
        card = self._registry.get(label.entry_id)
        if card is None or not labelling.is_unread(label, pending.policy):
            return label
        p_same = read(pending.arrival.text, card.text)
        return label if p_same is None else labelling.read(label, p_same)

    def _learned(self, labels: Sequence[Label], text: str, right: Callable[[int], bool]) -> int:
        answer = 0
        for label in labels:
            said = right(label.entry_id) != (self._noise > 0.0 and self._rng.random() < self._noise)
            if said and not answer:
                answer = label.answer
            elif not said and (label.served or label.p_correct >= GREY):
                self._registry.reject([Rejection(label.entry_id, label.exact)])
            self._tiers.observe(replace(label, correct=said), text)
        return answer
