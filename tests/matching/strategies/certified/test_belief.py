"""P(correct): what the certified strategy believes before labels, and how they move it."""

from __future__ import annotations

import json
import math
import random
from dataclasses import replace

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.config import packs
from semcache.matching import features
from semcache.matching.label_noise import FAITHFUL, LabelNoise
from semcache.matching.logistic import sigmoid
from semcache.matching.strategies.certified import CertifiedThreshold, belief
from semcache.matching.strategies.certified.belief import Belief
from semcache.matching.strategies.certified.belief_prior import STATED, TERMS, UNASKED
from semcache.matching.strategies.certified.calibration import WARM, Calibration
from semcache.matching.strategies.certified.category_beliefs import CategoryBeliefs
from semcache.matching.strategies.certified.priors import PATH, shipped
from semcache.types import Candidate, Card, Conflict, Why
from semcache.types.evidence import LabelSource, State
from tests.matching.strategies.certified.cases import ANY, PACK, SURE, UNSURE, candidate, label


def test_a_first_paraphrase_is_served_without_any_label() -> None:
    threshold = CertifiedThreshold(packs.load("default"))
    verdict = threshold.judge(SURE, "support", controls=ANY, draw=0.5)
    assert verdict.serve
    assert verdict.p_correct > 0.97
    assert threshold.standing("support").state is State.PROVISIONAL


def test_an_improbable_neighbour_is_not() -> None:
    verdict = CertifiedThreshold(PACK).judge(UNSURE, "support", controls=ANY, draw=0.5)
    assert not verdict.serve
    assert verdict.why is Why.UNCERTAIN


def test_labels_move_the_belief_of_their_category_and_most_of_all_of_their_answer() -> None:
    belief = Belief(shipped("any"))
    before = belief.log_odds(UNSURE.features, 1), belief.log_odds(UNSURE.features, 2)
    for _ in range(5):
        belief.learn(UNSURE.features, 1, correct=True)
    assert belief.log_odds(UNSURE.features, 1) > belief.log_odds(UNSURE.features, 2) > before[1]


def test_of_answers_that_nobody_asks_about_any_more_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(belief, "ANSWERS", 2)
    known = Belief(shipped("any"))
    for answer in (1, 2, 1, 3):
        known.learn(UNSURE.features, answer, correct=False)
    assert list(known.answers) == [1, 3]


@given(st.lists(st.tuples(st.sampled_from([SURE, UNSURE]), st.booleans()), max_size=40))
def test_whatever_is_learned_probabilities_are_probabilities_and_the_covariance_is_one(
    labels: list[tuple[Candidate, bool]],
) -> None:
    belief = Belief(shipped("any"), noise=LabelNoise(0.1, 0.1))
    for one, correct in labels:
        belief.learn(one.features, one.card.id, correct=correct)
        assert 0.0 < sigmoid(belief.log_odds(one.features, 1)) < 1.0
    assert np.allclose(belief.covariance, belief.covariance.T)
    assert np.linalg.eigvalsh(belief.covariance).min() > -1e-9


def test_beliefs_about_other_features_are_refused() -> None:
    belief = Belief(shipped("any"))
    with pytest.raises(ValueError, match="other features"):
        belief.restore({**belief.state(), "terms": ["bias"]})


@pytest.mark.parametrize(("then", "now"), [("any", "questions"), ("questions", "service"), ("any", "any")])
def test_what_was_learned_predicts_the_same_under_a_prior_with_other_units(then: str, now: str) -> None:
    """A prior that ships with a later version rescaled what a category had learned under the earlier one."""
    before, after = Belief(shipped(then)), Belief(shipped(now))
    for turn in range(40):
        before.learn((SURE, UNSURE)[turn % 2].features, turn % 3, correct=turn % 4 > 0)
    after.restore(json.loads(json.dumps(before.state())))
    for one in (SURE, UNSURE):
        assert after.log_odds(one.features, 1) == pytest.approx(before.log_odds(one.features, 1))
        assert after.contributions(one.features, 1) == pytest.approx(before.contributions(one.features, 1))
    again = Belief(shipped(then))
    again.restore(after.state())
    assert np.allclose(again.mean, before.mean)
    assert np.allclose(again.covariance, before.covariance)


