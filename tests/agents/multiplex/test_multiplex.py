"""The cheaper model answers where it is as good, within the loss that is allowed, and the books say what it spared."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.choosing import Account, LossBudget, Multiplexer, MultiplexTerms, QueryCosts
from semcache.agents.multiplex import PricedModel, PricedModels, RoutingRequest, signals
from semcache.agents.multiplex.gap import QualityGap
from semcache.agents.multiplex.ridge import Ridge
from semcache.errors import ConfigError
from semcache.retention.answer_worth import worth_of
from semcache.types import Usage

SMALL, LARGE = PricedModel("small", 1.0, 2.0, 0.5), PricedModel("large", 10.0, 20.0, 0.9)
BOTH = PricedModels((SMALL, LARGE), "large")
UNIT = st.floats(0.0, 1.0)


def taught(terms: MultiplexTerms, *, count: int = 400, seed: int = 0) -> Multiplexer:
    """Both models are as good at sums that hold; the small one is wrong where its sum is."""
    chooser, rng = Multiplexer(BOTH, terms), random.Random(seed)
    for _ in range(count):
        asked, answer, good = task(rng)
        choice = chooser.choose(asked, 2.0)
        kept, predicted = chooser.keep(asked, "small", answer) if choice.check else (False, 0.0)
        chooser.learn(asked, "small", answer, 0.0 if good else 1.0, predicted=predicted if kept else None)
    return chooser


def task(rng: random.Random) -> tuple[RoutingRequest, str, bool]:
    one, two, good = rng.randint(2, 90), rng.randint(2, 90), rng.random() < 0.6
    total = one + two + (0 if good else 7)
    return RoutingRequest(f"How much is {one} and {two}?"), f"{one} + {two} = {total}. The answer is {total}.", good


# Learning


def test_a_category_whose_answers_were_worse_is_expected_to_lose_more() -> None:
    gap = QualityGap(0.2)
    for number in range(60):
        gap.learn(RoutingRequest(f"Question {number}?", "hard"), None, 0.9)
        gap.learn(RoutingRequest(f"Question {number}?", "easy"), None, 0.0)
    hard, easy = (gap.before(RoutingRequest("Question 100?", name)).mean for name in ("hard", "easy"))
    assert hard > 0.7
    assert easy < 0.2


def test_without_examples_the_prior_is_predicted_and_then_the_line_whatever_the_scales() -> None:
    model, rng = Ridge(2, prior=0.3, penalty=1.0), np.random.default_rng(0)
    assert model.predict(np.zeros(2))[0] == 0.3
    for _ in range(500):
        x = rng.normal(size=2) * (1.0, 1000.0)
        model.learn(x, 0.2 + 0.1 * x[0] - 0.0002 * x[1])
    mean, deviation = model.predict(np.array([1.0, 1000.0]))
    assert math.isclose(mean, 0.1, abs_tol=0.02)
    assert deviation < 0.05
    other = Ridge(2)
    other.restore(model.state())
    assert other.seen == model.seen
    with pytest.raises(ValueError, match="3"):
        Ridge(3).restore(model.state())


@pytest.mark.parametrize("row", [np.zeros(3), np.array([1.0, math.nan])])
def test_an_example_that_is_none_changes_nothing(row) -> None:
    model = Ridge(2)
    with pytest.raises(ValueError, match="2 finite features"):
        model.learn(row, 0.0)
    assert model.seen == 0


@settings(max_examples=80)
@given(st.text(max_size=300), st.text(max_size=300))
def test_signals_are_finite_for_any_texts(request, answer) -> None:
    assert np.isfinite(signals.of_request(request)).all()
    numbers = signals.of_answer(request, answer)
    assert numbers.shape == (len(signals.ANSWER),)
    assert np.isfinite(numbers).all()


@pytest.mark.parametrize(
    ("answer", "checked", "wrong"),
    [
        ("3 + 4 = 7", 1, 0),
        ("so 2 x $5.50 = $11 and 11 - 4 = 8", 2, 1),
        ("2 + 3 * 4 = 14", 1, 0),
        ("20% * 50 = 10", 1, 0),
        ("1,200 / 4 = 300", 1, 0),
        ("5 / 0 = 0", 0, 0),
        ("x = 7", 0, 0),
    ],
)
def test_sums_in_an_answer_are_checked(answer, checked, wrong) -> None:
    told = dict(zip(signals.ANSWER, signals.of_answer("", answer), strict=True))
    assert (round(math.expm1(told["sums"])), round(math.expm1(told["false_sums"]))) == (checked, wrong)


# Choosing


def test_nothing_known_is_the_reference_models() -> None:
    asked = RoutingRequest("Hello?")
    assert Multiplexer(BOTH, MultiplexTerms(strategy="route")).choose(asked, 2.0).model == "large"
    cascade = Multiplexer(BOTH, MultiplexTerms())
    assert cascade.choose(asked, 2.0).check
    assert cascade.keep(asked, "small", "Hi.")[0] is False


def test_a_cascade_keeps_what_checks_out_and_asks_on_where_it_does_not() -> None:
    chooser, rng = taught(MultiplexTerms(loss=0.05)), random.Random(9)
    kept = {True: 0, False: 0}
    for _ in range(200):
        asked, answer, good = task(rng)
        kept[good] += chooser.keep(asked, "small", answer)[0]
    assert kept[True] > 90
    assert kept[False] < 10


def test_less_may_be_lost_and_less_is_kept() -> None:
    shares = []
    for loss in (0.0, 0.05, 1.0):
        chooser, rng = taught(MultiplexTerms(loss=loss)), random.Random(9)
        tried = [task(rng) for _ in range(100)]
        shares.append(sum(chooser.keep(asked, "small", answer)[0] for asked, answer, _ in tried))
    assert shares == sorted(shares)
    assert shares[0] < 50
    assert shares[-1] > 95


def test_a_route_follows_the_category_that_the_small_model_is_good_at() -> None:
    chooser = Multiplexer(BOTH, MultiplexTerms(strategy="route", loss=0.02))
    for number in range(300):
        good = number % 2 == 0
        asked = RoutingRequest("What is it?", "easy" if good else "hard")
        chooser.choose(asked, 2.0)
        chooser.learn(asked, "small", None, 0.0 if good else 1.0)
    assert chooser.choose(RoutingRequest("What is it?", "easy"), 2.0).model == "small"
    assert chooser.choose(RoutingRequest("What is it?", "hard"), 2.0).model == "large"


def test_a_neighbour_that_went_wrong_speaks_against_the_small_model() -> None:
    chooser = Multiplexer(BOTH, MultiplexTerms())
    near, far = np.eye(8, dtype=np.float32)[:2]
    for number in range(200):
        chooser.learn(RoutingRequest("?", vector=(near, far)[number % 2]), "small", None, float(number % 2 == 0))
    gap = chooser.gaps["small"]
    assert gap.before(RoutingRequest("?", vector=near)).mean > gap.before(RoutingRequest("?", vector=far)).mean + 0.5


def test_some_requests_go_to_both() -> None:
    chooser = Multiplexer(BOTH, MultiplexTerms(explore=0.1))
    choice = chooser.choose(RoutingRequest("?"), 0.05)
    assert (choice.why, choice.compare, choice.check) == ("explore", True, False)
    assert chooser.choose(RoutingRequest("?"), 0.1).why == "cascade"


def test_one_model_alone_is_always_asked() -> None:
    alone = Multiplexer(PricedModels((LARGE,), "large"))
    assert alone.choose(RoutingRequest("?"), 0.0).model == "large"


@pytest.mark.parametrize("lost", [1.5, -2.0, math.nan])
def test_a_loss_that_is_none_is_refused(lost) -> None:
    chooser = Multiplexer(BOTH)
    with pytest.raises(ValueError, match="between -1 and 1"):
        chooser.learn(RoutingRequest("?"), "small", "a", lost)
    assert chooser.gaps["small"].seen == 0


def test_what_was_learned_survives() -> None:
    chooser, again = taught(MultiplexTerms()), Multiplexer(BOTH, MultiplexTerms())
    again.restore(chooser.state())
    asked, answer, _ = task(random.Random(1))
    after = again.gaps["small"].after(asked, answer)
    # What is saved is up to date; weights that are in use lag behind by up to 2% of the examples.
    assert math.isclose(after.mean, chooser.gaps["small"].after(asked, answer).mean, abs_tol=0.01)


@settings(max_examples=25)
@given(st.lists(st.tuples(st.floats(-0.2, 1.0), st.floats(0.01, 1.0)), min_size=50, max_size=60), st.floats(0.0, 0.3))
def test_what_the_price_takes_of_its_window_stays_within_the_budget(options, target) -> None:
    budget = LossBudget(target, window=len(options))
    for gap, saving in options:
        budget.see(gap, saving)
    budget._price = budget._made()
    taken = [gap for gap, saving in options if budget.allows(gap, saving)]
    assert sum(taken) <= target * len(options) + 1e-9
    assert not budget.allows(0.0, 0.0)


def test_predictions_that_were_too_rosy_are_put_right() -> None:
    budget = LossBudget(0.05)
    for _ in range(200):
        budget.see(0.04, 1.0)
    assert budget.allows(0.04, 1.0)
    for _ in range(200):
        budget.compared(0.04, 0.3)
        budget.see(0.04, 1.0)
    assert budget.optimism > 0.15
    assert not budget.allows(0.04, 1.0)


# Money


@settings(max_examples=60)
@given(st.lists(st.tuples(st.sampled_from(["near", "large", "both"]), st.integers(0, 9999), st.integers(0, 9999))))
def test_the_books_add_up_to_the_last_token(requests) -> None:
    account, paid, alone = Account(BOTH), 0.0, 0.0
    for outcome, prompt, completion in requests:
        usage = Usage(prompt, completion)
        calls = {"near": {"small": usage}, "large": {"large": usage}, "both": {"small": usage, "large": usage}}[outcome]
        account.note(outcome, calls, alone=usage)
        paid += sum(BOTH.of(name).cost(each) for name, each in calls.items())
        alone += LARGE.cost(usage)
    total = account.total()
    assert math.isclose(total.cost, paid, abs_tol=1e-12)
    assert math.isclose(total.reference, alone, abs_tol=1e-12)
    assert total.requests == len(requests)
    assert total.prompt_tokens == sum(prompt * (2 if outcome == "both" else 1) for outcome, prompt, _ in requests)


def test_a_comparison_in_the_background_costs_and_spares_nothing() -> None:
    account = Account(BOTH)
    account.note("near", {"small": Usage(10, 10)}, alone=Usage(10, 10))
    account.note("compared", {"large": Usage(10, 10)}, background=True)
    assert account.total().saved < 0
    assert account.total().requests == 1
    with pytest.raises(ValueError, match="not asked"):
        account.note("near", {"small": Usage(1, 1)})


def test_expected_costs_follow_the_answers_of_the_category() -> None:
    chooser = Multiplexer(BOTH)
    for _ in range(50):
        chooser.answered(RoutingRequest("?", "short"), "large", 10)
        chooser.answered(RoutingRequest("?", "long"), "large", 1000)
    assert chooser.expected_tokens("large", "short") < 80
    assert chooser.expected_tokens("large", "long") > 900
    assert chooser.expected_cost(LARGE, RoutingRequest("?", "long")) > 10 * chooser.expected_cost(
        LARGE, RoutingRequest("?", "short")
    )


@pytest.mark.parametrize(
    ("models", "reference", "said"),
    [
        ((SMALL, SMALL), "small", "different"),
        ((SMALL,), "large", "none of"),
        ((PricedModel("m", -1.0, 1.0),), "m", "prices"),
        ((PricedModel("m", 1.0, 1.0, speed=0.0),), "m", "prices"),
        ((PricedModel("m", 1.0, 1.0, quality=2.0),), "m", "quality"),
    ],
)
def test_models_that_make_no_sense_are_refused(models, reference, said) -> None:
    with pytest.raises(ConfigError, match=said):
        PricedModels(models, reference)


# What an entry is worth


def test_an_entry_is_worth_the_cheapest_acceptable_model() -> None:
    assert worth_of([(10.0, 0.0), (1.0, 0.5), (2.0, 0.01)], 0.02) == 2.0
    assert worth_of([(10.0, 0.1), (1.0, 0.5)], 0.02) == 10.0
    with pytest.raises(ValueError, match="no model"):
        worth_of([], 0.1)


def test_costs_are_tried_before_they_are_trusted() -> None:
    costs = QueryCosts[str](2, 100.0, deviation=0.0)
    assert costs.cheapest("q") == 0
    costs.learn("q", 0, 100.0)
    assert (costs.cheapest("q"), costs.worth("q")) == (1, 0.0)
    costs.learn("q", 1, 3.0)
    assert (costs.cheapest("q"), costs.worth("q")) == (1, 3.0)
    doubted = QueryCosts[str](1, 100.0)
    doubted.learn("q", 0, 50.0)
    assert doubted.worth("q") < 50.0
