"""Values are found by their spelling, and ordinary words are none."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.agents.forms import forms_of, write
from semcache.agents.slots import SlotKind, find, words
from semcache.agents.template import ValueForm


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('Show me products under $46.99 in "makeup remover" category', ["$46.99", "makeup remover"]),
        ("What is the top-1 best-selling product in Quarter 1 2022", ["Quarter 1 2022"]),
        ("Assign issue #404 in a11yproject to Ann Lee on 3/5/2023", ["#404", "a11yproject", "Ann Lee", "3/5/2023"]),
        ("Mail ann@example.org about https://example.org/a?b=1.", ["ann@example.org", "https://example.org/a?b=1"]),
        ("Find the order of José Ñandú in 45% of cases", ["José Ñandú", "45%"]),
        ("Refund A-1 of Ann Lee and the INC-7 of Bo Ray", ["A-1", "Ann Lee", "INC-7", "Bo Ray"]),
        ("Call Ann Lee of OPS-12 at the University of California", ["Ann Lee", "OPS-12", "University of California"]),
        ("Please don't cancel my order", []),
        ("Cancel my order. Then tell me why.", []),
    ],
)
def test_values_are_found_and_nothing_else(text: str, values: list[str]) -> None:
    assert [value.text for value in find(text)] == values


@given(st.text(max_size=200))
def test_values_stand_where_they_say_and_never_overlap(text: str) -> None:
    last = 0
    for value in find(text):
        assert last <= value.start < value.end <= len(text)
        assert value.text in text[value.start : value.end]
        last = value.end


@pytest.mark.parametrize(
    ("form", "text", "value"),
    [
        (ValueForm.INTEGER, "two", 2),
        (ValueForm.INTEGER, "1,200", 1200),
        (ValueForm.INTEGER, "2.5", 2.5),
        (ValueForm.NUMBER, "$46.99", 46.99),
        (ValueForm.ISO_DATE, "May 20, 2024", "2024-05-20"),
        (ValueForm.ISO_DATE, "20th May 2024", "2024-05-20"),
        (ValueForm.ISO_DATE, "3/5/2023", "2023-03-05"),
        (ValueForm.ISO_DATE, "13/45/2023", None),
        (ValueForm.ISO_DATE, "1/1/2023", "2023-01-01"),
        (ValueForm.ISO_DATE, "Dec 31, 2023", "2023-12-31"),
        (ValueForm.ISO_DATE, "12/32/2023", None),
        (ValueForm.BARE, "#299", "299"),
        (ValueForm.BARE, "#", None),
    ],
)
def test_a_value_is_written_as_the_call_wants_it(form: ValueForm, text: str, value: object) -> None:
    assert write(form, text) == value


@given(st.sampled_from(ValueForm), st.text(max_size=60))
def test_writing_never_fails(form: ValueForm, text: str) -> None:
    value = write(form, text)
    assert value is None or form in forms_of(value) or form.counts


@pytest.mark.parametrize("piece", ["-", ".", "1.", "Aa, ", "(Aa) "])
def test_a_long_ruling_or_list_is_read_in_one_go(piece: str) -> None:
    """Read again from each of its characters, any of these takes longer than this suite may."""
    found = find(piece * (100_000 // len(piece)))
    assert {value.kind for value in found} <= {SlotKind.NUMBER, SlotKind.NAME}


def test_long_texts_are_not_remembered_by_the_thousand() -> None:
    tracemalloc.start()
    try:
        for number in range(100):
            words(f"{number} " + "word " * 1000)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 4 << 20
