"""A plug-in that names a field as it was called before goes on working, and is told the new name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from semcache.types import Card, Entry, Forward, Lookup, Why
from tests.storage.stores.values import entry

OLD: dict[str, Any] = {"shelf": b"s" * 16}
SAID = "`shelf` of {} is called `partition`"


def test_a_store_may_make_an_entry_and_a_card_with_the_former_name() -> None:
    made = entry(1)
    with pytest.warns(DeprecationWarning, match=SAID.format("Entry")):
        assert replace(made, **OLD) == replace(made, partition=OLD["shelf"])
    card = made.card()
    facts: dict[str, Any] = {
        "id": 1,
        "exact": card.exact,
        "category": "c",
        "text": card.text,
        "created": 0.0,
        "expires": 1.0,
    }
    with pytest.warns(DeprecationWarning, match=SAID.format("Card")) as seen:
        assert Card(**facts, **OLD).partition == OLD["shelf"]
    assert seen[0].filename == __file__


@pytest.mark.parametrize("kind", [Entry, Card, Lookup])
def test_the_former_name_is_read(kind: type) -> None:
    made = entry(1)
    lookup: Any = Lookup("id", None, made.key, "c", Forward(Why.COLD), b"p")  # type: ignore[arg-type]
    one = {Entry: made, Card: made.card(), Lookup: lookup}[kind]
    with pytest.warns(DeprecationWarning, match=SAID.format(kind.__name__)) as seen:
        assert one.shelf == one.partition
    assert seen[0].filename == __file__
