"""The bar of a training: a stage whose length nobody knows shows that it goes on, and not a share of the last one."""

from __future__ import annotations

from typing import Any

import pytest
from rich.progress import Progress

from semcache.cli.embedder_finetune import _steps


def test_a_stage_after_the_training_has_no_steps_left_over(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Progress] = []
    enter = Progress.__enter__

    def entered(self: Progress) -> Any:
        seen.append(self)
        return enter(self)

    monkeypatch.setattr(Progress, "__enter__", entered)
    with _steps() as (stage, told):
        stage("training")
        told(50, 120, {"loss": 0.5})
        [task] = seen[0].tasks
        assert (task.completed, task.total) == (50, 120)
        stage("measuring after")
        [task] = seen[0].tasks
        assert (task.description, task.total) == ("measuring after", None), "a bar that pulses"
        told(1, 10, {})
        assert seen[0].tasks[0].total == 10
