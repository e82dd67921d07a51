"""A simulated cache: the answers that it serves, and those that it must never serve."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semcache.errors import InvalidArgument
from semcache.matching import features
from semcache.retention.eviction import POLICIES
from semcache.simulate import Arrival, Experiment, SimulationResult, Simulator
from semcache.types import Outcome, Why
from semcache.types.evidence import LabelSource
from tests.simulate.worlds import DIM, Fixed, pack, traffic, units, with_category

seeds = st.integers(0, 10_000)


def simulate(
    arrivals: list[Arrival], vectors: np.ndarray, threshold: Fixed, seed: int = 0, **options: object
) -> SimulationResult:
    return Simulator(pack(), threshold, rng=random.Random(seed), **options).run(arrivals, vectors)  # type: ignore[arg-type]


@settings(max_examples=25, deadline=None)
@given(seeds, st.integers(0, 300))
def test_a_threshold_that_serves_nothing_leaves_exact_repeats_alone_to_hit(seed: int, count: int) -> None:
    arrivals, vectors = traffic(seed, count)
    result = simulate(arrivals, vectors, Fixed(2.0))
    assert not result.semantic.any()
    known: set[str] = set()
    for number, arrival in enumerate(arrivals):
        assert result.exact[number] == (arrival.text in known)
        known.add(arrival.text)
    assert not result.wrong.any()


@settings(max_examples=25, deadline=None)
@given(seeds, st.floats(-1.0, 1.0), st.sampled_from(["always", "when-wrong"]), st.floats(0.0, 1.0))
def test_right_hits_never_exceed_those_of_an_oracle(seed: int, floor: float, insertion: str, audit: float) -> None:
    arrivals, vectors = traffic(seed, 200)
    result = simulate(arrivals, vectors, Fixed(floor, audit=audit), experiment=Experiment(insertion=insertion))
    seen: set[str] = set()
    for number, arrival in enumerate(arrivals):
        hit = bool(result.exact[number] or result.semantic[number])
        if hit and not result.wrong[number]:
            assert arrival.answer in seen
            assert arrivals[result.source[number]].answer == arrival.answer
        seen.add(arrival.answer)


@settings(max_examples=25, deadline=None)
@given(seeds, st.floats(0.0, 1.0))
def test_nothing_crosses_tenants_and_signatures(seed: int, floor: float) -> None:
    arrivals, vectors = traffic(seed, 300, tenants=("a", "b"), signatures=(b"", b"x"), prompts=5)
    result = simulate(arrivals, vectors, Fixed(floor))
    assert (result.semantic | result.exact).any()
    for number, source in enumerate(result.source):
        if source >= 0:
            assert source < number
            assert arrivals[source].tenant == arrivals[number].tenant
            assert arrivals[source].signature == arrivals[number].signature


@settings(max_examples=15, deadline=None)
@given(seeds, st.floats(0.0, 1.0), st.integers(3, 40), st.floats(0.0, 0.5))
def test_one_step_at_a_time_comes_to_the_same_as_a_run(seed: int, floor: float, quota: int, noise: float) -> None:
    """Also under eviction, when rows of the index move."""
    arrivals, vectors = traffic(seed, 300, prompts=80)
    terms = pack(quota=quota)
    one = Simulator(terms, Fixed(floor, audit=0.3), rng=random.Random(seed), experiment=Experiment(judge_noise=noise))
    two = Simulator(terms, Fixed(floor, audit=0.3), rng=random.Random(seed), experiment=Experiment(judge_noise=noise))
    told: list[int] = []
    result = one.run(arrivals, vectors, told.append)
    steps = [two.step(arrival, vector) for arrival, vector in zip(arrivals, vectors, strict=True)]
    assert [step.source if step.source is not None else -1 for step in steps] == result.source.tolist()
    assert [step.score for step in steps if step.score is not None] == result.score[~np.isnan(result.score)].tolist()
    assert [step.audited for step in steps] == result.audited.tolist()
    assert told == [128, 256, 300]
    assert len(one.registry) <= quota


def test_a_seed_makes_it_reproducible_and_another_changes_it() -> None:
    arrivals, vectors = traffic(1, 400)
    runs = [simulate(arrivals, vectors, Fixed(0.7, audit=0.5), seed).audited.tolist() for seed in (3, 3, 4)]
    assert runs[0] == runs[1] != runs[2]


def test_a_threshold_is_told_of_every_request_that_was_looked_up_by_meaning_once() -> None:
    arrivals, vectors = traffic(2, 300)
    threshold = Fixed(0.8)
    result = simulate(arrivals, vectors, threshold)
    assert len(threshold.notes) == 300 - int(result.exact.sum())
    assert sum(served for _, _, served in threshold.notes) == int(result.semantic.sum())
    assert threshold.notes[0] == ("default", None, False)


def test_misses_teach_for_free_and_hits_only_by_audit() -> None:
    arrivals, vectors = traffic(3, 300)
    quiet = Fixed(0.93)
    result = simulate(arrivals, vectors, quiet)
    assert {label.source for label in quiet.labels} == {LabelSource.MISS}
    assert result.calls.sum() == int((~result.exact & ~result.semantic).sum())
    audited = Fixed(0.8, audit=1.0)
    result = simulate(arrivals, vectors, audited)
    audits = [label for label in audited.labels if label.source is LabelSource.AUDIT]
    assert len(audits) == int(result.semantic.sum()) == int(result.audited.sum()) > 0
    assert all(label.served and label.chance == 1.0 and label.features for label in audits)
    assert result.calls.sum() == 300 - int(result.exact.sum())
    assert result.summary()["net_hit_rate"] == pytest.approx(result.exact.mean())


def test_labels_say_the_truth_unless_the_judge_errs() -> None:
    arrivals, vectors = traffic(4, 400)

    def share_of_truth(noise: float) -> float:
        threshold = Fixed(2.0)
        simulate(arrivals, vectors, threshold, experiment=Experiment(judge_noise=noise))
        answer_of = {number + 1: arrival.answer for number, arrival in enumerate(arrivals)}
        at = {arrival.at: arrival.answer for arrival in arrivals}
        truths = [(answer_of[label.entry_id] == at[label.at]) == label.correct for label in threshold.labels]
        return float(np.mean(truths))

    assert share_of_truth(0.0) == 1.0
    assert share_of_truth(1.0) == 0.0


def test_answers_judged_equal_share_a_class() -> None:
    vectors = units(np.eye(DIM)[[0, 0, 0]] + 0.1 * np.eye(DIM)[[1, 2, 3]])
    arrivals = [Arrival(float(i), f"p{i}", "same") for i in range(3)]
    simulator = Simulator(pack(), Fixed(2.0), rng=random.Random(0))
    simulator.run(arrivals, vectors)
    assert [simulator.registry.get(id).answer_class for id in (1, 2, 3)] == [1, 1, 1]  # type: ignore[union-attr]


def test_when_wrong_keeps_only_answers_that_were_not_there() -> None:
    arrivals, vectors = traffic(5, 300, answers=4)
    simulator = Simulator(pack(), Fixed(2.0), rng=random.Random(0), experiment=Experiment(insertion="when-wrong"))
    simulator.run(arrivals, vectors)
    always = Simulator(pack(), Fixed(2.0), rng=random.Random(0))
    always.run(arrivals, vectors)
    assert 4 <= len(simulator.registry) < len(always.registry)


def test_a_wrong_answer_is_not_served_again_to_the_request_that_showed_it() -> None:
    vectors = units([np.eye(DIM)[0], np.eye(DIM)[0] + 0.1 * np.eye(DIM)[1]])
    first, second = Arrival(0.0, "one", "x"), Arrival(1.0, "two", "y")
    simulator = Simulator(pack(), Fixed(0.5, audit=1.0), rng=random.Random(0))
    assert simulator.step(first, vectors[0]).outcome is Outcome.MISS
    step = simulator.step(second, vectors[1])
    assert (step.outcome, step.correct, step.audited, step.backend_calls) == (Outcome.SEMANTIC, False, True, 1)
    again = simulator.step(replace(second, at=2.0), vectors[1])
    assert (again.outcome, again.correct) == (Outcome.EXACT, True)


def test_answers_die_with_their_ttl_and_are_wrong_once_the_truth_has_changed() -> None:
    vectors = units([np.eye(DIM)[0]])
    simulator = Simulator(pack(ttl=10.0), Fixed(0.9), rng=random.Random(0))
    simulator.step(Arrival(0.0, "p", "x", expires_truth=5.0), vectors[0])
    assert simulator.step(Arrival(4.0, "p", "x"), vectors[0]).correct is True
    stale = simulator.step(Arrival(6.0, "p", "x"), vectors[0])
    assert (stale.outcome, stale.correct) == (Outcome.EXACT, False)
    assert simulator.step(Arrival(10.0, "p", "x"), vectors[0]).outcome is Outcome.MISS


def test_what_lives_on_while_it_is_asked_anew_is_served_and_costs_a_call() -> None:
    arrivals = [Arrival(at, "same", "answer") for at in (0.0, 5.0, 12.0, 14.0, 40.0)]
    vectors = units([np.eye(DIM)[0]] * len(arrivals))
    simulator = Simulator(pack(ttl=10.0, revalidate=5.0), Fixed(0.9), rng=random.Random(0))
    steps = [simulator.step(arrival, vector) for arrival, vector in zip(arrivals, vectors, strict=True)]
    assert [step.outcome for step in steps] == [
        Outcome.MISS, Outcome.EXACT, Outcome.EXACT, Outcome.EXACT, Outcome.MISS
    ]  # fmt: skip
    # The third was stale and is the one that the fourth is served.
    assert [step.backend_calls for step in steps] == [1, 0, 1, 0, 1]
    assert steps[3].source == 2


def test_categories_keep_to_their_own_terms_and_partitions() -> None:
    vectors = units([np.eye(DIM)[0], np.eye(DIM)[0] + 0.05 * np.eye(DIM)[1]])
    terms = with_category(with_category(pack(), "off", cache=False), "words", semantic=False)

    def outcomes(first: str, second: str, near: tuple[str, ...] = ()) -> list[Outcome]:
        simulator = Simulator(terms, Fixed(0.5), rng=random.Random(0))
        one, two = Arrival(0.0, "p", "x", category=first), Arrival(1.0, "q", "x", category=second, near=near)
        return [simulator.step(one, vectors[0]).outcome, simulator.step(two, vectors[1]).outcome]

    assert outcomes("default", "default") == [Outcome.MISS, Outcome.SEMANTIC]
    assert outcomes("off", "off") == [Outcome.BYPASS, Outcome.BYPASS]
    assert outcomes("words", "words") == [Outcome.MISS, Outcome.MISS]
    assert outcomes("default", "words") == [Outcome.MISS, Outcome.MISS]
    more = with_category(terms, "other")
    terms = more
    assert outcomes("default", "other") == [Outcome.MISS, Outcome.MISS]
    assert outcomes("default", "other", near=("default",)) == [Outcome.MISS, Outcome.SEMANTIC]


def test_a_wish_to_verify_is_a_miss_unless_somebody_verifies() -> None:
    vectors = units([np.eye(DIM)[0], np.eye(DIM)[0] + 0.05 * np.eye(DIM)[1]])
    arrivals = [Arrival(0.0, "p", "x"), Arrival(1.0, "q", "x")]
    alone = Simulator(pack(), Fixed(0.5, verify=True), rng=random.Random(0)).run(arrivals, vectors)
    assert alone.why[1] is Why.NO_VERDICT
    asked: list[tuple[str, str]] = []

    def verify(query: str, cached: str) -> float:
        asked.append((query, cached))
        return 1.0

    simulator = Simulator(pack(), Fixed(0.5, verify=True), rng=random.Random(0), verify=verify)
    assert simulator.run(arrivals, vectors).semantic.tolist() == [False, True]
    assert asked == [("q", "p")]
    refusing = Simulator(pack(), Fixed(0.5, verify=True), rng=random.Random(0), verify=lambda *_: 0.5)
    assert refusing.run(arrivals, vectors).why[1] is Why.VERIFY_FAILED


@pytest.mark.parametrize("policy", ["verifier", "off"])
def test_a_likely_neighbour_that_nobody_waited_to_have_read_is_read_for_its_label(policy: str) -> None:
    vectors = units([np.eye(DIM)[0], np.eye(DIM)[0] + 0.05 * np.eye(DIM)[1]])
    arrivals = [Arrival(0.0, "p", "x"), Arrival(1.0, "q", "x")]
    strategy, asked = Fixed(0.9999), list[tuple[str, str]]()

    def verify(query: str, cached: str) -> float:
        asked.append((query, cached))
        return 0.9

    Simulator(pack(verify=policy), strategy, rng=random.Random(0), verify=verify).run(arrivals, vectors)
    [label] = strategy.labels
    assert label.features[features.NAMES.index("asked")] == float(policy == "verifier")
    assert asked == ([("q", "p")] if policy == "verifier" else [])


def test_the_second_neighbour_is_asked_about_where_the_word_on_the_first_is_not_enough() -> None:
    vectors = units([np.eye(DIM)[0], np.eye(DIM)[0] + 0.4 * np.eye(DIM)[1], np.eye(DIM)[0] + 0.1 * np.eye(DIM)[2]])
    arrivals = [Arrival(0.0, "near", "x"), Arrival(1.0, "right", "y"), Arrival(2.0, "asked", "y")]
    asked: list[str] = []

    def verify(query: str, cached: str) -> float:
        asked.append(f"{query} / {cached}")
        return 1.0 if (query, cached) == ("asked", "right") else 0.5

    run = Simulator(pack(), Fixed(0.5, verify=True), rng=random.Random(0), verify=verify).run(arrivals, vectors)
    assert run.semantic.tolist() == [False, False, True]
    assert asked == ["right / near", "asked / near", "asked / right"]


def test_mistakes_of_the_caller_are_named() -> None:
    arrivals, vectors = traffic(1, 3)
    with pytest.raises(InvalidArgument, match="2 vectors for 3 arrivals"):
        simulate(arrivals, vectors[:2], Fixed(0.5))
    with pytest.raises(InvalidArgument, match="judge_noise=2"):
        simulate(arrivals, vectors, Fixed(0.5), experiment=Experiment(judge_noise=2))
    with pytest.raises(InvalidArgument, match="insertion='never'"):
        simulate(arrivals, vectors, Fixed(0.5), experiment=Experiment(insertion="never"))


def test_the_summary_adds_up() -> None:
    arrivals, vectors = traffic(6, 400, categories=("default", "other"))
    simulator = Simulator(with_category(pack(quota=10), "other"), Fixed(0.6, audit=0.2), rng=random.Random(0))
    result = simulator.run([replace(one, cost=2.0, latency=3.0) for one in arrivals], vectors)
    whole, parts = result.summary(), [result.summary(name) for name in result.categories()]
    for key in ("requests", "exact", "semantic", "misses", "audits", "wrong", "backend_calls", "cost_saved"):
        assert whole[key] == pytest.approx(sum(part[key] for part in parts))
    assert whole["exact"] + whole["semantic"] + whole["misses"] == whole["requests"] == 400
    assert whole["backend_calls"] == whole["misses"] + whole["audits"]
    assert whole["cost_saved"] == 2.0 * (400 - whole["backend_calls"])
    assert whole["latency_saved"] == 3.0 * (whole["exact"] + whole["semantic"])
    estimate, low, high = whole["error_per_hit"]
    assert 0 <= low <= estimate <= high <= 1
    assert result.evicted > 0
    assert result.summary("nowhere")["error_per_hit"] is None


def test_what_may_not_be_looked_up_or_kept_is_not() -> None:
    vectors = units([np.eye(DIM)[0]])
    arrival = Arrival(0.0, "p", "x")

    def again(first: Arrival, second: Arrival) -> tuple[Outcome, Why]:
        simulator = Simulator(pack(), Fixed(0.5), rng=random.Random(0))
        simulator.step(first, vectors[0])
        step = simulator.step(second, vectors[0])
        return step.outcome, step.why

    assert again(arrival, arrival) == (Outcome.EXACT, Why.EXACT)
    assert again(replace(arrival, keep=False), arrival) == (Outcome.MISS, Why.COLD)
    assert again(arrival, replace(arrival, refused=Why.LIVE)) == (Outcome.BYPASS, Why.LIVE)
    exact_only = replace(arrival, text="q", refused=Why.EXACT_ONLY)
    assert again(arrival, exact_only) == (Outcome.MISS, Why.EXACT_ONLY)
    assert again(exact_only, exact_only) == (Outcome.EXACT, Why.EXACT)


@pytest.mark.parametrize("name", sorted(POLICIES))
def test_a_pack_names_what_goes_first(name: str) -> None:
    arrivals, vectors = traffic(7, 300, prompts=60)
    named = Simulator(pack(quota=8, eviction=name), Fixed(2.0), rng=random.Random(0)).run(arrivals, vectors)
    given = Simulator(pack(quota=8), Fixed(2.0), rng=random.Random(0), eviction=POLICIES[name]).run(arrivals, vectors)
    assert named.exact.tolist() == given.exact.tolist()
    assert named.entries <= 8
    assert named.evicted > 0


def test_dear_answers_stay_where_the_policy_counts_costs() -> None:
    rows = [Arrival(float(i), f"cheap {i}", "x", cost=1.0) for i in range(20)]
    rows = [Arrival(-1.0, "dear", "y", cost=1000.0), *rows, Arrival(30.0, "dear", "y", cost=1000.0)]
    vectors = units(np.eye(22)[:, :DIM] + 0.01)

    def last(policy: str) -> Outcome:
        simulator = Simulator(pack(quota=5, eviction=policy), Fixed(2.0), rng=random.Random(0))
        return [simulator.step(arrival, vector) for arrival, vector in zip(rows, vectors, strict=True)][-1].outcome

    assert (last("gdsf"), last("lru")) == (Outcome.EXACT, Outcome.MISS)


def test_equal_wordings_are_served_where_the_experiment_has_them() -> None:
    arrivals = [
        Arrival(float(place), text, "1")
        for place, text in enumerate(["How do I pay?", "how can I pay", "how do i pay", "Why do I pay?"])
    ]
    vectors = np.eye(4, dtype=np.float32)
    for wording, hits in ((False, 0), (True, 2)):
        simulator = Simulator(pack(), Fixed(2.0), rng=random.Random(0), experiment=Experiment(wording=wording))
        result = simulator.run(arrivals, vectors)
        assert int(result.semantic.sum()) == hits
        assert not result.wrong.any()
