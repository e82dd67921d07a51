"""One payer's doubts take at most half of what others pay for, and never more than the share of all."""

from __future__ import annotations

import pytest

from semcache.matching.spending_cap import SpendingCap

SHARE, WORD = 1 / 64, 1 / 128


def words(cap: SpendingCap, payer: str, most: int = 10_000) -> int:
    """The words that this payer is granted until it is refused."""
    for number in range(most):
        reserved = cap.reserve(WORD, SHARE, payer)
        if reserved is None:
            return number
        cap.settle(reserved, WORD)
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
        reserved = cap.reserve(0.001, float("inf"), tenant)
        assert reserved is not None
        cap.settle(reserved, 0.001)
    assert cap.reserve(0.001, 0.02, "a") is None


def test_what_has_no_cap_takes_nothing_from_what_has_one() -> None:
    """Ten verdicts of a request's own mode had used up the share that those after a forward are asked for within."""
    cap = SpendingCap()
    cap.paid(64.0, "a")
    for _ in range(400):
        reserved = cap.reserve(WORD, float("inf"), "a")
        assert reserved is not None
        cap.settle(reserved, WORD)
    cap.called_off(1.0, capped=False)
    assert cap.reserve_for_audit(WORD, SHARE) is not None
    assert words(cap, "a") == 127
    assert cap.standing().capped == SHARE * cap.standing().upstream
    assert cap.standing().asking == cap.standing().capped + 400 * WORD + 1.0


def test_what_is_asked_for_at_once_is_set_aside_and_given_back_where_nobody_was_asked() -> None:
    cap = SpendingCap()
    cap.paid(64.0, "a")
    reserved = [cap.reserve(WORD, SHARE, "a") for _ in range(200)]
    granted = [one for one in reserved if one is not None]
    assert len(granted) == 128
    assert cap.standing().asked == 0
    cap.settle(granted[0], None)
    cap.settle(granted[1], 2 * WORD)
    assert (cap.standing().asked, cap.standing().asking) == (1, 1.0)
    assert cap.reserve(WORD, SHARE, "a") is None
    for one in granted[2:]:
        cap.settle(one, None)
    assert cap.standing().asking == 2 * WORD
    assert words(cap, "a") == 126


def test_verdicts_leave_room_for_audits_that_need_it_and_both_stay_within_the_share() -> None:
    cap = SpendingCap()
    assert cap.reserve_for_audit(WORD, SHARE) is None
    cap.paid(64.0, "a")
    assert words(cap, "a") == 127  # one less than without an audit
    assert cap.reserve_for_audit(WORD, SHARE) is not None
    assert (cap.reserve_for_audit(WORD, SHARE), words(cap, "a")) == (None, 0)
    assert cap.standing().asking == SHARE * cap.standing().upstream


def test_audits_take_at_most_half_of_the_share_and_count_what_they_did_cost() -> None:
    cap = SpendingCap()
    cap.paid(64.0, "a")
    granted = 0
    while (reserved := cap.reserve_for_audit(WORD, SHARE)) is not None:
        cap.settle(reserved, WORD)
        granted += 1
    assert (granted, words(cap, "a")) == (64, 64)
    cap.paid(1.0, "a")
    reserved = cap.reserve_for_audit(WORD, SHARE)
    assert reserved is not None
    cap.settle(reserved, None)
    assert (cap.standing().audits, cap.standing().asked) == (64, 128)
