"""The overview: net dollars, hits by tier, time saved, categories, faults, over a time and by tenant or model.

Reads sums by the hour. Invariant: every amount is net of audits, judges and verifiers; what is an estimate says so,
and a tenant is shown its own sums alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from starlette.responses import Response

from semcache.proxy.ui.visit import PageRoute, Visit

RANGES = {"24h": ("last 24 hours", 86400.0), "7d": ("last 7 days", 7 * 86400.0), "30d": ("last 30 days", 30 * 86400.0)}
GROUPS = ("tenant", "model", "category")
TIERS = ("exact", "semantic", "plan", "near")
_NAMES = {"exact": "Exact", "semantic": "By meaning", "plan": "Plan", "near": "Near"}


async def overview(visit: Visit) -> Response:
    """Show what the cache did and saved."""
    chosen = visit.choice("range", RANGES, "7d")
    title, length = RANGES[chosen]
    since, tenant = visit.now - length, visit.tenant
    admin = visit.visitor.caller.admin
    by = visit.choice("by", GROUPS, "tenant" if admin and tenant is None else "model")
    unit = "hour" if chosen == "24h" else "day"
    operating = visit.cache.operating
    series, rows, saved, reasons = await asyncio.gather(
        operating.usage(unit, since=since, tenant=tenant),
        operating.usage(by, since=since, tenant=tenant),
        visit.inspection.time_saved(since=since, tenant=tenant),
        visit.inspection.reasons(tenant=tenant),
    )
    stats = await visit.cache.stats() if admin else None
    *groups, total = rows
    return visit.page(
        "overview.html",
        range=chosen,
        ranges=RANGES,
        title=title,
        by=by,
        groups_by=GROUPS,
        tenant=tenant,
        total=total,
        groups=sorted(groups, key=lambda row: -row["net_usd"]),
        most=max([abs(row["net_usd"]) for row in groups] or [0.0]),
        saved=saved,
        reasons=reasons,
        unit=unit,
        series=series[:-1],
        money=_money(series[:-1], unit),
        tiers=_tiers(series[:-1], unit),
        tier_names=_NAMES,
        categories=_strip(stats) if stats is not None else [],
        unpriced=stats["unpriced_models"] if stats is not None else [],
        varying=stats["varying_prompts"] if stats is not None else [],
        faults=visit.cache.faults() if admin else {},
    )


def _money(series: Sequence[Mapping[str, Any]], unit: str) -> dict[str, Any]:
    """The chart of net dollars."""
    return {
        "x": _times(series, unit),
        "kind": "bars",
        "time": unit,
        "prefix": "$",
        "series": [{"name": "Net saved", "tone": "good", "values": [row["net_usd"] for row in series]}],
    }


def _tiers(series: Sequence[Mapping[str, Any]], unit: str) -> dict[str, Any]:
    """The chart of requests by what became of them."""
    shown = [(tier, _NAMES[tier]) for tier in TIERS if any(row[tier] for row in series)]
    stacks = [{"name": name, "tone": tier, "values": [row[tier] for row in series]} for tier, name in shown]
    stacks.append({"name": "Missed", "tone": "miss", "values": [row["misses"] for row in series]})
    if any(row["bypassed"] for row in series):
        stacks.append({"name": "Not looked up", "tone": "quiet", "values": [row["bypassed"] for row in series]})
    return {"x": _times(series, unit), "kind": "stack", "time": unit, "series": stacks}


def _times(series: Sequence[Mapping[str, Any]], unit: str) -> list[float]:
    form = "%Y-%m-%d" if unit == "day" else "%Y-%m-%d %H:%MZ"
    return [datetime.strptime(row[unit], form).replace(tzinfo=UTC).timestamp() for row in series]


def _strip(stats: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The categories that had traffic or hold entries, busiest first; others are left out."""
    found = [{"name": name, **row} for name, row in stats["categories"].items() if row["requests"] or row["entries"]]
    return sorted(found, key=lambda row: (-row["requests"], row["name"]))


ROUTES = (PageRoute("", overview),)
