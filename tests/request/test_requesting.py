"""Prompts that ask, and texts that only state something."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.request.requesting import asks


@pytest.mark.parametrize(
    "text",
    [
        "population of the largest city in the south of Norway in 2020?",
        "explain the difference between a list and a tuple in Python to a child",
        "My router loses its connection every evening at about the same time",
        "steps to connect a printer to a wireless network without a cable or a disc",
        "Which river flows through both Basel and Cologne before it reaches the sea",
        "The build fails on the server. Find the reason in the log that follows below",
        "norway population",
        "okay dumb question lol but like why's the sky blue over the sea",
        "whats the difference btw a left join and an inner join in sql",
        "dead car battery, jump from another car with cables, step by step",
        "",
    ],
)
def test_prompts_ask(text: str) -> None:
    assert asks(text)


@pytest.mark.parametrize(
    "text",
    [
        "The river rises in the hills of the north and flows past the old town into the eastern sea.",
        "In 1921 the family moved from the village to the capital, where the father opened a small workshop.",
        "The song was written by the singer, who called it 'a letter to the people of the old town.'",
        "The song was written by the singer of the band, and the guitarist sang it on the second record.",
    ],
)
def test_statements_do_not(text: str) -> None:
    assert not asks(text)


@given(st.text(max_size=300))
def test_any_text_is_one_or_the_other(text: str) -> None:
    assert asks(text + "?")
    assert asks(text) in (True, False)
