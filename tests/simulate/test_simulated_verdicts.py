"""A simulated language model's verdict: what it settles at once, and what is learned if it comes too late to serve."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from semcache.simulate import Arrival, Simulator
from semcache.simulate.simulated_verdicts import Mode, VerdictAsking
from tests.simulate.worlds import DIM, Fixed, pack, units

PAIRS = 60


def asked(mode: Mode, share: float = 1.0) -> tuple[Simulator, int]:
    """A cache that serves nothing by score, after pairs of equal questions; with how many a word served."""
    rng = np.random.default_rng(7)
    rows, arrivals = [], []
    for place in range(PAIRS):
        row = rng.normal(size=DIM)
        rows += [row, row + 0.05 * rng.normal(size=DIM)]
        arrivals += [Arrival(2.0 * place + one, f"question {place} {one}", f"{place}") for one in (0, 1)]

    def ask(query: str, cached: str) -> float:
        return 0.999 if query.split()[1] == cached.split()[1] else 0.001

    simulator = Simulator(
        pack(verdicts=mode), Fixed(2.0), rng=random.Random(7), asking=VerdictAsking(ask, mode, share=share)
    )
    return simulator, int(simulator.run(arrivals, units(rows)).summary()["semantic"])


@pytest.mark.parametrize("mode", ["first", "hedged"])
def test_a_word_that_comes_before_the_answer_serves_once_it_is_known_what_it_is_worth(mode: Mode) -> None:
    simulator, served = asked(mode)
    assert simulator.verdicts is not None
    assert simulator.verdicts.asked >= PAIRS
    assert PAIRS / 2 < served <= PAIRS


def test_a_word_that_comes_after_the_answer_serves_nobody_and_teaches() -> None:
    simulator, served = asked("after")
    assert served == 0
    assert simulator.verdicts is not None
    assert simulator.verdicts.tier.state()["known"] >= PAIRS
    assert simulator.verdicts.tier.worth.p_correct("default", 0.5, 0.999) > 0.9


def test_of_a_share_of_the_doubts_a_word_is_had() -> None:
    some, served = asked("first", share=0.5)
    whole, of = asked("first")
    assert some.verdicts is not None
    assert whole.verdicts is not None
    assert some.verdicts.asked < whole.verdicts.asked
    assert served < of


def test_of_a_model_that_is_not_believed_words_are_had_where_they_could_serve_if_it_were() -> None:
    rng = np.random.default_rng(7)
    first = [rng.normal(size=DIM) for _ in range(PAIRS)]
    again = [row + 0.05 * rng.normal(size=DIM) for row in first]
    asked: Counter[str] = Counter()

    def ask(query: str, _: str) -> float:
        asked[query.split()[0]] += 1
        return 0.999

    simulator = Simulator(pack(verdicts="first"), Fixed(2.0), rng=random.Random(7), asking=VerdictAsking(ask))
    assert simulator.verdicts is not None
    for number in range(40):
        simulator.verdicts.tier.differ(b"vetoed", number, 1.0)
    arrivals = [Arrival(float(n), f"{'new' if n < PAIRS else 'old'} {n}", f"{n % PAIRS}") for n in range(2 * PAIRS)]
    simulator.run(arrivals, units([*first, *again]))
    assert 0 < 2 * asked["new"] < asked["old"]
