"""A word that is too long for the tokenizer is never taken for another: their embeddings are the same."""

from __future__ import annotations

import random
import string
from pathlib import Path

import pytest

from semcache import SemanticCache

CHANCE = random.Random(1)
ONE, TWO = ("".join(CHANCE.choices(string.ascii_lowercase, k=101)) for _ in range(2))


@pytest.mark.parametrize("asked", ["what is the sequence {}", "what does {} mean"])
def test_long_words_are_told_apart(tmp_path: Path, asked: str) -> None:
    with SemanticCache.open(tmp_path, seed=1) as cache:
        cache.record(cache.lookup(asked.format(ONE), model="m"), "the answer about the first word")
        assert cache.lookup(asked.format(TWO), model="m").answer is None
        assert cache.lookup(asked.format(ONE), model="m").answer == "the answer about the first word"
