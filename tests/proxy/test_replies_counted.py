"""Replies are counted by status, refused ones too: an upstream that fails shows in the metrics."""

from __future__ import annotations

from pathlib import Path

from tests.proxy.driver import Answer, Call, Upstream, ask, completion, running


def count(proxy: object, endpoint: str, status: str) -> float:
    registry = proxy.cache.meter.registry  # type: ignore[attr-defined]
    return float(registry.get_sample_value("semcache_replies_total", {"endpoint": endpoint, "status": status}) or 0.0)


async def test_an_upstream_that_fails_and_requests_that_are_refused_are_counted(tmp_path: Path) -> None:
    upstream = Upstream(lambda out: Answer([completion()], status=500 if b"bad" in (out.body or b"") else 200))
    async with running(upstream, tmp_path, server__max_body=1000) as proxy:
        assert count(proxy, "chat", "5xx") == 0.0
        for text in ("good", "bad", "good"):
            await Call(proxy, ask(text)).reply()
        assert (await Call(proxy, ask("x" * 2000)).reply()).status == 413
        await Call(proxy, path="/v1/models", method="GET").reply()
        await Call(proxy, path="/livez", method="GET").reply()
        assert [count(proxy, "chat", status) for status in ("2xx", "4xx", "5xx")] == [2.0, 1.0, 1.0]
        assert count(proxy, "other", "2xx") == 1.0
