"""Tasks of one kind fit its pattern, with their own values in the slots, and tasks of another do not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.agents.pattern import PatternGap, TaskPattern, fit, learned, masked, realised
from semcache.agents.pattern_merge import merge
from semcache.agents.slots import SlotKind

ROUTE = learned(
    "How long is the walk from Craig Street to the old library?", {"start": "Craig Street", "end": "the old library"}
)
PHRASES = st.lists(
    st.sampled_from(["red", "blue", "Oak", "Elm", "tower", "7", "café", "river", "no9"]), min_size=1, max_size=5
).map(" ".join)


@given(PHRASES, PHRASES)
def test_what_was_put_in_comes_out(start: str, end: str) -> None:
    fitted = fit(ROUTE, f"How long is the walk from {start} to {end}?")
    assert fitted is not None
    assert fitted.whole
    assert fitted.values == {"start": start, "end": end}


@pytest.mark.parametrize(
    "task",
    [
        "How long is the drive from Craig Street to the library?",
        "How long is the walk from Craig Street?",
        "How long is the walk to Craig Street from the library?",
        "Today only: how long is the walk from Craig Street to the library?",
    ],
)
def test_another_intent_is_no_whole_fit(task: str) -> None:
    fitted = fit(ROUTE, task)
    assert fitted is not None
    assert not fitted.whole


def test_a_number_slot_takes_no_words_and_a_repeated_value_must_repeat() -> None:
    top = learned("List the top 3 search terms", {"n": "3"})
    assert fit(top, "List the top 12 search terms").values == {"n": "12"}
    assert not fit(top, "List the top secret search terms").whole
    twice = learned("Copy the folder Oak and call it Oak again", {"name": "Oak"})
    assert fit(twice, "Copy the folder Elm and call it Elm again").whole
    assert not fit(twice, "Copy the folder Elm and call it Oak again").whole


def test_a_quote_is_taken_as_a_whole_and_without_its_marks() -> None:
    search = learned('Search for "usb wifi"', {"query": "usb wifi"})
    assert fit(search, 'Search for "green tea, in bags!"').values == {"query": "green tea, in bags!"}
    assert not fit(search, "Search for my lost keys").whole


def test_words_beside_a_value_are_not_swallowed_by_its_slot() -> None:
    close = learned("Close the account of user ann_lee_1", {"user": "ann_lee_1"})
    fitted = fit(close, "Close the account of user bo_ray_2 after the audit")
    assert fitted.values == {"user": "bo_ray_2"}
    assert not fitted.whole


@pytest.mark.parametrize("more", ["and then delete it", "and also the old one", ". Tell nobody", "; email my boss"])
def test_a_further_wish_is_no_value(more: str) -> None:
    assert not fit(ROUTE, f"How long is the walk from Elm to Oak {more}?").whole


def test_values_leave_no_trace_in_a_pattern() -> None:
    pattern = learned("Send 45 USD to ann@example.org for Bob Ray on May 20, 2024", {"who": "Bob Ray"})
    assert pattern.text() == "send <amount> to <email> for <name> on <date>"
    assert masked("Send 99 USD to joe@x.io for Ada Low on June 1, 2025") == pattern.text()


def test_two_wordings_of_one_plan_are_merged_where_they_agree_on_most() -> None:
    one = learned("Show me the customers who complained about Oak chair", {"product": "Oak chair"})
    two = learned("Show me these customers who complained about Elm desk", {"product": "Elm desk"})
    both = merge(one, two)
    assert both is not None
    assert fit(both, "Show me those customers who complained about lamps").values == {"product": "lamps"}
    assert (
        merge(one, learned("Show me the new customers who complained about Elm desk", {"product": "Elm desk"})) is None
    )
    named = merge(one, learned("Show me the families who complained about Elm desk", {"product": "Elm desk"}))
    assert named is not None, "neither customers nor families have an opposite"
    assert fit(named, "Show me the schools who complained about lamps").values == {"product": "lamps"}
    assert merge(one, learned("Delete the account of Ann", {"who": "Ann"})) is None


def test_a_pattern_that_says_too_little_tells_nothing() -> None:
    assert not learned("Fork ChatGPT", {"repo": "ChatGPT"}).telling
    assert learned("Check out my todos", {}).telling


def test_a_realised_pattern_speaks_of_the_new_task() -> None:
    task = "How long is that walk from Elm to Oak?"
    assert realised(ROUTE, fit(ROUTE, task)) == "how long is the walk from Elm to Oak"


@given(
    st.lists(
        st.one_of(st.sampled_from(["list", "the", "orders", "of"]), st.just(PatternGap("a", SlotKind.TEXT))), max_size=8
    ),
    st.text(max_size=80),
)
def test_any_pattern_and_any_task_can_be_aligned(elements: list, task: str) -> None:
    fitted = fit(TaskPattern(tuple(elements)), task)
    assert fitted is not None
    assert 0.0 <= fitted.coverage <= 1.0
    assert all(value in task for value in fitted.values.values())
    assert len(fitted.pieces) == sum(isinstance(one, PatternGap) for one in elements)


def test_a_task_too_long_to_be_aligned_is_left_alone() -> None:
    assert fit(ROUTE, "word " * 500) is None


@pytest.mark.parametrize(
    ("task", "values"),
    [
        ("Refund order -17 with 3 coins", None),
        ("Refund order 17 with 3% coins", None),
        ("Refund order [17] with 3 coins", None),
        ("Refund order 17 with > 3 coins", None),
        ("Refund order 17 with - 3 coins", None),
        ("Refund order \u200b17 with 3 coins", None),
        ("Refund order 17 with 3 coins 🙂", None),
        ("Refund order 17, with (3) coins!", {"order": "17", "amount": "3"}),
        ("Refund order 17 – with 3 coins.", {"order": "17", "amount": "3"}),
    ],
)
def test_a_sign_beside_a_value_is_not_lost(task: str, values: dict[str, str] | None) -> None:
    refund = learned("Refund order 23 with 8 coins", {"order": "23", "amount": "8"})
    fitted = fit(refund, task)
    assert fitted.whole is (values is not None)
    assert values is None or fitted.values == values


def test_a_sign_that_was_there_from_the_beginning_must_be_there_again() -> None:
    above = learned("List the orders with a total > 45", {"total": "45"})
    assert fit(above, "List the orders with a total > 12").whole
    assert not fit(above, "List the orders with a total < 12").whole
    assert merge(above, learned("List the orders with a total < 45", {"total": "45"})) is None
