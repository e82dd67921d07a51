"""Hard negatives: near, of another answer, and not so near that they are likely duplicates."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("faiss", reason="the train extra is not installed")
from semcache.train.mining import mine
from semcache.train.pairs import Pair


def test_the_nearest_prompt_of_another_answer_is_taken_and_duplicates_are_spared() -> None:
    cosine = {"anchor": 1.0, "positive": 0.9, "duplicate": 0.88, "relative": 0.8, "trap": 0.7, "far": 0.1}
    vectors = np.array([[c, np.sqrt(1 - c * c)] for c in cosine.values()], np.float32)
    classes = {"anchor": 1, "positive": 1, "relative": 1, "trap": 2, "far": 3}
    positives = [Pair("anchor", "positive", True)]
    assert mine(positives, vectors, list(cosine), classes) == [Pair("anchor", "trap", False, made="mined")]
    both = mine(positives, vectors, list(cosine), classes, each=2)
    assert [pair.two for pair in both] == ["trap", "far"]
    assert mine([], vectors, list(cosine), classes) == []
