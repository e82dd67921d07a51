"""Narrowing and widening: what audits of surer answers have shown is not said of less sure ones."""

from __future__ import annotations

from semcache.matching.strategies.certified import CertifiedThreshold
from semcache.matching.strategies.certified.narrowing import Narrowing
from semcache.types.evidence import LabelSource, State
from tests.matching.strategies.certified.cases import PACK, SURE, label


def test_a_certificate_of_the_surest_answers_ends_when_less_sure_ones_are_served_again() -> None:
    known = Narrowing(0.05)
    while not known.narrowed:
        known.audit(0.01, wrong=True, stated=0.01)
    while not known.certificate.certified:
        known.audit(0.01, wrong=False, stated=0.01)
    while known.narrowed:
        known.watch(0.01, correct=True)
    assert known.factor() == 1.0
    assert not known.certificate.certified
    assert known.certificate.level is None


def test_a_category_and_its_tenants_that_are_served_more_again_have_no_claim_that_was_made_of_less() -> None:
    threshold = CertifiedThreshold(PACK)
    known = threshold._of("support")

    def take(source: LabelSource) -> None:
        threshold.note("support", 0.999, served=True, audited=False)
        threshold.observe(label(SURE, correct=True, source=source))

    known.control._narrowing._steps = 1
    while threshold.standing("support").classes == () or threshold.standing("support").classes[0].certified is None:
        take(LabelSource.AUDIT)
    assert known.control._narrowing.narrowed
    while known.control._narrowing.narrowed:
        take(LabelSource.MISS)
    standing = threshold.standing("support")
    assert (standing.state, standing.certified, standing.audits) == (State.PROVISIONAL, None, 0)
    assert [(one.name, one.certified, one.audits) for one in standing.classes] == [("acme", None, 0)]
