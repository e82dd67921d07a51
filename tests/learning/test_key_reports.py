"""What one key of a tenant reports takes a bounded number of answers from the other keys, and moves nothing alone."""

from __future__ import annotations

import pytest

from semcache.errors import RateLimited
from semcache.learning.key_reports import DAILY, KeyReports, Reporter

KEYS = ("a", "b", "c", "d", "e")


def reporter(key: str, keys: tuple[str, ...] = KEYS) -> Reporter:
    return Reporter(key, tuple([one for one in keys if one != key]))


def test_a_key_reports_so_many_answers_in_a_day_and_the_next_day_again() -> None:
    reports, now = KeyReports(), 86_400.0 * 20_000
    for _ in range(DAILY):
        reports.admit(reporter("a"), now)
    with pytest.raises(RateLimited) as refused:
        reports.admit(reporter("a"), now + 3600)
    assert (refused.value.status, refused.value.after) == (429, 86_400 - 3600)
    reports.admit(reporter("b"), now)
    reports.admit(reporter("a"), now + 86_400)


def test_the_only_key_of_a_tenant_reports_what_it_likes() -> None:
    reports = KeyReports()
    for _ in range(3 * DAILY):
        reports.admit(Reporter("a"), 0.0)
        assert reports.teaches(Reporter("a"), "acme", "default", correct=False)


def test_a_key_alone_teaches_nothing_and_several_do_as_far_as_they_agree() -> None:
    reports = KeyReports()
    assert not any(reports.teaches(reporter("a"), "acme", "default", correct=False) for _ in range(50))
    # One more is a quarter of five at most; with a third, each of what they said alike counts.
    assert not reports.teaches(reporter("b"), "acme", "default", correct=False)
    assert reports.teaches(reporter("c"), "acme", "default", correct=False)
    assert not reports.teaches(reporter("c"), "acme", "default", correct=False)
    assert not reports.teaches(reporter("b"), "other", "default", correct=False)
    assert not reports.teaches(reporter("b"), "acme", "code", correct=False)


def test_keys_that_say_the_opposite_do_not_vouch_for_each_other() -> None:
    reports = KeyReports()
    for name in "ab":
        for _ in range(10):
            reports.teaches(reporter(name), "acme", "default", correct=False)
    assert not any(reports.teaches(reporter("c"), "acme", "default", correct=True) for _ in range(10))
    assert reports.teaches(reporter("c"), "acme", "default", correct=False)
