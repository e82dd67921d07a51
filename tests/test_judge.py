"""Judges without a model."""

from __future__ import annotations

import pytest

from semcache.errors import ConfigError
from semcache.evidence import Comparison
from semcache.judge import JUDGES, open_judge


def compare(cached: str, fresh: str) -> Comparison:
    return Comparison("a question", "another", cached, fresh)


@pytest.mark.parametrize("name", sorted(JUDGES))
async def test_every_judge_agrees_with_itself_and_tells_right_from_wrong(name: str) -> None:
    judge = open_judge(name)
    assert await judge.agree(compare("Lima", "Lima")) is True
    assert await judge.agree(compare("Lima", "Quito")) is False


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        ("Lima.", "lima", True),
        ("It is  Lima!", "it is lima", True),
        ("3.5", "35", False),
        ("-4", "4", False),
        ("5%", "5", False),
        ("C++", "C", False),
        ("a/b", "ab", False),
        ("“Yes”", "yes", True),
    ],
)
async def test_normalising_forgives_form_and_not_content(one: str, two: str, same: bool) -> None:
    assert await open_judge("normalised").agree(compare(one, two)) is same


def test_an_unknown_judge_is_an_error_at_start() -> None:
    with pytest.raises(ConfigError, match="exact, normalised"):
        open_judge("coin")
