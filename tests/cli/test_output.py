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
