"""The arithmetic of the benchmark: a wrong median or a swapped ratio would make the published numbers wrong."""

from __future__ import annotations

import json
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.bench.measure import Check, Row, Section, Series, as_dict, figures, from_dict, percentile
from eval.bench.options import Options
from eval.bench.report import keep, page
from eval.bench.sections import lookup
from semcache.config import packs


def test_a_ratio_is_taken_within_each_round():
    busy_and_quiet = Series((10.0, 100.0, 20.0))
    twice = Series((20.0, 200.0, 40.0))
    assert twice.over(busy_and_quiet).values == (2.0, 2.0, 2.0)
    assert twice.less(busy_and_quiet).values == (10.0, 100.0, 20.0)


def test_sides_with_different_rounds_are_not_compared():
    with pytest.raises(ValueError, match="3 rounds of one side and 2"):
        Series((1.0, 2.0, 3.0)).over(Series((1.0, 2.0)))


@pytest.mark.parametrize(
    ("values", "limit", "at_most", "met"),
    [
        ((1.0, 1.9, 9.0), 2.0, True, True),
        ((1.0, 2.1, 2.2), 2.0, True, False),
        ((39.0, 41.0, 42.0), 40.0, False, True),
        ((39.0, 39.5, 80.0), 40.0, False, False),
    ],
)
def test_a_target_is_held_against_the_median(values, limit, at_most, met):
    assert Check("c", Series(values, "x"), limit, at_most=at_most).met is met


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=60), st.floats(0.01, 1.0))
def test_a_percentile_covers_its_share_and_no_smaller_value_does(values, share):
    found = percentile(values, share)
    assert found in values
    assert sum(value <= found for value in values) >= share * len(values) - 1e-9
    below = [value for value in values if value < found]
    assert len(below) < share * len(values)


def test_figures_keep_three_digits_and_spell_no_exponent_for_common_sizes():
    assert [figures(value) for value in (41234.6, 123.4, 45.67, 2.345, 0.1414, 0)] == [
        "41,235",
        "123",
        "45.7",
        "2.35",
        "0.141",
        "0",
    ]


def test_what_is_kept_gives_the_same_page_again(tmp_path):
    row = Row("constant | raw", {"req/s": Series((41000.0, 40000.0)), "p50": Series((71.0, 70.0), "us")})
    checks = [Check("ratio", Series((1.5, 1.6), "x"), 2.0), Check("rate", Series((50.0,)), 4000.0, at_most=False)]
    section = Section("http", "Exact hit", [row], checks, ["a note"])
    assert page([from_dict(as_dict(section))]) == page([section])
    keep(tmp_path, section)
    kept = json.loads((tmp_path / "bench-http.json").read_text())
    assert kept["checks"][0]["met"] is True
    assert kept["checks"][1]["met"] is False
    assert "constant \\| raw" in (tmp_path / "bench.md").read_text()


def test_a_second_section_joins_the_page(tmp_path):
    keep(tmp_path, Section("start", "Start"))
    keep(tmp_path, Section("http", "Exact hit"))
    text = (tmp_path / "bench.md").read_text()
    assert text.index("## Exact hit") < text.index("## Start")


def test_lookups_are_measured_with_the_default_pack_without_quotas(tmp_path):
    roomy, default = packs.load(str(lookup._roomy(tmp_path))), packs.load("default")
    assert list(roomy.categories) == list(default.categories)
    assert {one.quota for one in roomy.categories.values()} == {10_000_000}


def test_a_size_that_cannot_be_measured_fails_the_section(tmp_path, monkeypatch):
    failed = subprocess.CompletedProcess([], 1, "", "no pack")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: failed)
    with pytest.raises(RuntimeError, match="1,000 entries were not measured: no pack"):
        lookup.measure(tmp_path, Options(quick=True))
