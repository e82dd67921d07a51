"""Accounting: the row that records the outcome of a request, and the sums of such rows.

Pure. Invariant: a token is counted as spent by the one request that paid for it and as saved by every request that did
not have to; no request does both. In money a near hit does, and a plan with a small model: it pays a cheaper model
and saves the price of a dearer. What the cache itself costs (verifiers, judges) is saved by nobody: it is taken off.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any, TypedDict, Unpack

from semcache.config.packs import Pack
from semcache.matching.break_even import Balance
from semcache.protocols import Threshold
from semcache.runtime.bill import Bill, BilledFor
from semcache.storage.prices import Prices
from semcache.types import Assembled, Entry, Forward, Lookup, Outcome, Recorded, Scope, Serve, Usage, Why
from semcache.types.evidence import Interval, wilson

_NOTHING = Usage()


class Facts(TypedDict, total=False):
    """The facts that a caller knows of a finished request.

    `answer` is the upstream's, `entry` the replayed one, `upstream` the seconds that the upstream took, `collapsed`
    means that another request's upstream call gave `answer`, and `upstream_id` is the upstream's name for that call.
    """

    entry: Entry | None
    answer: Assembled | None
    stored: str | None
    upstream: float
    collapsed: bool
    upstream_id: str


def recorded(
    lookup: Lookup,
    prices: Prices,
    *,
    at: float,
    status: int,
    seconds: float,
    **facts: Unpack[Facts],
) -> Recorded:
    """Return the row for one request that ended at the Unix time `at`, after `seconds`."""
    entry, answer, collapsed = facts.get("entry"), facts.get("answer"), facts.get("collapsed", False)
    request, decision = lookup.request, lookup.decision
    spent = answer.usage if answer is not None and not collapsed else Usage()
    saved = entry.usage if entry is not None else answer.usage if answer is not None and collapsed else Usage()
    outcome, why = Outcome.MISS, Why.NO_VERDICT
    entry_id = score = p_correct = None
    match decision:
        case Serve():
            outcome, why = Outcome(decision.how.value), decision.why
            entry_id, score, p_correct = decision.card.id, decision.score, decision.p_correct
        case Forward():
            outcome, why = decision.outcome, decision.why
            score = decision.nearest.score if decision.nearest is not None else None
            p_correct = decision.p_correct
    return Recorded(
        request_id=lookup.request_id,
        at=at,
        endpoint=request.endpoint.value,
        scope=request.scope,
        model=request.model,
        category=lookup.category,
        outcome=outcome,
        why=why,
        status=status,
        entry_id=entry_id,
        exact=lookup.key.exact if lookup.key is not None else b"",
        score=score,
        p_correct=p_correct,
        stored=facts.get("stored"),
        stream=request.stream,
        saved=saved,
        # A replayed answer spared what it once cost: how much of its prompt the provider had cached is known no more.
        saved_cost=(entry.cost if entry is not None else 0.0) or prices.cost(request.model, saved),
        spent=spent,
        spent_cost=prices.cost(request.model, spent),
        overhead=lookup.verified or 0.0,
        seconds=seconds,
        timings=replace(lookup.timings, upstream=facts.get("upstream", 0.0)),
        collapsed=collapsed,
        upstream_id=facts.get("upstream_id", ""),
    )


def overhead(bill: Bill, billed_for: BilledFor, prices: Prices, *, at: float) -> Recorded:
    """The row of what a judge or a verifier cost."""
    return Recorded(
        request_id="",
        at=at,
        endpoint="judge",
        scope=Scope(billed_for.tenant),
        model=bill[0][0],
        category=billed_for.category,
        outcome=Outcome.SEMANTIC if billed_for.served else Outcome.MISS,
        why=Why.SEMANTIC if billed_for.served else Why.UNCERTAIN,
        status=200,
        overhead=sum(prices.cost(model, usage) for model, usage in bill),
        count=0,
    )


def planned(
    row: Recorded, prices: Prices, tokens: int, *, spent: Usage = _NOTHING, paid: float = 0.0, instead: float = 0.0
) -> Recorded:
    """The row of a request that a plan answered in the model's place, which saved so many completion tokens.

    Of `paid` US dollars a small model `spent` these tokens on it; `instead` is what the model that the request names
    would have cost for them.
    """
    saved = Usage(completion_tokens=tokens)
    cost = prices.cost(row.model, saved) + instead
    return replace(row, outcome=Outcome.PLAN, why=Why.PLAN, saved=saved, saved_cost=cost, spent=spent, spent_cost=paid)


def substituted(row: Recorded, spent: Usage, paid: float, instead: float) -> Recorded:
    """The row of a request that a cheaper model answered for `paid` US dollars, and for `instead` the one it names.

    `why` stays what it was: the reason for which no answer of the cache was served.
    """
    return replace(row, outcome=Outcome.NEAR, spent=spent, spent_cost=paid, saved_cost=instead)


def statistics(
    pack: Pack,
    tally: Sequence[Mapping[str, object]],
    entries: Mapping[str, int],
    threshold: Threshold,
    balances: Mapping[str, Balance] | None = None,
) -> dict[str, Any]:
    """Return the figures of `semcache stats`: totals, and a row per category with traffic, entries or a definition.

    Hit rate is hits over the requests that were looked up; bypassed requests are counted apart, and near hits are none.
    A category that is served by meaning also has where its strategy stands and, where `balances` has it, whether it
    pays; any other has None in those places. Errors are shares with a 95% interval: per hit by meaning, as audits show
    them, and per request that was looked up, which is the same times the share of hits by meaning.
    """
    groups: dict[str, list[Mapping[str, Any]]] = {name: [] for name in {*pack.categories, *entries}}
    for group in tally:
        groups.setdefault(str(group["category"]), []).append(group)
    rows: dict[str, dict[str, Any]] = {}
    for name, of_category in sorted(groups.items()):
        sums = _sums(of_category)
        balance = None if balances is None else balances.get(name)
        rows[name] = {"entries": entries.get(name, 0), **sums, **_standing(pack, name, threshold, sums, balance)}
    every = [group for of_category in groups.values() for group in of_category]
    total = _sums(every)
    learned = {
        name: sum(row[name] or 0 for row in rows.values()) for name in ("labels", "audits", "wrong", "undecided")
    }
    return {
        "policies": pack.name,
        "target": pack.target,
        "confidence": pack.confidence,
        "total": {"entries": sum(entries.values()), **total, **learned},
        "categories": rows,
        "outcomes": outcomes(every),
    }


def outcomes(groups: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Calls, tokens and money by outcome, and in all, beside what always asking the model that was named costs.

    `calls` are those of a model that said what they took. `saved_usd` is `always_usd` less `spent_usd` and
    `overhead_usd`, negative where more was spent than that: comparisons and audits are calls of the outcome that they
    were made for, and the overhead is what judges and verifiers cost.
    """
    found: dict[str, dict[str, Any]] = {}
    for outcome in Outcome:
        mine = [group for group in groups if group["outcome"] == outcome]
        if mine:
            found[outcome.value] = _spending(mine)
    return found | {"total": _spending(groups)}


