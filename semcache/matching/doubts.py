"""Doubts about a neighbour that was not served, and the decision after a language model's verdict.

Pure. Knows decisions and the judged tier, nothing of who is asked or when. Invariant: no model is asked about a
neighbour that a guard vetoes, that is known to be wrong, or that even the best verdict would not serve.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard

from semcache.matching import features
from semcache.matching.decide import RequestTerms
from semcache.matching.judged_tier import DoubtedNeighbour, JudgedTier
from semcache.matching.model_verdict import model_verdict_about, with_model_verdict
from semcache.types import Candidate, Decision, Forward, Outcome, Serve, Verdict, Verify, Why

_DOUBTFUL = frozenset([Why.COLD, Why.BELOW_THRESHOLD, Why.UNCERTAIN, Why.CLOSED, Why.VERIFY_FAILED, Why.NO_VERDICT])


@dataclass(frozen=True, slots=True)
class Doubt:
    """A neighbour that a verdict may settle: its P(correct) `before` any verdict, with all its features."""

    candidate: Candidate
    before: float


def is_doubtful(decision: Decision) -> TypeGuard[Forward]:
    """Return True of a miss whose neighbour may be right for all that is known."""
    return isinstance(decision, Forward) and decision.outcome is Outcome.MISS and decision.why in _DOUBTFUL


def doubt_of(decision: Decision, weighed: Callable[[Candidate], Doubt]) -> Doubt | None:
    """The doubt that a decision leaves, None if there is none.

    `weighed` finds features and P(correct) of a candidate of which only the score is known.
    """
    match decision:
        case Verify(card=card, score=score, p_correct=before, features=values):
            doubt = Doubt(Candidate(card, score, features=values), before) if values else None
            found: Candidate | None = Candidate(card, score)
        case Forward(nearest=found, p_correct=p) if is_doubtful(decision):
            doubt = Doubt(found, p) if found is not None and found.features and p is not None else None
        case _:
            return None
    if found is None:
        return None
    doubt = doubt or weighed(found)
    return None if vetoed(doubt.candidate) else doubt


def vetoed(candidate: Candidate) -> bool:
    """Return True if a guard objects for good."""
    return any(one.final for one in candidate.conflicts) or features.vetoed(candidate.features)


def known_different(decision: Decision) -> Candidate | None:
    """The neighbour that a guard vetoed, or None: a verdict on it shows how good this model's verdicts are."""
    match decision:
        case Forward(why=Why.GUARD, nearest=Candidate() as found) if found.features and vetoed(found):
            return found
        case _:
            return None


def worth_asking(doubt: Doubt, terms: RequestTerms, tier: JudgedTier) -> bool:
    """Return True if the best possible verdict would have it served, by the request's category and the neighbour's."""
    return all(tier.could_serve(neighbour) for neighbour in _in_both_categories(doubt, terms))


def decided(
    doubt: Doubt, p_yes: float, terms: RequestTerms, tier: JudgedTier, *, late: bool = False
) -> Serve | Forward:
    """The decision after this verdict, which is also noted in the tier: as no hit where it comes too `late` for one."""
    card, score = doubt.candidate.card, doubt.candidate.score
    neighbours = _in_both_categories(doubt, terms)
    verdict = _strictest([tier.judge(neighbour, p_yes) for neighbour in neighbours])
    drawn = terms.draw < verdict.audit
    served = verdict.serve and not late
    tier.note(neighbours[0], verdict.p_correct, served=served, audited=served and drawn)
    if verdict.serve:
        values = with_model_verdict(doubt.candidate.features, model_verdict_about(doubt.before, p_yes, sampled=True))
        return Serve(
            card, Outcome.SEMANTIC, score, verdict.p_correct, drawn, verdict.audit, features=values, word=p_yes
        )
    values = with_model_verdict(doubt.candidate.features, model_verdict_about(doubt.before, p_yes, sampled=drawn))
    nearest = Candidate(card, score, features=values)
    return Forward(Why.VERIFY_FAILED, nearest=nearest, p_correct=verdict.p_correct)


def learned_of(decision: Decision, doubt: Doubt, p_yes: float) -> Forward:
    """A miss with a verdict that serves nobody: its label teaches the worth of verdicts."""
    values = with_model_verdict(doubt.candidate.features, model_verdict_about(doubt.before, p_yes, sampled=True))
    missed = decision if isinstance(decision, Forward) else Forward(Why.UNCERTAIN)
    return replace(missed, nearest=replace(doubt.candidate, features=values), p_correct=doubt.before)


def _in_both_categories(doubt: Doubt, terms: RequestTerms) -> list[DoubtedNeighbour]:
    """The neighbour by the terms of the request's category, and then of its own if that is another."""
    card = doubt.candidate.card
    return [
        DoubtedNeighbour(name, doubt.before, terms.controls, terms.tenant, card.id)
        for name in dict.fromkeys((terms.category, card.category))
    ]


def _strictest(verdicts: Sequence[Verdict]) -> Verdict:
    worst = min(verdicts, key=lambda one: (one.serve, one.p_correct))
    return replace(worst, audit=max([one.audit for one in verdicts]))
