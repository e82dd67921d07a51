"""The suites of testers are whole: every set can be asked, and no text is said to share an answer and not to."""

from __future__ import annotations

import pytest

from eval import testers


@pytest.mark.parametrize("name", testers.SETS)
def test_no_text_of_a_group_stands_on_both_sides(name: str) -> None:
    some = list(testers.groups(name))
    assert len({group.prompt for group in some}) == len(some) > 40
    for group in some:
        same, different = ({text for text, _ in texts} for texts in (group.same, group.different))
        assert same or different, "there is something to ask"
        assert same.isdisjoint(different), group.prompt
        assert group.prompt not in same | different
