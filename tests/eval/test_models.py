"""The page on the shipped models: what their chain is said to serve."""

from __future__ import annotations

import numpy as np

from eval import models
from eval.decisions.data import Pair


def test_what_the_verifier_is_asked_about_is_counted_and_its_word_decides() -> None:
    some = [
        Pair("Which file formats can I upload?", "In what formats can files be uploaded?", True, "1", "all"),
        Pair("Who designed the evening gown?", "Who designed the gown?", False, "2", "all"),
    ]
    found = models._chain({"written": some}, {"written": np.array([0.999, 0.1])})["written"]
    assert (found["grey"], found["without"]) == ([1, 0], [0, 1])
    assert (found["posterior"], found["oracle"]) == ([1, 0], [1, 0])
