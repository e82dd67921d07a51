"""Pages of hits print the realised error divided by its target, and told noise beside the hits that it leaves."""

from __future__ import annotations

from collections import Counter

import pytest

from eval import help_desk, judged_suites, testers, traps, wordings
from eval.decisions import pairs, words
from eval.decisions.words import StreamJob, StreamRun
from eval.markdown import of_target
from semcache.config.packs import load

TARGET = load("default").target


def test_an_error_at_the_target_is_one_and_nothing_served_is_no_error() -> None:
    assert of_target(3, 300, 0.01).startswith("1.00 (0.34–")
    assert of_target(0, 300, 0.01) == "0.00 (0.00–1.26)"
    assert of_target(0, 0, 0.01) == "-"


def test_equal_wordings_and_hits_by_meaning_are_held_to_the_target_apart() -> None:
    ways = {"one": {"typo": {"pairs": 9, "traps": 3, "wording": 4, "meaning": 9, "fooled by meaning": 1}}}
    page = wordings._page({"held": {"the shipped pack": ways}}, "command")
    wording, meaning = of_target(0, 4, TARGET), of_target(1, 10, TARGET)
    assert f"| {wording} | {meaning} |" in page


def test_a_tester_counts_answers_of_other_groups_as_wrong_hits() -> None:
    rows = [testers.Asked(True, "typo", True, False)] * 8
    rows += [testers.Asked(False, "typo", True, False), testers.Asked(True, "typo", False, True)]
    page = testers._page({"kinds": {True: rows, False: rows}}, "command")
    assert page.count(f"| {of_target(2, 10, TARGET)} |") == 2


def test_the_help_desk_counts_wrong_hits_by_meaning_of_all_seeds() -> None:
    parts = [f"{day}, {what}" for day in ("first day", "afterwards") for what in ("rewordings", "near questions")]
    told = [{part: Counter({"meaning": 5, "refused": 5}) for part in parts} for _ in range(2)]
    told[1]["afterwards, near questions"].update({"wrong": 1, "wrong by meaning": 1})
    page = help_desk._page(told, 600, TARGET, "command")
    assert f"| afterwards, both | | | | | | | {of_target(1, 20, TARGET)} |" in page
    assert f"| first day, both | | | | | | | {of_target(0, 20, TARGET)} |" in page
    assert "| afterwards, near questions | 10 |" in page


def test_traps_have_the_error_of_each_way_of_asking() -> None:
    counts = dict.fromkeys(traps._ROLES, (10, 20)) | {"traps": (0, 50)}
    page = traps._page({"held": {"all": counts}}, "command")
    assert f"hold the prompt alone, {of_target(0, 10, TARGET)}; one cache, {of_target(10, 20, TARGET)};" in page


def test_judged_suites_have_the_error_of_all_orders_together() -> None:
    ways = {"one cache": [[9, 10], [10, 10]], "one cache, wrong": [[1, 30], [0, 30]]}
    assert judged_suites._of_target(ways, "one cache", "one cache, wrong") == of_target(1, 20, TARGET)


def test_pairs_have_the_error_of_what_was_served() -> None:
    assert pairs._error([True] * 9 + [False], TARGET) == ["10", "1", of_target(1, 10, TARGET)]


def run(hits: float, *, error: float = 0.0) -> StreamRun:
    return StreamRun(hits, error, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, semantic=hits)


@pytest.mark.parametrize(("judge", "left"), [("99, told noise of 10%", [0.5, 0.25]), ("recorded", [])])
def test_noisy_judges_have_their_share_of_the_noiseless_hits_by_order(judge: str, left: list[float]) -> None:
    hits = {"99 of 100 right": (0.2, 0.4), judge: (0.1, 0.1)}
    done = {
        StreamJob("natural", name, 100, seed): {"first": run(of[seed])} for name, of in hits.items() for seed in (0, 1)
    }
    assert words._of_noiseless(done, "natural", judge, "first") == pytest.approx(left)


def test_the_error_of_a_judge_is_that_of_the_hits_of_all_orders() -> None:
    assert words._of_target([run(0.3, error=0.01), run(0.1, error=0.05)]) == "2.00"
    assert words._of_target([run(0.0)]) == ""