def _spending(groups: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    def total(name: str) -> float:
        return float(sum(group.get(name) or 0 for group in groups))

    spent, always = total("spent_cost"), sum(_always(group) for group in groups)
    overhead = total("overhead_cost")
    return {
        "requests": int(total("requests")),
        "calls": int(total("calls")),
        "prompt_tokens": int(total("spent_prompt_tokens")),
        "completion_tokens": int(total("spent_completion_tokens")),
        "spent_usd": round(spent, 6),
        "always_usd": round(always, 6),
        "overhead_usd": round(overhead, 6),
        "saved_usd": _dollars(always - spent - overhead),
    }


def usage_rows(groups: Sequence[Mapping[str, Any]], by: str) -> list[dict[str, Any]]:
    """The figures of `semcache stats --by`: a row for each hour, day, tenant, model or category, and one of them all.

    Times come in their order, all else with the most requests first. `net_usd` is what was saved, net of audits, judges
    and verifiers. Hit rate is that of `statistics`.
    """
    found: dict[Any, list[Mapping[str, Any]]] = {}
    for group in groups:
        found.setdefault(group["hour"] // 24 if by == "day" else group[by], []).append(group)
    rows = [{by: _when(by, name), **_net(mine)} for name, mine in sorted(found.items())]
    if by not in ("day", "hour"):
        rows.sort(key=lambda row: row["requests"], reverse=True)
    return [*rows, {by: "total", **_net(groups)}]


def _when(by: str, name: Any) -> str:
    if by not in ("day", "hour"):
        return str(name)
    at = datetime.fromtimestamp(name * (86400 if by == "day" else 3600), UTC)
    return at.strftime("%Y-%m-%d" if by == "day" else "%Y-%m-%d %H:00Z")


def _net(groups: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    sums, spending = _sums(groups), _spending(groups)
    return {
        **{name: sums[name] for name in ("requests", "exact", "semantic", "plan", "near", "misses", "bypassed")},
        "hit_rate": sums["hit_rate"],
        "saved_tokens": sums["saved_tokens"],
        **{name: spending[name] for name in ("always_usd", "spent_usd", "overhead_usd")},
        "net_usd": spending["saved_usd"],
        "mean_ms": sums["mean_ms"],
    }


def _dollars(value: float) -> float:
    """The value to a millionth of a dollar; never -0.0, which sums of equal costs may round to."""
    return round(value, 6) + 0.0


def _always(group: Mapping[str, Any]) -> float:
    """US dollars that these requests would have cost without a cache.

    Calls of a small model, for a near hit or a plan, would not have been.
    """
    own = 0.0 if group["outcome"] in (Outcome.NEAR, Outcome.PLAN) else group["spent_cost"] or 0.0
    return float((group["saved_cost"] or 0.0) + own)


_STANDING: tuple[str, ...] = (
    "strategy",
    "state",
    "target",
    "contract",
    "score",
    "risk",
    "certified",
    "confidence",
    "labels",
    "audits",
    "wrong",
    "undecided",
    "audit_rate",
    "error_per_hit",
    "error_per_request",
    "break_even",
    "outlook",
    "note",
    "classes",
)


def _standing(
    pack: Pack, name: str, threshold: Threshold, sums: Mapping[str, Any], balance: Balance | None
) -> dict[str, Any]:
    policy = pack.of(name)
    if not (policy.cache and policy.semantic):
        return dict.fromkeys(_STANDING)
    now = threshold.standing(name)
    error = now.error or (wilson(now.wrong, now.audits) if now.audits else None)
    looked_up = sums["requests"] - sums["bypassed"]
    return {
        "strategy": now.strategy,
        "state": now.state.value,
        "target": pack.target_of(name),
        "contract": policy.contract,
        "score": now.score,
        "risk": now.risk,
        "certified": now.certified,
        "confidence": now.confidence,
        "labels": now.labels,
        "audits": now.audits,
        "wrong": now.wrong,
        "undecided": now.undecided,
        "audit_rate": now.audit_rate,
        "error_per_hit": _scaled(error, 1.0),
        "error_per_request": _scaled(error, sums["semantic"] / looked_up) if looked_up else None,
        "break_even": balance.break_even if balance is not None and math.isfinite(balance.break_even) else None,
        "outlook": balance.outlook.value if balance is not None else None,
        "note": now.note,
        "classes": [{**asdict(one), "error": _scaled(one.error, 1.0)} for one in now.classes],
    }


def _scaled(error: Interval | None, share: float) -> dict[str, float] | None:
    if error is None:
        return None
    limits = {"estimate": error.estimate, "low": error.low, "high": error.high}
    return {name: round(limit * share, 6) for name, limit in limits.items()}


def _sums(groups: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    def requests(*outcomes: Outcome) -> int:
        return sum(int(group["requests"]) for group in groups if group["outcome"] in outcomes)

    def total(name: str) -> float:
        return float(sum(group.get(name) or 0 for group in groups))

    overhead = total("overhead_cost")
    exact, semantic = requests(Outcome.EXACT), requests(Outcome.SEMANTIC)
    plan, near = requests(Outcome.PLAN), requests(Outcome.NEAR)
    bypassed = requests(Outcome.BYPASS)
    everything = sum(int(group["requests"]) for group in groups)
    looked_up = everything - bypassed
    return {
        "requests": everything,
        "exact": exact,
        "semantic": semantic,
        "plan": plan,
        "near": near,
        "misses": looked_up - exact - semantic - plan - near,
        "bypassed": bypassed,
        "hit_rate": round((exact + semantic + plan) / looked_up, 4) if looked_up else None,
        "saved_tokens": int(total("saved_prompt_tokens") + total("saved_completion_tokens")),
        "saved_usd": _dollars(sum(_always(group) for group in groups) - total("spent_cost") - overhead),
        "spent_usd": round(total("spent_cost"), 6),
        "overhead_usd": round(overhead, 6),
        "mean_ms": round(1e3 * total("seconds") / everything, 3) if everything else None,
    }
