"""The choice among candidates: serve one of them, have one verified, or forward the request with a reason.

Pure. Knows no index, store or clock. Invariant: no candidate is served that has expired (beyond the time that its
category allows for revalidation), is older than the caller accepts, is known to be wrong for this request, is
contradicted by a guard, or is below the threshold.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from semcache.matching import features, neighbourhood
from semcache.matching.neighbourhood import Neighbourhood, Objections, UnlessVetoed
from semcache.matching.wording_tier import Kind, WordingTier, features_of
from semcache.protocols import Threshold
from semcache.request.wording import Edit
from semcache.types import Candidate, Card, Controls, Decision, Forward, Outcome, Request, Serve, Verdict, Verify, Why

MOST_WEIGHED = 4  # candidates that pay for guards and features; the right one is hardly ever beyond
OTHERS = 2
_COLD = Forward(Why.COLD)
EVEN = 0.5  # P(correct) below which guards are not asked about what is not served anyway
_OPPOSING = frozenset(("negation", "direction"))


@dataclass(frozen=True, slots=True)
class RequestTerms:
    """The terms on which a request is decided.

    `category` is the request's and `controls` the caller's. `now` is Unix time, `rejected` are the entries known to be
    wrong for this request, `held` those that too few users have asked for, `draw` is uniform in [0, 1), and `tenant`
    sent the request. `revalidate`: seconds after its expiry in which an answer of this category may still be served, as
    stale. `otherwise` is the decision if no entry is near: the reason for which the exact tier refused an entry, or
    COLD.
    """

    category: str
    controls: Controls
    now: float
    rejected: Container[int] = ()
    held: Container[int] = ()
    draw: float = 0.0
    tenant: str = ""
    revalidate: float = 0.0
    otherwise: Forward = _COLD

    @classmethod
    def of(
        cls,
        request: Request,
        category: str,
        *,
        now: float,
        rejected: Container[int] = (),
        draw: float = 0.0,
        revalidate: float = 0.0,
        otherwise: Forward = _COLD,
    ) -> RequestTerms:
        """Return the terms of a request of this category, with the controls and the tenant that it names itself."""
        return cls(
            category,
            request.controls,
            now,
            rejected,
            draw=draw,
            tenant=request.scope.tenant,
            revalidate=revalidate,
            otherwise=otherwise,
        )


def exact(card: Card, terms: RequestTerms) -> Serve | Forward:
    """Decide on the entry with the same digest."""
    why = unusable(card, terms, terms.revalidate)
    return Forward(why) if why else Serve(card, Outcome.EXACT, 1.0, 1.0, stale=is_stale(card, terms.now))


class _Weighed(NamedTuple):
    """A candidate with the features and findings that it was weighed by, and the verdict; `guarded`: guards read it."""

    candidate: Candidate
    verdict: Verdict
    guarded: bool

    @property
    def settles_its_answer(self) -> bool:
        """True if no other wording of the same answer needs a verdict.

        After a veto one does, unless it is about an opposite: other words for the same answer are opposed as well.
        """
        vetoes = [conflict for conflict in self.candidate.conflicts if conflict.veto]
        return self.guarded and all(conflict.guard in _OPPOSING for conflict in vetoes)


def semantic(
    candidates: Sequence[Candidate],
    text: str,
    terms: RequestTerms,
    threshold: Threshold,
    conflicts: Objections,
    unless_vetoed: UnlessVetoed | None = None,
) -> Decision:
    """Serve the nearest candidate that the threshold finds good enough.

    `candidates` come best first, without features or findings of guards. `unless_vetoed` gives the same findings as
    `conflicts`, or None for a veto. To save time, texts are compared only if the neighbourhood leaves hope, and shown
    to guards only if the texts do. That is done for at most `MOST_WEIGHED` candidates, and for those with the same
    answer and category only until one that no guard vetoes, or whose veto is about an opposite. If none is served, the
    reason is that of the most probable candidate, or else of the nearest.
    """
    floor = threshold.floor(terms.category, terms.controls)
    if not candidates:
        return terms.otherwise
    if candidates[0].score < floor:
        return Forward(Why.BELOW_THRESHOLD, nearest=candidates[0])
    near = neighbourhood.surveyed(text, candidates, conflicts, unless_vetoed).down_to(floor)
    weighed, refused = _weigh_in_turn(near, terms, threshold)
    if not weighed:
        return refused or terms.otherwise
    weighed.sort(key=lambda one: (not one.verdict.sure, -one.verdict.p_correct))
    return _first_followed(weighed, terms) or _missed(weighed)


def _weigh_in_turn(
    near: Neighbourhood, terms: RequestTerms, threshold: Threshold
) -> tuple[list[_Weighed], Forward | None]:
    """The verdicts on the nearest, and the miss that the first one is which must not or could not be served."""
    weighed: list[_Weighed] = []
    refused: Forward | None = None
    settled: set[tuple[int, str]] = set()
    hopes = threshold.promising(near.candidates, near.text, terms.category)
    for found, promising in zip(near.candidates, hopes, strict=True):
        answer = (found.card.answer_class, found.card.category)
        if answer in settled:
            continue
        why = unusable(found.card, terms, terms.revalidate if found.card.category == terms.category else 0.0)
        if why is not None or not promising:
            refused = refused or Forward(why or Why.UNCERTAIN, nearest=found)
            continue
        one = _weigh_by_texts(found, near, terms, threshold)
        weighed.append(one)
        if one.settles_its_answer:
            settled.add(answer)
        if one.verdict.sure or len(weighed) == MOST_WEIGHED:
            break
    return weighed, refused


def _weigh_by_texts(found: Candidate, near: Neighbourhood, terms: RequestTerms, threshold: Threshold) -> _Weighed:
    """The verdict on a candidate by both texts, and by the findings of guards if the texts leave hope."""
    candidate = Candidate(found.card, found.score, features=features.of(near.text, found), around=found.around)
    verdict = _judge(threshold, candidate, terms)
    if not (verdict.serve or verdict.verify) and verdict.p_correct < EVEN:
        # Guards only object. What they were not asked about has no features, lest anybody learns from half of them.
        return _Weighed(found, verdict, guarded=False)
    objections = near.objections(found)
    if objections:
        values = features.with_conflicts(candidate.features, objections)
        candidate = Candidate(found.card, found.score, objections, values, found.around)
        verdict = _judge(threshold, candidate, terms)
    return _Weighed(candidate, verdict, guarded=True)


def _first_followed(weighed: Sequence[_Weighed], terms: RequestTerms) -> Serve | Verify | None:
    """The decision by the best verdict that serves or asks; None if none of them does."""
    followings = [
        followed(verdict, one, terms.draw, stale=is_stale(one.card, terms.now)) for one, verdict, _ in weighed
    ]
    return in_turn([one for one in followings if one is not None])


def _missed(weighed: Sequence[_Weighed]) -> Forward:
    """The miss of which the best candidate is the nearest."""
    best, *rest = weighed
    others = tuple([one.candidate for one in rest[:OTHERS]])
    verdict = best.verdict
    return Forward(verdict.why, nearest=best.candidate, p_correct=verdict.p_correct, others=others)


def in_turn(decisions: Sequence[Serve | Verify]) -> Serve | Verify | None:
    """The first decision, None for none; one that asks a verifier brings the next, if that asks too."""
    match decisions:
        case [Verify() as first, Verify() as second, *_]:
            return replace(first, then=second)
        case [first, *_]:
            return first
        case _:
            return None


def likelier(refused: Forward | None, answer: Serve | Forward | None) -> Serve | Forward | None:
    """The answer if it serves, or else the miss with the likelier neighbour; None if there was no verdict."""
    if refused is None or answer is None or isinstance(answer, Serve):
        return answer or refused
    return refused if (refused.p_correct or 0.0) >= (answer.p_correct or 0.0) else answer


def followed(verdict: Verdict, candidate: Candidate, draw: float, *, stale: bool = False) -> Serve | Verify | None:
    """The decision by a verdict on a candidate, None for a miss."""
    card, score, p, chance = candidate.card, candidate.score, verdict.p_correct, verdict.audit
    values = candidate.features
    if verdict.serve:
        return Serve(card, Outcome.SEMANTIC, score, p, draw < chance, chance, features=values, stale=stale)
    if verdict.verify:
        return Verify(card, score, p, values, chance, verdict.risk, stale, verdict.alone)
    return None


def wording(
    card: Card,
    text: str,
    edit: Edit,
    terms: RequestTerms,
    tier: WordingTier,
    conflicts: Objections,
) -> Serve | None:
    """Serve an entry whose wording equals that of `text` by edits up to this kind; None if that is not enough.

    Guards read both prompts as they were written; after a veto, other tiers are tried.
    """
    verdict = tier.judge(terms.category, edit, terms.controls, terms.tenant)
    if not verdict.serve or unusable(card, terms, terms.revalidate) is not None:
        return None
    if any(conflict.veto for conflict in conflicts(text, card.text)):
        return None
    return served_by_wording(card, verdict, edit, 1.0, terms)


def served_by_wording(card: Card, verdict: Verdict, kind: Kind, score: float, terms: RequestTerms) -> Serve:
    """Return the hit on an entry whose wording equals the request's by edits up to this kind, or as a chain."""
    return Serve(
        card,
        Outcome.SEMANTIC,
        score,
        verdict.p_correct,
        terms.draw < verdict.audit,
        verdict.audit,
        features=features_of(kind),
        stale=is_stale(card, terms.now),
        edit=kind.name.lower(),
    )


