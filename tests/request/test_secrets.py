"""Credentials are recognised wherever they stand, and a text made to be slow to read is read like any other."""

from __future__ import annotations

import re
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from semcache.request import secrets
from semcache.request.eligibility import is_live
from semcache.request.secrets import fold, has_secret

TOKEN = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.SflKxwRJSMeKKF2QT4"


@pytest.mark.parametrize("before", ["", "Bearer ", "token=", "x-", "eyJ", "eyJaaaaaaaa-", "see (", "a.b."])
def test_a_signed_token_is_one_wherever_it_stands(before: str) -> None:
    assert has_secret(f"{before}{TOKEN} what is in it?")


@pytest.mark.parametrize("text", ["obj.eyJ", "a .eyJaaaaaaaa.bbbbbbbb", "eyJaaaaaaaa.eyJaaaa.bbbbbbbb"])
def test_what_lacks_a_part_of_a_token_is_none(text: str) -> None:
    assert not has_secret(text)


def test_beginnings_of_tokens_without_an_end_are_not_read_again_from_each_of_them() -> None:
    """Read anew from each beginning, these would keep the event loop for minutes."""
    assert not has_secret("-eyJaaaaaaaa" * 50_000)


@given(st.one_of(st.from_regex(secrets._TOKEN), st.from_regex(secrets._URL), st.from_regex(secrets._STATED)))
@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
def test_the_cheap_look_for_secrets_misses_none(text: str) -> None:
    stated = any(secrets._is_stated(match) for match in secrets._STATED.finditer(text))
    if secrets._TOKEN.search(text) or secrets._URL.search(text) or stated:
        assert has_secret(text)


_NUMBERS = st.lists(
    st.sampled_from(
        [*"0123456789 -,.", "4111111111111111", "4111 1111 1111 1111", "5500-0000-0000-0004", "123-45-6789"]
    )
)


@given(_NUMBERS.map("".join))
@settings(max_examples=500, deadline=None)
def test_a_number_is_found_where_reading_the_whole_text_finds_it(text: str) -> None:
    cards = any(secrets._luhn(match[0]) for match in secrets._CARD.finditer(text))
    assert has_secret(text) == bool(cards or secrets._SSN.search(text))


@pytest.mark.parametrize(
    "text",
    [
        "://" * 100_000,
        "://a:" * 60_000,
        "a://b:ccc" * 30_000,
        "4 1-" * 80_000,
        "AA11 " * 60_000,
        "pin is not " * 40_000,
    ],
)
def test_marks_without_a_secret_are_read_once(text: str) -> None:
    assert not has_secret(text + "?")


def lines(table: str) -> list[str]:
    return [text for text in table.replace("\n", "|").split("|") if text]


NAMES = """
password|passphrase|passcode|pwd|pin|PIN code|api key|secret_key|access-token|authtoken|client secret|bearer
social security number|SSN|cvv|cvc|otp
"""


@pytest.mark.parametrize("name", lines(NAMES))
def test_every_name_of_a_secret_is_looked_for(name: str) -> None:
    assert has_secret(f"the {name} is hunter2xyz")


def test_folding_finds_every_letter_that_ignoring_case_finds() -> None:
    letters = "".join(map(chr, range(sys.maxunicode + 1)))
    for found in re.findall("[a-z]", letters, re.IGNORECASE):
        assert re.fullmatch("[a-z]", fold(found))
    assert has_secret("pa\u017f\u017fword: hunter2xyz")
    assert is_live("TODAY\u2019S News")
    assert is_live("L\u0130VE score")


def test_folding_keeps_every_character_in_its_place() -> None:
    letters = [chr(code) for code in range(sys.maxunicode + 1)]
    assert all(len(fold(letter)) == 1 for letter in letters)
    assert len(fold("\u039f\u0394\u039f\u03a3 \u0130\u212a")) == 7