def test_a_belief_that_was_saved_without_its_units_is_in_those_of_the_prior() -> None:
    before, after = Belief(shipped("any")), Belief(shipped("any"))
    before.learn(UNSURE.features, 1, correct=True)
    state = before.state()
    del state["center"], state["scale"]
    after.restore(state)
    assert np.array_equal(after.mean, before.mean)
    assert np.array_equal(after.covariance, before.covariance)


@given(
    st.lists(st.tuples(st.floats(-8, 8), st.floats(0, 7), st.booleans()), max_size=60),
    st.floats(-8, 8),
    st.floats(0, 3),
    st.floats(0, 7),
)
def test_the_correction_never_turns_the_order_of_predictions(
    labels: list[tuple[float, float, bool]], one: float, more: float, beside: float
) -> None:
    calibration = Calibration()
    for predicted, near, correct in labels:
        calibration.add(predicted, near, correct=correct)
    assert calibration.corrected(one + more, beside) >= calibration.corrected(one, beside) - 1e-12
    assert calibration.corrected(one, beside) <= calibration.at_most(one) + 1e-12


def test_caution_is_slight_at_first_grows_with_surprises_and_is_whole_after_a_doubt() -> None:
    def caution(calibration: Calibration) -> float:
        """By how much these log-odds are lowered."""
        odds = [math.log(p / (1.0 - p)) for p in (calibration.corrected(4.0, 3.0, dev) for dev in (0.0, 2.0))]
        return odds[0] - odds[1]

    calibration = Calibration()
    first = caution(calibration)
    for _ in range(200):
        calibration.add(-8.0, 0.0, correct=False)  # as foretold: says nothing of what is sure
    later = caution(calibration)
    for _ in range(4):
        calibration.add(-8.0, 0.0, correct=True)
    surprised = caution(calibration)
    calibration.doubt()
    assert first == pytest.approx(0.3)
    assert later == pytest.approx(0.3, abs=0.01)
    assert surprised == pytest.approx(0.3 + 4.0 / WARM, abs=0.01)  # a label counts once at most
    assert caution(calibration) > 2.0


def test_learning_anew_from_no_labels_gives_what_a_category_begins_with() -> None:
    fresh, threshold = CertifiedThreshold(PACK)._of("support"), CertifiedThreshold(PACK)
    for _ in range(5):
        threshold.observe(label(SURE, correct=False))
    threshold.relearn([])
    known = threshold._of("support")
    assert known.beliefs.with_verifier.belief.state() == fresh.beliefs.with_verifier.belief.state()
    assert known.beliefs.without_verifier.belief.state() == fresh.beliefs.without_verifier.belief.state()


def test_predictions_that_promise_too_much_are_corrected() -> None:
    calibration, rng = Calibration(), random.Random(3)
    for _ in range(2000):
        calibration.add(3.0, 1.0, correct=rng.random() < 0.8)  # 3.0 promises 0.953
    assert calibration.corrected(3.0, 1.0) == pytest.approx(0.8, abs=0.03)


def test_a_judge_whose_errors_are_known_misleads_the_correction_less() -> None:
    told, naive, rng = Calibration(noise=LabelNoise(0.1, 0.1)), Calibration(), random.Random(4)
    for _ in range(2000):
        correct = (rng.random() < sigmoid(3.0)) != (rng.random() < 0.1)
        told.add(3.0, 1.0, correct=correct)
        naive.add(3.0, 1.0, correct=correct)
    assert told.corrected(3.0, 1.0) == pytest.approx(sigmoid(3.0), abs=0.03)
    assert naive.corrected(3.0, 1.0) < 0.9


def test_near_neighbours_that_prove_right_are_believed_after_some_dozens_of_labels() -> None:
    calibration = Calibration()
    before = calibration.corrected(2.5, 3.0)
    for _ in range(40):
        calibration.add(2.5, 3.0, correct=True)
        calibration.add(-2.0, 0.5, correct=False)
    assert calibration.corrected(2.5, 3.0) > 0.97 > before
    assert calibration.corrected(-2.0, 0.5) < 0.12


def test_the_shipped_prior_knows_every_term_and_every_profile() -> None:
    profiles = json.loads(PATH.read_text(encoding="utf-8"))["profiles"]
    assert set(profiles) == set(msgspec.inspect.type_info(packs.Profile).values)  # type: ignore[attr-defined]
    for data in profiles.values():
        assert set(TERMS) - set(STATED) == set(data["told"]["terms"])
        assert set(TERMS) - set(STATED) - set(UNASKED) == set(data["terms"])


