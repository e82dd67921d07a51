"""The rehearsal counts what it claims to count."""

from __future__ import annotations

import math

from eval.freshness.rehearsal import LASTS, YEAR, lives, simulate
from eval.freshness.sets import Timeline, _year
from semcache.retention.freshness import Volatility

MOVING = Timeline("who is the mayor", (2015.0, 2017.0, 2019.0))
STILL = Timeline("who wrote it", (-math.inf,))


def test_an_answer_kept_for_ever_goes_stale_only_where_it_changes() -> None:
    for line, worst in ((STILL, 0.0), (MOVING, 1.0)):
        run = simulate([line], lambda *_: 100 * YEAR, lambda *_: None, requests=500, noise=0, seed=1)
        assert run["hits"] > 0.99
        assert (run["stale"] > 0.5) == (worst == 1.0)


def test_an_answer_that_is_not_kept_is_neither_hit_nor_stale_and_every_change_is_seen_once() -> None:
    seen: list[tuple[float, bool]] = []
    run = simulate(
        [MOVING], lambda *_: 0.0, lambda age, changed, _: seen.append((age, changed)), requests=500, noise=0, seed=1
    )
    assert run == {"hits": 0.0, "stale": 0.0}
    assert sum(changed for _, changed in seen) == 2
    assert all(age >= 0 for age, _ in seen)


def test_kinds_follow_from_the_dates() -> None:
    assert MOVING.kind == Volatility.SLOW
    assert STILL.kind == Volatility.NEVER
    assert Timeline("who won", (2019.5, 2020.5)).kind == Volatility.FAST
    assert Timeline("who won", (2019.5,)).kind is None
    assert _year("2019") == 2019.5
    assert 2019.8 < _year("November 03, 2019") < 2019.9


def test_the_stale_share_of_a_life_as_long_as_the_answers_mean_life_is_one_over_e() -> None:
    found = lives([Volatility.FAST], [LASTS[Volatility.FAST]])
    assert math.isclose(found["stale"], 1 / math.e, rel_tol=1e-9)
    assert lives([Volatility.NEVER], [100 * YEAR])["stale"] == 0
