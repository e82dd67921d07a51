"""A language model's verdict in a simulated cache: asked about candidates in doubt, in one of the modes of a pack.

Knows decisions and the judged tier, no vectors. Invariant: it decides as the live cache does about the nearest
neighbour; that the live cache asks about one more after a no is not simulated. The mode changes when a verdict is asked
for, never its worth. `hedged` serves the same as `first`; only latency and price differ.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from semcache.config.packs import Pack
from semcache.learning import labelling
from semcache.matching import decide, doubts
from semcache.matching.doubts import Doubt
from semcache.matching.judged_tier import JudgedTier
from semcache.matching.label_noise import FAITHFUL, LabelNoise
from semcache.matching.model_verdict import without_model_verdict
from semcache.protocols import Threshold
from semcache.types import Candidate, Controls, Decision, Lookup
from semcache.types.evidence import Label

Mode = Literal["first", "hedged", "after"]


@dataclass(frozen=True, slots=True)
class VerdictAsking:
    """The simulated model: P(yes) from the texts of request and cached prompt; `share` of the doubts is asked about.

    `noise` is that of the judge behind the labels, as far as the cache knows it.
    """

    ask: Callable[[str, str], float]
    mode: Mode = "first"
    share: float = 1.0
    noise: LabelNoise = FAITHFUL


class SimulatedVerdicts:
    """The verdicts of one simulation; `asked` counts them."""

    def __init__(self, pack: Pack, threshold: Threshold, asking: VerdictAsking, rng: random.Random) -> None:
        self.tier = JudgedTier(pack, noise=asking.noise)
        self.asked = 0
        self._pack, self._threshold, self._asking, self._rng = pack, threshold, asking, rng

    def settle(self, decision: Decision, lookup: Lookup, terms: decide.RequestTerms) -> Decision:
        """The decision after a verdict, where there is a doubt that one may settle; else as it was."""
        text = lookup.request.text
        doubt = doubts.doubt_of(decision, lambda found: self._weighed(found, lookup))
        if doubt is None and self.tier.curious and (found := doubts.known_different(decision)) is not None:
            self.asked += 1
            p_yes = self._asking.ask(text, found.card.text)
            self.tier.differ(lookup.key.exact if lookup.key else b"", found.card.id, p_yes)
        if doubt is None or self._rng.random() >= self._asking.share:
            return decision
        worth = doubts.worth_asking(doubt, terms, self.tier)
        if not worth and self._rng.random() >= self.tier.tried(terms.category, doubt.before):
            return decision
        self.asked += 1
        p_yes = self._asking.ask(text, doubt.candidate.card.text)
        if not worth or self._asking.mode == "after":
            return doubts.learned_of(decision, doubt, p_yes)
        return doubts.decided(doubt, p_yes, replace(terms, draw=self._rng.random()), self.tier)

    def observe(self, label: Label) -> Label | None:
        """Learn from a label; return it as the strategy learns from it, None for not at all."""
        self.tier.observe(label)
        return without_model_verdict(label)

    def _weighed(self, found: Candidate, lookup: Lookup) -> Doubt:
        full = labelling.featured(lookup, found, self._pack.of(lookup.category))
        verdict = self._threshold.judge(full, lookup.category, controls=Controls(), draw=0.0)
        return Doubt(full, verdict.p_correct)