@pytest.mark.parametrize("verify", ["off", "verifier"])
def test_likeness_alone_serves_no_words_that_changed_places(verify: str) -> None:
    policy = msgspec.structs.replace(PACK.of("support"), verify=verify)
    strategy = CertifiedThreshold(
        msgspec.structs.replace(PACK, categories={**PACK.categories, "support": policy}).with_target(0.3)
    )
    kept = "How often should synthetic oil be changed?"
    for asked, sure in (
        ("How often should I change synthetic oil?", False),
        ("How often is synthetic oil changed?", True),
    ):
        found = Candidate(Card(7, b"e", b"s", "support", kept, 0.0, 1e9), 0.99)
        found = replace(found, features=features.of(asked, found))
        assert found.features[features.NAMES.index("reordered")] == float(not sure)
        verdict = strategy.judge(found, "support", controls=ANY, draw=0.5)
        assert verdict.serve is (sure and verify == "off")


def test_labels_of_its_own_tell_a_category_what_likeness_says_of_words_that_changed_places() -> None:
    alone = msgspec.structs.replace(PACK.of("support"), verify="off")
    strategy = CertifiedThreshold(
        msgspec.structs.replace(PACK, categories={**PACK.categories, "support": alone}).with_target(0.3)
    )
    found = Candidate(Card(7, b"e", b"s", "support", "How often should synthetic oil be changed?", 0.0, 1e9), 0.99)
    found = replace(found, features=features.of("How often should I change synthetic oil?", found))
    for _ in range(99):
        strategy.observe(label(found, correct=True, source=LabelSource.MISS))
    assert not strategy.judge(found, "support", controls=ANY, draw=0.5).serve
    strategy.observe(label(found, correct=True, source=LabelSource.MISS))
    assert strategy.judge(found, "support", controls=ANY, draw=0.5).serve


@pytest.mark.parametrize("guard", ["entities", "numbers", "scope"])
def test_a_doubt_costs_little_of_what_the_verifier_said_and_much_of_what_likeness_says(guard: str) -> None:
    found = candidate(0.9, "How do I get a new password?")
    doubted = features.with_conflicts(found.features, [Conflict(guard, "they differ", veto=False)])
    prior = shipped("any")
    assert prior.with_verifier is not None
    untold, told = Belief(prior), Belief(prior.with_verifier)
    heard, heard_doubted = (features.with_verdict(one, 0.99) for one in (found.features, doubted))
    assert told.log_odds(heard, 7) - told.log_odds(heard_doubted, 7) < 0.5
    assert untold.log_odds(found.features, 7) - untold.log_odds(doubted, 7) > 0.9


@pytest.mark.parametrize("profile", ["any", "service", "questions"])
def test_words_that_changed_places_are_no_bar_once_the_verifier_has_been_asked(profile: packs.Profile) -> None:
    card = Card(7, b"e", b"s", "default", "How often should synthetic oil be changed?", 0.0, 1e9)
    values = features.of("How often should I change synthetic oil?", Candidate(card, 0.97))
    assert values[features.NAMES.index("reordered")] == 1.0
    known = CategoryBeliefs(PACK.of("default"), shipped(profile), FAITHFUL)
    assert known.probability(features.with_verdict(values, 0.99), 7) > 0.975
    assert known.probability(features.with_verdict(values, 0.5), 7) < 0.9


@pytest.mark.parametrize("profile", ["any", "service", "questions"])
def test_the_surer_the_verifier_is_the_more_a_step_of_its_word_adds(profile: packs.Profile) -> None:
    prior = shipped(profile).with_verifier
    assert prior is not None
    known, values = Belief(prior), UNSURE.features
    words = [features.with_verdict(values, sigmoid(odds)) for odds in (1.0, 2.0, 4.0, 5.0)]
    means = [float(known.mean @ known._standard(one)) for one in words]
    low, middle, high, highest = means
    assert middle - low < (high - middle) / 2.0 < highest - high
    for one, mean in zip(words, means, strict=True):
        x = known._standard(one)
        spread = float(x @ known.covariance @ x) + prior.answers
        assert known.log_odds(one, 0) == pytest.approx(mean / math.sqrt(1.0 + math.pi * spread / 8.0))
    added = [sum(known.contributions(one, 0).values()) for one in words]
    assert added == pytest.approx([low, middle, high, highest]), "what is explained is what was decided by"
