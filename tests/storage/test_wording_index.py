"""A prompt on which the rules of wordings fail is not found by its wording, and keeps no other from being found."""

from __future__ import annotations

from dataclasses import replace

import pytest

from semcache.request.wording import digest_of
from semcache.storage import wording_index
from semcache.storage.wording_index import WordingIndex
from semcache.types import Card

CARD = Card(1, b"exact", b"p" * 16, "default", "what is a cat", 0.0, 9e9)
BROKEN = replace(CARD, id=2, text="what is a gnu")


def _failing(text: str, salt: bytes) -> bytes:
    if text == BROKEN.text:
        raise KeyError(text)
    return digest_of(text, salt)


def test_defect_of_a_wording_stops_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wording_index, "digest_of", _failing)
    index = WordingIndex()
    index.add(BROKEN)
    index.add_stored(replace(BROKEN, id=3))
    index.add_stored(CARD)
    assert index.work(1000, lambda _card: True) == 0
    assert index.find([CARD.partition], BROKEN.text) == []
    assert index.find([CARD.partition], CARD.text) == [1]
    assert index.take_read().keys() == {1}
    index.remove(BROKEN)
