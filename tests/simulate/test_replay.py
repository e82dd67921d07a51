"""A pack on a trace beside what was possible, and what is told of it."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest

from semcache.config.packs import Category, Pack
from semcache.errors import ConfigError
from semcache.simulate import replay_plots, replay_report, trace_replay
from semcache.simulate.pack_comparison import KINDS, changes, compare
from semcache.simulate.simulation_result import interval
from semcache.simulate.target_comparison import kept
from semcache.simulate.trace_replay import Trace
from tests.simulate.worlds import pack, traffic, with_category


def trace(seed: int = 1, count: int = 400, **options: object) -> Trace:
    arrivals, vectors = traffic(seed, count, prompts=120, **options)  # type: ignore[arg-type]
    return Trace([replace(one, cost=0.5) for one in arrivals], vectors, np.full(count, 10, np.int64))


def fixed(threshold: float, **category: object) -> Pack:
    return pack(strategy="static", threshold=threshold, **category)


def test_a_smaller_cache_serves_no_more_and_never_beats_its_bound() -> None:
    traffic = trace()
    runs = [trace_replay.run(traffic, fixed(0.9), size, seed=0) for size in (5, 30, None)]
    hits = [int((run.result.exact | run.result.semantic).sum()) for run in runs]
    assert hits == sorted(hits)
    assert hits[0] < hits[-1]
    for run in runs:
        assert run.right <= run.answer_bound
        assert run.exact_bound <= run.answer_bound
    assert runs[0].result.entries <= 5


def test_a_size_is_shared_by_the_categories() -> None:
    traffic = trace(categories=("default", "other"))
    sized = trace_replay.run(traffic, with_category(fixed(2.0), "other"), 7, seed=0)
    assert sized.result.entries == 7


def test_fixed_thresholds_close_in_on_the_target() -> None:
    traffic = trace()
    told: list[int] = []
    found = trace_replay.fixed_threshold_runs(
        traffic, fixed(0.9), None, error=0.05, contract="hit", progress=told.append
    )
    assert found[0].threshold is None
    assert found[0].semantic == 0
    assert [one.hits for one in found] == sorted(one.hits for one in found)
    assert sum(told) == len(found) * len(traffic)
    assert len(found) <= trace_replay.most_fixed_runs()
    best = trace_replay.best_fixed_run(found, 0.05, "hit")
    assert best.error_per_hit <= 0.05
    assert all(one.hits <= best.hits for one in found if one.error_per_hit <= 0.05)
    assert trace_replay.best_fixed_run(found, 0.0, "hit").wrong == 0
    assert trace_replay.best_fixed_run(found, 0.05, "request").hits >= best.hits


def test_a_log_whose_answers_differ_each_time_is_reported_although_equal_wordings_alone_are_above_the_target() -> None:
    given = trace(count=60)
    texts = ("How do I reset my password?", "how do i reset my password", "How can I reset my password?")
    arrivals = [
        replace(one, text=texts[place % 3], answer=f"{place}", tenant=f"t{place // 3}")
        for place, one in enumerate(given.arrivals)
    ]
    varied, chosen = replace(given, arrivals=arrivals), fixed(0.9)
    found = trace_replay.fixed_threshold_runs(varied, chosen, None, error=0.01, contract="hit")
    assert found[0].threshold is None
    assert found[0].error_per_hit > 0.01
    assert trace_replay.best_fixed_run(found, 0.01, "hit") == found[0]
    run = trace_replay.run(varied, chosen, None, seed=0)
    assert replay_report.figures(varied, chosen, [run], found)


def test_regret_is_none_for_the_best_fixed_threshold_itself() -> None:
    traffic = trace()
    found = trace_replay.fixed_threshold_runs(traffic, fixed(0.9), None, error=0.01, contract="hit")
    best = trace_replay.best_fixed_run(found, 0.01, "hit")
    assert best.threshold is not None
    run = trace_replay.run(traffic, fixed(best.threshold), None, seed=0)
    told = replay_report.figures(traffic, fixed(best.threshold), [run], found)
    assert told["regret"]["at_target"]["hit_rate"] == 0.0
    assert told["regret"]["at_target"]["static"]["threshold"] == best.threshold


def test_the_report_is_json_and_its_page_shows_every_size_and_category() -> None:
    traffic, chosen = trace(categories=("default", "other")), with_category(fixed(0.8), "other", strategy="static")
    runs = [trace_replay.run(traffic, chosen, size, seed=0) for size in (10, None)]
    found = replay_report.figures(
        traffic, chosen, runs, trace_replay.fixed_threshold_runs(traffic, chosen, None, error=0.01, contract="hit")
    )
    found["trace"] = {"skipped": {"failed call": 2}, "broken_lines": [{"line": 7, "error": "torn"}]}
    assert json.loads(json.dumps(found)) == found
    page = replay_report.markdown(found, plots=["by-size.png"])
    assert page.endswith("\n")
    for part in ("as the pack says", "| default |", "| other |", "line 7: torn", "failed call: 2", "(by-size.png)"):
        assert part in page
    assert not re.search(r"prompt \d", page)
    first, last = (run["summary"] for run in found["runs"])
    assert last["cost_saved"] == pytest.approx(0.5 * (400 - last["backend_calls"]))
    assert first["tokens_saved"] == 10 * (400 - first["backend_calls"])
    assert last["latency_saved"] == pytest.approx(last["exact"] + last["semantic"])


def test_what_a_trace_does_not_know_is_not_made_up() -> None:
    traffic = trace()
    bare = Trace([replace(one, cost=0.0, latency=0.0) for one in traffic.arrivals], traffic.vectors, traffic.tokens)
    found = replay_report.figures(bare, fixed(0.8), [trace_replay.run(bare, fixed(0.8), None, seed=0)], [])
    assert found["runs"][0]["summary"]["cost_saved"] is None
    assert found["runs"][0]["categories"]["default"]["latency_saved"] is None
    assert replay_report.table(found)[0][-3:-1] == ["-", "-"]
    assert "regret" not in found


def test_a_comparison_accounts_for_every_difference() -> None:
    traffic = trace(3)
    old, new = (trace_replay.run(traffic, fixed(level), None, seed=0).result for level in (0.95, 0.1))
    found = compare(old, new)
    counts = found["changes"]
    assert set(counts) == set(KINDS)
    hits = [int((one.exact | one.semantic).sum()) for one in (old, new)]
    gained = counts["gained"] + counts["gained_wrong"]
    assert hits[1] - hits[0] == gained - counts["lost"] - counts["lost_wrong"] > 0
    wrong = counts["gained_wrong"] + counts["turned_wrong"] - counts["lost_wrong"] - counts["turned_right"]
    assert int(new.wrong.sum()) - int(old.wrong.sum()) == wrong > 0
    assert found["categories"] == {"default": counts}
    shown = changes(old, new, most=2)
    assert all(sum(one.kind == kind for one in shown) == min(2, counts[kind]) for kind in KINDS)
    for one in shown:
        assert one.source is not None
        right = traffic.arrivals[one.source].answer == traffic.arrivals[one.place].answer
        assert right == (one.kind in ("gained", "lost", "turned_right"))


def test_equal_packs_differ_in_nothing() -> None:
    traffic = trace(3)
    one, two = (trace_replay.run(traffic, fixed(0.8), None, seed=0).result for _ in range(2))
    assert set(compare(one, two)["changes"].values()) == {0}
    assert changes(one, two, most=5) == []


def test_plots_are_drawn_or_said_to_need_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    traffic = trace()
    runs = [trace_replay.run(traffic, fixed(0.8), size, seed=0) for size in (10, 40)]
    found = replay_report.figures(
        traffic,
        fixed(0.8),
        runs,
        trace_replay.fixed_threshold_runs(traffic, fixed(0.8), None, error=0.01, contract="hit"),
    )
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "matplotlib.figure", None)
        with pytest.raises(ConfigError, match="pip install matplotlib"):
            replay_plots.draw(found, runs[-1].result, tmp_path)
    assert list(tmp_path.iterdir()) == []
    pytest.importorskip("matplotlib", reason="drawing is tested where matplotlib is installed")
    names = replay_plots.draw(found, runs[-1].result, tmp_path)
    assert names == ["over-time.png", "by-size.png", "against-fixed-scores.png"]
    assert all((tmp_path / name).read_bytes().startswith(b"\x89PNG") for name in names)
    from matplotlib.figure import Figure

    figure = Figure()
    axes = figure.subplots()
    assert replay_plots._by_size(axes, found, runs[-1].result)
    figure.draw_without_rendering()
    assert [label.get_text() for label in axes.get_xticklabels(which="both")] == ["10", "40"]
    # One size and no baselines leave one picture to draw.
    alone = replay_report.figures(traffic, fixed(0.8), runs[:1], [])
    assert replay_plots.draw(alone, runs[0].result, tmp_path) == ["over-time.png"]


def test_the_size_replaces_a_capacity_and_never_raises_a_quota() -> None:
    chosen = msgspec.structs.replace(
        pack(), capacity=10, categories={"default": Category(name="default", quota=5), "big": Category(name="big")}
    )
    sized = trace_replay.with_size(chosen, 50)
    assert (sized.capacity, sized.of("default").quota, sized.of("big").quota) == (50, 5, 50)


@pytest.mark.parametrize(
    ("wrong", "count", "said"), [(0, 0, None), (0, 60, None), (0, 2000, True), (10, 1000, None), (60, 1000, False)]
)
def test_a_target_is_kept_or_missed_only_where_the_interval_says_so(wrong: int, count: int, said: bool | None) -> None:
    error = interval(wrong, count)
    assert kept(0.01, None if error is None else (error.estimate, error.low, error.high)) is said