def verified(
    unsure: Verify, p_same: float, *, allowed: float, terms: RequestTerms, threshold: Threshold
) -> Serve | Forward:
    """Decide on a doubt after the local verifier gave this P(same): the threshold judges again, knowing it.

    A threshold that still wants to ask leaves it to the verdict alone, whose error is `allowed`.
    """
    candidate = Candidate(unsure.card, unsure.score, features=features.with_verdict(unsure.features, p_same))
    verdict = _judge(threshold, candidate, terms)
    p_correct, chance = (p_same, unsure.chance) if verdict.verify else (verdict.p_correct, verdict.audit)
    if verdict.serve or (verdict.verify and p_same >= 1.0 - allowed):
        return served(replace(unsure, p_correct=p_correct, chance=chance, features=candidate.features), terms.draw)
    return Forward(Why.VERIFY_FAILED, nearest=candidate, p_correct=verdict.p_correct)


def unread(unsure: Verify, draw: float) -> Serve | None:
    """Serve, without a verdict, a candidate that similarity alone is sure enough of; None for any other."""
    return served(unsure, draw) if unsure.alone else None


def refused(unsure: Verify, why: Why = Why.NO_VERDICT) -> Forward:
    """The miss that a doubted candidate is for want of a verdict, or of one that could be enough."""
    nearest = Candidate(unsure.card, unsure.score, features=unsure.features)
    return Forward(why, nearest=nearest, p_correct=unsure.p_correct)


