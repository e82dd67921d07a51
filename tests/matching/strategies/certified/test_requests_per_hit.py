"""A target for all requests: what it allows a hit follows the requests of now, and so does the certificate."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import msgspec
import pytest

from semcache.config.packs import Pack
from semcache.matching.strategies.certified import CertifiedThreshold
from semcache.matching.strategies.certified.certificate import Certificate
from semcache.matching.strategies.certified.error_budget import ErrorBudget
from semcache.matching.strategies.certified.requests_per_hit import RequestsPerHit
from semcache.types.evidence import State
from tests.matching.strategies.certified.cases import PACK, SURE, label


def by_request(target: float) -> Pack:
    default = msgspec.structs.replace(PACK.categories["default"], contract="request", target=target)
    return msgspec.structs.replace(PACK, categories={**PACK.categories, "default": default})


def test_hits_that_become_common_after_a_long_cold_start_are_soon_allowed_no_more_than_the_target() -> None:
    """After 300,000 requests with 1% hits, 19% of requests might have been wrong at a target of 1%."""
    budget, rng = ErrorBudget(0.01, "request"), random.Random(0)
    for requests, share in ((50_000, 0.01), (3_000, 0.5)):
        for _ in range(requests):
            budget.note(None, served=rng.random() < share)
    assert budget.per_hit() * 0.5 == pytest.approx(0.01, rel=0.15)


def test_the_number_is_steady_where_the_traffic_is_and_outlives_a_restart() -> None:
    counted, again, rng = RequestsPerHit(), RequestsPerHit(), random.Random(1)
    seen = []
    for number in range(60_000):
        counted.note(served=rng.random() < 0.1)
        if number > 20_000:
            seen.append(counted.now())
    assert 9.0 < min(seen) < max(seen) < 11.0
    again.restore(json.loads(json.dumps(counted.state())))
    assert again.state() == counted.state()


def test_a_state_that_knows_only_how_many_there_ever_were_gives_way_to_what_is_seen() -> None:
    counted = RequestsPerHit()
    counted.restore((10_000.0, 100.0))
    assert counted.now() == pytest.approx(100, rel=0.02)
    for number in range(3_000):
        counted.note(served=number % 2 == 0)
    assert counted.now() == pytest.approx(2, rel=0.1)


def test_a_certificate_ends_when_less_is_allowed_than_it_was_won_at_and_can_be_won_at_that() -> None:
    certificate = Certificate(0.05)
    for number in range(100):
        certificate.take(0.2, wrong=number % 20 == 19)
    assert certificate.holds(0.2)
    assert not certificate.holds(0.02)
    assert certificate.evidence(0.02).needed > 100
    certificate.take(0.02, wrong=False)
    assert not certificate.certified, "5% is not below 2%"
    for _ in range(certificate.evidence(0.02).needed):
        certificate.take(0.02, wrong=False)
    assert certificate.holds(0.02)
    certificate.take(0.2, wrong=False)
    assert certificate.holds(0.02), "what was shown of a strict target stays shown"
    again = Certificate(0.05)
    again.restore(json.loads(json.dumps(certificate.state())))
    assert (again.holds(0.02), again.holds(0.01)) == (True, False)


def test_small_changes_of_what_is_allowed_cost_no_evidence() -> None:
    steady, changing, rng = Certificate(0.05), Certificate(0.05), random.Random(4)
    audits = {steady: 0, changing: 0}
    for certificate in audits:
        while not certificate.certified:
            audits[certificate] += 1
            certificate.take(0.1 if certificate is steady else rng.uniform(0.097, 0.103), wrong=False)
    assert audits[steady] <= audits[changing] < 1.3 * audits[steady]


def served(threshold: CertifiedThreshold, requests: int, share: float, error: float, seed: int) -> set[State]:
    """The states after the audits of so many requests, every fifth hit of which is audited."""
    rng, states, hits = random.Random(seed), set(), 0
    for _ in range(requests):
        hit = rng.random() < share
        threshold.note("default", 0.99 if hit else None, served=hit, audited=False)
        hits += hit
        if hit and hits % 5 == 0:
            threshold.observe(replace(label(SURE, correct=rng.random() >= error), category="default"))
            states.add(threshold.standing("default").state)
    return states


def test_a_category_that_errs_in_three_times_as_many_requests_as_allowed_does_not_stay_certified() -> None:
    """A cache that was cold for long was certified for good, because its rare hits might have been wrong."""
    threshold = CertifiedThreshold(by_request(0.01))
    assert State.CERTIFIED in served(threshold, 20_000, 0.01, 0.0, seed=2)
    served(threshold, 3_000, 0.5, 0.06, seed=3)
    known = threshold._of("default")
    assert State.CERTIFIED not in served(threshold, 5_000, 0.5, 0.06, seed=4)
    assert known.control.closed or known.control._narrowing.narrowed


def test_of_an_older_state_a_certificate_for_all_requests_begins_anew_and_one_for_hits_stays() -> None:
    for pack, kept in ((by_request(0.05), False), (PACK.with_target(0.05), True)):
        threshold, again = CertifiedThreshold(pack), CertifiedThreshold(pack)
        served(threshold, 2_000, 0.5, 0.0, seed=5)
        assert threshold.standing("default").state is State.CERTIFIED
        state = json.loads(json.dumps(threshold.state()))
        del state["default"]["lately"], state["default"]["certificate"]["level"]
        again.restore(state)
        assert (again.standing("default").state is State.CERTIFIED) is kept
        assert again.standing("default").certified == threshold.standing("default").certified
