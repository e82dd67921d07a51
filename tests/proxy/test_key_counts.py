"""Counts of API keys where the machine's clock was wrong for a while: no key is held for longer than its limit says."""

from __future__ import annotations

from pathlib import Path

import pytest

from semcache.proxy.key_counts import KeyCounts
from semcache.runtime.durations import DAY

NOON = 19_000.5 * DAY
YEARS = 3_650.0 * DAY


def requests(counts: KeyCounts, now: float) -> int:
    return sum(counts.used("key", now).requests)


@pytest.mark.parametrize("ahead", [120.0, 3_600.0, YEARS], ids=["minutes", "an-hour", "years"])
def test_what_was_counted_by_a_clock_far_ahead_is_forgotten_after_a_minute(tmp_path: Path, ahead: float) -> None:
    counts = KeyCounts(tmp_path / "counts")
    counts.take("key", NOON, lambda _: True)
    counts.take("key", NOON + ahead, lambda _: True)
    assert requests(counts, NOON + 1) == 1, "the minute in which it was counted may be this one"
    assert requests(counts, NOON + 70) == 0


def test_a_clock_that_is_set_back_a_little_admits_no_more_than_the_limit(tmp_path: Path) -> None:
    counts = KeyCounts(tmp_path / "counts")
    for seconds in (0.0, 30.0, 0.0, 30.0):
        counts.take("key", NOON + seconds, lambda _: True)
    assert requests(counts, NOON) == 4
    assert requests(counts, NOON + 59) == 4


def test_dollars_of_a_clock_that_was_ahead_are_spent_today_and_not_on_a_day_years_away(tmp_path: Path) -> None:
    counts = KeyCounts(tmp_path / "counts")
    counts.add("key", NOON + YEARS, tokens=0, dollars=2.0)
    assert counts.used("key", NOON).dollars == 2.0
    assert counts.used("key", NOON + DAY).dollars == 0.0
