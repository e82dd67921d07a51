"""Which kind of traffic a category has: how few labels tell it, and how little one surprise does."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.matching.label_noise import LabelNoise
from semcache.matching.strategies.certified.calibration import START, Calibration, basis
from semcache.matching.strategies.certified.kinds_of_traffic import HEARD, Kind, KindsOfTraffic

SURE, NEAR = 4.0, 2.0  # log-odds worth 0.98, and -ln(1 - score)
LABELS = st.lists(st.tuples(st.floats(-8, 8), st.floats(0, 7), st.booleans()), max_size=60)


def learned(labels: Iterable[tuple[float, float, bool]]) -> KindsOfTraffic:
    """What these labels teach, each of them log-odds, nearness and outcome."""
    kinds = KindsOfTraffic(START)
    for predicted, near, correct in labels:
        kinds.add(predicted, near, correct=correct)
    return kinds


def test_one_wrong_answer_among_sure_ones_is_soon_made_up_for_and_several_have_the_word_believed_less() -> None:
    kinds, single = KindsOfTraffic(START), Calibration()
    assert kinds.corrected(SURE, NEAR) > 0.97
    for one in (kinds, single):
        one.add(SURE, NEAR, correct=False)
        for _ in range(15):
            one.add(SURE, NEAR, correct=True)
    assert kinds.corrected(SURE, NEAR) > single.corrected(SURE, NEAR) + 0.01
    for _ in range(4):
        kinds.add(SURE, NEAR, correct=False)
    assert sum(kinds.weights[2:]) > 0.8  # of the kinds in which the word is worth less
    assert min(kinds.weights[2:4]) > 0.3
    assert kinds.corrected(SURE, NEAR) < 0.8


def test_sure_answers_that_prove_right_leave_no_doubt_about_the_kind() -> None:
    kinds = KindsOfTraffic(START)
    before = kinds.corrected(SURE, NEAR)
    for _ in range(60):
        kinds.add(SURE, NEAR, correct=True)
    assert sum(kinds.weights[2:4]) < 0.02
    assert kinds.corrected(SURE, NEAR) > before


def test_labels_of_a_judge_who_errs_tell_less_of_the_kind() -> None:
    faithful, noisy = KindsOfTraffic(START), KindsOfTraffic(START, LabelNoise(0.1, 0.1))
    for kinds in (faithful, noisy):
        for _ in range(2):
            kinds.add(SURE, NEAR, correct=False)
    assert faithful.weights[3] > 2 * noisy.weights[3]


def test_traffic_that_was_of_one_kind_for_long_is_known_again_after_a_doubt() -> None:
    kinds = KindsOfTraffic(START)
    for _ in range(2000):
        kinds.add(SURE, NEAR, correct=True)
    assert kinds.corrected(SURE, NEAR) > 0.99
    kinds.doubt()
    assert kinds.weights == [kind.share for kind in HEARD]
    for _ in range(8):
        kinds.add(SURE, NEAR, correct=False)
    assert kinds.corrected(SURE, NEAR) < 0.8


def test_a_kind_that_was_never_seen_is_still_recognised_when_traffic_becomes_of_it() -> None:
    still = (1e-9,) * 4  # a kind that learns nothing, so that its weight alone can tell
    kinds = KindsOfTraffic(START, kinds=[Kind(0.5, variances=still), Kind(0.5, intercept=-8.0, variances=still)])
    for _ in range(300):
        kinds.add(SURE, NEAR, correct=True)
    assert kinds.weights[1] < 1e-3
    for _ in range(3):
        kinds.add(SURE, NEAR, correct=False)
    assert kinds.weights[1] > 0.9


def test_what_is_expected_of_a_correction_that_is_not_sure_is_nearer_to_even() -> None:
    unsure, sure = (Calibration(variances=(variance,) * 4) for variance in (1.0, 1e-9))
    assert sure.expected(SURE, NEAR) == pytest.approx(sure.corrected(SURE, NEAR))
    draws = np.random.default_rng(7).normal(unsure.mean, 1.0, (20_000, 4)) @ basis(SURE, NEAR)
    assert unsure.expected(SURE, NEAR) == pytest.approx(float(np.mean(1 / (1 + np.exp(-draws)))), abs=0.02)
    assert unsure.expected(SURE, NEAR) < unsure.corrected(SURE, NEAR) - 0.02


def test_traffic_that_is_plainer_than_it_is_taken_to_be_is_recognised() -> None:
    plain = KindsOfTraffic(START, kinds=[Kind(1.0, intercept=0.8)])
    assert plain.corrected(1.0, NEAR) > KindsOfTraffic(START, kinds=[Kind(1.0)]).corrected(1.0, NEAR) + 0.1
    assert learned([(1.0, 1.0, True)] * 30).weights[1] > 2 * HEARD[1].share


def test_a_word_that_is_too_sure_at_every_loudness_is_recognised() -> None:
    kinds = KindsOfTraffic(START)
    for place in range(40):
        kinds.add(5.0, NEAR, correct=place % 8 != 0)
        kinds.add(2.0, NEAR, correct=place % 2 == 0)
    assert kinds.weights[3] > max(kinds.weights[:3])


# As in traffic of intents: half of what the belief denies is right, most of what it doubts, and all that it is sure of.
TOPICS = [(-3.0, 1.2, True), (-3.0, 1.2, False), (0.5, 1.6, True), (0.5, 1.2, True), (5.0, 2.5, True), (0.5, 1.6, True)]


def test_what_is_right_against_all_expectation_takes_nothing_from_what_is_sure() -> None:
    topics = learned(TOPICS * 12)
    assert topics.weights[4] > 0.8
    assert topics.corrected(5.0, 2.5, 1.5) > 0.98
    former = KindsOfTraffic(START, kinds=HEARD[:4])
    for predicted, near, correct in TOPICS * 12:
        former.add(predicted, near, correct=correct)
    assert former.corrected(5.0, 2.5, 1.5) < topics.corrected(5.0, 2.5, 1.5) - 0.01


def test_where_an_answer_serves_a_topic_likeness_speaks_for_what_is_doubted_and_not_for_what_is_denied() -> None:
    topics = learned(TOPICS * 12)
    assert topics.corrected(0.5, 3.5) > 0.97 > topics.corrected(0.5, 1.0)
    assert topics.corrected(-1.5, 3.5) == pytest.approx(topics.corrected(-1.5, 1.0), abs=0.05)
    assert topics.corrected(-1.5, 3.5) < 0.8


def test_a_new_category_takes_likeness_for_no_more_than_its_belief_does() -> None:
    kinds = KindsOfTraffic(START)
    assert kinds.corrected(0.5, 4.0) < 0.7
    assert learned([(0.5, 3.5, False), (5.0, 2.5, True)] * 10).weights[4] < 0.01


@given(LABELS, st.floats(-8, 8), st.floats(0, 3), st.floats(0, 7))
def test_the_correction_never_turns_the_order_of_predictions_and_its_weights_are_shares(
    labels: list[tuple[float, float, bool]], one: float, more: float, beside: float
) -> None:
    kinds = learned(labels)
    assert kinds.corrected(one + more, beside) >= kinds.corrected(one, beside) - 1e-12
    assert sum(kinds.weights) == pytest.approx(1.0)
    assert min(kinds.weights) >= 0.0


@given(LABELS, st.floats(0.01, 0.999), st.floats(0.001, 8), st.floats(0, 7))
def test_no_candidate_is_passed_over_that_would_have_been_sure_enough(
    labels: list[tuple[float, float, bool]], p: float, less: float, beside: float
) -> None:
    kinds = learned(labels)
    assert kinds.corrected(kinds.needed(p) - less, beside) <= p + 1e-9


@given(LABELS, st.floats(0.01, 0.99))
def test_no_more_candidates_are_looked_at_than_could_be_sure_enough(
    labels: list[tuple[float, float, bool]], p: float
) -> None:
    kinds = learned(labels)
    best = sum(
        weight * one.at_most(kinds.needed(p) + 0.01) for weight, one in zip(kinds.weights, kinds._of, strict=True)
    )
    assert best >= p - 1e-9


def test_what_was_learned_is_taken_up_after_a_restart() -> None:
    one, two = KindsOfTraffic(START), KindsOfTraffic(START)
    for turn in range(30):
        one.add(SURE, NEAR, correct=turn % 3 > 0)
    two.restore(json.loads(json.dumps(one.state())))
    assert two.state() == one.state()
    assert two.corrected(SURE, NEAR, 1.0) == one.corrected(SURE, NEAR, 1.0)


def test_a_state_of_other_kinds_is_refused_and_that_of_one_calibration_is_learned_anew() -> None:
    kinds, fresh = KindsOfTraffic(START), KindsOfTraffic(START)
    with pytest.raises(ValueError, match="7 kinds of traffic, not 6"):
        kinds.restore(KindsOfTraffic(START, kinds=(*HEARD, Kind(0.1))).state())
    single = Calibration()
    single.add(SURE, NEAR, correct=False)
    kinds.restore(single.state())
    assert kinds.state() == fresh.state()


def test_a_doubt_is_about_every_kind() -> None:
    kinds = KindsOfTraffic(START, cold=0.0)
    for _ in range(200):
        kinds.add(SURE, NEAR, correct=True)
    before = kinds.corrected(SURE, NEAR, 2.0)
    kinds.doubt()
    assert kinds.corrected(SURE, NEAR, 2.0) < before - 0.005


def test_each_label_has_every_kind_doubted_by_the_same() -> None:
    kinds = KindsOfTraffic(START, kinds=(Kind(1.0),), cold=0.0, warm=25.0)
    for count in (1, 2, 3):
        kinds.add(0.0, NEAR, correct=bool(count % 2))  # each about as likely as the other
        plain, safe = kinds.corrected(SURE, NEAR), kinds.corrected(SURE, NEAR, 1.0)
        doubt = math.log(plain / (1 - plain)) - math.log(safe / (1 - safe))
        assert doubt == pytest.approx(count / 25, rel=0.1)


def test_questions_that_hardly_ever_come_again_leave_what_is_sure_as_it_is() -> None:
    told = KindsOfTraffic(START, cold=0.0)
    before = told.corrected(5.0, NEAR, 1.5)
    for _ in range(100):
        told.add(-1.0, 1.0, correct=False)  # 27 of them were foretold to be right
    assert told.corrected(5.0, NEAR, 1.5) > before - 0.004
    for _ in range(3):
        told.add(5.0, NEAR, correct=False)
    assert told.corrected(5.0, NEAR, 1.5) < before - 0.03
