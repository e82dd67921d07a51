"""Long work says how far it is where nobody sees a bar."""

from __future__ import annotations

import pytest
from rich.progress import TextColumn

from semcache.cli import output


def test_work_without_a_terminal_prints_a_line_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr(output.time, "monotonic", lambda: now[0])
    with output.bar(TextColumn("{task.description}")) as bar:
        task = bar.add_task("embedding", total=8)
        for _ in range(8):
            now[0] += 4.0
            bar.advance(task)
    assert capsys.readouterr().err.splitlines() == ["embedding: 38%", "embedding: 75%"]


def test_a_misspelt_name_is_told_the_nearest() -> None:
    assert output.unknown("--category", "suport", ["support", "code"]).endswith("did you mean support?")
    assert output.unknown("--category", "zzz", ["support", "code"]).endswith("there are support, code")


def test_what_lives_for_ever_has_an_end_that_a_date_can_hold() -> None:
    """An entry of a category with `ttl: 9999999w`, and a plan with such a `plans.life`, are shown all the same."""
    from semcache.proxy.ui import rendering

    assert output.moment(6e12) == output.moment(float("inf")) == "9999-12-31T23:59:59Z"
    assert rendering.moment(6e12) == "9999-12-31 23:59:59 UTC"
    assert output.moment(0.0) == "1970-01-01T00:00:00Z"
