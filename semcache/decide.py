"""The choice among candidates: serve one of them, or forward and say why.

Pure. Knows no index, store or clock. Invariant: nothing is served that is expired, older than the caller accepts,
known to be wrong for this request, contradicted by a guard, or below the threshold.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import replace

from semcache.protocols import Threshold
from semcache.types import Candidate, Card, Conflict, Controls, Decision, Forward, Outcome, Serve, Verdict, Why


def exact(card: Card | None, *, controls: Controls, now: float, rejected: Container[int]) -> Serve | Forward:
    """Decide on the entry with the same digest, if there is one."""
    if card is None:
        return Forward(Why.COLD)
    why = _unusable(card, controls, now, rejected)
    return Forward(why) if why else Serve(card, Outcome.EXACT, 1.0, 1.0)


def semantic(
    candidates: Sequence[Candidate],
    *,
    text: str,
    category: str,
    threshold: Threshold,
    conflicts: Callable[[str, str], tuple[Conflict, ...]],
    controls: Controls,
    now: float,
    rejected: Container[int],
    draw: float,
) -> Decision:
    """Serve the best candidate that nothing speaks against.

    `candidates` come best first, their guards not yet asked: only those that could be served pay for them. When none
    is served, the reason is that of the best one.
    """
    floor = threshold.floor(category, controls.min_score)
    refused: Forward | None = None
    for found in candidates:
        if found.score < floor:
            refused = refused or Forward(Why.BELOW_THRESHOLD, nearest=found)
            break
        why = _unusable(found.card, controls, now, rejected)
        candidate = found
        if why is None and (found_conflicts := conflicts(text, found.card.text)):
            candidate, why = replace(found, conflicts=found_conflicts), Why.GUARD
        if why is None:
            verdict = _judge(threshold, candidate, category, controls.min_score, draw)
            if verdict.serve:
                return Serve(candidate.card, Outcome.SEMANTIC, candidate.score, verdict.p_correct, verdict.audit)
            why = verdict.why
        refused = refused or Forward(why, nearest=candidate)
    return refused or Forward(Why.COLD)


def _judge(threshold: Threshold, candidate: Candidate, category: str, min_score: float | None, draw: float) -> Verdict:
    """The verdict under the terms of the request's category, and of the candidate's where that is another."""
    verdict = threshold.judge(candidate, category, min_score=min_score, draw=draw)
    if not verdict.serve or candidate.card.category == category:
        return verdict
    other = threshold.judge(candidate, candidate.card.category, min_score=min_score, draw=draw)
    if not other.serve:
        return other
    return replace(verdict, p_correct=min(verdict.p_correct, other.p_correct), audit=verdict.audit or other.audit)


def _unusable(card: Card, controls: Controls, now: float, rejected: Container[int]) -> Why | None:
    if card.id in rejected:
        return Why.REJECTED
    if card.expires <= now:
        return Why.EXPIRED
    if controls.max_age is not None and now - card.created > controls.max_age:
        return Why.MAX_AGE
    return None
