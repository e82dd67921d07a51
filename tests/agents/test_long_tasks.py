"""A long task holds up nobody: it is left to the planner before anything is sought in it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from semcache.agents import run, slots
from semcache.agents.run import NoRun, PlanReason, task_of


def test_a_task_that_is_too_long_for_a_plan_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def reading(_: str) -> Any:
        raise AssertionError("the task was read")

    monkeypatch.setattr(run, "without_courtesy", reading)
    with pytest.raises(NoRun) as error:
        task_of([{"role": "user", "content": "Close ticket A-1 " + "and A-2 " * 2000}])
    assert error.value.why is PlanReason.TOO_LARGE


def test_a_long_task_that_can_be_aligned_is_still_read() -> None:
    task = f"Send the report to {'x' * 60}@example.org and {'y' * 900}"
    assert task_of([{"role": "user", "content": task}])[0] == task


def test_names_are_told_from_identifiers_in_one_look_at_each() -> None:
    looked = 0

    class Place(int):
        """A place in a text that counts how often it is compared."""

        def __eq__(self, other: object) -> bool:
            nonlocal looked
            looked += 1
            return int(self) == other

        __hash__ = int.__hash__

    class Value:
        kind = slots.SlotKind.ID

        def __init__(self, start: int, end: int) -> None:
            self.start, self.end = Place(start), Place(end)

    text = "Ann Lee of A-1 and " * 200
    ids = [Value(*match.span()) for match in re.finditer("A-1", text)]
    names = list(slots._names(text, ids))  # type: ignore[arg-type]
    assert (0, 7) in names
    assert looked <= 4 * len(ids)
