"""The certified strategy as a whole: what it serves, closes, opens, audits and keeps over a restart."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator
from dataclasses import replace

import msgspec
import pytest

from semcache.matching import features, surroundings
from semcache.matching.label_noise import LabelNoise
from semcache.matching.strategies.certified import CertifiedThreshold
from semcache.matching.strategies.certified.audited_claim import Reopening
from semcache.matching.strategies.certified.belief import Belief
from semcache.matching.strategies.certified.belief_prior import TERMS
from semcache.matching.strategies.certified.calibrated_belief import CalibratedBelief
from semcache.matching.strategies.certified.category_beliefs import CAUTION
from semcache.matching.strategies.certified.error_budget import Contract
from semcache.matching.strategies.certified.priors import shipped
from semcache.matching.strategies.certified.tenants import Tenants
from semcache.types import Candidate, Conflict, Controls, Why
from semcache.types.evidence import Label, LabelSource, State
from tests.matching.strategies.certified.cases import ANY, CACHED, PACK, QUERY, SURE, UNSURE, candidate, label


def test_errors_close_a_category_and_right_answers_open_it_again() -> None:
    threshold = CertifiedThreshold(PACK)
    for _ in range(60):
        threshold.observe(label(SURE, correct=False))
    standing = threshold.standing("support")
    assert standing.state is State.CLOSED
    refused = threshold.judge(SURE, "support", controls=ANY, draw=0.0)
    assert not refused.serve
    assert refused.why is Why.CLOSED
    assert threshold.judge(SURE, "code", controls=ANY, draw=0.5).why is not Why.CLOSED
    for _ in range(3000):
        threshold.observe(label(SURE, correct=True, source=LabelSource.MISS))
        if threshold.standing("support").state is not State.CLOSED:
            break
    assert threshold.standing("support").state is not State.CLOSED


def test_a_category_is_narrowed_twice_before_it_is_closed_and_opens_by_the_same_steps() -> None:
    threshold = CertifiedThreshold(PACK)

    def step() -> str:
        standing = threshold.standing("support")
        if standing.state is State.CLOSED:
            return "closed"
        control = threshold._of("support").control
        whole = control.budget.limit()
        return "whole" if control.limit() == whole else f"{control.limit() / whole:.2f}" if whole else "spent"

    def steps(source: LabelSource, *, correct: bool, until: str) -> list[str]:
        seen = [step()]
        for _ in range(2000):
            threshold.note("support", 0.999, served=True, audited=False)  # so that something may be served
            threshold.observe(label(SURE, correct=correct, source=source))
            if step() != seen[-1]:
                seen.append(step())
            if seen[-1] == until:
                return seen
        raise AssertionError(seen)

    down = [one for one in steps(LabelSource.AUDIT, correct=False, until="closed") if one != "spent"]
    assert down == ["whole", "0.30", "0.09", "closed"]
    up = [one for one in steps(LabelSource.MISS, correct=True, until="whole") if one != "spent"]
    assert up == ["closed", "0.09", "0.30", "whole"]


def test_what_is_not_served_comes_back_by_evidence_and_a_wrong_answer_costs_some_of_it() -> None:
    def needed(wrong: int) -> int:
        reopening, count = Reopening(), 0
        while not reopening.passed(0.01, correct=count >= wrong):
            count += 1
        return count

    assert 60 < needed(0) < 150
    assert needed(0) < needed(1) < needed(2) < 1000


def test_first_answers_may_use_as_much_of_the_budget_as_the_target_is() -> None:
    strict, lenient = (CertifiedThreshold(PACK.with_target(target)).standing("support").risk for target in (0.05, 0.1))
    assert lenient is not None
    assert strict is not None
    assert strict == pytest.approx(0.05)
    assert lenient == pytest.approx(0.1)


def test_beliefs_that_labels_contradict_are_doubted() -> None:
    known = CertifiedThreshold(PACK)._of("support")
    for turn in range(300):
        known.take(label(UNSURE, correct=turn % 3 > 0, source=LabelSource.MISS), "acme")
    learned = known.beliefs.without_verifier.calibration._of[0].covariance[0][0]
    for _ in range(4):
        known.take(label(SURE, correct=False, source=LabelSource.MISS), "acme")
    assert known.beliefs.without_verifier.drift.suspects
    assert known.beliefs.without_verifier.calibration._of[0].covariance[0][0] > 1.5 * learned
    fresh = CertifiedThreshold(PACK)._of("support")
    before, after = (one.beliefs.with_verifier.calibration.corrected(3.0, 3.0, 5.0) for one in (fresh, known))
    assert after < 0.5 * before, "a word is doubted, too"


def test_errors_of_one_tenant_close_it_alone_and_its_own_right_answers_open_it_again() -> None:
    pack = msgspec.structs.replace(PACK, tenants=(("trial", ("trial-*",)),))
    threshold = CertifiedThreshold(pack)

    def told(tenant: str, *, correct: bool, source: LabelSource = LabelSource.AUDIT) -> None:
        threshold.observe(replace(label(SURE, correct=correct, source=source), tenant=tenant))

    def serves(tenant: str) -> bool:
        return threshold.judge(SURE, "support", controls=ANY, draw=0.5, tenant=tenant).serve

    for at in range(600):
        told("acme", correct=True)
        if at % 30 == 0:
            told(f"trial-{at}", correct=False)
    assert threshold.standing("support").state is not State.CLOSED, "the average is kept"
    assert serves("acme")
    assert not serves("trial-7")
    assert threshold.judge(SURE, "support", controls=ANY, draw=0.5, tenant="trial-7").why is Why.CLOSED
    ours, trial = threshold.standing("support").classes
    assert (ours.name, ours.closed, ours.wrong, trial.name, trial.closed) == ("acme", False, 0, "trial", True)
    assert ours.certified is not None
    restored = CertifiedThreshold(pack)
    restored.restore(json.loads(json.dumps(threshold.state())))
    assert not restored.judge(SURE, "support", controls=ANY, draw=0.5, tenant="trial-7").serve
    for _ in range(200):
        told("trial-1", correct=True, source=LabelSource.MISS)
    assert serves("trial-7")


def test_more_tenants_than_are_remembered_forget_the_oldest_open_one() -> None:
    tenants = Tenants(0.05)
    for _ in range(20):
        tenants.take("bad", 0.01, wrong=True)
    for number in range(1_100):
        tenants.take(str(number), 0.01, wrong=False)
    names = {one.name for one in tenants.standing()}
    assert len(names) <= 1_001
    assert tenants.closed("bad")
    assert "bad" in names
    assert "0" not in names


def test_a_veto_stands_until_the_category_itself_has_shown_otherwise() -> None:
    vetoed = candidate(0.995, CACHED, Conflict("numbers", "3 against 4"))
    threshold = CertifiedThreshold(PACK)
    verdict = threshold.judge(vetoed, "support", controls=ANY, draw=0.5)
    assert not verdict.serve
    assert verdict.why is Why.GUARD
    needed = 0
    while needed < 400 and not threshold.judge(vetoed, "support", controls=ANY, draw=0.5).serve:
        threshold.observe(label(vetoed, correct=True, source=LabelSource.MISS))
        needed += 1
    assert 30 <= needed < 400


def test_a_caller_can_be_stricter() -> None:
    threshold = CertifiedThreshold(PACK)
    assert not threshold.judge(SURE, "support", controls=Controls(max_error=1e-6), draw=0.5).serve
    assert not threshold.judge(SURE, "support", controls=Controls(min_score=0.999), draw=0.5).serve


def stretchable(correct: float, relax_to: float = 0.2) -> CertifiedThreshold:
    """A strategy that has seen many refused neighbours of about 90%, right as often as `correct` says."""
    threshold = CertifiedThreshold(msgspec.structs.replace(PACK, relax_to=relax_to))
    rng = random.Random(6)
    for _ in range(400):
        threshold.note("support", 0.9, served=False, audited=False)
        threshold.observe(label(UNSURE, correct=rng.random() < correct, source=LabelSource.MISS))
    return threshold


def test_load_stretches_the_target_where_refused_neighbours_proved_right_and_calm_returns_it() -> None:
    threshold = stretchable(0.97)
    calm = threshold.standing("support").risk
    threshold.relax(1.0)
    stretched = threshold.standing("support").risk
    assert calm is not None
    assert stretched is not None
    assert stretched > calm
    threshold.relax(0.0)
    assert threshold.standing("support").risk == pytest.approx(calm)


def test_load_stretches_nothing_without_evidence_or_consent() -> None:
    unproved = CertifiedThreshold(msgspec.structs.replace(PACK, relax_to=0.2))
    for threshold in (unproved, stretchable(0.97, relax_to=PACK.target)):
        calm = threshold.standing("support").risk
        threshold.relax(1.0)
        assert threshold.standing("support").risk == pytest.approx(calm)


def test_a_verifier_is_asked_about_what_is_too_uncertain() -> None:
    def asking(name: str) -> CertifiedThreshold:
        category = msgspec.structs.replace(PACK.of("support"), verify=name)
        return CertifiedThreshold(msgspec.structs.replace(PACK, categories={**PACK.categories, "support": category}))

    doubtful = candidate(0.8, "How to get a new password")
    for name, unsure in (("llm", UNSURE), ("verifier", doubtful)):
        verdict = asking(name).judge(unsure, "support", controls=ANY, draw=0.5)
        assert (verdict.serve, verdict.verify) == (False, True)
        assert verdict.risk is not None
        assert verdict.audit > 0.0
        found = replace(unsure, around=surroundings.around([unsure])[0])
        assert asking(name).promising([found], QUERY, "support") == [True], "or it would never be asked about"
    assert not asking("off").judge(doubtful, "support", controls=ANY, draw=0.5).verify
    hopeless = candidate(0.51, "Which plan is cheapest?", Conflict("numbers", "3 against 4"))
    for name in ("llm", "verifier"):
        assert not asking(name).judge(hopeless, "support", controls=ANY, draw=0.5).verify
    vetoed = candidate(0.97, "How do I reset my password 2?", Conflict("numbers", "2 against none"))
    assert not asking("verifier").judge(vetoed, "support", controls=ANY, draw=0.5).verify
    by_request = msgspec.structs.replace(PACK.of("support"), verify="verifier", contract="request")
    loose = CertifiedThreshold(msgspec.structs.replace(PACK, categories={**PACK.categories, "support": by_request}))
    assert not loose.judge(doubtful, "support", controls=ANY, draw=0.5).verify, "there it would cost the target"
    heard = replace(doubtful, features=features.with_verdict(doubtful.features, 0.5))
    assert not asking("verifier").judge(heard, "support", controls=ANY, draw=0.5).verify, "it is asked once"


def test_what_likeness_is_sure_of_is_read_by_the_verifier_first_however_many_labels_there_are() -> None:
    near = candidate(0.97, "How can I reset my password for the app?")
    again = candidate(0.99, "How do I reset my password ?")
    threshold = CertifiedThreshold(PACK.with_target(0.3))
    verdict = threshold.judge(near, "support", controls=ANY, draw=0.5)
    assert (verdict.serve, verdict.verify, verdict.sure) == (False, True, True)
    heard = replace(near, features=features.with_verdict(near.features, 0.99))
    assert threshold.judge(heard, "support", controls=ANY, draw=0.5).serve, "a yes is enough"
    denied = replace(near, features=features.with_verdict(near.features, 0.02))
    assert not threshold.judge(denied, "support", controls=ANY, draw=0.5).serve, "a no outweighs likeness"
    typed = threshold.judge(again, "support", controls=ANY, draw=0.5)
    assert (typed.serve, typed.verify) == (True, False), "a text typed again needs no word"
    for _ in range(100):
        threshold.observe(label(near, correct=True, source=LabelSource.MISS))
    verdict = threshold.judge(near, "support", controls=ANY, draw=0.5)
    assert (verdict.serve, verdict.verify) == (False, True), "labels of what nobody read do not say what likeness hides"
    silent = msgspec.structs.replace(PACK.of("support"), verify="off")
    alone = msgspec.structs.replace(PACK, categories={**PACK.categories, "support": silent}).with_target(0.3)
    assert CertifiedThreshold(alone).judge(near, "support", controls=ANY, draw=0.5).serve


@pytest.mark.parametrize("verify", ["verifier", "off"])
def test_a_budget_begins_with_the_risks_of_requests_that_are_read_where_they_are(verify: str) -> None:
    policy = msgspec.structs.replace(PACK.of("support"), verify=verify)
    threshold = CertifiedThreshold(msgspec.structs.replace(PACK, categories={**PACK.categories, "support": policy}))
    prior = shipped(policy.prior)
    assert prior.with_verifier is not None
    assert prior.with_verifier.risks != prior.risks
    begun = threshold._of("support").control.budget._window
    assert sorted(begun) == sorted(prior.with_verifier.risks if verify == "verifier" else prior.risks)


def test_what_could_be_heard_counts_in_the_bound_of_what_is_worth_a_look() -> None:
    prior = shipped("any").with_verifier
    assert prior is not None
    belief = Belief(prior)
    near = candidate(0.9, "How do I get a new password?")
    around = [surroundings.around([near])[0]]
    quiet, asked = (belief.at_best(around, [1], 60, asked=asked)[0] for asked in (False, True))
    values = features.of(QUERY, near)
    word = belief.log_odds(features.with_verdict(values, 1.0), 1) - belief.log_odds(values, 1)
    assert word > 1.0
    assert asked >= quiet + word, "or what a word could settle is given up before anybody is asked"
    # Labels may teach that only the surest word is worth anything.
    belief.mean[TERMS.index("word>4")] += 30.0
    belief.learn(features.with_verdict(values, 1.0), 2, correct=True)
    sure = belief.log_odds(features.with_verdict(values, 1.0), 1)
    assert belief.at_best(around, [1], 60, asked=True)[0] >= sure > asked


def test_a_neighbour_that_only_a_word_could_settle_is_worth_a_look_where_one_is_asked_for() -> None:
    near = candidate(0.9, "How do I get a new password?")
    found = [replace(near, around=surroundings.around([near])[0])]
    known = CertifiedThreshold(PACK)._of("support")
    for kind in known.beliefs.without_verifier.calibration._of:
        kind.mean[0] = -40.0  # likeness alone is worth nothing here
    assert known.beliefs.promising(found, QUERY, 0.65, asks=False) == [False]
    assert known.beliefs.promising(found, QUERY, 0.65, asks=True) == [True]


def test_a_text_typed_again_is_the_same_whatever_its_neighbours_have_taught() -> None:
    belief = Belief(shipped("any"))
    again, near = candidate(0.97, "How do I reset my password?"), candidate(0.97, "How do I set my password?")
    for _ in range(200):
        belief.learn(features.of(QUERY, near), 0, correct=False)
    assert belief.log_odds(features.of(QUERY, near), 0) < 0.0
    assert belief.log_odds(features.of(QUERY, again), 0) > 2.5
    found = belief.at_best([surroundings.around([again])[0]], [0], 60)[0]
    assert found >= belief.log_odds(features.of(QUERY, again), 0), "or nobody would look at it"


def test_what_the_verifiers_word_is_worth_is_learned() -> None:
    doubtful = candidate(0.8, "How to get a new password")
    yes, no = (replace(doubtful, features=features.with_verdict(doubtful.features, said)) for said in (0.97, 0.03))

    def gap(threshold: CertifiedThreshold) -> float:
        p, q = (threshold.judge(one, "support", controls=ANY, draw=0.5).p_correct for one in (yes, no))
        return math.log(p / (1 - p)) - math.log(q / (1 - q))

    trusting, wary = CertifiedThreshold(PACK), CertifiedThreshold(PACK)
    assert gap(CertifiedThreshold(PACK)) > 1.0
    for number in range(200):
        said, right = (yes, no)[number % 2], number % 2 == 0
        trusting.observe(label(said, correct=right))
        wary.observe(label(said, correct=number % 4 < 2))
    assert gap(trusting) > gap(CertifiedThreshold(PACK)) > gap(wary), "a word that tells nothing counts less"


def test_a_closed_category_asks_no_verifier() -> None:
    category = msgspec.structs.replace(PACK.of("support"), verify="llm")
    threshold = CertifiedThreshold(msgspec.structs.replace(PACK, categories={**PACK.categories, "support": category}))
    assert threshold.judge(UNSURE, "support", controls=ANY, draw=0.5).verify
    for _ in range(60):
        threshold.observe(label(SURE, correct=False))
    assert not threshold.judge(UNSURE, "support", controls=ANY, draw=0.5).verify


def test_a_label_of_another_version_is_counted_and_harms_nothing() -> None:
    threshold = CertifiedThreshold(PACK)
    before = threshold.judge(SURE, "support", controls=ANY, draw=0.5).p_correct
    threshold.observe(replace(label(SURE, correct=False), features=(1.0, 2.0)))
    assert threshold.standing("support").labels == 1
    assert threshold.judge(SURE, "support", controls=ANY, draw=0.5).p_correct == before


def told(one: Candidate, said: float) -> Candidate:
    """The candidate after the local verifier gave this P(same)."""
    return replace(one, features=features.with_verdict(one.features, said))


@pytest.mark.parametrize("asked", [False, True])
def test_what_shows_how_little_likeness_says_leaves_the_verifiers_word_its_worth(asked: bool) -> None:
    """Traps that nobody was asked about once took the worth of the word as well: in one cache for all, hits ended."""
    near = candidate(0.9, "How do I change my password?")
    found, said = near.features, told(near, 0.9).features
    known = CertifiedThreshold(PACK)._of("support")
    before = known.beliefs.probability(found, 7), known.beliefs.probability(said, 7)
    for _ in range(60):
        known.take(label(told(near, 0.9) if asked else near, correct=False, source=LabelSource.MISS), "acme")
    after = known.beliefs.probability(found, 7), known.beliefs.probability(said, 7)
    moved = [(one - two) / one for one, two in zip(before, after, strict=True)]
    assert moved[asked] > 0.3
    assert moved[not asked] == pytest.approx(0.0)


def doubts(about: CalibratedBelief, one: Candidate, caution: float) -> list[float]:
    """The log-odds by which caution lowers a candidate, of each kind of traffic."""
    odds, near = about.log_odds(one.features, 7), one.features[features.NAMES.index("nearness")]
    found = []
    for kind in about.calibration._of:
        plain, safe = (kind.corrected(odds, near, by) for by in (0.0, caution))
        found.append(math.log(plain / (1 - plain)) - math.log(safe / (1 - safe)))
    return found


def test_likeness_alone_is_doubted_before_the_first_label_and_the_verifiers_word_is_taken_as_it_was_measured() -> None:
    near = candidate(0.9, "How do I change my password?")
    known = CertifiedThreshold(PACK)._of("support")
    for one, about, doubt in (
        (near, known.beliefs.without_verifier, 0.3),
        (told(near, 0.97), known.beliefs.with_verifier, 0.0),
    ):
        assert doubts(about, one, CAUTION["hit"]) == pytest.approx([doubt] * len(about.calibration._of), abs=1e-6)
        plain, safe = about.probability(one.features, 7), known.beliefs.probability(one.features, 7)
        assert safe == plain if doubt == 0.0 else safe < plain


@pytest.mark.parametrize(("contract", "doubt"), [("hit", 0.3), ("request", 1.0)])
def test_likeness_is_doubted_more_where_a_target_lets_much_be_wrong(contract: Contract, doubt: float) -> None:
    policy = msgspec.structs.replace(PACK.of("support"), contract=contract)
    known = CertifiedThreshold(msgspec.structs.replace(PACK, categories={"support": policy}))._of("support")
    near = candidate(0.9, "How do I change my password?")
    assert doubts(known.beliefs.without_verifier, near, CAUTION[contract]) == pytest.approx([doubt, doubt], abs=1e-6)
    assert known.beliefs.probability(near.features, 7) < known.beliefs.without_verifier.probability(near.features, 7)


def test_what_was_foretold_leaves_the_verifiers_word_undoubted_and_a_surprise_does_not() -> None:
    said = told(candidate(0.9, "How do I change my password?"), 0.99)
    known = CertifiedThreshold(PACK)._of("support")
    usual = known.beliefs.with_verifier.calibration._of[0]
    known.take(label(said, correct=True, source=LabelSource.MISS), "acme")
    foretold = usual._cautious
    known.take(label(said, correct=False, source=LabelSource.MISS), "acme")
    assert foretold < 0.01
    assert usual._cautious == pytest.approx(foretold + 0.2)
    assert known.beliefs.probability(said.features, 7) < known.beliefs.with_verifier.probability(said.features, 7)


def test_a_state_of_one_belief_for_all_is_that_of_both_but_for_how_the_verifiers_word_is_read() -> None:
    one, two = CertifiedThreshold(PACK), CertifiedThreshold(PACK)
    for turn in range(40):
        one.observe(label(SURE, correct=turn % 4 > 0))
    state = json.loads(json.dumps(one.state()))
    del state["support"]["told"]
    state["support"]["calibration"] = state["support"]["calibration"]["kinds"][0]
    del state["support"]["belief"]["center"], state["support"]["belief"]["scale"]
    two.restore(state)
    known, fresh = two._of("support"), CertifiedThreshold(PACK)._of("support")
    learned = one._of("support").beliefs.without_verifier.belief
    for belief in (known.beliefs.with_verifier.belief, known.beliefs.without_verifier.belief):
        assert belief.mean.tolist() == learned.mean.tolist()
        assert belief.covariance.tolist() == learned.covariance.tolist()
        assert belief.answers == learned.answers
    assert known.beliefs.without_verifier.calibration.state() == fresh.beliefs.without_verifier.calibration.state()
    assert known.beliefs.with_verifier.calibration.state() == fresh.beliefs.with_verifier.calibration.state(), (
        "one calibration says nothing of kinds"
    )


@pytest.mark.parametrize("noise", [LabelNoise(), LabelNoise(0.1, 0.1)])
def test_a_restored_strategy_goes_on_where_it_was(noise: LabelNoise) -> None:
    one, two = CertifiedThreshold(PACK, noise=noise), CertifiedThreshold(PACK, noise=noise)
    rng = random.Random(5)
    for _ in range(50):
        some = rng.choice([SURE, UNSURE, told(SURE, 0.9), told(UNSURE, 0.4)])
        one.observe(label(some, correct=rng.random() < 0.8))
    two.restore(json.loads(json.dumps(one.state())))
    for threshold in (one, two):
        threshold.observe(label(SURE, correct=False))
    assert one.state() == two.state()


def test_the_less_labels_tell_the_surer_an_answer_must_be() -> None:
    values, answer = features.of(QUERY, UNSURE), UNSURE.card.answer_class
    near = values[features.NAMES.index("nearness")]

    def lowered(noise: LabelNoise) -> float:
        beliefs = CertifiedThreshold(PACK, noise=noise)._of("support").beliefs
        beliefs.without_verifier.calibration.doubt()
        odds = beliefs.without_verifier.belief.log_odds(values, answer)
        return beliefs.without_verifier.calibration.corrected(odds, near) - beliefs.probability(values, answer)

    faithful, some, much = (lowered(LabelNoise(share, share)) for share in (0.0, 0.1, 0.3))
    assert 0.0 < faithful < some < much


def test_a_category_that_is_first_asked_for_while_beliefs_are_rebuilt_breaks_nothing() -> None:
    """They are rebuilt in a thread, and requests go on."""
    strategy = CertifiedThreshold(PACK)
    strategy.observe(label(candidate(0.95), correct=True))

    class Arriving(list[Label]):
        def __iter__(self) -> Iterator[Label]:
            strategy.judge(candidate(0.95), "chat", controls=ANY, draw=0.5)
            return super().__iter__()

    strategy.relearn(Arriving([label(candidate(0.95), correct=True)]))
    assert strategy.standing("chat").labels == 0


def test_a_closed_class_opens_by_its_own_labels_though_they_teach_nobody_else() -> None:
    strategy = CertifiedThreshold(PACK)
    for _ in range(40):
        strategy.observe_own(label(SURE, correct=False))
    assert strategy.judge(SURE, "support", controls=ANY, draw=0.5, tenant="acme").why is Why.CLOSED
    for _ in range(400):
        strategy.observe_own(label(UNSURE, correct=True, source=LabelSource.MISS))
    assert not strategy.judge(SURE, "support", controls=ANY, draw=0.5, tenant="acme").serve
    for _ in range(400):
        strategy.observe_own(label(SURE, correct=True, source=LabelSource.MISS))
    assert strategy.judge(SURE, "support", controls=ANY, draw=0.5, tenant="acme").serve


def test_restarts_grant_no_more_errors_than_one_process_has() -> None:
    """A budget that began anew each time would spend the grant each time: restarted often, it missed the target."""
    strategy, risks = CertifiedThreshold(PACK.with_target(0.01)), list[float]()
    strategy.observe(label(SURE, correct=True))
    for _ in range(40):
        for _ in range(8):
            limit = strategy.standing("support").risk
            assert limit is not None
            strategy.note("support", 1.0 - limit, served=True, audited=False)
            risks.append(limit)
        state = json.loads(json.dumps(strategy.state()))
        strategy = CertifiedThreshold(PACK.with_target(0.01))
        strategy.restore(state)
    assert sum(risks) <= 0.01 * len(risks) + 0.25


@pytest.mark.parametrize("guard", ["characters", "tone"])
def test_no_label_overrules_a_veto_that_is_no_feature(guard: str) -> None:
    """Other symbols gave the score 1.0: a candidate as sure as can be was served in spite of the veto."""
    threshold = CertifiedThreshold(PACK)
    vetoed = candidate(0.9999, QUERY, Conflict(guard, "other symbols", True))
    for _ in range(200):
        threshold.observe(label(SURE, correct=True))
        threshold.observe(label(vetoed, correct=True, source=LabelSource.MISS))
    verdict = threshold.judge(vetoed, "support", controls=Controls(), draw=0.5)
    assert threshold.judge(SURE, "support", controls=Controls(), draw=0.5).serve
    assert not verdict.serve
    assert not verdict.verify
