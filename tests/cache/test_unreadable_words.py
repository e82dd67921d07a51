"""A word that is too long for the tokenizer is never taken for another: their embeddings are the same."""

from __future__ import annotations

import random
import string
from pathlib import Path

import pytest

from semcache import SemanticCache
from semcache.models.embedders import open_embedder
from semcache.models.embedders.hashing import HashingEmbedder
from semcache.protocols import longest_word

CHANCE = random.Random(1)
ONE, TWO = ("".join(CHANCE.choices(string.ascii_lowercase, k=101)) for _ in range(2))


@pytest.mark.parametrize("asked", ["what is the sequence {}", "what does {} mean"])
def test_long_words_are_told_apart(tmp_path: Path, asked: str) -> None:
    with SemanticCache.open(tmp_path, seed=1) as cache:
        cache.record(cache.lookup(asked.format(ONE), model="m"), "the answer about the first word")
        assert cache.lookup(asked.format(TWO), model="m").answer is None
        assert cache.lookup(asked.format(ONE), model="m").answer == "the answer about the first word"


class ShortWords(HashingEmbedder):
    """An embedder that tells words apart by their first twenty characters."""

    longest_word = 20


def test_an_embedder_says_from_what_length_words_are_one_to_it() -> None:
    one, two = "what does " + "a" * 30 + " mean", "what does " + "a" * 29 + "b mean"
    with SemanticCache.open("memory://", seed=1, embedder=ShortWords()) as cache:
        cache.record(cache.lookup(one), "the answer about the first word")
        found = cache.lookup(two)
        assert (found.answer, found.why) == (None, "exact-only")
        assert cache.lookup("what does it mean").why != "exact-only"


async def test_the_shipped_embedder_says_what_its_tokenizer_does_and_others_say_a_hundred() -> None:
    shipped, hashing = open_embedder("default"), HashingEmbedder()
    assert (longest_word(shipped), longest_word(hashing), longest_word(ShortWords())) == (100, 100, 20)
    await shipped.close()
