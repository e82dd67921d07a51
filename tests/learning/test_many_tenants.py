"""Caches with many tenants: small ones teach, liars among them do not, and no verdict decides if it counts itself."""

from __future__ import annotations

import random
from copy import deepcopy
from dataclasses import replace

import pytest

from semcache.learning.corroboration import Corroboration, Reach
from semcache.learning.tenant_samples import TenantSamples
from semcache.types.evidence import Label, LabelSource

LIKELY = Label(0.0, "default", "t", 1, 1, b"", 0.9, (), 0.97, True, LabelSource.AUDIT, True)


def traffic(tenants: int, count: int, *, lying: int = 0, error: float = 0.03, seed: int = 1) -> list[Label]:
    """Labels of tenants that are alike, of which the first so many lie."""
    rng = random.Random(seed)
    found = []
    for _ in range(count):
        number = rng.randrange(tenants)
        right = number >= lying and rng.random() >= error
        found.append(replace(LIKELY, tenant=f"t{number}", p_correct=rng.choice((0.97, 0.9)), correct=right))
    return found


@pytest.mark.parametrize(("tenants", "most"), [(100, 0.95), (300, 0.9), (1000, 0.7)])
def test_many_small_tenants_that_are_alike_teach_what_all_are_served_by(tenants: int, most: float) -> None:
    # Beliefs, budgets and certificates of a cache with a customer a tenant had next to no labels.
    several = Corroboration()
    reach = [several.take(label) for label in traffic(tenants, 6000)]
    assert reach[1000:].count(Reach.ALL) > most * 5000


@pytest.mark.parametrize("tenants", [12, 100, 1000])
@pytest.mark.parametrize("share", [0.1, 0.25])
def test_liars_among_many_tenants_hardly_teach(tenants: int, share: float) -> None:
    several, lying = Corroboration(), round(share * tenants)
    taught = [label for label in traffic(tenants, 6000, lying=lying) if several.take(label) is Reach.ALL]
    lies = [label for label in taught if int(label.tenant[1:]) < lying]
    assert len(lies) < 0.01 * len(taught)


def test_audits_that_count_err_as_often_as_those_that_do_not() -> None:
    # If an error kept its own audit from counting, a certificate would be of better answers than those that are served.
    several = Corroboration()
    wrong = {reach: [0, 0] for reach in Reach}
    for label in traffic(100, 40_000, error=0.05):
        found = wrong[several.take(replace(label, p_correct=0.97))]
        found[0] += not label.correct
        found[1] += 1
    errors, counted = wrong[Reach.ALL]
    assert counted > 36_000
    assert errors / counted == pytest.approx(0.05, abs=0.003)


def test_a_sample_teaches_whatever_its_verdict_is() -> None:
    samples = TenantSamples()
    for label in traffic(30, 300, lying=3, error=0.1):
        said = deepcopy(samples).take(replace(label, correct=not label.correct))
        assert samples.teaches(label.tenant) is said
        assert samples.take(label) is said


def test_a_tenant_whose_last_lie_sets_it_aside_is_disowned_with_that_lie() -> None:
    samples, taught = TenantSamples(), []
    for number in range(60):
        samples.take(replace(LIKELY, tenant="bcd"[number % 3]))
    for number in range(60):
        right = replace(LIKELY, tenant="a", exact=b"%d" % number, correct=number < 3)
        taught += [right] if samples.take(right) else []
        if found := samples.disowned("a"):
            assert found == taught
            break
    assert not samples.teaches("a")
