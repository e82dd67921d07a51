"""Claims about served answers: what ends one, what it forgets then, and how what is closed opens again."""

from __future__ import annotations

import json

from semcache.matching.strategies.certified.audited_claim import AuditedClaim


def closed_claim() -> AuditedClaim:
    """A claim that was certified, and closed by errors after that."""
    claim = AuditedClaim(0.05)
    while not claim.certificate.certified:
        claim.audit(0.01, wrong=False)
    while not claim.audit(0.01, wrong=True):
        pass
    return claim


def test_errors_close_and_nothing_stays_certified_that_was_shown_before() -> None:
    claim = closed_claim()
    assert claim.closed
    assert (claim.certificate.audits, claim.certificate.certified, claim.certificate.level) == (0, False, None)


def test_what_is_closed_opens_by_right_labels_as_fast_after_a_restart_and_after_its_audits_were_forgotten() -> None:
    left = []
    for _ in range(3):
        claim = closed_claim()
        for _ in range(20):
            assert not claim.watch(0.01, correct=True)
        left.append(claim)
    left[1].forget_audits()
    left[2] = AuditedClaim(0.05)
    left[2].restore(json.loads(json.dumps(left[0].state())))
    needed = []
    for claim in left:
        labels = 1
        while not claim.watch(0.01, correct=True):
            labels += 1
        assert not claim.closed
        needed.append(labels)
    assert needed == [needed[0]] * 3
    assert needed[0] > 1


def test_labels_from_before_a_closing_open_nothing() -> None:
    claim = AuditedClaim(0.05)
    for _ in range(500):
        assert not claim.watch(0.01, correct=True), "it is open"
    claim.close()
    assert not claim.watch(0.01, correct=True)
    assert claim.closed
