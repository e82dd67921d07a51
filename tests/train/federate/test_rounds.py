"""The server's state machine: who counts, when, and what happens when somebody is gone."""

from __future__ import annotations

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from semcache.errors import RequestRejected
from semcache.train.federate import averaging, local_training, masking, rounds
from semcache.train.federate.in_process import simulate
from semcache.train.federate.rounds import Federation, Phase
from tests.train.federate import owners

NAMES = ("ann", "bob", "cem", "dan")


class Bystanders:
    """Clients that do as they should, unless told to be silent."""

    def __init__(self, federation: Federation) -> None:
        self.federation = federation
        self.keys: dict[str, X25519PrivateKey] = {}
        self.held = {name: owners.owner(number) for number, name in enumerate(NAMES)}

    def join(self, *names: str, now: float = 0.0) -> None:
        at = self.federation.round, self.federation.attempt
        for name in names:
            self.keys[name] = X25519PrivateKey.generate()
            self.federation.join(name, *at, masking.public(self.keys[name]), now)

    def deliver(self, *names: str, now: float = 0.0) -> None:
        state, plan = self.federation.state(), self.federation.plan
        at = int(state["round"]), int(state["attempt"])
        roster, model = rounds.roster(state), self.federation.model
        for name in names:
            bare = local_training.contribution(model, self.held[name], plan, round_=at[0])
            update = masking.encoded(bare, len(roster))
            sent = masking.masked(update, name, self.keys[name], roster, rounds.context(*at))
            self.federation.deliver(name, *at, sent.astype("<u8").tobytes(), now)


@pytest.fixture
def everybody() -> Bystanders:
    plan = owners.plan()
    return Bystanders(Federation(plan, local_training.start(plan), NAMES))


def test_masked_rounds_give_to_the_bit_what_the_simulator_gives(everybody: Bystanders) -> None:
    federation = everybody.federation
    while federation.phase is not Phase.OVER:
        everybody.join(*NAMES)
        assert federation.phase is Phase.SUMMING
        everybody.deliver(*NAMES)
    for masked in (False, True):
        model, _ = simulate([everybody.held[name] for name in NAMES], federation.plan, masked=masked)
        assert np.array_equal(model.parameters, federation.model.parameters)
        assert model.threshold == federation.model.threshold
    first, last = federation.seen[0], federation.seen[-1]
    assert last[1].f1(federation.model.threshold) > first[1].f1(first[0].threshold), "they learned something together"


def test_a_round_is_repeated_without_who_did_not_deliver(everybody: Bystanders) -> None:
    federation = everybody.federation
    before = federation.model
    everybody.join(*NAMES)
    everybody.deliver("ann", "bob", "cem", now=1.0)
    assert federation.model is before, "a sum that lacks somebody is not read"
    federation.pass_time(31.0)
    assert (federation.round, federation.attempt, federation.phase) == (1, 2, Phase.JOINING)
    assert federation.state()["left_out"] == ["dan"]
    with pytest.raises(RequestRejected, match="without dan") as refused:
        everybody.join("dan", now=32.0)
    assert refused.value.status == 409
    everybody.join("ann", "bob", "cem", now=32.0)
    everybody.deliver("ann", "bob", "cem", now=33.0)
    assert federation.round == 2
    held = [everybody.held[name] for name in ("ann", "bob", "cem")]
    updates = [local_training.contribution(before, one, federation.plan, round_=1) for one in held]
    total = masking.decoded(masking.added(masking.encoded(one, 3) for one in updates))
    assert np.array_equal(federation.model.parameters, averaging.applied(before, total)[0].parameters)
    everybody.join("ann", "bob", "cem", now=34.0)
    assert federation.phase is Phase.SUMMING, "nobody waits for who has not been heard of since"
    everybody.deliver("ann", "bob", "cem", now=35.0)
    federation.greet("dan")
    everybody.join("ann", "bob", "cem", now=36.0)
    assert federation.phase is Phase.JOINING, "who is back is waited for"
    everybody.join("dan", now=37.0)
    assert federation.phase is Phase.SUMMING


def test_a_late_update_is_never_read(everybody: Bystanders) -> None:
    federation = everybody.federation
    everybody.join(*NAMES)
    everybody.deliver("ann", "bob", "cem")
    with pytest.raises(RequestRejected) as refused:
        everybody.deliver("dan", now=31.0)
    assert refused.value.status == 409
    assert (federation.round, federation.attempt) == (1, 2)
    assert federation.state()["delivered"] == []


def test_too_few_make_no_sum(everybody: Bystanders) -> None:
    federation = everybody.federation
    everybody.join("ann", "bob")
    federation.pass_time(1000.0)
    assert federation.phase is Phase.JOINING, "two are fewer than the three of the plan"
    everybody.join("cem", now=1001.0)
    assert federation.phase is Phase.JOINING
    federation.pass_time(1001.0)
    assert federation.phase is Phase.SUMMING, "three who waited long enough go on without the fourth"
    everybody.deliver("ann", now=1002.0)
    federation.pass_time(1100.0)
    assert federation.state()["left_out"] == [], "with two left out nobody could go on: all get another chance"
    assert federation.phase is Phase.JOINING


def test_who_asks_again_after_a_lost_answer_is_still_on_the_roster(everybody: Bystanders) -> None:
    """The last one to join closes the roster: refused, it would throw its key away, and everybody wait for it."""
    federation = everybody.federation
    everybody.join(*NAMES)
    assert federation.phase is Phase.SUMMING
    federation.join("dan", 1, 1, masking.public(everybody.keys["dan"]), 1.0)
    with pytest.raises(RequestRejected):
        federation.join("dan", 1, 1, masking.public(X25519PrivateKey.generate()), 1.0)
    everybody.deliver(*NAMES, now=2.0)
    assert federation.round == 2


@pytest.mark.parametrize("case", ["twice", "size", "stranger", "second key", "old round"])
def test_what_does_not_belong_is_refused(everybody: Bystanders, case: str) -> None:
    federation = everybody.federation
    size = 8 * averaging.size(federation.model)
    everybody.join("ann", "bob")
    if case == "second key":
        with pytest.raises(RequestRejected, match="another key"):
            everybody.join("ann")
        return
    if case == "old round":
        with pytest.raises(RequestRejected, match="round 1"):
            federation.join("cem", 7, 1, bytes(32), 0.0)
        return
    everybody.join("cem")
    federation.pass_time(30.0)
    everybody.deliver("ann", now=31.0)
    who, body = {"twice": ("ann", size), "size": ("bob", size - 8), "stranger": ("dan", size)}[case]
    with pytest.raises(RequestRejected):
        federation.deliver(who, 1, 1, bytes(body), 31.0)
    assert federation.state()["delivered"] == ["ann"]


@pytest.mark.parametrize("key", [bytes(32), bytes([1]) + bytes(31), b"\xff" * 31])
def test_a_key_that_would_end_the_others_is_refused(everybody: Bystanders, key: bytes) -> None:
    """Points of low order: nobody can agree on a seed with them, so honest clients would refuse the whole roster."""
    with pytest.raises(RequestRejected) as refused:
        everybody.federation.join("dan", 1, 1, key, 0.0)
    assert refused.value.status == 400
    assert everybody.federation.state()["joined"] == []