def served(unsure: Verify, draw: float) -> Serve:
    """The hit that a doubted candidate would be, as much as is known of it; audited if `draw` says so."""
    card, score, p, chance = unsure.card, unsure.score, unsure.p_correct, unsure.chance
    return Serve(card, Outcome.SEMANTIC, score, p, draw < chance, chance, features=unsure.features, stale=unsure.stale)


def note(threshold: Threshold, category: str, decision: Serve | Verify | Forward) -> None:
    """Tell the threshold the decision on a request that was looked up."""
    if isinstance(decision, Serve):
        candidate = Candidate(decision.card, decision.score, features=decision.features)
        p, audited = decision.p_correct, decision.audit
        threshold.note(category, p, served=True, audited=audited, candidate=candidate)
        return
    p_correct = decision.p_correct
    if p_correct is None and decision != _COLD:
        # There was something to compare with, and it was far away.
        p_correct = 0.0
    threshold.note(category, p_correct, served=False, audited=False)


def _judge(threshold: Threshold, candidate: Candidate, terms: RequestTerms) -> Verdict:
    """The verdict under the terms of the request's category, and also of the candidate's if that is another."""
    category, controls, draw, tenant = terms.category, terms.controls, terms.draw, terms.tenant
    verdict = threshold.judge(candidate, category, controls=controls, draw=draw, tenant=tenant)
    if candidate.card.category == category or not (verdict.serve or verdict.verify):
        return verdict
    other = threshold.judge(candidate, candidate.card.category, controls=controls, draw=draw, tenant=tenant)
    if not (other.serve or other.verify):
        return other
    p_correct, audit = min(verdict.p_correct, other.p_correct), max(verdict.audit, other.audit)
    if verdict.serve and other.serve:
        return replace(verdict, p_correct=p_correct, audit=audit)
    risks = [one.risk for one in (verdict, other) if one.risk is not None]
    least = min(risks) if len(risks) == 2 else None
    doubted = replace(verdict, serve=False, verify=True, why=Why.UNCERTAIN, alone=verdict.sure and other.sure)
    return replace(doubted, p_correct=p_correct, audit=audit, risk=least)


def is_stale(card: Card, now: float) -> bool:
    """Return True if an entry's time is over."""
    return card.staleness(now, 0.0) != "fresh"


def unusable(card: Card, terms: RequestTerms, revalidate: float) -> Why | None:
    """Return why an entry must not be served on these terms, however alike the prompts are; None if it may."""
    if card.id in terms.rejected:
        return Why.REJECTED
    if card.id in terms.held:
        return Why.QUORUM
    if card.staleness(terms.now, revalidate) == "expired":
        return Why.EXPIRED
    if terms.controls.max_age is not None and terms.now - card.created > terms.controls.max_age:
        return Why.MAX_AGE
    return None
