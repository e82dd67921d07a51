"""Certificates: how far each category's promise is backed, and the evidence behind it.

Invariant: nothing here is estimated but from audits and comparisons, which are samples; how many is always said.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from starlette.responses import Response

from semcache.cache.label_curves import ReliabilityBin, Sample, reliability, risk_coverage
from semcache.proxy.ui.visit import PageRoute, Right, Visit, not_found


async def certificates(visit: Visit) -> Response:
    """Show every category that is served by meaning."""
    stats = await visit.cache.stats()
    rows = [
        {"name": name, "evidence": visit.inspection.evidence(name), **row}
        for name, row in stats["categories"].items()
        if row["strategy"] is not None
    ]
    rows.sort(key=lambda row: (-row["requests"], -row["labels"], row["name"]))
    busy = [row for row in rows if row["requests"] or row["labels"] or row["entries"]]
    idle = [row["name"] for row in rows if row not in busy]
    return visit.page("certificates.html", rows=busy, idle=idle, confidence=stats["confidence"])


async def certificate(visit: Visit) -> Response:
    """Show the evidence of one category."""
    name = visit.request.path_params["name"]
    if name not in visit.cache.pack.categories:
        raise not_found(f"category {name[:64]!r}")
    stats = await visit.cache.stats()
    found = await visit.inspection.samples(name)
    target = stats["categories"][name]["target"]
    bins, reliable, covered = await asyncio.to_thread(_curves, found, target)
    return visit.page(
        "certificate.html",
        name=name,
        row=stats["categories"][name],
        evidence=visit.inspection.evidence(name),
        confidence=stats["confidence"],
        samples=len(found),
        bins=bins,
        reliable=reliable,
        covered=covered,
    )


def _curves(
    found: Sequence[Sample], target: float | None
) -> tuple[list[ReliabilityBin], dict[str, Any], dict[str, Any]]:
    """The bins and both charts."""
    bins = reliability(found) if found else []
    return bins, _reliable(bins), _covered(found, target)


def _reliable(bins: Sequence[ReliabilityBin]) -> dict[str, Any]:
    return {
        "x": [one.predicted for one in bins],
        "kind": "lines",
        "xname": "Predicted P(correct)",
        "unit": "share",
        "series": [
            {"name": "as said", "tone": "quiet", "values": [one.predicted for one in bins]},
            {"name": "right", "tone": "accent", "points": True, "values": [one.right.estimate for one in bins]},
            {"name": "low (95%)", "tone": "band", "values": [one.right.low for one in bins]},
            {"name": "high (95%)", "tone": "band", "values": [one.right.high for one in bins]},
        ],
    }


def _covered(found: Sequence[Sample], target: float | None) -> dict[str, Any]:
    curve = risk_coverage(found) if found else []
    series = [
        {"name": "error seen", "tone": "bad", "values": [wrong for _, wrong, _ in curve]},
        {"name": "error said", "tone": "accent", "values": [risk for _, _, risk in curve]},
    ]
    if target is not None:
        series.append({"name": "target", "tone": "quiet", "values": [target for _ in curve]})
    return {"x": [share for share, _, _ in curve], "kind": "lines", "xname": "share served", "unit": "share",
            "series": series}  # fmt: skip


ROUTES = (
    PageRoute("/certificates", certificates, Right.ADMIN),
    PageRoute("/certificates/{name}", certificate, Right.ADMIN),
)
