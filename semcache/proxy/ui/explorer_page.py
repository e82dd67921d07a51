"""The explorer: what another error target would have served, by labels, and a change of the pack to copy.

Invariant: nothing of the running cache is changed; every figure comes from samples, whose number is said.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.responses import Response

from semcache.cache.label_curves import Outlook, Sample, outlooks
from semcache.proxy.ui.visit import PageRoute, Right, Visit
from semcache.types import DecisionRecord, Outcome
from semcache.types.evidence import State

_STEPS = 60
_LOW, _HIGH = 0.001, 0.2
_WEEKS = 4.0
_CHANGED = 25


async def explorer(visit: Visit) -> Response:
    """Show the outlook of a target."""
    pack = visit.cache.pack
    served = [name for name, one in sorted(pack.categories.items()) if one.cache and one.semantic]
    name = visit.choice("category", tuple(served), await _busiest(visit, served))
    now = pack.target_of(name)
    place = visit.number("place", _place(now), 0.0, 1000.0)
    target = _target(place) if visit.asked("place") else now
    found = await visit.inspection.samples(name)
    chart, ways = await asyncio.to_thread(_drawn, found, now, target)
    money = await _money(visit, name)
    return visit.page(
        "explorer.html",
        name=name,
        served=served,
        now=now,
        target=target,
        place=_place(target),
        samples=len(found),
        ways=ways,
        money={way: _weekly(one, money) for way, one in ways.items()},
        traffic=money,
        chart_data=chart,
        changes=await _changes(visit, name, ways["then"]) if found else [],
        diff=_diff(pack.name, name, now, target, own=pack.of(name).target is not None),
        contract=pack.of(name).contract,
        fixed=visit.cache.components.strategy.standing(name).state == State.FIXED,
        varying=await visit.cache.operating.varying_prompts(),
    )


async def _busiest(visit: Visit, served: Sequence[str]) -> str:
    rows = await visit.cache.operating.usage("category", since=visit.now - 30 * 86400.0)
    names = [row["category"] for row in sorted(rows[:-1], key=lambda row: -row["requests"])]
    return next((name for name in names if name in served), served[0] if served else "default")


async def _money(visit: Visit, name: str) -> dict[str, float]:
    """Requests a week that were looked up by meaning, and the mean dollars that a hit saves, of four weeks."""
    groups = await visit.inspection.sums(since=visit.now - _WEEKS * 7 * 86400.0, category=name)
    looked = sum(one["requests"] for one in groups if one["outcome"] in (Outcome.SEMANTIC, Outcome.MISS, Outcome.NEAR))
    hits = [one for one in groups if one["outcome"] == Outcome.SEMANTIC]
    calls = [one for one in groups if one["outcome"] == Outcome.MISS]
    count = sum(one["requests"] for one in hits)
    if count:
        each = sum(one["saved_cost"] for one in hits) / count
    else:
        each = sum(one["spent_cost"] for one in calls) / max(1, sum(one["calls"] for one in calls))
    first = min((one["hour"] for one in groups), default=0)
    weeks = max(1.0 / 7.0, (visit.now / 3600.0 - first) / 168.0) if groups else 1.0
    return {"looked": looked / weeks, "each": each, "wrong_cost": visit.cache.pack.of(name).wrong_cost, "weeks": weeks}


def _weekly(way: Outlook, money: Mapping[str, float]) -> dict[str, float]:
    hits = way.served * money["looked"]
    wrong = hits * way.error.estimate
    return {
        "hits": hits,
        "wrong": wrong,
        "wrong_high": hits * way.error.high,
        "usd": hits * money["each"] - wrong * money["wrong_cost"],
    }


async def _changes(visit: Visit, name: str, then: Outlook) -> list[dict[str, Any]]:
    """Recorded requests whose fate the target would change, nearest to the line first."""
    line = 1.0 - then.risk
    found: list[dict[str, Any]] = []
    for record in await visit.inspection.recent(name):
        p = _probability(record)
        if p is None:
            continue
        would = then.served > 0 and p >= line and not record.body["neighbours"][0].get("guards")
        did = record.outcome == Outcome.SEMANTIC
        if would != did and (did or record.why == "uncertain"):
            found.append({"record": record, "p": p, "would": would, "distance": abs(p - line)})
    return sorted(found, key=lambda one: one["distance"])[:_CHANGED]


def _probability(record: DecisionRecord) -> float | None:
    neighbours = record.body.get("neighbours") or [{}]
    p = neighbours[0].get("p_correct")
    return float(p) if p is not None else None


def _drawn(found: Sequence[Sample], now: float, target: float) -> tuple[dict[str, Any], dict[str, Outlook]]:
    """The chart of all targets, and the outlooks of two."""
    return _chart(found), dict(zip(("now", "then"), outlooks(found, [now, target]), strict=True))


def _chart(found: Sequence[Sample]) -> dict[str, Any]:
    targets = [_target(1000.0 * step / _STEPS) for step in range(_STEPS + 1)]
    ways = outlooks(found, targets) if found else []
    return {
        "x": targets if found else [],
        "kind": "lines",
        "log": True,
        "xname": "target",
        "unit": "share",
        "series": [
            {"name": "share served", "tone": "accent", "values": [one.served for one in ways]},
            {"name": "error per hit seen", "tone": "bad", "values": [one.error.estimate for one in ways]},
        ],
    }


def _target(place: float) -> float:
    """The target at a place of the slider, of 0 to 1000, rounded to two digits."""
    exact = _LOW * (_HIGH / _LOW) ** (place / 1000.0)
    return float(f"{exact:.2g}")


def _place(target: float) -> float:
    return round(1000.0 * math.log(max(_LOW, min(_HIGH, target)) / _LOW) / math.log(_HIGH / _LOW))


def _diff(pack: str, name: str, now: float, target: float, *, own: bool) -> str:
    """The change of the pack's file, as a diff shows it."""
    before = f"-    target: {now:g}\n" if own else ""
    return f"--- {pack}.yaml\n+++ {pack}.yaml\n categories:\n   {name}:\n{before}+    target: {target:g}\n"


ROUTES = (PageRoute("/explorer", explorer, Right.ADMIN),)
