"""One payer's doubts take at most half of what others pay for, and never more than the share of all."""

from __future__ import annotations

import pytest

from semcache.matching.spending_cap import SpendingCap

SHARE, WORD = 1 / 64, 1 / 128


def words(cap: SpendingCap, payer: str, most: int = 10_000) -> int:
    """The words that this payer is granted until it is refused."""
    for number in range(most):
        if not cap.allows(WORD, SHARE, payer):
            return number
        cap.asked(WORD, SHARE, payer)
    return most


def test_a_payer_alone_has_the_whole_share() -> None:
    cap = SpendingCap()
    cap.paid(64.0, "a")
    assert words(cap, "a") == 128
    assert cap.standing().over_budget == 1


def test_who_pays_little_takes_no_more_than_half_of_what_the_others_pay_for() -> None:
    cap = SpendingCap()
    cap.paid(64.0, "honest")
    cap.paid(1e-6, "greedy")
    assert words(cap, "greedy") == 64
    assert words(cap, "honest") == 64
    cap.paid(64.0, "honest")
    assert words(cap, "greedy") == 64
    assert words(cap, "honest") == 64


@pytest.mark.parametrize("others", [1, 10, 100])
def test_however_many_are_greedy_half_is_left(others: int) -> None:
    cap = SpendingCap()
    cap.paid(64.0, "honest")
    assert sum(words(cap, f"greedy {number}") for number in range(others)) == 64
    assert words(cap, "honest") == 64
    assert cap.standing().asking <= SHARE * cap.standing().upstream


def test_without_a_cap_words_about_many_tenants_are_had_before_anything_was_paid_upstream() -> None:
    cap = SpendingCap()
    for tenant in ("a", "b", "c"):
        assert cap.allows(0.001, float("inf"), tenant)
        cap.asked(0.001, float("inf"), tenant)
    assert not cap.allows(0.001, 0.02, "a")
