"""Explaining: predicts how a request would be decided now, and why, with every neighbour, without serving or learning.

Knows how lookups work and how decisions are described. Invariant: nothing is stored, counted, learned, or asked of a
verifier.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from semcache.cache.decision_log import LONGEST, category_facts, contributions, neighbour_facts
from semcache.cache.reasons import explained
from semcache.errors import StoreError
from semcache.matching import features, guards, neighbourhood
from semcache.matching.verification import lacking
from semcache.request.wording import mended
from semcache.types import Candidate, Forward, Lookup, Outcome, Serve, Verify, Why, public_id

if TYPE_CHECKING:
    from collections.abc import Collection

    from semcache.cache.components import Components
    from semcache.cache.response_cache import ResponseCache
    from semcache.types import Request

_TEXT = 500  # characters of a neighbour's prompt that are shown


async def explain(cache: ResponseCache, request: Request, verifiers: Collection[str] | None = None) -> dict[str, Any]:
    """Return what would happen to a request, as JSON has it. Raises RequestRejected for an unknown category.

    `verifiers` are the names of those that are set up where requests are served, if that is elsewhere.
    """
    components = cache.components
    lookup = await cache.consult(request, public_id(components.new_id()), quiet=True)
    outcome, why = _decided(lookup)
    meaning, remedy = explained(why)
    if isinstance(lookup.decision, Verify):
        verifier = cache.pack.of(lookup.category).verify
        meaning = (
            f"The nearest entry is not served unread: the verifier {verifier!r} would be asked, and its word decides."
        )
        if lookup.decision.alone:
            meaning += " Where it does not read such texts, likeness alone is sure enough, and the entry is served."
        without = cache.lacking_verifiers() if verifiers is None else lacking(cache.pack, verifiers)
        nobody = lookup.category in without
        remedy = "Set that verifier up: nobody is there." if nobody else ""
    strategy = components.strategy
    return {
        "outcome": outcome,
        "why": why.value,
        "meaning": meaning,
        "remedy": remedy,
        "prompt": request.text[:LONGEST],
        "read_as": _read_as(request.text),
        "tenant": request.scope.tenant,
        "model": request.model,
        "entry_id": _served(lookup),
        "p_correct": getattr(lookup.decision, "p_correct", None),
        "category": category_facts(lookup.category, strategy, cache.pack),
        "fault": cache.faults(),
        "neighbours": await _neighbours(components, lookup),
        "varying_prompts": await _varying(cache, request.scope.tenant) if why is Why.COLD else [],
    }


async def _varying(cache: ResponseCache, tenant: str) -> list[str]:
    """The parts that alone differ between stored system prompts: the likeliest reason why a request finds nothing."""
    try:
        return await cache.operating.varying_prompts(tenant)
    except StoreError:
        return []  # the fault of the store is told already


def _decided(lookup: Lookup) -> tuple[str, Why]:
    match lookup.decision:
        case Serve(how=how):
            return how.value, lookup.decision.why
        case Forward(outcome=outcome, why=why):
            return outcome.value, why
    return Outcome.MISS.value, Why.UNCERTAIN


def _read_as(text: str) -> str | None:
    """The text as the small models read it, where slips in it are mended."""
    read = mended(text)
    return None if read == text else read[:LONGEST]


def _served(lookup: Lookup) -> str | None:
    return public_id(lookup.decision.card.id) if isinstance(lookup.decision, Serve) else None


async def _neighbours(components: Components, lookup: Lookup) -> list[dict[str, Any]]:
    """Every neighbour with what guards and the strategy say of it, best first."""
    if lookup.vector is None or lookup.key is None:
        decision = lookup.decision
        if not isinstance(decision, Serve):
            return []
        card = components.live.registry.get(decision.card.id) or decision.card
        return [
            {
                **neighbour_facts(card, decision.score, None, lookup, components.strategy, now=components.clock()),
                "prompt": card.text[:_TEXT],
            }
        ]
    category, tenant, now = lookup.category, lookup.request.scope.tenant, components.clock()
    names = components.pack.of(category).guards
    found = await components.lookup.nearest(lookup)
    rejected = components.live.registry.rejected(lookup.key.exact)
    told_of = []
    text = lookup.request.text
    surveyed = neighbourhood.surveyed(text, found, lambda one, two: guards.conflicts(one, two, names))
    for one in surveyed.candidates:
        objections = surveyed.objections(one)
        values = features.with_conflicts(features.of(text, one), objections)
        whole = Candidate(one.card, one.score, objections, values, one.around)
        verdict = components.strategy.judge(whole, category, controls=lookup.request.controls, draw=1.0, tenant=tenant)
        facts = neighbour_facts(one.card, one.score, whole, lookup, components.strategy, now=now)
        against = None if verdict.sure else verdict.why.value
        if one.card.id in rejected:
            against = Why.REJECTED.value
        elif one.card.staleness(now, 0.0) != "fresh":
            against = Why.EXPIRED.value
        told_of.append(
            {
                **facts,
                "prompt": one.card.text[:_TEXT],
                "p_correct": round(verdict.p_correct, 4),
                "against": against,
                "contributions": contributions(whole, category, components.strategy),
            }
        )
    return told_of
