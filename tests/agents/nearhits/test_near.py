"""A small model answers with examples only while comparisons certify it; what helps is learned, what does not goes."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semcache.agents.multiplex import PricedModel
from semcache.agents.nearhits import (
    Arm,
    ExamplePool,
    ModelBandit,
    NearExample,
    NearHits,
    NearSettings,
    PathState,
    QualityWatch,
    placed,
)
from semcache.agents.nearhits.example_replay import MOST, due, replayed
from semcache.agents.nearhits.floor import HelpfulnessFloor
from semcache.agents.nearhits.helpful import Helpfulness
from semcache.agents.nearhits.model_bandit import context
from semcache.agents.nearhits.near import Draws
from semcache.agents.nearhits.pick import pick
from semcache.storage.indexes.flat import FlatIndex
from semcache.types import Endpoint

SMALL, LARGE = PricedModel("small", 1.0, 1.0, 0.5), PricedModel("large", 20.0, 20.0, 0.95)
SETTINGS = NearSettings(SMALL, LARGE, target=0.1)
HOUR = 3600.0


def unit(*numbers: float) -> Any:
    vector = np.zeros(8, np.float32)
    vector[: len(numbers)] = numbers
    return vector / np.linalg.norm(vector)


def example(number: int, *, vector: Any = None, prompt: str = "How?", answer: str = "So.", **given: Any) -> NearExample:
    return NearExample(
        number, given.pop("partition", b"p"), prompt, answer, unit(1) if vector is None else vector, 0.0, **given
    )


def lived(near: NearHits, rng: random.Random, *, good: float, rounds: int, compare: float | None = None) -> list[str]:
    """Requests near an example, whose answers with examples are good that often; what became of each."""
    seen = []
    for number in range(rounds):
        draws = Draws(rng.random() if compare is None else compare, rng.random(), rng.random())
        choice = near.consider(
            f"How {number}?", partition=b"p", category="c", vector=unit(1, 0.1), now=float(number), draws=draws
        )
        seen.append(choice.why)
        if choice.compare:
            right = rng.random() < (good if choice.tried is Arm.EXAMPLES else 0.1)
            near.compared(choice, quality=float(right), now=float(number))
        elif choice.arm is not Arm.LARGE:
            near.served(choice, now=float(number))
    return seen


# The whole


def test_nothing_is_served_before_it_is_certified_and_then_most_is() -> None:
    near = NearHits(SETTINGS, FlatIndex)
    near.offer(example(1), 0.0)
    seen = lived(near, random.Random(0), good=1.0, rounds=800)
    first = seen.index("near")
    assert near.watch("c")._certificate.audits >= 22  # ln 0.05 / ln 0.9: no fewer can certify 10%
    assert first > 60
    assert seen[-200:].count("near") > 190


def test_a_model_that_turns_bad_is_asked_no_longer() -> None:
    near, rng = NearHits(SETTINGS, FlatIndex), random.Random(0)
    near.offer(example(1), 0.0)
    lived(near, rng, good=1.0, rounds=600)
    assert near.watch("c").state is PathState.OPEN
    assert lived(near, rng, good=0.2, rounds=900)[-100:].count("near") == 0


def test_a_bad_small_model_never_gets_to_answer() -> None:
    near = NearHits(SETTINGS, FlatIndex)
    near.offer(example(1), 0.0)
    assert "near" not in lived(near, random.Random(0), good=0.7, rounds=900)


def test_partitions_share_no_examples_and_categories_no_certificates() -> None:
    near = NearHits(SETTINGS, FlatIndex)
    near.offer(example(1, partition=b"acme"), 0.0)
    given = {"category": "c", "vector": unit(1), "now": 1.0}
    assert near.consider("How?", partition=b"acme", **given).examples
    assert near.consider("How?", partition=b"other", **given).examples == ()
    near.watch("c").state = PathState.OPEN
    assert near.watch("d").state is PathState.LEARNING


@pytest.mark.parametrize("answer", ["", "  ", "x" * 9000, "the key is sk-proj-abcdefghijklmnop1234"])
def test_what_must_not_be_shown_is_no_example(answer) -> None:
    near = NearHits(SETTINGS, FlatIndex)
    assert near.offer(example(1, answer=answer), 0.0) is False
    assert len(near.pool) == 0


def test_what_was_learned_survives() -> None:
    near = NearHits(SETTINGS, FlatIndex)
    near.offer(example(1), 0.0)
    lived(near, random.Random(0), good=1.0, rounds=600)
    again = NearHits(SETTINGS, FlatIndex)
    again.restore(json.loads(json.dumps(near.state())))
    assert again.watch("c").standing() == near.watch("c").standing()
    assert again.watch("c").open


# The certificate


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_an_error_above_the_target_is_hardly_ever_certified(seed) -> None:
    """With confidence 99.99%, of 30 streams of 400 none: a failure here is a fault, not chance."""
    watch, rng = QualityWatch(0.1, confidence=0.9999), random.Random(seed)
    opened = False
    for _ in range(400):
        watch.take(wrong=rng.random() < 0.12)
        opened = opened or watch.open
    assert not opened


def test_an_overrun_budget_closes_the_path_until_it_is_certified_anew() -> None:
    watch = QualityWatch(0.1)
    while not watch.open:
        watch.take(wrong=False)
    for _ in range(100):
        watch.take(wrong=True)
        if not watch.open:
            break
    assert (watch.state, watch.closures, watch.level) == (PathState.CLOSED, 1, None)
    needed = 0
    while not watch.open:
        watch.take(wrong=False)
        needed += 1
    assert needed >= 22


def test_comparisons_thin_out_while_all_is_well_and_never_end() -> None:
    watch = QualityWatch(0.1, rate=0.2)
    assert watch.sampled(0.19)
    rates = []
    for _ in range(3000):
        watch.take(wrong=False)
        rates.append(watch.rate)
    assert rates == sorted(rates, reverse=True)
    assert rates[-1] == 0.01


# Choosing examples


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(1, 40), st.floats(-1, 1), st.floats(-1, 1), st.integers(0, 3000)), max_size=12),
    st.integers(0, 5),
    st.integers(0, 2000),
)
def test_what_is_shown_fits_and_comes_in_one_order(found, most, tokens) -> None:
    candidates = [
        (example(number, vector=unit(1, turn), answer="x" * length), gain) for number, gain, turn, length in found
    ]
    chosen = pick(candidates, most=most, tokens=tokens)
    assert len(chosen) <= most
    assert sum(one.tokens for one in chosen) <= tokens
    assert [one.id for one in chosen] == sorted(one.id for one in chosen)
    assert all(any(one is other and gain > 0 for other, gain in candidates) for one in chosen)


def test_of_two_twins_one_is_shown() -> None:
    twins = [(example(1), 0.8), (example(2), 0.79), (example(3, vector=unit(0, 1)), 0.5)]
    assert [one.id for one in pick(twins, most=2)] == [1, 3]


def test_helpfulness_is_similarity_at_first_and_then_what_came_of_it() -> None:
    helpful = Helpfulness()
    near, far = example(1, answer="no"), example(2, answer="yes " * 40)
    assert helpful.predict("How?", near, 0.9, 0.0) > helpful.predict("How?", far, 0.6, 0.0) > 0
    for _ in range(300):
        helpful.learn("How?", near, 0.9, 0.0, -0.2)
        helpful.learn("How?", far, 0.6, 0.0, 0.6)
    assert helpful.predict("How?", far, 0.6, 0.0) > helpful.predict("How?", near, 0.9, 0.0)


def test_the_floor_that_pays_is_kept_to() -> None:
    floor, rng = HelpfulnessFloor(), random.Random(0)
    assert floor.choose(0.9) == 0.1
    for _ in range(3000):
        tried = floor.choose(rng.random())
        floor.learn(tried, float(rng.random() < (0.9 if tried == 0.2 else 0.6)), 100)
    assert floor.choose(0.9) == 0.2
    floor.learn(0.123, 1.0, 0)


# Placing them


def test_examples_are_the_same_bytes_before_whatever_is_asked() -> None:
    shown = (example(1, prompt="Wie?", answer="Grüße “so”"), example(2))
    bodies = [
        placed(
            Endpoint.CHAT,
            json.dumps(
                {
                    "model": "large",
                    "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": text}],
                    "temperature": 0.50,
                    "metadata": {"a": 1.0},
                }
            ).encode(),
            shown,
            "small",
        )
        for text in ("one", "two")
    ]
    assert bodies[0] is not None
    assert bodies[1] is not None
    one, two = bodies
    prefix = one[: one.index(b'"one"')]
    assert two.startswith(prefix)
    read = json.loads(one)
    assert [each["role"] for each in read["messages"]] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert read["messages"][2]["content"] == "Grüße “so”"
    assert (read["model"], read["metadata"], read["temperature"]) == ("small", {"a": 1.0}, 0.5)


def test_every_dialect_has_its_place() -> None:
    shown = (example(1),)
    anthropic = placed(
        Endpoint.MESSAGES,
        b'{"model":"m","max_tokens":9,"system":"s","messages":[{"role":"user","content":"q"}]}',
        shown,
        "s",
    )
    assert anthropic is not None
    assert [one["content"] for one in json.loads(anthropic)["messages"]] == ["How?", "So.", "q"]
    for turns in ('"q"', '[{"role":"user","content":"q"}]'):
        answers = placed(Endpoint.RESPONSES, f'{{"model":"m","input":{turns}}}'.encode(), shown, "s")
        assert answers is not None
        assert [one["content"] for one in json.loads(answers)["input"]] == ["How?", "So.", "q"]


@pytest.mark.parametrize(
    ("endpoint", "raw"),
    [
        (Endpoint.EMBEDDINGS, b'{"model":"m","input":"q"}'),
        (Endpoint.CHAT, b'{"model":"m"}'),
        (Endpoint.CHAT, b'{"model":"m","messages":"q"}'),
        (Endpoint.CHAT, b"["),
    ],
)
def test_what_has_no_place_for_examples_is_left_alone(endpoint, raw) -> None:
    assert placed(endpoint, raw, (example(1),), "s") is None


# Who is asked


def test_load_pushes_off_the_large_model_up_to_a_limit_and_lets_go_again() -> None:
    router = ModelBandit({Arm.LARGE: 1.0, Arm.SMALL: 0.05, Arm.EXAMPLES: 0.1}, push=0.2)
    around = context("How?", (0.8,), (0.5,))
    for _ in range(300):
        router.learn(around, Arm.EXAMPLES, 0.85)
        router.learn(around, Arm.LARGE, 1.0)
    assert router.choose(around).arm is Arm.LARGE
    biases = []
    for load in [5.0] * 100 + [0.0] * 100:
        router.see(load)
        biases.append(router.bias)
    assert 0.19 < max(biases) <= 0.2
    assert biases[-1] == 0.0
    for _ in range(100):
        router.see(5.0)
    assert router.choose(around).arm is Arm.EXAMPLES
    router.see(float("nan"))
    assert router.bias > 0.19


def test_without_examples_the_arm_that_needs_them_is_out() -> None:
    router = ModelBandit(
        {Arm.LARGE: 1.0, Arm.SMALL: 0.0, Arm.EXAMPLES: 0.0}, priors={Arm.EXAMPLES: 1.0, Arm.LARGE: 0.0}
    )
    assert router.choose(context("How?", (), ()), examples=False).arm is Arm.SMALL


# What is kept


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(1, 400), st.integers(0, 5)), min_size=1, max_size=40), st.integers(400, 4000))
def test_the_pool_is_bounded_and_keeps_what_is_worth_its_bytes(given_, limit) -> None:
    pool, ids = ExamplePool(FlatIndex, limit), count(1)
    for length, uses in given_:
        one = example(next(ids), answer="x" * length, offloads=float(uses), uses=1, used=0.0)
        gone = pool.put(one, 0.0)
        assert pool.bytes == sum(each.size for each in pool) <= limit
        found = {each.id for each, _ in pool.search(b"p", unit(1), 50)}
        assert found == {each.id for each in pool}
        assert not found & set(gone)


def test_useful_examples_outlive_others_and_use_fades() -> None:
    pool = ExamplePool(FlatIndex, 700)
    useful = example(1, answer="x" * 100).after(0.0, 1.0).after(0.0, 1.0)
    pool.put(useful, 0.0)
    for number in range(2, 10):
        pool.put(example(number, answer="x" * 100), 0.0)
    assert pool.get(1) is not None
    assert useful.utility(HOUR) == pytest.approx(1.8)
    for number in range(10, 20):
        pool.put(replace(example(number, answer="x" * 100), created=100 * HOUR), 100 * HOUR)
    assert pool.get(1) is None


# Replaying


def test_what_often_did_not_help_is_answered_anew_first_and_not_for_ever() -> None:
    bad, fine, unused = example(1), example(2), example(3)
    for _ in range(5):
        bad, fine = bad.after(0.0, 0.0), fine.after(0.0, 1.0)
    assert [one.id for one in due([fine, bad, unused], 0.0, least=0.05)] == [1]
    better = replayed(bad, [("worse", 0.1), ("better", 1.0)])
    assert better.answer == "So."  # its own was thought perfect
    doubted = replace(bad, quality=0.5)
    better = replayed(doubted, [("worse", 0.1), ("better", 0.9)])
    assert (better.answer, better.quality, better.gain) == ("better", 0.9, 0.0)
    tired = bad
    for _ in range(MOST):
        tired = replayed(tired, [])
    assert due([tired], 0.0, least=0.0) == []


def test_the_share_that_is_compared_halves_with_every_two_hundred_comparisons() -> None:
    watch = QualityWatch(0.1, rate=0.2)
    for _ in range(200):
        watch.take(wrong=False)
    assert watch.open
    assert watch.rate == pytest.approx(0.1)
    for _ in range(2000):
        watch.take(wrong=False)
    assert watch.rate == 0.01, "some are always compared"
