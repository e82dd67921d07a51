"""What `/semcache/stats` says reaches operators whole, whatever the strategies have to say."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from semcache.agents.library import AsyncSemanticCache
from semcache.types.evidence import Interval, State
from tests.proxy.driver import Answer, Call, Upstream, completion, running


async def test_a_category_may_say_anything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def stats(_: AsyncSemanticCache) -> dict[str, Any]:
        row = {"state": State.CERTIFIED, "error": Interval(0.01, 0.0, 0.02), "break_even": math.inf, "drift": math.nan}
        return {"categories": {"default": row}, "total": {"requests": 3}}

    monkeypatch.setattr(AsyncSemanticCache, "stats", stats)
    async with running(Upstream(lambda _: Answer([completion()])), tmp_path) as proxy:
        reply = await Call(proxy, path="/semcache/stats", method="GET").reply()
        metrics = await Call(proxy, path="/metrics", method="GET").reply()
    assert reply.status == 200
    row = reply.json["categories"]["default"]
    assert row["state"] == "certified"
    assert row["error"] == {"estimate": 0.01, "low": 0.0, "high": 0.02}
    assert (row["break_even"], row["drift"]) == (None, None), "JSON has no word for infinity"
    assert b'semcache_state{category="careful",state="fixed"} 1.0' in metrics.body
    assert b'semcache_false_hits_total{category="careful",source="audit"} 0.0' in metrics.body


async def test_metrics_come_in_the_format_that_is_asked_for_and_tell_of_the_process(tmp_path: Path) -> None:
    async with running(Upstream(lambda _: Answer([completion()])), tmp_path) as proxy:
        plain = await Call(proxy, path="/metrics", method="GET").reply()
        accept = "application/openmetrics-text; version=1.0.0"
        other = await Call(proxy, path="/metrics", method="GET", accept=accept).reply()
    assert (plain.header("content-type") or "").startswith("text/plain")
    assert b"process_resident_memory_bytes" in plain.body
    assert (other.header("content-type") or "").startswith("application/openmetrics-text")
    assert other.body.endswith(b"# EOF\n")
