"""What belongs to somebody else: no plan for what is one's own is used for it, however the own one was called."""

from __future__ import annotations

import pytest

from tests.agents.worlds import finished, opened, tool

TOOLS = [tool("add", item="string", to="string"), tool("export", to="string")]


@pytest.mark.parametrize(
    ("whose", "served"), [("my", True), ("the", True), ("my colleague's", False), ("Ann's", False)]
)
async def test_a_list_of_somebody_else_is_another(whose: str, served: bool) -> None:
    plans = opened()
    for own, item, name in (("my", "A-1", "Thesis"), ("my", "A-2", "Course"), ("the", "A-3", "Review")):
        calls = [("add", {"item": item, "to": name}, "ok"), ("export", {"to": name}, "ok")]
        await plans.record(finished(f"Add {item} to {own} reading list {name} and export it", *calls), tools=TOOLS)
    task = f"Add A-9 to {whose} reading list Grant and export it"
    found = await plans.lookup(task, tools=TOOLS, system="You help.")
    assert (found.outcome == "plan") is served, found.detail
