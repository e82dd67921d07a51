"""General pairs: both kinds in each set, and nothing that was trained on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pytest

pytest.importorskip("faiss", reason="the train extra is not installed")

from semcache.train.card import texts_of
from semcache.train.general_pairs import NEAR, TRAPS, general
from semcache.train.text_identity import caseless

if TYPE_CHECKING:
    from semcache.types import Matrix


def _letters(texts: Sequence[str]) -> Matrix:
    """Unit vectors of counts of letters."""
    rows = np.array([[text.lower().count(letter) + 0.01 for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts])
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def test_both_sets_hold_both_labels_and_the_same_rewordings() -> None:
    found = general(_letters, groups=40)
    assert set(found) == {TRAPS, NEAR}
    for pairs in found.values():
        assert sum(pair.same for pair in pairs) == 40
        assert sum(not pair.same for pair in pairs) >= 20
    assert found == general(_letters, groups=40), "equal seeds draw equal pairs"
    assert found != general(_letters, groups=40, seed=8)


def test_no_text_that_is_trained_on_is_among_them() -> None:
    first = general(_letters, groups=40)
    taken = {caseless(text) for pairs in first.values() for text in texts_of(pairs)}
    for pairs in general(_letters, groups=500, without=taken).values():
        assert taken.isdisjoint(caseless(text) for text in texts_of(pairs))


def test_a_set_that_could_not_be_measured_is_left_out() -> None:
    found = general(lambda texts: np.ones((len(texts), 1), np.float32), groups=5)
    assert set(found) == {TRAPS}, "to an encoder that tells nothing apart everything is a duplicate"
    assert general(_letters, groups=0) == {}
