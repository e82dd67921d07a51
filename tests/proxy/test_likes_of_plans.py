"""A task that is merely like the one of a plan reaches the model through the proxy; courtesy makes no other task."""

from __future__ import annotations

from pathlib import Path

from tests.agents.worlds import asked
from tests.proxy.test_plans_served import world


async def test_only_what_means_the_same_is_answered_by_the_plan(tmp_path: Path) -> None:
    same = [
        "Could you cancel the first reservation of user cy_fox_3?",
        "Hello, I need you to cancel first reservation of user cy_fox_3. Thanks!",
    ]
    likes = [
        "Don't cancel the first reservation of user cy_fox_3",
        "Cancel the second reservation of user cy_fox_3",
        "Restore the first reservation of user cy_fox_3",
        "Cancel the first reservation of users cy_fox_3 and others",
        "Cancel the first reservation of user cy_fox_3 unless it is paid",
        "Was the first reservation of user cy_fox_3 cancelled?",
        "I cancelled the first reservation of user cy_fox_3",
        "Cancel the first reservation of user cy_fox_3 and book another",
        "Cancel the first invoice of user cy_fox_3",
    ]
    async with world(tmp_path) as here:
        await here.learned()
        for task in same:
            assert (await here.ask(asked(task))).cache["detail"] == "plan", task
        for task in likes:
            assert (await here.ask(asked(task))).cache["detail"] != "plan", task
