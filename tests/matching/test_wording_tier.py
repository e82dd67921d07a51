"""The wording tier: what it serves, what it learns, and that one kind of edit never pays for another."""

from __future__ import annotations

import random
from dataclasses import replace

import msgspec
import pytest

from semcache.config.packs import Category, Pack, load
from semcache.matching.label_noise import LabelNoise
from semcache.matching.wording_tier import WordingTier, edit_of, features_of
from semcache.request.wording import Edit
from semcache.types import Controls, Why
from semcache.types.evidence import Label, LabelSource

PACK = load("default")
CONTROLS = Controls()


def audit(edit: Edit, *, correct: bool, tenant: str = "t", source: LabelSource = LabelSource.AUDIT) -> Label:
    return Label(
        at=0.0,
        category="default",
        tenant=tenant,
        entry_id=7,
        answer=7,
        exact=b"e",
        score=1.0,
        features=features_of(edit),
        p_correct=0.999,
        correct=correct,
        source=source,
        served=source is LabelSource.AUDIT,
        chance=0.1,
    )


def category(**changes: object) -> Pack:
    default = msgspec.structs.replace(PACK.categories["default"], **changes)
    return msgspec.structs.replace(PACK, categories={**PACK.categories, "default": default})


def test_every_kind_is_served_cold_within_the_shipped_target() -> None:
    tier = WordingTier(PACK)
    for edit in Edit:
        verdict = tier.judge("default", edit, CONTROLS)
        assert verdict.serve
        assert 1.0 - verdict.p_correct <= PACK.target
        assert verdict.audit > 0.0


def test_riskier_kinds_are_believed_less() -> None:
    tier = WordingTier(PACK)
    believed = [tier.judge("default", edit, CONTROLS).p_correct for edit in Edit]
    assert believed == sorted(believed, reverse=True)


@pytest.mark.parametrize(
    "changes", [{"wording": ()}, {"semantic": False}, {"cache": False}, {"wording": ("characters", "frame")}]
)
def test_a_pack_may_switch_kinds_off(changes: dict[str, object]) -> None:
    assert not WordingTier(category(**changes)).judge("default", Edit.TYPO, CONTROLS).serve


def test_a_caller_who_wants_fewer_errors_than_a_kind_makes_is_not_served_by_it() -> None:
    tier = WordingTier(PACK)
    strict = Controls(max_error=0.001)
    assert tier.judge("default", Edit.CHARACTERS, strict).serve
    assert not tier.judge("default", Edit.TYPO, strict).serve


def test_wrong_audits_close_their_own_kind_and_no_other() -> None:
    tier = WordingTier(PACK)
    for _ in range(5):
        tier.observe(audit(Edit.FRAME, correct=False))
    assert not tier.judge("default", Edit.FRAME, CONTROLS).serve
    assert tier.judge("default", Edit.ORDER, CONTROLS).serve
    assert tier.judge("news", Edit.FRAME, CONTROLS).serve


def test_one_wrong_audit_among_many_right_ones_closes_nothing() -> None:
    tier = WordingTier(PACK)
    for number in range(400):
        tier.observe(audit(Edit.FILLER, correct=number != 200))
    assert tier.judge("default", Edit.FILLER, CONTROLS).serve


def test_a_closed_kind_opens_again_by_right_answers_to_what_it_would_have_served() -> None:
    tier = WordingTier(PACK)
    for _ in range(400):
        tier.observe(audit(Edit.ORDER, correct=True))
    for _ in range(30):
        tier.observe(audit(Edit.ORDER, correct=False))
    assert not tier.judge("default", Edit.ORDER, CONTROLS).serve
    assert tier.standing()["default"][0].closed
    for _ in range(50):
        tier.observe(audit(Edit.ORDER, correct=True, source=LabelSource.MISS))
    assert not tier.judge("default", Edit.ORDER, CONTROLS).serve, "fifty right ones are no evidence of 1% yet"
    tier.observe(audit(Edit.ORDER, correct=False, source=LabelSource.MISS))
    for _ in range(200):
        tier.observe(audit(Edit.ORDER, correct=True, source=LabelSource.MISS))
    assert tier.judge("default", Edit.ORDER, CONTROLS).serve


@pytest.mark.parametrize(("harsh", "allayed"), [(0.0, 10), (0.03, 10), (0.1, 7), (0.4, 1)])
def test_after_an_error_hits_are_audited_densely_until_as_many_were_right(harsh: float, allayed: int) -> None:
    """A kind that turned wrong after two thousand right hits served 75 wrong answers before it was closed; now 21."""
    tier = WordingTier(PACK, noise=LabelNoise(harsh=harsh))
    for _ in range(150):
        tier.observe(audit(Edit.FRAME, correct=True))
    before = tier.judge("default", Edit.FRAME, CONTROLS).audit
    tier.observe(audit(Edit.FRAME, correct=False))
    again = WordingTier(PACK, noise=LabelNoise(harsh=harsh))
    again.restore(tier.state())
    seen = 0
    while again.judge("default", Edit.FRAME, CONTROLS).audit > 3 * before:
        again.observe(audit(Edit.FRAME, correct=True))
        seen += 1
    assert seen == allayed
    assert again.judge("default", Edit.FRAME, CONTROLS).audit <= before


