"""A collector is told what the cache decided, under the caller's trace, and no prompt unless a setting says so."""

from __future__ import annotations

import gzip
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from semcache.config.sections import TracesSection
from semcache.errors import ConfigError, UpstreamError
from semcache.proxy.tracing import open_tracing
from tests.proxy.driver import STREAM, Answer, Call, Upstream, ask, completion, events, running

_TRACE = "0af7651916cd43dd8448eb211c80319c"
_PARENT = f"00-{_TRACE}-b7ad6b7169203331-01"


class Collector:
    """An OTLP endpoint that keeps what it is sent."""

    def __init__(self) -> None:
        self.spans: list[Any] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                if self.headers.get("content-encoding") == "gzip":
                    body = gzip.decompress(body)
                sent = ExportTraceServiceRequest.FromString(body)
                outer.spans += [span for one in sent.resource_spans for two in one.scope_spans for span in two.spans]
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                return

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1/traces"

    def named(self, name: str) -> list[Any]:
        return [span for span in self.spans if span.name == name]


@pytest.fixture
def collector() -> Iterator[Collector]:
    one = Collector()
    thread = threading.Thread(target=one.server.serve_forever)
    thread.start()
    yield one
    one.server.shutdown()
    one.server.server_close()
    thread.join()


def facts(span: Any) -> dict[str, Any]:
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in span.attributes}


async def test_requests_and_upstream_calls_are_spans_of_the_callers_trace(tmp_path: Path, collector: Collector) -> None:
    upstream = Upstream(lambda _: Answer([completion()]))
    async with running(upstream, tmp_path, traces__mode="otlp", traces__endpoint=collector.url) as proxy:
        for _ in range(3):
            await Call(proxy, ask("What is a secret word?"), traceparent=_PARENT).reply()
        await Call(proxy, path="/livez", method="GET").reply()
    asked, *served = collector.named("chat m")
    assert asked.trace_id.hex() == _TRACE
    assert asked.parent_span_id.hex() == "b7ad6b7169203331"
    [call] = collector.named("POST /v1/chat/completions")
    assert call.parent_span_id == asked.span_id
    [sent] = [value for name, value in upstream.calls[0].headers if name == "traceparent"]
    assert sent == f"00-{_TRACE}-{call.span_id.hex()}-01"
    told = facts(asked)
    assert {"semcache.decision": "forward", "semcache.tier": "upstream", "semcache.why": "cold"}.items() <= told.items()
    assert {"gen_ai.usage.input_tokens": 5, "gen_ai.usage.output_tokens": 7}.items() <= told.items()
    assert {"semcache.category": "default", "gen_ai.request.model": "m"}.items() <= told.items()
    assert len(served) == 2, "a hit that is replayed from memory has its span too"
    for hit in served:
        assert {"semcache.decision": "serve", "semcache.tier": "exact"}.items() <= facts(hit).items()
        assert facts(hit)["http.response.status_code"] == 200
    assert "secret" not in str(collector.spans)
    assert len(collector.spans) == 4


async def test_a_stream_and_a_failure_have_spans_that_end(tmp_path: Path, collector: Collector) -> None:
    upstream = Upstream(
        lambda sent: UpstreamError("gone") if b"fail" in sent.body else Answer(events("a", "b"), headers=STREAM)
    )
    chosen = {"traces__mode": "otlp", "traces__endpoint": collector.url, "traces__prompts": True}
    async with running(upstream, tmp_path, **chosen) as proxy:
        assert (await Call(proxy, ask("tell", stream=True)).reply()).whole
        assert (await Call(proxy, ask("fail")).reply()).status == 502
    streamed, failed = collector.named("chat m")
    assert facts(streamed)["semcache.stored"] == "stored"
    assert "tell" in facts(streamed)["gen_ai.input.messages"]
    assert (facts(failed)["error.type"], failed.status.code) == ("502", 2)
    calls = collector.named("POST /v1/chat/completions")
    assert {facts(one).get("error.type") for one in calls} == {None, "UpstreamError"}
    assert all(span.end_time_unix_nano >= span.start_time_unix_nano > 0 for span in collector.spans)


async def test_a_callers_choice_not_to_sample_is_kept_and_a_dead_collector_costs_no_answer(
    tmp_path: Path, collector: Collector
) -> None:
    upstream = Upstream(lambda _: Answer([completion()]))
    async with running(upstream, tmp_path, traces__mode="otlp", traces__endpoint=collector.url) as proxy:
        assert (await Call(proxy, ask("one"), traceparent=_PARENT[:-2] + "00").reply()).status == 200
    assert collector.spans == []
    (tmp_path / "other").mkdir()
    dead = {"traces__mode": "otlp", "traces__endpoint": "http://127.0.0.1:9/v1/traces"}
    async with running(upstream, tmp_path / "other", **dead) as proxy:
        assert (await Call(proxy, ask("two")).reply()).status == 200


async def test_without_traces_a_traceparent_goes_through_and_no_sdk_is_loaded(tmp_path: Path) -> None:
    upstream = Upstream(lambda _: Answer([completion()]))
    async with running(upstream, tmp_path) as proxy:
        await Call(proxy, ask("one"), traceparent=_PARENT).reply()
    assert ("traceparent", _PARENT) in list(upstream.calls[0].headers)
    code = "import semcache.proxy.application, sys; print([m for m in sys.modules if m.startswith('opentelemetry')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(ConfigError, match=r"semcache-llm\[otel\]"):
        open_tracing(TracesSection(mode="otlp"))
