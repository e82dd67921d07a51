"""A client's own work, and what a sum makes of it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.errors import ConfigError, InvalidArgument
from semcache.models.embedders.hashing import HashingEmbedder
from semcache.train import splits
from semcache.train.federate import averaging, comparison, federated_model, local_training
from semcache.train.federate.in_process import simulate
from tests.train.bases import traffic
from tests.train.federate import owners


@given(st.lists(st.tuples(st.floats(-1, 1), st.booleans()), min_size=2, max_size=30))
def test_the_threshold_has_the_best_f1_there_is(rows: list[tuple[float, bool]]) -> None:
    cosines, same = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    found = local_training.threshold(cosines, same)
    if not 0 < same.sum() < len(same):
        assert found is None
        return

    def f1(level: float) -> float:
        served = cosines >= level
        return 2 * (served & same).sum() / (served.sum() + same.sum())

    assert found is not None
    assert f1(found) == pytest.approx(max(f1(level) for level in cosines))


@given(st.lists(st.tuples(st.floats(-1, 1), st.booleans()), min_size=1, max_size=40))
def test_counted_scores_give_the_best_edge_and_its_f1(rows: list[tuple[float, bool]]) -> None:
    cosines, same = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    seen = averaging.score_histogram(cosines, same)
    best = seen.best()
    if not same.any():
        assert best is None
        return
    assert best is not None
    edges = [2 * edge / averaging.BINS - 1 for edge in range(averaging.BINS)]
    assert seen.f1(best) == pytest.approx(max(seen.f1(edge) for edge in edges))


def test_clients_count_by_their_samples_and_empty_ones_not_at_all() -> None:
    before = averaging.FederatedMap(np.zeros(3, np.float32), 0.5)
    to = [averaging.FederatedMap(np.full(3, value, np.float32), level) for value, level in ((1.0, 0.6), (4.0, 0.9))]
    updates = [
        averaging.update(before, to[0], weight=3.0, sure=1.0, seen=averaging.empty_histogram()),
        averaging.update(before, to[1], weight=1.0, sure=3.0, seen=averaging.empty_histogram()),
        averaging.update(before, to[1], weight=0.0, sure=0.0, seen=averaging.empty_histogram()),
    ]
    model, _ = averaging.applied(before, np.sum(updates, axis=0))
    assert model.parameters == pytest.approx([1.75] * 3)
    assert model.threshold == pytest.approx(0.5 + (0.1 + 3 * 0.4) / 4)


def test_together_they_come_near_to_one_training_on_everything() -> None:
    found = compare_toy()
    assert found["federated"] > found["none"] + 0.03
    assert found["federated"] > found["central"] - 0.02


def compare_toy() -> dict[str, float]:
    clients = [owners.owner(number, 80) for number in range(8)]
    plan = owners.plan(rounds=15)
    model, seen = simulate(clients, plan)
    everything = local_training.ClientPairs(
        comparison._joined([one.train for one in clients]), comparison._joined([one.check for one in clients])
    )
    judge = owners.pairs(2000, 99)
    ways = {
        "none": comparison._level(local_training.start(plan), everything, plan),
        "federated": model,
        "central": comparison._central(everything, plan),
    }
    assert int(seen.same.sum() + seen.other.sum()) == 640
    return {name: comparison._figures(plan, one, judge)["average_precision"] for name, one in ways.items()}


@pytest.mark.parametrize("alike", [True, False])
def test_every_pair_goes_to_one_client_and_components_stay_whole(alike: bool) -> None:
    pairs = traffic()
    encode = None if alike else HashingEmbedder(32).encode
    parts = comparison.divide_pairs(pairs, 5, encode, seed=3)
    assert sorted(str(pair) for part in parts for pair in part) == sorted(map(str, pairs))
    assert all(parts)
    texts = [{text for pair in part for text in (pair.one, pair.two)} for part in parts]
    assert sum(map(len, texts)) == len(set().union(*texts)), "no text is with two clients"


def test_holdings_keep_the_check_part_apart_where_they_can() -> None:
    held = local_training.client_pairs(traffic(), HashingEmbedder(32).encode, seed=1)
    assert 0 < len(held.check) < len(held.train)
    again = local_training.client_pairs(
        splits.split(traffic(), check=0.3, test=0.3, seed=1).train, HashingEmbedder(32).encode, seed=1
    )
    assert 0 < len(again.check) < len(again.train), "also of pairs that were split by the same seed before"
    few = local_training.client_pairs(traffic()[:1], HashingEmbedder(32).encode, seed=1)
    assert len(few.train) == len(few.check) == 1
    with pytest.raises(InvalidArgument, match="no pair"):
        local_training.client_pairs([], HashingEmbedder(32).encode, seed=1)


def test_fewer_clients_than_agreed_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="fewer"):
        simulate([owners.owner(1)], owners.plan())


def test_pairs_that_teach_are_not_counted_as_held_back() -> None:
    plan = owners.plan(rounds=1)
    taught = owners.pairs(40, 1)
    held = local_training.ClientPairs(taught, taught, apart=False)
    few = local_training.client_pairs(traffic()[:1], HashingEmbedder(32).encode, seed=1)
    assert not few.apart
    model, seen = simulate([held] * plan.least, plan)
    assert seen.same.sum() + seen.other.sum() == 0, "its F1 would be that of what was learned from"
    assert model.threshold != local_training.start(plan).threshold, "it is the mean of the clients' own"
    _, both = simulate([held, owners.owner(2), owners.owner(3)], plan)
    assert both.same.sum() + both.other.sum() == 120


@pytest.mark.parametrize(
    ("asked", "least", "refused"),
    [
        ({}, 0, None),
        ({"clip": 1.0, "noise": 2.0}, 0, None),
        ({"clip": 1.0, "noise": 1.0}, 3, None),
        ({"clip": 1.0, "noise": 3.0}, 0, "ask for epsilon"),
        ({"clip": 1.0, "noise": 2.0, "rounds": 3}, 0, "4 rounds"),
        ({}, 5, "--least is 5"),
    ],
)
def test_a_client_takes_part_in_no_plan_that_protects_it_less(
    asked: dict[str, float], least: int, refused: str | None
) -> None:
    plan = owners.plan(clip=0.5, noise=2.0)
    if refused is None:
        federated_model.check_protection(plan, owners.plan(**asked), least=least)
        return
    with pytest.raises(ConfigError, match=refused):
        federated_model.check_protection(plan, owners.plan(**asked), least=least)


@pytest.mark.parametrize("noise", [0.0, 2.0])
def test_a_client_that_asks_for_noise_refuses_a_plan_without(noise: float) -> None:
    with pytest.raises(ConfigError, match="no epsilon"):
        federated_model.check_protection(owners.plan(), owners.plan(clip=1.0, noise=noise), least=0)
