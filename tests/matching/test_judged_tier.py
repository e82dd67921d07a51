"""The judged tier: a language model's verdict is worth what audits show, and never costs a right answer."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.config import packs
from semcache.config.packs import Pack
from semcache.matching import features
from semcache.matching.judged_tier import DoubtedNeighbour, JudgedTier
from semcache.matching.label_noise import LabelNoise
from semcache.matching.logistic import log_odds
from semcache.matching.model_verdict import model_verdict_about, with_model_verdict, without_model_verdict
from semcache.matching.strategies import ByCategory
from semcache.matching.verdict_worth import VerdictWorth
from semcache.types import Controls, Why
from semcache.types.evidence import Label, LabelSource

PACK = packs.load("default")
PLAIN = (0.0,) * len(features.NAMES)
FREE = Controls()
ODDS = st.floats(-8.0, 8.0)


def at(target: float) -> Pack:
    return msgspec.structs.replace(PACK, target=target)


def label(
    *, correct: bool, source: LabelSource = LabelSource.AUDIT, word: float = 0.9, entry_id: int = 1, before: float = 0.7
) -> Label:
    return Label(
        at=0.0,
        category="default",
        tenant="t",
        entry_id=entry_id,
        answer=entry_id,
        exact=b"x",
        score=0.8,
        features=with_model_verdict(PLAIN, model_verdict_about(before, word, sampled=True)),
        p_correct=0.995,
        correct=correct,
        source=source,
        served=source is LabelSource.AUDIT,
    )


@given(
    before=st.floats(0.0, 1.0),
    word=st.floats(0.8, 1.0),
    labels=st.lists(st.tuples(ODDS, st.floats(0.0, 1.0), st.booleans()), max_size=30),
)
def test_a_yes_never_lowers_what_is_believed_whatever_was_learned(
    before: float, word: float, labels: list[tuple[float, float, bool]]
) -> None:
    worth = VerdictWorth()
    for odds, said, correct in labels:
        worth.learn("default", odds, said, correct=correct)
        worth.audited("default", float(not correct))
    assert worth.p_correct("default", before, word) >= before


@given(target=st.floats(0.001, 0.3), before=st.floats(0.0, 1.0))
def test_nobody_is_left_unasked_whom_some_word_would_serve(target: float, before: float) -> None:
    tier = JudgedTier(at(target))
    served = [tier.judge(DoubtedNeighbour("default", before, FREE), said / 100).serve for said in range(101)]
    assert tier.could_serve(DoubtedNeighbour("default", before, FREE)) == any(served)


def test_a_sure_yes_on_a_plausible_neighbour_is_enough_for_one_percent_and_a_no_never_is() -> None:
    tier = JudgedTier(at(0.01))
    assert tier.judge(DoubtedNeighbour("default", 0.7, FREE), 0.97).serve
    assert not tier.judge(DoubtedNeighbour("default", 0.999, FREE), 0.05).serve
    assert not tier.judge(DoubtedNeighbour("default", 0.7, Controls(max_error=1e-4)), 0.97).serve


def test_audits_of_a_bad_model_soon_end_what_its_word_serves() -> None:
    tier = JudgedTier(at(0.01))
    for _ in range(3):
        tier.observe(label(correct=False))
    assert not tier.could_serve(DoubtedNeighbour("default", 0.7, FREE))


def test_a_good_model_is_believed_more_and_other_categories_hear_of_it() -> None:
    tier = JudgedTier(at(0.01))
    before = [tier.judge(DoubtedNeighbour(name, 0.5, FREE), 0.9).p_correct for name in ("default", "facts")]
    for _ in range(200):
        tier.observe(label(correct=True))
    after = [tier.judge(DoubtedNeighbour(name, 0.5, FREE), 0.9).p_correct for name in ("default", "facts")]
    assert after[0] > before[0]
    assert after[1] > before[1]


def test_a_verdict_is_remembered_at_its_lowest_and_teaches_nothing() -> None:
    tier = JudgedTier(PACK)
    learned = tier.worth.state()
    for word in (0.99, 0.9, 0.95):
        tier.observe(label(correct=True, source=LabelSource.VERDICT, word=word))
    assert tier.remembered(b"x", 1) == pytest.approx(0.9)
    assert tier.worth.state() == learned
    assert without_model_verdict(label(correct=True, source=LabelSource.VERDICT)) is None


@pytest.mark.parametrize("first", ["verdict", "label"])
def test_a_word_after_a_miss_teaches_whichever_comes_first(first: str) -> None:
    tier = JudgedTier(PACK)
    verdict = label(correct=True, source=LabelSource.VERDICT)
    plain = replace(label(correct=False, source=LabelSource.MISS), features=PLAIN, p_correct=0.7)
    for one in (verdict, plain) if first == "verdict" else (plain, verdict):
        tier.observe(one)
    assert tier.worth.p_correct("default", 0.7, 0.9) < VerdictWorth().p_correct("default", 0.7, 0.9)


def test_a_hit_on_a_word_enters_no_certificate_of_hits_by_meaning() -> None:
    plain = without_model_verdict(label(correct=True))
    assert plain is not None
    assert (plain.source, plain.served, len(plain.features)) == (LabelSource.MISS, False, len(features.NAMES))


def test_many_errors_close_the_tier_and_right_answers_open_it_again() -> None:
    tier = JudgedTier(at(0.05))
    for _ in range(12):
        tier.observe(label(correct=False))
    assert tier.judge(DoubtedNeighbour("default", 0.999, FREE), 0.99).why is Why.CLOSED
    for _ in range(400):
        tier.observe(label(correct=True, source=LabelSource.MISS))
    assert tier.judge(DoubtedNeighbour("default", 0.999, FREE), 0.99).serve


def test_told_noise_of_the_judge_of_answers_is_not_laid_at_the_models_door() -> None:
    told, untold = JudgedTier(at(0.01), noise=LabelNoise(0.1, 0.1)), JudgedTier(at(0.01))
    for tier in (told, untold):
        for number in range(60):
            tier.observe(label(correct=number % 10 != 0))
    assert told.could_serve(DoubtedNeighbour("default", 0.9, FREE))
    assert not untold.could_serve(DoubtedNeighbour("default", 0.9, FREE))


def test_what_is_learned_survives_being_saved() -> None:
    tier, again = JudgedTier(PACK), JudgedTier(PACK)
    for number in range(30):
        tier.observe(label(correct=number != 3, entry_id=number + 1))
        tier.observe(label(correct=True, source=LabelSource.VERDICT, entry_id=number + 1))
    again.restore(msgspec.json.decode(msgspec.json.encode(tier.state())))
    neighbour = DoubtedNeighbour("default", 0.6, FREE)
    assert again.judge(neighbour, 0.9).p_correct == tier.judge(neighbour, 0.9).p_correct
    assert again.remembered(b"x", 7) == tier.remembered(b"x", 7)
    assert log_odds(0.5) == 0.0


def test_restarts_grant_no_more_errors_than_one_process_has() -> None:
    tier, risks = JudgedTier(at(0.01)), list[float]()
    for number in range(400):
        tier.observe(label(correct=True, entry_id=number + 1))
    for _ in range(40):
        for number in range(8):
            limit = tier.judge(DoubtedNeighbour("default", 0.9, FREE, entry_id=number), 0.99).risk
            assert limit is not None
            tier.note(DoubtedNeighbour("default", 0.9, FREE, entry_id=number), 1.0 - limit, served=True, audited=False)
            risks.append(limit)
        state = msgspec.json.decode(msgspec.json.encode(tier.state()))
        tier = JudgedTier(at(0.01))
        tier.restore(state)
    assert sum(risks) <= 0.01 * len(risks) + 0.25


def test_one_error_is_paid_back_by_as_many_right_answers_at_whatever_rate_it_was_found() -> None:
    def until_served_again(chance: float) -> int:
        tier = JudgedTier(at(0.02))
        for _ in range(100):
            tier.observe(replace(label(correct=True), chance=1.0))
        for _ in range(2):
            tier.observe(replace(label(correct=False), chance=chance))
        for count in range(2000):
            if tier.could_serve(DoubtedNeighbour("default", 0.95, FREE)):
                return count
            tier.observe(label(correct=True, source=LabelSource.MISS))
        raise AssertionError("never served again")

    assert 0 < until_served_again(0.05) == until_served_again(1.0) < 150


def test_an_error_of_a_tenant_that_is_set_aside_is_given_back_and_stays_in_the_certificate() -> None:
    tier = JudgedTier(at(0.02))
    for _ in range(100):
        tier.observe(replace(label(correct=True), chance=1.0))
    limit, false = tier.standing()["default"].limit, replace(label(correct=False), chance=0.1)
    for _ in range(2):
        tier.observe(false)
    assert not tier.could_serve(DoubtedNeighbour("default", 0.99, FREE))
    for _ in range(2):
        tier.disown(false)
    assert tier.could_serve(DoubtedNeighbour("default", 0.99, FREE))
    standing = tier.standing()["default"]
    assert standing.limit == pytest.approx(limit, rel=0.05)
    assert standing.wrong == 2
    tier.disown(label(correct=False, source=LabelSource.MISS))
    assert tier.standing()["default"] == standing, "what was not served has cost nothing"


def test_the_first_hits_on_a_word_are_all_audited_and_fewer_as_audits_find_them_right() -> None:
    tier, chances = JudgedTier(at(0.02)), []
    for _ in range(101):
        verdict = tier.judge(DoubtedNeighbour("default", 0.9, FREE), 0.99)
        assert verdict.serve
        chances.append(verdict.audit)
        tier.note(DoubtedNeighbour("default", 0.9, FREE, entry_id=1), verdict.p_correct, served=True, audited=True)
        tier.observe(label(correct=True, before=0.9))
    assert chances[:10] == [1.0] * 10
    assert chances == sorted(chances, reverse=True)
    assert 0.0 < chances[-1] < chances[20] < 0.5


def test_words_of_which_no_audit_has_told_may_spend_a_part_of_the_budget_only() -> None:
    tier = JudgedTier(at(0.05))
    cold = tier.judge(DoubtedNeighbour("default", 0.7, FREE), 0.9).risk
    for _ in range(20):
        tier.observe(label(correct=True))
    shown = tier.judge(DoubtedNeighbour("default", 0.7, FREE), 0.9).risk
    assert cold is not None
    assert shown is not None
    assert cold < 0.8 * shown


def test_a_model_that_says_yes_to_what_guards_veto_serves_no_more_than_its_first_hit() -> None:
    tier = JudgedTier(at(0.02))
    assert tier.judge(DoubtedNeighbour("default", 0.5, FREE, entry_id=1), 0.99).serve, "the first is believed"
    tier.note(DoubtedNeighbour("default", 0.5, FREE, entry_id=1), 0.9, served=True, audited=False)
    assert tier.judge(DoubtedNeighbour("default", 0.5, FREE, entry_id=1), 0.99).serve, "as it is when it is repeated"
    assert not tier.judge(DoubtedNeighbour("default", 0.5, FREE, entry_id=2), 0.99).serve
    for number in range(60):
        tier.differ(b"asked", number, 0.99)
    assert not tier.judge(DoubtedNeighbour("default", 0.9, FREE, entry_id=1), 0.99).serve


def test_a_model_that_says_no_to_what_guards_veto_serves_before_there_was_any_audit() -> None:
    tier = JudgedTier(at(0.02))
    tier.note(DoubtedNeighbour("default", 0.2, FREE, entry_id=1), 0.9, served=True, audited=False)
    assert not tier.judge(DoubtedNeighbour("default", 0.7, FREE, entry_id=2), 0.99).serve
    for number in range(40):
        tier.differ(b"asked", number, 0.05)
    assert tier.judge(DoubtedNeighbour("default", 0.7, FREE, entry_id=2), 0.99).serve
    assert tier.curious
    for number in range(40, 80):
        tier.differ(b"asked", number, 0.05)
    assert not tier.curious, "enough was asked about what serves nobody"


def test_words_that_settle_nothing_are_soon_had_seldom_and_those_that_may_soon_serve_more_often() -> None:
    tier = JudgedTier(at(0.01))
    assert tier.tried("default", 0.01) == tier.tried("default", 0.6) == 1.0, "nothing is known of the model"
    for _ in range(40):
        tier.observe(label(correct=False, source=LabelSource.MISS, word=0.05, before=0.02))
    assert 0.0 < tier.tried("default", 0.01) < tier.tried("default", 0.6) < 1.0
    assert tier.curious, "no word was had about what guards veto"


def test_after_a_wrong_yes_of_a_good_model_all_plausible_doubts_are_tried_until_forty_words_were_right() -> None:
    tier = JudgedTier(at(0.01))
    for number in range(60):
        tier.differ(b"asked", number, 0.05)
        tier.observe(label(correct=True))
    usual = tier.tried("default", 0.6), tier.tried("default", 0.01)
    assert usual < (1.0, 1.0)
    tier.observe(label(correct=False, before=0.7))
    assert (tier.tried("default", 0.6), tier.tried("default", 0.01)) == (1.0, usual[1])
    for _ in range(39):
        tier.observe(label(correct=True, source=LabelSource.MISS))
    assert tier.tried("default", 0.6) == 1.0
    tier.observe(label(correct=True, source=LabelSource.MISS))
    assert (tier.tried("default", 0.6), tier.tried("default", 0.01)) == usual


def test_a_wrong_answer_that_is_most_likely_an_error_of_its_judge_asks_for_no_more_words() -> None:
    tier = JudgedTier(at(0.01), noise=LabelNoise(0.1, 0.1))
    for number in range(60):
        tier.differ(b"asked", number, 0.05)
        tier.observe(label(correct=True))
    tier.observe(label(correct=False, before=0.9))
    assert tier.tried("default", 0.6) < 1.0


def test_no_more_words_are_had_of_a_model_that_is_easily_fooled() -> None:
    tier = JudgedTier(at(0.01))
    for number in range(60):
        tier.differ(b"asked", number, 0.99)
    tier.observe(label(correct=False))
    assert tier.tried("default", 0.6) < 1.0


def test_a_model_that_errs_on_a_fifth_of_known_differences_is_not_believed() -> None:
    tier = JudgedTier(at(0.02))
    for number in range(40):
        tier.differ(b"asked", number, 0.9 if number % 5 == 0 else 0.1)
    assert not tier.judge(DoubtedNeighbour("default", 0.7, FREE), 0.9).serve


def test_a_wrong_yes_about_what_nobody_would_have_been_served_stops_nothing() -> None:
    hopeless, meant = JudgedTier(at(0.02)), JudgedTier(at(0.02))
    for tier, before in ((hopeless, 0.02), (meant, 0.9)):
        for _ in range(300):
            tier.observe(label(correct=True, before=0.9))
        for _ in range(2):
            tier.observe(label(correct=False, source=LabelSource.MISS, before=before))
        assert tier.standing()["default"].audits == 300
    assert hopeless._of("default").debt == 0.0 < meant._of("default").debt


def vetoed(entry_id: int, *, correct: bool) -> Label:
    """The label of a neighbour that a guard vetoed, as a fresh answer gives it."""
    values = list(label(correct=correct).features[: len(features.NAMES)])
    values[features.NAMES.index("guard:entities")] = 1.0
    plain = label(correct=correct, source=LabelSource.MISS, entry_id=entry_id)
    return replace(plain, features=tuple(values), served=False)


def test_a_yes_about_what_a_guard_vetoes_is_held_against_nobody_where_fresh_answers_say_that_the_guard_errs() -> None:
    right, wrong, none = (JudgedTier(at(0.02)) for _ in range(3))
    for number in range(30):
        for tier in (right, wrong, none):
            tier.differ(b"x", number, 0.9 if number % 3 else 0.1)
        right.observe(vetoed(number, correct=number % 3 > 0))
        wrong.observe(vetoed(number, correct=False))
    believed = [tier.worth.yes_in_a_category("default") for tier in (right, wrong, none)]
    assert believed[0] > 10 * believed[1]
    assert believed[1] <= 2.0 >= believed[2], "without labels guards are taken at their word"
    again = JudgedTier(at(0.02))
    again.restore(msgspec.json.decode(msgspec.json.encode(right.state())))
    assert again.worth.yes_in_a_category("default") == pytest.approx(believed[0])


@pytest.mark.parametrize("label_first", [True, False])
def test_a_yes_where_the_guard_errs_is_weighed_by_the_label_of_that_very_neighbour(label_first: bool) -> None:
    # Guards err about one neighbour in five, and the model says yes to just these, or to just as many others.
    good, fooled = JudgedTier(at(0.02)), JudgedTier(at(0.02))
    for number in range(40):
        for tier, yes in ((good, number % 5 == 0), (fooled, number % 5 == 1)):
            of_it = vetoed(number, correct=number % 5 == 0)
            if label_first:
                tier.observe(of_it)
            tier.differ(b"x", number, 0.9 if yes else 0.1)
            if not label_first:
                tier.observe(of_it)
    assert good.judge(DoubtedNeighbour("default", 0.7, FREE), 0.9).serve
    assert not fooled.judge(DoubtedNeighbour("default", 0.7, FREE), 0.9).serve


def test_a_model_that_turns_bad_is_doubted_soon_whatever_it_was_before() -> None:
    tier = JudgedTier(at(0.02))
    for _ in range(1000):
        tier.observe(label(correct=True))
    good = tier.worth.yes_in_a_category("default")
    for _ in range(4):
        tier.observe(label(correct=False, source=LabelSource.MISS))
    assert tier.worth.yes_in_a_category("default") < good / 50


def test_a_model_that_knew_what_guards_veto_is_doubted_once_its_words_turn_out_wrong() -> None:
    tier = JudgedTier(at(0.02))
    for number in range(80):
        tier.differ(b"asked", number, 0.05)
    good = tier.worth.yes_in_a_category("default")
    for _ in range(6):
        tier.observe(label(correct=False, source=LabelSource.MISS))
    assert tier.worth.yes_in_a_category("default") < good / 50


def test_what_probation_has_shown_survives_being_saved() -> None:
    tier, again = JudgedTier(at(0.02)), JudgedTier(at(0.02))
    tier.note(DoubtedNeighbour("default", 0.2, FREE, entry_id=1), 0.9, served=True, audited=False)
    for number in range(40):
        tier.differ(b"asked", number, 0.05)
    again.restore(msgspec.json.decode(msgspec.json.encode(tier.state())))
    for one in (tier, again):
        assert one.judge(DoubtedNeighbour("default", 0.7, FREE, entry_id=2), 0.99).serve
    neighbour = DoubtedNeighbour("default", 0.7, FREE)
    assert again.judge(neighbour, 0.99).p_correct == tier.judge(neighbour, 0.99).p_correct


def test_a_class_of_tenants_is_closed_and_opened_by_labels_that_teach_nobody_else() -> None:
    tier = JudgedTier(PACK)
    for _ in range(40):
        tier.observe_own(label(correct=False))
    kept = JudgedTier(PACK)
    kept.restore(tier.state())
    for one in (tier, kept):
        assert one.judge(DoubtedNeighbour("default", 0.9, FREE, "t"), 0.99).why is Why.CLOSED
        assert one.judge(DoubtedNeighbour("default", 0.9, FREE, "other"), 0.99).why is not Why.CLOSED
    for _ in range(400):
        tier.observe_own(label(correct=True, source=LabelSource.MISS))
    assert tier.judge(DoubtedNeighbour("default", 0.9, FREE, "t"), 0.99).why is not Why.CLOSED


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_workers_together_are_granted_what_one_is(workers: int) -> None:
    def granted(grants: float) -> float:
        spent = 0.0
        for budget in (
            ByCategory(PACK, grants=grants)._made["certified"]._of("default").control.budget,  # type: ignore[attr-defined]
            JudgedTier(PACK, grants=grants)._of("default").budget,
        ):
            while budget.limit() >= 0.02:
                budget.note(0.02, served=True)
                spent += 0.02
                # What the target allows for each hit is not what is looked at here.
                budget.allowed = 0.0
        return spent

    assert workers * granted(1.0 / workers) <= granted(1.0) + workers * 2 * 0.02


def test_reports_are_no_samples_of_what_words_are_worth_and_what_they_cost_comes_back() -> None:
    tier = JudgedTier(at(0.05))
    for number in range(4):
        tier.note(DoubtedNeighbour("default", 0.5, FREE, entry_id=number), 0.99, served=True, audited=False)
    stratum = tier._of("default")
    worth, spent, known = tier.worth.state(), stratum.budget.spent, tier._probation.known
    report = replace(label(correct=False, source=LabelSource.FEEDBACK), served=True, p_correct=0.99, chance=0.0)
    for _ in range(20):
        tier.observe(report)
        tier.observe(replace(report, correct=True))
    assert (tier.worth.state(), tier._probation.known) == (worth, known)
    assert stratum.budget.spent > spent
    tier = JudgedTier(at(0.05))
    tier.note(DoubtedNeighbour("default", 0.5, FREE, entry_id=1), 0.99, served=True, audited=False)
    spent = tier._of("default").budget.spent
    tier.observe(report)
    assert tier._of("default").budget.spent > spent + 0.5
    tier.observe(replace(report, source=LabelSource.WITHDRAWN))
    assert tier._of("default").budget.spent == pytest.approx(spent)
