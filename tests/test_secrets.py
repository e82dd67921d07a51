"""Credentials are recognised wherever they stand, and a text made to be slow to read is read like any other."""

from __future__ import annotations

import pytest

from semcache.secrets import has_secret

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
