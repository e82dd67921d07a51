"""Words of simulated language models about the neighbours of a synthetic stream, and what is served on them.

Knows the judged tier and the strategies by their protocol. Invariant: a word depends on the truth and on the judge's
own errors alone, never on what is served.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from eval.decisions import synthetic
from eval.decisions.synthetic import Synthetic
from semcache.matching import doubts
from semcache.matching.decide import RequestTerms
from semcache.matching.judged_tier import JudgedTier
from semcache.matching.model_verdict import without_model_verdict
from semcache.protocols import Threshold
from semcache.types import Candidate, Card, Controls, Decision, Forward, Serve, Why

if TYPE_CHECKING:
    from numpy.typing import NDArray

WordKind: TypeAlias = Literal["99 of 100 right", "95 of 100 right", "80 of 100 right", "yes to all", "turns at half"]
WORDS: tuple[WordKind, ...] = ("99 of 100 right", "95 of 100 right", "80 of 100 right", "yes to all", "turns at half")
_RIGHT = {"99 of 100 right": 0.99, "95 of 100 right": 0.95, "80 of 100 right": 0.8, "turns at half": 0.99}
_TURNED = 0.7  # right words of 100 after the change
_YES = 0.9  # P(yes) of a plain yes


def words(kind: WordKind, stream: Synthetic, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """P(yes) about the neighbour of each request, and the probability that it is wrong where that is a yes."""
    rng = np.random.default_rng([seed, WORDS.index(kind), 1])
    length = len(stream.right)
    right = np.full(length, _RIGHT.get(kind, 0.0))
    if kind == "turns at half":
        right[length // 2 :] = _TURNED
    said = stream.right ^ (rng.random(length) >= right)
    if kind == "yes to all":
        return np.full(length, _YES), stream.wrong
    fooled, agreed = stream.wrong * (1.0 - right), (1.0 - stream.wrong) * right
    return np.where(said, _YES, 1.0 - _YES), fooled / (fooled + agreed)


def served(
    threshold: Threshold, tier: JudgedTier, stream: Synthetic, said: NDArray[np.float64]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], int]:
    """What is served of a stream, what of it on a word that is asked for first, and how many words were asked."""
    cards = [Card(i, b"", b"", "default", "", 0.0, math.inf) for i in range(int(stream.entry.max()) + 1)]
    traits = [tuple(row) for row in stream.features.tolist()]
    found, judged = np.zeros(len(stream.entry), bool), np.zeros(len(stream.entry), bool)
    tries = np.random.default_rng(len(draws := stream.draw.tolist())).random(len(stream.entry)).tolist()
    asked = 0
    for at, (entry, score) in enumerate(zip(stream.entry.tolist(), stream.score.tolist(), strict=True)):
        candidate = Candidate(cards[entry], score, features=traits[at])
        verdict = threshold.judge(candidate, "default", controls=Controls(), draw=draws[at])
        audited = verdict.serve and draws[at] < verdict.audit
        hit = candidate if verdict.serve else None
        threshold.note("default", verdict.p_correct, served=verdict.serve, audited=audited, candidate=hit)
        values, p_correct, chance = traits[at], verdict.p_correct, verdict.audit
        found[at] = by_meaning = verdict.serve
        if not by_meaning:
            terms = RequestTerms("default", Controls(), now=float(at), draw=draws[at])
            decision: Decision = Forward(Why.UNCERTAIN, nearest=candidate, p_correct=p_correct)
            doubt = doubts.doubt_of(decision, lambda one: doubts.Doubt(one, 0.0))
            if doubt is not None and doubts.worth_asking(doubt, terms, tier):
                asked += 1
                decision = doubts.decided(doubt, float(said[at]), terms, tier)
            elif doubt is not None and tries[at] < tier.tried("default", doubt.before):
                asked += 1
                decision = doubts.learned_of(decision, doubt, float(said[at]))
            if isinstance(decision, Serve):
                found[at], judged[at], audited, values = True, True, decision.audit, decision.features
                p_correct, chance = decision.p_correct, decision.chance
            elif isinstance(decision, Forward) and decision.nearest is not None:
                values, p_correct = decision.nearest.features, decision.p_correct or 0.0
        if found[at] and not audited:
            continue
        label = synthetic.label(stream, at, values, p_correct, served=bool(found[at]), chance=chance)
        tier.observe(label)
        plain = label if by_meaning else without_model_verdict(label)
        if plain is not None:
            threshold.observe(plain)
    return found, judged, asked
