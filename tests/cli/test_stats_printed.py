"""What `semcache stats --url` prints of a server's figures, beside its tables of requests."""

from __future__ import annotations

from typing import Any

import pytest

from semcache.cli import stats

ROW: dict[str, Any] = {
    "entries": 3, "requests": 400, "exact": 0, "semantic": 300, "plan": 0, "near": 0, "misses": 100, "bypassed": 0,
    "hit_rate": 0.75, "saved_tokens": 0, "saved_usd": 0.0, "strategy": "certified", "state": "provisional", "note": "",
    "target": 0.02, "contract": "hit", "certified": None, "audits": 100, "wrong": 1, "undecided": 0, "labels": 100,
    "audit_rate": 0.1, "classes": [], "outlook": None, "break_even": None,
    "error_per_hit": {"estimate": 0.01, "low": 0.0, "high": 0.05},
    "error_per_request": {"estimate": 0.0075, "low": 0.0, "high": 0.04},
}  # fmt: skip
ASKING: dict[str, Any] = {
    "mode": "after", "model": None, "budget": 0.02, "asked": 11, "uncapped": 0, "audits": 0, "over_budget": 6,
    "upstream": 1.0, "asking": 0.019, "capped": 0.019, "called_off": 0, "called_off_seconds": 0.0,
}  # fmt: skip


def printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], **found: Any) -> str:
    """The text, in one line."""
    whole = {"categories": {"default": ROW}, "total": ROW, "confidence": 0.95, **found}
    monkeypatch.setattr(stats, "ask_server", lambda *_: whole)
    stats.stats(url="http://localhost:8080")
    return " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(("contract", "ratio"), [("hit", "0.50"), ("request", "0.38")])
def test_the_error_is_divided_by_the_target_of_the_contract(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], contract: str, ratio: str
) -> None:
    found = printed(monkeypatch, capsys, categories={"default": {**ROW, "contract": contract}})
    assert "per hit per request x target audit rate" in found
    assert f"0.75% (0-4) {ratio} 10%" in found


def test_a_share_that_bounds_all_verdicts_is_told_as_their_bound(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "11 times for 1.9% of upstream spend of at most 2.0%," in printed(monkeypatch, capsys, asking=ASKING)


def test_verdicts_that_no_share_bounds_are_not_told_to_be_within_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A server at its defaults said "76.3% of upstream spend of at most 2.0%" after requests that asked for `first`."""
    found = printed(monkeypatch, capsys, asking={**ASKING, "uncapped": 10, "asking": 0.763})
    assert "of upstream spend of at most" not in found
    said = "76.3% of upstream spend (10 in the modes first and hedged, which verdicts.budget would bound; the others"
    assert f"{said} for 1.9% of at most 2.0%)" in found


@pytest.mark.parametrize(("errors", "judge"), [({"order": 3, "typo": 2}, True), ({"typo": 2}, False)])
def test_kinds_of_edits_that_were_closed_are_named_and_the_judge_where_it_is_the_likelier_cause(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], errors: dict[str, int], judge: bool
) -> None:
    strata = [
        {"edit": edit, "audits": 9, "wrong": errors.get(edit, 0), "undecided": 0, "closed": edit in errors}
        for edit in ("filler", "order", "typo")
    ]
    found = " ".join(printed(monkeypatch, capsys, wording={"default": strata}).split())
    assert f"default: not served for too many errors: equal wordings by {', '.join(errors)}" in found
    assert ("errs (judge.false_yes, judge.false_no)" in found) is judge
