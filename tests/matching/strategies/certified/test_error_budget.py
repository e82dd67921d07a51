"""The error budget: how uncertain an answer may be, and what pays for it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.matching.strategies.certified import CertifiedThreshold
from semcache.matching.strategies.certified.error_budget import WINDOW, ErrorBudget
from semcache.matching.strategies.certified.priors import shipped
from semcache.types.evidence import State
from tests.matching.strategies.certified.cases import PACK


@given(
    st.lists(st.none() | st.floats(0.0, 1.0), min_size=80, max_size=400),
    st.sampled_from([0.005, 0.01, 0.05]),
    st.sampled_from(["hit", "request"]),
)
def test_what_the_limit_lets_pass_meets_the_target_on_average(
    risks: list[float | None], target: float, contract: str
) -> None:
    budget = ErrorBudget(target, contract)  # type: ignore[arg-type]
    for risk in risks:
        budget.note(risk, served=False)
    for _ in range(16):
        budget.changed()
    limit = budget.limit()
    passing = [risk for risk in risks if risk is not None and risk <= limit]
    counted = len(passing) if contract == "hit" else len(risks)
    assert sum(passing) <= target * max(1, counted) + 1e-9


def test_equally_risky_answers_are_served_together_or_not_at_all() -> None:
    budget = ErrorBudget(0.01, "hit")
    for _ in range(100):
        budget.note(0.0, served=False)
        budget.note(0.03, served=False)
    budget.changed()
    assert budget.limit() < 0.03


def test_sure_answers_leave_budget_for_less_sure_ones() -> None:
    budget = ErrorBudget(0.01, "hit")
    for _ in range(200):
        budget.note(0.001, served=True)
    for _ in range(20):
        budget.note(0.03, served=False)
    assert budget.limit() >= 0.03


@given(
    st.lists(st.floats(0.0, 0.4), min_size=1, max_size=300),
    st.sampled_from([0.005, 0.02, 0.05]),
    st.sampled_from(["hit", "request"]),
)
def test_the_risks_of_what_was_served_never_add_up_to_more_than_the_target_allows(
    risks: list[float], target: float, contract: str
) -> None:
    budget = ErrorBudget(target, contract, risks=shipped("any").risks)  # type: ignore[arg-type]
    for risk in risks:
        budget.note(risk, served=risk <= budget.limit())
        assert budget.spent <= budget.allowed + target + 0.05 + 1e-9


def test_sure_answers_that_never_came_pay_for_nothing() -> None:
    """Traffic without the repeats that the shipped risks promise is served what pays for itself."""
    budget = ErrorBudget(0.02, "hit", risks=shipped("any").risks, grant=0.05)
    first = budget.limit()
    while budget.limit() > 0.02:
        budget.note(budget.limit(), served=True)
    assert 0.02 < first <= 0.05
    assert budget.served <= 5


def test_a_small_category_is_served_beyond_its_first_answers() -> None:
    """Dozens of hits that are each a little less sure than the target are within the grant, one doubtful one is not."""
    doubtful = {}
    for grant in (0.05, 0.2):
        budget = ErrorBudget(0.01, "hit", risks=[0.001, 0.012] * 400, grant=grant, first=0.05)
        doubtful[grant] = 0
        while budget.limit() >= 0.012:
            budget.note(0.012, served=True)
            doubtful[grant] += 1
    assert 0 < doubtful[0.05] < 15 < doubtful[0.2] < 60
    lenient = ErrorBudget(0.1, "hit", risks=[0.001] * 900 + [0.3] * 100, grant=0.2, first=0.05)
    assert lenient.limit() < 0.1


def test_errors_that_came_out_are_paid_back_before_more_is_risked() -> None:
    budget = ErrorBudget(0.02, "hit")
    for turn in range(110):
        budget.note(0.04 if turn % 11 == 0 else 0.005, served=turn % 11 > 0)
    before = budget.limit()
    for _ in range(2):
        budget.settle(0.005, wrong=1.0)
    assert budget.limit() < before


def test_what_shipped_fades_evenly_as_requests_come() -> None:
    budget = ErrorBudget(0.01, "hit", risks=shipped("any").risks)
    first = budget.limit()
    for _ in range(len(shipped("any").risks) // 2):
        budget.note(None, served=False)
    assert budget.limit() == pytest.approx(first, rel=0.5)


def test_requests_with_nothing_to_compare_with_take_no_budget_from_hits() -> None:
    """A cache whose tenants have asked a thousand different questions serves their rewordings as a fresh one does."""
    budget = ErrorBudget(0.01, "hit", risks=shipped("any").risks)
    first = budget.limit()
    for _ in range(2 * WINDOW):
        budget.note(None, served=False)
    assert budget.limit() == first
    assert budget.hopeless()
    budget.note(0.0, served=True)
    assert not budget.hopeless()


def test_a_category_that_never_sees_a_sure_neighbour_says_so() -> None:
    threshold = CertifiedThreshold(PACK)
    for _ in range(WINDOW):
        threshold.note("code", 0.4, served=False, audited=False)
    standing = threshold.standing("code")
    assert standing.state is State.INFEASIBLE
    assert "only exact hits" in standing.note


def test_what_the_target_allowed_counts_hits_or_requests_of_earlier_processes_too() -> None:
    allowed = {}
    for contract in ("hit", "request"):
        before, after = ErrorBudget(0.01, contract), ErrorBudget(0.01, contract)  # type: ignore[arg-type]
        for served in [True] * 100 + [False] * 300:
            before.note(0.001, served=served)
        after.owe(before.overspent(), before.counted_ever())
        after.note(0.001, served=True)
        allowed[contract] = (before.allowed_ever(), after.allowed_ever())
    assert allowed["hit"] == pytest.approx((1.0, 1.01))
    assert allowed["request"] == pytest.approx((4.0, 4.01))
