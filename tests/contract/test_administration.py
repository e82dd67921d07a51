"""Feedback, invalidation, listings, statistics and metrics of a running proxy."""

from __future__ import annotations

import json
import re
import uuid
from pathlib import Path
from typing import Any

import pytest

from tests.contract.services import Service, semcache, serving
from tests.proxy.driver import cache_status

pytestmark = pytest.mark.process

METRICS = {
    "semcache_requests_total",
    "semcache_request_seconds",
    "semcache_stage_seconds",
    "semcache_saved_tokens_total",
    "semcache_saved_cost_usd_total",
    "semcache_entries",
    "semcache_index_bytes",
    "semcache_evictions_total",
    "semcache_false_hits_total",
    "semcache_threshold",
    "semcache_build_info",
    "semcache_configuration_info",
    "semcache_audits_total",
    "semcache_revalidations_total",
    "semcache_verifications_total",
    "semcache_error_per_hit",
    "semcache_certified_error",
    "semcache_audit_rate",
    "semcache_state",
}


class Corner:
    """A part of the cache that one test has to itself."""

    def __init__(self, proxy: Service) -> None:
        self.namespace = uuid.uuid4().hex
        self.of(proxy)

    def of(self, proxy: Service) -> None:
        """Be asked of this server from here on."""
        self._proxy = proxy

    def ask(self, prompt: str, **headers: str) -> Any:
        body = {"model": "gpt-4o", "messages": [{"role": "user", "content": prompt}]}
        headers["x-semcache-namespace"] = self.namespace
        return self._proxy.post("/v1/chat/completions", body, headers=headers)

    def detail(self, prompt: str) -> str:
        return str(cache_status(self.ask(prompt).headers["cache-status"])["detail"])

    def wrong(self, entry: str) -> Any:
        return self._proxy.post("/semcache/feedback", {"id": entry, "correct": False})


@pytest.fixture
def corner(proxy: Service) -> Corner:
    return Corner(proxy)


def test_an_answer_that_was_wrong_is_not_served_again(corner: Corner) -> None:
    corner.ask("What is a fjord?")
    hit = corner.ask("What is a fjord?")
    assert corner.wrong(hit.headers["x-semcache-id"]).json() == {"ok": True}
    assert corner.detail("What is a fjord?") == "cold"


def test_a_paraphrase_that_was_wrongly_answered_is_asked_anew(corner: Corner) -> None:
    first = corner.ask("How do I reset my password?")
    near = corner.ask("How can I reset my password?")
    assert near.json()["id"] == first.json()["id"]
    corner.wrong(near.headers["x-semcache-id"])
    assert corner.detail("How can I reset my password?") == "rejected-before"
    own = corner.ask("How can I reset my password?")
    assert own.json()["id"] != first.json()["id"]
    assert cache_status(own.headers["cache-status"])["detail"] == "exact"


@pytest.mark.slow
def test_reports_of_the_command_line_are_in_the_metrics_that_operators_alert_on(
    upstream: Service, tmp_path: Path
) -> None:
    def counted(server: Service) -> float:
        lines = server.get("/metrics").text.splitlines()
        name = "semcache_false_hits_total{"
        return sum(float(line.split()[-1]) for line in lines if line.startswith(name) and 'source="feedback"' in line)

    def report(entry: str) -> None:
        semcache("feedback", entry, "--wrong", "--data", str(tmp_path))

    audits = {"SEMCACHE_BACKGROUND__AUDIT_RATE": "0"}
    asked = [f"What is a {thing}?" for thing in ("fjord", "glacier", "moraine")]
    with serving(upstream.url, tmp_path, **audits) as server:
        # By one worker: each of two that miss a prompt at once keeps an answer, and the later takes the first's place.
        corner = Corner(server)
        for prompt in asked:
            corner.ask(prompt)
    with serving(upstream.url, tmp_path, "--workers", "2", **audits) as server:
        corner.of(server)
        fjord, glacier, moraine = [corner.ask(prompt).headers["x-semcache-id"] for prompt in asked]
        assert counted(server) == 0
        report(fjord)
        assert [counted(server) for _ in range(4)] == [1] * 4, "whichever worker is asked, none counts it again"
        assert corner.wrong(glacier).json() == {"ok": True}
        assert counted(server) == 2
        report(moraine)
    with serving(upstream.url, tmp_path, **audits) as server:
        assert counted(server) == 1, "what was reported since the last server was asked is in the metrics of the next"


