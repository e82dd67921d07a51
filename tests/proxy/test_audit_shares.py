"""Nobody blinds the audits of others: how the audits of a second are shared by tenants and their keys."""

from __future__ import annotations

from collections import Counter

import pytest

from semcache.proxy.audit_shares import AuditShares

RATE = 10.0


def served(asked: dict[tuple[str, str], float], seconds: float = 120.0, rate: float = RATE) -> Counter[tuple[str, str]]:
    """The audits a second that each had of those that it asked for, in the order in which they came."""
    shares = AuditShares(rate, 0.0)
    arrivals = sorted((n / often, who) for who, often in asked.items() for n in range(int(seconds * often)))
    had: Counter[tuple[str, str]] = Counter()
    for at, who in arrivals:
        had[who] += shares.take(*who, at)
    return Counter({who: round(count / seconds, 2) for who, count in had.items()})  # type: ignore[arg-type]


def test_who_is_alone_has_all_of_them() -> None:
    assert served({("a", "k"): 500.0})["a", "k"] == pytest.approx(RATE, rel=0.02)
    assert served({("a", "k"): 500.0}, rate=0.5)["a", "k"] == pytest.approx(0.5, rel=0.05)


def test_a_tenant_that_floods_the_cache_with_hits_leaves_the_others_theirs() -> None:
    had = served({("a", "k"): 500.0, ("b", "k"): 2.0, ("c", "k"): 0.5})
    assert had["b", "k"] == pytest.approx(2.0, rel=0.05)
    assert had["c", "k"] == pytest.approx(0.5, rel=0.05)
    assert had["a", "k"] > 0.9 * (RATE - 2.5), "and has what they do not want"


def test_many_keys_of_a_tenant_have_no_more_than_one() -> None:
    flood = {("a", f"k{number}"): 20.0 for number in range(50)}
    had = served(flood | {("b", "k"): 2.0})
    assert had["b", "k"] == pytest.approx(2.0, rel=0.05)


def test_a_key_leaves_the_other_keys_of_its_tenant_theirs() -> None:
    had = served({("a", "loud"): 500.0, ("a", "quiet"): 1.0})
    assert had["a", "quiet"] == pytest.approx(1.0, rel=0.05)
    assert had["a", "loud"] > 0.9 * (RATE - 1.0)
    had = served({("a", "loud"): 500.0, ("a", "quiet"): 1.0, ("b", "k"): 4.0})
    assert had["b", "k"] == pytest.approx(4.0, rel=0.05)


def test_who_wants_more_than_there_is_shares_equally() -> None:
    had = served({("a", "k"): 100.0, ("b", "k"): 90.0})
    assert had["a", "k"] == pytest.approx(had["b", "k"], rel=0.25)
    assert sum(had.values()) == pytest.approx(RATE, rel=0.02)
