"""What dashboards and alerts read: states that exclude each other, and nothing known that is not."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

import semcache
from semcache.learning import label_log
from semcache.learning.timed_judge import NoVerdict
from semcache.runtime import telemetry
from semcache.runtime.guarded_calls import PARTS
from semcache.runtime.telemetry import Meter, log_fields
from semcache.types import Outcome, Recorded, Scope, Why
from semcache.types.evidence import Interval, Standing, State


def shown(meter: Meter, name: str, **labels: str) -> float | None:
    return meter.registry.get_sample_value(name, {"category": "support", **labels})


def standing(state: State, **fields: Any) -> Standing:
    return Standing("certified", state, target=0.01, score=0.7, **fields)


def test_a_category_is_in_one_state_at_a_time() -> None:
    meter = Meter()
    for state in State:
        meter.stand("support", standing(state))
        lit = [one for one in State if shown(meter, "semcache_state", state=one.value) == 1]
        assert lit == [state]
        assert all(shown(meter, "semcache_state", state=one.value) is not None for one in State)


def test_what_is_not_known_is_no_number() -> None:
    meter = Meter()
    known = standing(State.CERTIFIED, certified=0.01, error=Interval(0.004, 0.001, 0.009), audit_rate=0.05)
    for now, expected in ((known, (0.004, 0.01, 0.05)), (standing(State.CLOSED), (math.nan, math.nan, 0.0))):
        meter.stand("support", now)
        names = ("semcache_error_per_hit", "semcache_certified_error", "semcache_audit_rate")
        assert [shown(meter, name) for name in names] == pytest.approx(list(expected), nan_ok=True)


@pytest.mark.parametrize(("count", "event"), [(1, "request"), (0, "background")])
def test_later_news_of_a_request_is_no_request_of_the_log(count: int, event: str) -> None:
    row = Recorded("r", 1.0, "chat", Scope(), "m", "support", Outcome.SEMANTIC, Why.SEMANTIC, 200, count=count)
    meter = Meter()
    meter.observe(row)
    assert log_fields(row)["event"] == event
    assert msgspec.json.encode(log_fields(row))
    labels = {"endpoint": "chat", "category": "support", "outcome": "semantic", "why": "semantic"}
    assert meter.registry.get_sample_value("semcache_requests_total", labels) == count


def test_what_alerts_count_is_there_before_it_is_counted() -> None:
    """Prometheus sees no increase in a series that appears with its first count."""
    meter = Meter()
    meter.expect("support")
    meter.false_hits.labels("support", "feedback").inc()
    meter.expect("support")
    assert shown(meter, "semcache_false_hits_total", source="audit") == 0
    assert shown(meter, "semcache_false_hits_total", source="feedback") == 1
    assert shown(meter, "semcache_stores_total", result="cache-fault") == 0
    for name, label, values in (
        ("semcache_faults_total", "component", telemetry.COMPONENTS),
        ("semcache_dropped_labels_total", "reason", telemetry.UNLABELLED),
        ("semcache_evictions_total", "reason", telemetry.EVICTED),
        ("semcache_limited_total", "limit", telemetry.LIMITED),
    ):
        assert [meter.registry.get_sample_value(name, {label: value}) for value in values] == [0.0] * len(values)


def test_every_value_that_the_code_counts_is_known_before() -> None:
    source = "\n".join(path.read_text(encoding="utf-8") for path in Path(semcache.__file__).parent.rglob("*.py"))
    learners = {label_log.STRATEGY, label_log.FRESHNESS, label_log.WORDING, label_log.JUDGED}
    for pattern, known, beside in (
        (r'(?:faults\.labels|log_fault)\((?:\w+\.?)*,? ?"([\w-]+)"\)', telemetry.COMPONENTS, {*PARTS, *learners}),
        (r'(?:unlabelled|\.left)\((?:[\w.]+, )?"([\w-]+)"\)', telemetry.UNLABELLED, set(get_args(NoVerdict))),
        (r'evictions\.labels\("([\w-]+)"\)', telemetry.EVICTED, set()),
    ):
        assert {*re.findall(pattern, source), *beside} == set(known)
