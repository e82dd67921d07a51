"""A cache whose refused neighbours turn out right serves more like them: misses teach what the verifier is worth."""

from __future__ import annotations

from eval import help_desk


async def test_after_some_traffic_more_rewordings_are_served_than_on_the_first_day() -> None:
    told = await help_desk.asked(200, seed=32, target=None)
    first, then = told["first day, rewordings"], told["afterwards, rewordings"]
    assert then["meaning"] > first["meaning"]
    assert told["traffic"]["wrong"] == 0