def test_audits_become_rarer_with_evidence_and_never_stop() -> None:
    tier = WordingTier(PACK)
    rates = []
    for _ in range(3):
        tier.note("default", "frame", audited=True)
        rates.append(tier.judge("default", Edit.FRAME, CONTROLS).audit)
        for _ in range(1000):
            tier.observe(audit(Edit.FRAME, correct=True))
    assert rates[0] > rates[1] > rates[2] > 0.0


def test_what_was_learned_survives() -> None:
    tier, again = WordingTier(PACK), WordingTier(PACK)
    for number in range(50):
        tier.note("default", "frame", audited=number % 10 == 0)
        tier.observe(audit(Edit.FRAME, correct=number != 3))
    again.restore(msgspec.json.decode(msgspec.json.encode(tier.state())))
    assert again.standing() == tier.standing()
    with pytest.raises(ValueError, match="no kind of edit"):
        again.restore({"default/magic": {}})


def test_labels_of_meaning_and_age_are_none_of_its_own() -> None:
    label = audit(Edit.FRAME, correct=True)
    assert edit_of(label) is Edit.FRAME
    assert edit_of(replace(label, features=(0.5, 1.0))) is None
    assert edit_of(replace(label, features=(float(len(Edit)),))) is None
    assert edit_of(replace(label, source=LabelSource.REASKED)) is None
    assert isinstance(PACK.categories["default"], Category)


def test_a_withdrawn_report_opens_nothing_that_audits_have_closed() -> None:
    tier = WordingTier(PACK.with_target(0.05))
    audits = 0
    while tier.judge("default", Edit.CHARACTERS, CONTROLS).serve:
        tier.observe(audit(Edit.CHARACTERS, correct=False))
        audits += 1
    assert audits < 10
    for source in (LabelSource.FEEDBACK, LabelSource.WITHDRAWN):
        tier.observe(audit(Edit.CHARACTERS, correct=False, source=source))
        kept = WordingTier(PACK.with_target(0.05))
        kept.restore(tier.state())
        assert not tier.judge("default", Edit.CHARACTERS, CONTROLS).serve
        assert not kept.judge("default", Edit.CHARACTERS, CONTROLS).serve


def test_errors_of_a_tenant_that_is_set_aside_open_what_they_alone_have_closed() -> None:
    tier, false = WordingTier(PACK), audit(Edit.TYPO, correct=False, tenant="liar")
    for _ in range(100):
        tier.observe(audit(Edit.TYPO, correct=True))
    for _ in range(3):
        tier.observe(false)
    assert tier.judge("default", Edit.TYPO, CONTROLS).why is Why.CLOSED
    for _ in range(3):
        tier.disown(false)
    assert tier.judge("default", Edit.TYPO, CONTROLS).serve
    for _ in range(40):
        tier.observe(false)
    tier.disown(false)
    assert tier.judge("default", Edit.TYPO, CONTROLS).why is Why.CLOSED, "audits have shown it"


def test_a_class_of_tenants_is_closed_and_opened_by_labels_that_teach_nobody_else() -> None:
    tier = WordingTier(PACK)
    for _ in range(40):
        tier.observe_own(audit(Edit.FILLER, correct=False, tenant="odd"))
    assert tier.judge("default", Edit.FILLER, CONTROLS, "odd").why is Why.CLOSED
    assert tier.judge("default", Edit.FILLER, CONTROLS, "other").serve
    for _ in range(400):
        tier.observe_own(audit(Edit.FILLER, correct=True, tenant="odd", source=LabelSource.MISS))
    assert tier.judge("default", Edit.FILLER, CONTROLS, "odd").serve


def closes(error: float, noise: LabelNoise, seed: int) -> bool:
    """Whether 1,500 audits by a judge with this noise close a kind of edits with this error."""
    rng, tier = random.Random(seed), WordingTier(PACK, noise=noise)
    for _ in range(1500):
        verdict = tier.judge("default", Edit.SPELLING, CONTROLS)
        if not verdict.serve:
            return True
        wrong = rng.random() < error
        correct = rng.random() < noise.kind if wrong else rng.random() >= noise.harsh
        tier.observe(replace(audit(Edit.SPELLING, correct=correct), p_correct=verdict.p_correct))
    return False


@pytest.mark.parametrize("noise", [LabelNoise(harsh=0.03), LabelNoise(harsh=0.1), LabelNoise(kind=0.3)], ids=str)
def test_a_judge_that_is_known_to_err_closes_no_kind_that_is_right_and_every_one_that_is_not(noise: LabelNoise) -> None:
    """A judge that calls 3% of right answers wrong ended each kind of edits within some hundred audits."""
    assert not any(closes(0.0, noise, seed) for seed in range(4))
    assert all(closes(0.1, noise, seed) for seed in range(4))


def test_an_error_of_a_tenant_that_is_set_aside_is_taken_back_as_it_was_counted() -> None:
    tier = WordingTier(PACK, noise=LabelNoise(harsh=0.03, kind=0.1))
    false = audit(Edit.TYPO, correct=False)
    for _ in range(20):
        tier.observe(audit(Edit.TYPO, correct=True))
    before = tier.judge("default", Edit.TYPO, CONTROLS).p_correct
    tier.observe(false)
    assert tier.judge("default", Edit.TYPO, CONTROLS).p_correct < before
    tier.disown(false)
    assert tier.judge("default", Edit.TYPO, CONTROLS).p_correct == pytest.approx(before)
