"""The log of decisions: a sample of why requests were served or not, stored beside the event log.

Knows lookups and the strategies that decided them; nothing of HTTP. Invariant: during a request only the draw is noted;
details of its neighbours are added later, and are lost if the store fails. Exact hits are not recorded, because their
reason is always an identical earlier request.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from semcache.cache.reasons import explained
from semcache.config.packs import Pack
from semcache.matching.features import NAMES
from semcache.protocols import OperatorStore, Threshold
from semcache.request.secrets import has_secret
from semcache.runtime.guarded_calls import surviving
from semcache.runtime.token_bucket import TokenBucket
from semcache.types import (
    Candidate,
    Card,
    Controls,
    DecisionRecord,
    Forward,
    Lookup,
    Outcome,
    Recorded,
    Serve,
    Verify,
    Why,
    public_id,
)

LONGEST = 4000  # characters of a prompt that are kept
_WAITING = 1000
_TERMS = 8  # contributions that are named


@dataclass(frozen=True, slots=True)
class DecisionTerms:
    """The terms of the log: at most `rate` decisions a second, each kept for `keep` seconds, `most` in all."""

    rate: float = 20.0
    keep: float = 86400.0
    most: int = 20_000


EVERY_DECISION = DecisionTerms()


class DecisionLog:
    """Samples decisions. One instance a process; without a `store` that keeps them it does nothing."""

    def __init__(
        self,
        store: OperatorStore | None,
        strategy: Threshold,
        pack: Pack,
        *,
        terms: DecisionTerms,
        clock: Callable[[], float],
    ) -> None:
        self._store = store
        self._strategy = strategy
        self._pack = pack
        self._terms = terms
        self._clock = clock
        self._bucket = TokenBucket(terms.rate, max(1.0, terms.rate), clock())
        self._waiting: list[tuple[Lookup, Recorded]] = []

    @property
    def keep(self) -> float:
        """Seconds for which decisions are stored."""
        return self._terms.keep

    def note(self, lookup: Lookup, row: Recorded) -> None:
        """Keep this decision if it is drawn."""
        if self._store is None or not row.count or row.outcome is Outcome.EXACT:
            return
        if len(self._waiting) < _WAITING and self._bucket.take(self._clock()):
            self._waiting.append((lookup, row))

    async def flush(self) -> None:
        """Write what was drawn. Raises StoreError."""
        waiting, self._waiting = self._waiting, []
        if waiting and self._store is not None:
            records = []
            for lookup, row in waiting:
                with surviving("describing a decision"):
                    records.append(self._record(lookup, row))
            await self._store.keep_decisions(records, most=self._terms.most)

    def _record(self, lookup: Lookup, row: Recorded) -> DecisionRecord:
        found = neighbours_of(lookup)
        said = describe(lookup, row, self._strategy, self._pack)
        return DecisionRecord(
            request_id=lookup.request_id,
            at=row.at,
            expires=row.at + self._terms.keep,
            scope=row.scope,
            category=row.category,
            model=row.model,
            outcome=row.outcome.value,
            why=row.why.value,
            entry_id=row.entry_id,
            body=said,
            upstream_id=row.upstream_id,
            mentions=tuple(dict.fromkeys(card.id for card, _, _ in found)),
        )


def neighbours_of(lookup: Lookup) -> list[tuple[Card, float, Candidate | None]]:
    """The entries that a decision is about, with their scores, features and findings."""
    match lookup.decision:
        case Serve(card=card, score=score, features=values, edit=edit):
            return [(card, score, Candidate(card, score, features=values) if values and not edit else None)]
        case Verify(card=card, score=score, features=values):
            return [(card, score, Candidate(card, score, features=values))]
        case Forward(nearest=Candidate() as nearest, others=others):
            return [(one.card, one.score, one if one.features else None) for one in (nearest, *others)]
    return []


def _kept_prompt(lookup: Lookup, row: Recorded) -> str:
    """The prompt as a record may keep it: none that holds a secret, for whichever reason it was not looked up."""
    shown = lookup.request.text[:LONGEST]
    # Only what was looked up has been searched for secrets.
    secret = row.why is Why.SECRET or (lookup.key is None and has_secret(shown))
    return "" if secret else shown


def describe(lookup: Lookup, row: Recorded, strategy: Threshold, pack: Pack) -> dict[str, Any]:
    """A decision as JSON has it: the reason in words, the neighbours, and where the category stands."""
    meaning, remedy = explained(row.why)
    return {
        "prompt": _kept_prompt(lookup, row),
        "exact": row.exact.hex(),
        "endpoint": row.endpoint,
        "status": row.status,
        "stored": row.stored,
        "stream": row.stream,
        "meaning": meaning,
        "remedy": remedy,
        "category": category_facts(row.category, strategy, pack),
        "neighbours": [
            neighbour_facts(card, score, found, lookup, strategy, now=row.at)
            for card, score, found in neighbours_of(lookup)
        ],
        "verdict_usd": lookup.verified,
        "audit": isinstance(lookup.decision, Serve) and lookup.decision.audit,
        "edit": lookup.decision.edit if isinstance(lookup.decision, Serve) else "",
        "saved_usd": row.saved_cost,
        "spent_usd": row.spent_cost,
        "ms": round(row.seconds * 1e3, 3),
    }


def category_facts(category: str, strategy: Threshold, pack: Pack) -> dict[str, Any]:
    """Where the strategy of a category stands: its limit of 1 - P(correct), its state, its target."""
    standing = strategy.standing(category)
    return {
        "name": category,
        "strategy": standing.strategy,
        "state": standing.state.value,
        "target": pack.target_of(category),
        "limit": None if standing.risk is None else round(1.0 - standing.risk, 6),
        "note": standing.note,
    }


def neighbour_facts(
    card: Card, score: float, found: Candidate | None, lookup: Lookup, strategy: Threshold, *, now: float
) -> dict[str, Any]:
    """The facts of one neighbour, as JSON has it; its text is looked up when somebody asks."""
    facts: dict[str, Any] = {
        "id": public_id(card.id),
        "score": round(score, 4),
        "category": card.category,
        "age": round(max(0.0, now - card.created), 3),
        "expires_in": round(card.expires - now, 3),
        "p_correct": _p_correct(card, lookup),
        "guards": [],
        "contributions": {},
    }
    if found is not None:
        tenant = lookup.request.scope.tenant
        if facts["p_correct"] is None:
            verdict = strategy.judge(found, lookup.category, controls=Controls(), draw=1.0, tenant=tenant)
            facts["p_correct"] = round(verdict.p_correct, 4)
        facts["guards"] = [
            {"guard": one.guard, "found": one.detail, "veto": one.veto, "arguable": one.arguable}
            for one in found.conflicts
        ]
        facts["contributions"] = contributions(found, lookup.category, strategy)
        facts["features"] = [round(value, 4) for value in found.features]
    return facts


def contributions(found: Candidate, category: str, strategy: Threshold) -> dict[str, float]:
    """The log-odds that each feature adds, largest first; {} for a strategy that has none to show."""
    explain = getattr(strategy, "contributions", None)
    if explain is None or len(found.features) < len(NAMES):
        return {}
    found = replace(found, features=found.features[: len(NAMES)])
    parts: dict[str, float] = explain(found, category)
    largest = sorted(parts.items(), key=lambda part: -abs(part[1]))
    shown = {name: round(value, 3) for name, value in largest[:_TERMS] if abs(value) >= 0.001}
    rest = sum(value for _, value in largest[_TERMS:])
    return shown | ({"everything else": round(rest, 3)} if abs(rest) >= 0.001 else {})


def _p_correct(card: Card, lookup: Lookup) -> float | None:
    """The strategy's probability at the time of the decision, None for a neighbour that has none."""
    match lookup.decision:
        case Serve(card=served, p_correct=p) if served.id == card.id:
            return round(p, 4)
        case Verify(card=doubted, p_correct=p) if doubted.id == card.id:
            return round(p, 4)
        case Forward(nearest=Candidate(card=nearest), p_correct=p) if nearest.id == card.id and p is not None:
            return round(p, 4)
    return None