def test_feedback_on_what_does_not_exist(corner: Corner) -> None:
    for nonsense in ("0" * 16, "f" * 16, "hello", ""):
        got = corner.wrong(nonsense)
        assert got.status_code == 404
        assert got.json()["error"]["code"] == "not_found"


def test_invalidation_can_be_tried_first(corner: Corner, proxy: Service) -> None:
    corner.ask("What is a fjord?", **{"x-semcache-tags": corner.namespace})
    where = {"tag": corner.namespace}
    dry = proxy.post("/semcache/invalidate", {**where, "dry_run": True}).json()
    assert corner.detail("What is a fjord?") == "exact"
    done = proxy.post("/semcache/invalidate", where).json()
    assert dry == {**done, "dry_run": True}
    assert done["count"] == 1
    assert corner.detail("What is a fjord?") == "cold"
    assert proxy.post("/semcache/invalidate", {}).status_code == 400
    assert proxy.post("/semcache/invalidate", {"tga": "x"}).status_code == 422


def test_entries_are_listed_in_slices(corner: Corner, proxy: Service) -> None:
    prompts = {f"What is {thing}?" for thing in ("granite", "a waterfall", "moss")}
    for prompt in prompts:
        corner.ask(prompt)
    seen, after = [], None
    while True:
        query = {"namespace": corner.namespace, "limit": 2} | ({"after": after} if after else {})
        page = proxy.get("/semcache/entries", params=query).json()
        seen += page["entries"]
        if (after := page["next"]) is None:
            break
    assert sorted(entry["prompt"] for entry in seen) == sorted(prompts)
    one = proxy.get(f"/semcache/entries/{seen[0]['id']}").json()
    assert one["answer"]["choices"][0]["message"]["content"]
    assert proxy.get("/semcache/entries", params={"after": "x"}).status_code == 400


def test_statistics_and_metrics_count(corner: Corner, proxy: Service) -> None:
    def requests() -> float:
        found = re.findall(r"^semcache_requests_total\{.*\} (\S+)$", proxy.get("/metrics").text, re.MULTILINE)
        return sum(map(float, found))

    before, metrics = proxy.get("/semcache/stats").json()["total"], requests()
    for _ in range(4):
        corner.ask("What is a fjord?")
    after = proxy.get("/semcache/stats").json()["total"]
    assert after["requests"] - before["requests"] == 4
    assert after["exact"] - before["exact"] == 3
    assert after["misses"] - before["misses"] == 1
    assert after["saved_tokens"] > before["saved_tokens"]
    assert after["saved_usd"] > before["saved_usd"]
    assert requests() - metrics == 4


def test_every_metric_that_dashboards_rely_on_is_there(proxy: Service) -> None:
    text = proxy.get("/metrics").text
    families = set(re.findall(r"^# TYPE (\S+) ", text, re.MULTILINE))
    assert families >= METRICS
    assert re.search(r"^semcache_build_info\{.*\} 1.0$", text, re.MULTILINE)
    digest = proxy.get("/readyz").json()["configuration"]
    assert re.search(rf'^semcache_configuration_info\{{digest="{digest}"\}} 1.0$', text, re.MULTILINE)
    assert f"configuration {digest}" in proxy.log.read_text()
    assert re.search(r'^semcache_threshold\{category="default"\} 0\.\d+$', text, re.MULTILINE)
    assert "fjord" not in text


def test_a_request_is_one_line_of_the_log_without_its_prompt(corner: Corner, proxy: Service) -> None:
    proxy.get("/metrics")
    before = len(proxy.output.read_text().splitlines())
    replies = [corner.ask("What is a drumlin, Zebediah?") for _ in range(4)]
    proxy.get("/metrics")
    lines = [json.loads(line) for line in proxy.output.read_text().splitlines()[before:]]
    assert [line["outcome"] for line in lines] == ["miss", "exact", "exact", "exact"]
    assert {line["status"] for line in lines} == {200}
    assert lines[0]["stored"] == "stored"
    assert {"key", "upstream"} <= lines[0]["stages_ms"].keys()
    assert lines[1]["request_id"] == replies[1].headers["x-request-id"]
    assert "Zebediah" not in proxy.output.read_text() + proxy.log.read_text()
