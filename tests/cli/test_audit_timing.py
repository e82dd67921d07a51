"""An audit that cannot fail would say of any proxy that its tenants are safe."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from semcache.cli.app import app
from semcache.cli.timing.timing_audit import VICTIM, audit
from semcache.cli.timing.timing_prompts import Prompts
from semcache.cli.timing.two_samples import compare, rejected, smallest_distance, smallest_shift
from semcache.errors import InvalidArgument


class Scripted:
    """A path of which the victim's own earlier requests save a second, and those of others what they leak."""

    def __init__(self, leak: float, *, own: float = 1.0) -> None:
        self.leak, self.own, self.rng = leak, own, random.Random(1)

    def sample(self, earlier: str, timed: str, *, asked: bool) -> float:
        saved = self.own if timed == earlier else self.leak
        return self.rng.gauss(10.0, 1.0) - saved * asked


def run(**probes: Scripted):  # type: ignore[no-untyped-def]
    return audit(probes, samples=500, level=1e-3, rng=random.Random(2))


def test_what_leaks_is_told_from_what_does_not() -> None:
    found = run(safe=Scripted(0.0), leaking=Scripted(0.5))
    assert (found.leaks, found.blind) == (["leaking"], [])


def test_a_path_on_which_nothing_shows_is_called_blind_and_not_safe() -> None:
    found = run(noise=Scripted(0.0, own=0.0), safe=Scripted(0.0))
    assert (found.leaks, found.blind) == ([], ["noise"])


def test_the_smallest_visible_difference_is_one_that_would_have_been_told() -> None:
    [path] = run(safe=Scripted(0.0)).paths
    assert 0.0 < path.visible < 1.0
    assert run(leaking=Scripted(path.visible * 1.5)).leaks == ["leaking"]
    assert run(leaking=Scripted(path.visible * 0.1)).leaks == []


def test_equal_tenants_are_rarely_told_apart() -> None:
    rng = random.Random(3)
    small = sum(
        compare([rng.random() for _ in range(200)], [rng.random() for _ in range(200)]).p < 0.05 for _ in range(400)
    )
    assert small <= 35  # of 20 expected


def test_the_distance_is_that_of_the_distribution_functions() -> None:
    assert compare([1.0, 2.0, 3.0, 4.0], [3.0, 4.0, 5.0, 6.0]).distance == 0.5
    assert compare([1.0, 2.0], [1.0, 2.0]).p == 1.0


@given(st.lists(st.floats(0, 10), min_size=20, max_size=60), st.lists(st.floats(0, 10), min_size=20, max_size=60))
def test_comparing_takes_no_side(one: list[float], two: list[float]) -> None:
    found, other = compare(one, two), compare(two, one)
    assert math.isclose(found.distance, other.distance, abs_tol=1e-12)
    assert 0.0 <= found.p <= 1.0
    assert 0.5 <= found.told_right <= 1.0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9), st.floats(1e-6, 0.2))
def test_correcting_never_rejects_more_than_bonferroni_allows_alone(p_values: list[float], level: float) -> None:
    found = rejected(p_values, level)
    assert all(p <= level for p, told in zip(p_values, found, strict=True) if told)
    assert all(told for p, told in zip(p_values, found, strict=True) if p <= level / len(p_values))


def test_what_is_just_visible_is_rejected_and_what_is_smaller_is_not() -> None:
    distance = smallest_distance(500, 1e-4)
    assert 0.13 < distance < 0.16
    assert smallest_distance(2000, 1e-4) == pytest.approx(distance / 2, rel=0.02)


def test_a_difference_that_shows_already_needs_no_more() -> None:
    assert smallest_shift([1.0] * 100, [2.0] * 100, 1e-3) == 0.0


def test_prompts_are_never_asked_twice() -> None:
    prompts = Prompts(random.Random(1))
    drawn = [prompts.draw() for _ in range(3000)]
    assert len({one.text for one in drawn} | {one.reworded for one in drawn}) == 6000
    assert VICTIM == "victim"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--url", "http://127.0.0.1:1"],
        ["--url", "http://127.0.0.1:1", "--key", "a"],
        ["--url", "http://127.0.0.1:1", "--key", "a", "--key", "a"],
        ["--key", "a", "--key", "b"],
        ["--paths", "prefixes"],
        ["--paths", "nonsense"],
        ["--url", "http://127.0.0.1:1", "--key", "a", "--key", "b", "--paths", "tools"],
    ],
)
def test_what_cannot_be_audited_is_said_before_anything_starts(arguments: list[str]) -> None:
    done = CliRunner().invoke(app, ["audit", "timing", *arguments])
    assert isinstance(done.exception, InvalidArgument)
    assert "--" in str(done.exception)
