"""The offline bound that policies are measured against: nothing may exceed it, and it must be worth naming."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.eviction import bound, replay
from eval.eviction_workloads import Workload
from semcache.retention.eviction import POLICIES

SERVERS = ((0, 1), (1, 0, 2), (2, 1), (3,), (4, 5), (5, 4), (6,), (7,))
SPAN = np.array([0, 0, 0, 3, 4, 4, 6, 7])


def workload(requests: list[int], *, paraphrases: bool) -> Workload:
    group = SPAN if paraphrases else np.arange(8)
    size, cost = np.array([2.0, 3.0, 1.0, 5.0, 2.0, 4.0, 1.0, 3.0]), np.array([1.0, 2.0, 9.0, 4.0, 1.0, 6.0, 3.0, 1.0])
    return Workload("", np.array(requests), size[group], cost[group], group, group, SERVERS if paraphrases else None)


@pytest.mark.parametrize("paraphrases", [False, True])
@given(st.lists(st.integers(0, 7), min_size=2, max_size=80).map(lambda asked: [*asked, asked[0]]), st.floats(1.0, 20.0))
def test_no_policy_exceeds_the_bound(paraphrases: bool, requests: list[int], capacity: float) -> None:
    stream = workload(requests, paraphrases=paraphrases)
    limit = bound(stream, capacity) * stream.cost[stream.requests].sum()
    for make in POLICIES.values():
        assert replay(make, stream, capacity).sum() <= limit + 1e-9


def test_the_bound_is_reached_where_there_is_room_for_all() -> None:
    stream = workload([0, 3, 0, 3, 6, 6], paraphrases=False)
    assert bound(stream, 100.0) == pytest.approx((1 + 4 + 3) / (2 * (1 + 4 + 3)))
    assert bound(stream, 0.0) == 0.0
