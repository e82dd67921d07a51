"""Labelling: turns a decision into labels that lack only the verdict, and into the texts that a judge is shown.

Pure; the clock is the caller's. Invariant: a neighbour that was refused for a reason unrelated to its answer (it is
expired, too old for the caller, or known to be wrong) yields no label.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from semcache.config.packs import Category
from semcache.dialects import dialects
from semcache.matching import features, guards
from semcache.matching.model_verdict import ModelVerdict, with_model_verdict
from semcache.protocols import Threshold
from semcache.retention.freshness import Volatility
from semcache.runtime.scoped_memo import scoped_cache
from semcache.types import Candidate, Conflict, Endpoint, Entry, Forward, Lookup, Serve, Verify, Why
from semcache.types.evidence import Comparison, Label, LabelSource

NEAR = 0.5  # score below which a neighbour that the strategy never looked at is not compared
KINDS = tuple(Volatility)  # labels name them by their place
LIKELY = 0.5  # P(correct) from which the local verifier's verdict is worth learning about
_PAIRS = 256  # remembered: of a far neighbour, a language model's verdict and a label ask the same
_ASKED, _VERBATIM = features.NAMES.index("asked"), features.NAMES.index("verbatim")
_UNTAUGHT = frozenset([Why.REJECTED, Why.EXPIRED, Why.MAX_AGE])


def of_miss(lookup: Lookup, threshold: Threshold, policy: Category, *, at: float) -> list[Label]:
    """A label for each neighbour that was not served, most probable first.

    Those about which not everything was found out get their features and P(correct) here, as far as they are near.
    """
    labels: list[Label] = []
    if lookup.key is None:
        return labels
    for candidate, p_correct in _passed_over(lookup):
        found, p = candidate, p_correct
        if found.card.exact == lookup.key.exact:
            # The request's own earlier answer.
            continue
        if not found.features:
            if found.score < NEAR:
                continue
            found, p = featured(lookup, found, policy), None
        if p is None:
            p = threshold.judge(found, lookup.category, controls=lookup.request.controls, draw=0.0).p_correct
        labels.append(_label(lookup, found, p, LabelSource.MISS, at=at))
    return labels


def is_unread(label: Label, policy: Category) -> bool:
    """Return True for a likely neighbour that the local verifier was not asked about, though others are served by it.

    If no verdict could have been enough, no client waits for one. Its worth is still learned from labels there, or it
    would never become enough.
    """
    if policy.strategy != "certified" or policy.asked != "verifier" or len(label.features) != len(features.NAMES):
        return False
    return label.p_correct >= LIKELY and not (label.features[_ASKED] or label.features[_VERBATIM])


def read(label: Label, p_same: float) -> Label:
    """The label of a neighbour about which the local verifier gave this P(same) after all."""
    return replace(label, features=features.with_verdict(label.features, p_same))


def of_hit(lookup: Lookup, served: Serve, *, at: float) -> Label:
    """The label of a served answer. A hit that was not drawn for an audit is no sample, and counts as feedback."""
    source = LabelSource.AUDIT if served.audit else LabelSource.FEEDBACK
    candidate = Candidate(served.card, served.score, features=served.features)
    chance = served.chance if served.audit else 0.0
    return replace(_label(lookup, candidate, served.p_correct, source, at=at), served=True, chance=chance)


def undecided(label: Label) -> Label | None:
    """The label of an audit of which no verdict comes; None for any other, which nobody has to know of."""
    if label.source is not LabelSource.AUDIT or not label.served:
        return None
    return replace(label, source=LabelSource.UNDECIDED, correct=False)


def of_reasked(lookup: Lookup, old: Entry, exposure: float, kind: Volatility, *, at: float) -> Label:
    """The label of an answer that the backend was asked for again when it was `exposure` seconds old."""
    candidate = Candidate(old.card(), 1.0, features=(exposure, float(KINDS.index(kind))))
    return _label(lookup, candidate, 1.0, LabelSource.REASKED, at=at)


def of_verdict(lookup: Lookup, candidate: Candidate, p_correct: float, verdict: ModelVerdict, *, at: float) -> Label:
    """The label of a language model's verdict on a neighbour; it records the verdict, not the truth."""
    said = replace(candidate, features=with_model_verdict(candidate.features, verdict))
    label = _label(lookup, said, p_correct, LabelSource.VERDICT, at=at)
    return replace(label, correct=verdict.p_yes >= 0.5)


def exposed(label: Label) -> tuple[float, Volatility]:
    """Return what a label that is REASKED is about: seconds, and the volatility of the prompt. Raises ValueError."""
    seconds, kind = label.features
    if not 0 <= kind < len(KINDS):
        raise ValueError(f"label {label.seq} names the volatility {kind}, and there are {len(KINDS)}")
    return seconds, KINDS[int(kind)]


def shown(fresh: Entry, cached: Entry) -> Comparison | None:
    """Return what a judge is shown of two entries; None when one says nothing, as a tool call or an embedding does."""
    if Endpoint.EMBEDDINGS in (fresh.endpoint, cached.endpoint):
        return None
    answers = [said(entry) for entry in (cached, fresh)]
    return Comparison(fresh.key.text, cached.key.text, *answers) if all(answers) else None


def said(entry: Entry) -> str:
    """The text of an answer."""
    return dialects()[entry.endpoint].parse(entry.body).text


def _passed_over(lookup: Lookup) -> Sequence[tuple[Candidate, float | None]]:
    match lookup.decision:
        case Verify(card=card, score=score, p_correct=p, features=values):
            return [(Candidate(card, score, features=values), p)]
        case Forward(nearest=Candidate() as nearest, p_correct=p, why=why, others=others):
            if p is None and why in _UNTAUGHT:
                return []
            return [(nearest, p), *((other, None) for other in others)]
    return []


def featured(lookup: Lookup, candidate: Candidate, policy: Category) -> Candidate:
    """The candidate with its features, and what guards find against it."""
    text = lookup.request.text
    doubted = replace(candidate, conflicts=_objections(text, candidate.card.text, policy.guards))
    return replace(doubted, features=features.of(text, doubted))


@scoped_cache(maxsize=_PAIRS)
def _objections(text: str, cached: str, names: tuple[str, ...]) -> tuple[Conflict, ...]:
    return guards.conflicts(text, cached, names)


def _label(lookup: Lookup, candidate: Candidate, p_correct: float, source: LabelSource, *, at: float) -> Label:
    assert lookup.key is not None
    return Label(
        at=at,
        category=lookup.category,
        tenant=lookup.request.scope.tenant,
        entry_id=candidate.card.id,
        answer=candidate.card.answer_class,
        exact=lookup.key.exact,
        score=candidate.score,
        features=candidate.features,
        p_correct=p_correct,
        correct=False,
        source=source,
        served=False,
    )
