"""Every metric and log field name, once, and how an outcome becomes metrics.

Knows nothing of HTTP or of who scrapes. Invariant: labels are bounded (endpoints, outcomes, reasons, the pack's
categories); no tenant, id or prompt is ever a label, and no prompt is ever logged. What alerts count is there from the
start, as 0: Prometheus sees no increase in a series that appears with its first count.
"""

from __future__ import annotations

import math
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from semcache.types import Recorded, Why, public_id
from semcache.types.evidence import Label, LabelSource, Standing, State

COMPONENTS = (
    *("store", "index", "embedder", "cache", "dialect", "replay", "background", "learning", "judge", "plans", "near"),
    *("threshold", "wording", "judged", "freshness"),  # what learns from labels
)
UNLABELLED = ("undecided", "late", "failed", "lapsed", "no-answer", "not-stored", "full", "given-up")
EVICTED = ("quota", "disk", "expired", "unreadable")
REPLIED = ("chat", "completions", "responses", "embeddings", "messages", "other")  # "other" is passed through unread
LIMITED = ("requests", "tokens", "dollars")
STAGES = ("key", "embed", "search", "guard", "store", "upstream")
_SECONDS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120)


class Meter:
    """The Prometheus metrics of one process, in a registry of its own."""

    def __init__(self) -> None:
        self.registry = r = CollectorRegistry()
        self._requests = Counter(
            "semcache_requests_total", "Requests by outcome.", ["endpoint", "category", "outcome", "why"], registry=r
        )
        self._replies = Counter(
            "semcache_replies_total",
            "Replies under /v1 by class of status, such as 5xx; refused requests too.",
            ["endpoint", "status"],
            registry=r,
        )
        self._seconds = Histogram(
            "semcache_request_seconds",
            "Time to the end of a reply.",
            ["endpoint", "outcome"],
            registry=r,
            buckets=_SECONDS,
        )
        self._stages = Histogram("semcache_stage_seconds", "Time per stage.", ["stage"], registry=r, buckets=_SECONDS)
        self._saved_tokens = Counter("semcache_saved_tokens_total", "Tokens not bought.", ["kind"], registry=r)
        self._saved_cost = Counter("semcache_saved_cost_usd_total", "US dollars not spent.", registry=r)
        self._spent_cost = Counter("semcache_spent_cost_usd_total", "US dollars spent upstream.", registry=r)
        self._overhead = Counter(
            "semcache_overhead_cost_usd_total", "US dollars that judges and verifiers cost.", registry=r
        )
        self._stores = Counter(
            "semcache_stores_total", "Answers kept or discarded.", ["category", "result"], registry=r
        )
        self.false_hits = Counter(
            "semcache_false_hits_total", "Served answers found wrong.", ["category", "source"], registry=r
        )
        self.evictions = Counter("semcache_evictions_total", "Entries given up.", ["reason"], registry=r)
        self.faults = Counter(
            "semcache_faults_total", "Cache faults survived by forwarding.", ["component"], registry=r
        )
        self.dropped_events = Counter("semcache_dropped_events_total", "Log rows lost to a failing store.", registry=r)
        self.limited = Counter(
            "semcache_limited_total", "Requests beyond the limits of their API key.", ["limit"], registry=r
        )
        self.entries = Gauge(
            "semcache_entries", "Entries held.", ["category"], registry=r, multiprocess_mode="mostrecent"
        )
        self.index_bytes = Gauge(
            "semcache_index_bytes", "Memory of the vector index.", registry=r, multiprocess_mode="livesum"
        )
        self.store_bytes = Gauge(
            "semcache_store_bytes",
            "Bytes of the database that hold something.",
            registry=r,
            multiprocess_mode="mostrecent",
        )
        self.threshold = Gauge(
            "semcache_threshold", "Score served from.", ["category"], registry=r, multiprocess_mode="mostrecent"
        )
        self.audits = Counter(
            "semcache_audits_total",
            "Served answers that the backend was asked about all the same.",
            ["category", "result"],
            registry=r,
        )
        self.revalidations = Counter(
            "semcache_revalidations_total", "Stale answers asked anew.", ["category", "result"], registry=r
        )
        self.verifications = Counter(
            "semcache_verifications_total", "Uncertain neighbours verified.", ["category", "result"], registry=r
        )
        self._labels = Counter(
            "semcache_labels_total", "Labels learned from.", ["category", "source", "correct"], registry=r
        )
        self._unlabelled = Counter(
            "semcache_dropped_labels_total", "Comparisons that yielded no label.", ["reason"], registry=r
        )
        self._plans = Counter(
            "semcache_plan_lookups_total", "Plans looked up or learned, by reason.", ["why"], registry=r
        )
        self._tools = Counter(
            "semcache_tool_calls_total", "Calls of tools looked up or recorded, by reason.", ["why"], registry=r
        )
        self._routed = Counter(
            "semcache_routed_total", "Requests by upstream.", ["replica", "why", "result"], registry=r
        )
        self._routed_tokens = Counter(
            "semcache_routed_prompt_tokens_total",
            "Prompt tokens by upstream: all, those believed to be in its KV cache, those it said were.",
            ["replica", "kind"],
            registry=r,
        )
        self._error_per_hit = self._known_of_category("semcache_error_per_hit", "Error of audited hits by meaning.")
        self._certified_error = self._known_of_category("semcache_certified_error", "Error per hit that is certified.")
        self._audit_rate = self._known_of_category("semcache_audit_rate", "Share of hits by meaning that is audited.")
        self._state = Gauge(
            "semcache_state",
            "1 for the state that a category is in.",
            ["category", "state"],
            registry=r,
            multiprocess_mode="mostrecent",
        )
        self.build = Gauge(
            "semcache_build_info", "Version and embedder.", ["version", "embedder"], registry=r, multiprocess_mode="max"
        )
        # Of live processes: of one that died before a reload nobody should think that it serves by something else.
        self._configured = Gauge(
            "semcache_configuration_info",
            "1 for the digest of what a process serves by: settings, pack, prices, embedder.",
            ["digest"],
            registry=r,
            multiprocess_mode="livemax",
        )
        self.configuration = ""
        for counter, values in (
            (self.faults, COMPONENTS),
            (self._unlabelled, UNLABELLED),
            (self.evictions, EVICTED),
            (self.limited, LIMITED),
        ):
            for value in values:
                counter.labels(value)
        for endpoint in REPLIED:
            self._replies.labels(endpoint, "5xx")

    def expect(self, category: str) -> None:
        """Show what alerts count in this category as 0, unless it has been counted."""
        for source in (LabelSource.AUDIT, LabelSource.FEEDBACK):
            self.false_hits.labels(category, source.value)
        for result in ("stored", Why.FAULT.value):
            self._stores.labels(category, result)

    def _known_of_category(self, name: str, meaning: str) -> Gauge:
        return Gauge(name, meaning, ["category"], registry=self.registry, multiprocess_mode="mostrecent")

    def stand(self, category: str, standing: Standing) -> None:
        """Show where a strategy stands; what is not known is NaN, which no alert mistakes for zero."""
        estimate = standing.error.estimate if standing.error is not None else math.nan
        self._error_per_hit.labels(category).set(estimate)
        self._certified_error.labels(category).set(math.nan if standing.certified is None else standing.certified)
        self._audit_rate.labels(category).set(standing.audit_rate)
        for state in State:
            self._state.labels(category, state.value).set(state is standing.state)

    def configured(self, digest: str) -> None:
        """Show the digest of what this process serves by from now on."""
        if self.configuration:
            self._configured.labels(self.configuration).set(0)
        self._configured.labels(digest).set(1)
        self.configuration = digest

    def replied(self, endpoint: str, status: int) -> None:
        """Count a reply that begins with this status."""
        self._replies.labels(endpoint, f"{status // 100}xx").inc()

    def labelled(self, label: Label) -> None:
        """Count a label that is learned from."""
        self._labels.labels(label.category, label.source.value, str(label.correct).lower()).inc()

    def unlabelled(self, reason: str) -> None:
        """Count a comparison that yielded no label."""
        self._unlabelled.labels(reason).inc()

    def plan_looked_up(self, why: str) -> None:
        """Count a plan that was looked up or learned; one that could not be is a fault, too."""
        self._plans.labels(why).inc()
        if why == "fault":
            self.faults.labels("plans").inc()

    def tool_looked_up(self, why: str) -> None:
        """Count a call of a tool that was looked up or recorded."""
        self._tools.labels(why).inc()

    def verified(self, category: str, result: str, seconds: float) -> None:
        """Count what came of asking a verifier while a client waited for so long."""
        self.verifications.labels(category, result).inc()
        if seconds:
            self._stages.labels("verify").observe(seconds)

    def routed(self, replica: str, why: str, result: str, *, prompt: int, predicted: int, reported: int | None) -> None:
        """Count what came of sending a request to one of several upstreams. Tokens count where it reported any."""
        self._routed.labels(replica, why, result).inc()
        if reported is not None:
            for kind, tokens in (("all", prompt), ("predicted", predicted), ("cached", reported)):
                self._routed_tokens.labels(replica, kind).inc(tokens)

    def observe(self, event: Recorded) -> None:
        """Count one outcome, or `event.count` identical ones."""
        labels = (event.endpoint, event.category, event.outcome.value, event.why.value)
        self._requests.labels(*labels).inc(event.count)
        seconds = self._seconds.labels(event.endpoint, event.outcome.value)
        for _ in range(event.count):
            seconds.observe(event.seconds / event.count)
        for stage in STAGES:
            spent = getattr(event.timings, stage)
            if spent:
                self._stages.labels(stage).observe(spent)
        if event.saved.prompt_tokens or event.saved.completion_tokens:
            self._saved_tokens.labels("prompt").inc(event.saved.prompt_tokens)
            self._saved_tokens.labels("completion").inc(event.saved.completion_tokens)
        if event.saved_cost:
            self._saved_cost.inc(event.saved_cost)
        if event.spent_cost:
            self._spent_cost.inc(event.spent_cost)
        if event.overhead:
            self._overhead.inc(event.overhead)
        if event.stored is not None:
            self._stores.labels(event.category, event.stored).inc()


def log_fields(event: Recorded) -> dict[str, Any]:
    """The JSON line of one request. Durations are milliseconds."""
    fields: dict[str, Any] = {
        "at": round(event.at, 3),
        "event": "request" if event.count else "background",
        "request_id": event.request_id,
        "endpoint": event.endpoint,
        "tenant": event.scope.tenant,
        "model": event.model,
        "category": event.category,
        "outcome": event.outcome.value,
        "why": event.why.value,
        "status": event.status,
        "ms": round(event.seconds * 1e3, 3),
    }
    if event.entry_id is not None:
        fields["entry"] = public_id(event.entry_id)
    if event.score is not None:
        fields["score"] = round(event.score, 4)
    if event.p_correct is not None:
        fields["p_correct"] = round(event.p_correct, 4)
    if event.stored is not None:
        fields["stored"] = event.stored
    if event.stream:
        fields["stream"] = True
    if event.collapsed:
        fields["collapsed"] = True
    stages = {stage: round(value * 1e3, 3) for stage in STAGES if (value := getattr(event.timings, stage))}
    if stages:
        fields["stages_ms"] = stages
    return fields
