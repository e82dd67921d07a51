"""The memory of recent vectors, and the hashing embedder that tests lean on."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

from semcache.errors import EmbedError, InvalidArgument
from semcache.models.embedders.hashing import HashingEmbedder
from semcache.models.embedders.memo import MemoEmbedder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semcache.types import Matrix


class Counting(HashingEmbedder):
    def __init__(self) -> None:
        super().__init__(16)
        self.asked: list[list[str]] = []
        self.fails = False

    async def embed(self, texts: Sequence[str]) -> Matrix:
        self.asked.append(list(texts))
        if self.fails:
            raise EmbedError("down")
        return await super().embed(texts)


async def test_known_texts_are_not_embedded_again() -> None:
    inner = Counting()
    memo = MemoEmbedder(inner, size=10)
    await memo.embed(["a", "b"])
    vectors = await memo.embed(["b", "c", "a", "c"])
    assert inner.asked == [["a", "b"], ["c"]]
    assert vectors == pytest.approx(HashingEmbedder(16).encode(["b", "c", "a", "c"]))


async def test_the_least_recently_used_is_forgotten() -> None:
    inner = Counting()
    memo = MemoEmbedder(inner, size=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        await memo.embed([text])
    assert inner.asked == [["a"], ["b"], ["c"], ["b"]]
    assert len(memo) == 2


async def test_more_texts_than_it_remembers() -> None:
    memo = MemoEmbedder(Counting(), size=2)
    texts = [f"text {number}" for number in range(9)]
    assert await memo.embed(texts) == pytest.approx(HashingEmbedder(16).encode(texts))
    assert len(memo) == 2


async def test_size_nought_remembers_nothing() -> None:
    inner = Counting()
    memo = MemoEmbedder(inner, size=0)
    await memo.embed(["a"])
    await memo.embed(["a"])
    assert inner.asked == [["a"], ["a"]]


async def test_a_failure_is_not_remembered() -> None:
    inner = Counting()
    memo = MemoEmbedder(inner, size=10)
    inner.fails = True
    with pytest.raises(EmbedError):
        await memo.embed(["a"])
    inner.fails = False
    assert (await memo.embed(["a"])).shape == (1, 16)


async def test_closing_forgets() -> None:
    memo = MemoEmbedder(Counting(), size=10)
    await memo.embed(["a"])
    await memo.close()
    assert len(memo) == 0


def test_hashing_is_the_same_in_every_process() -> None:
    code = (
        "from semcache.models.embedders.hashing import HashingEmbedder as H;"
        " print(H(8).encode(['héllo world'])[0].tolist())"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": "7"}
    )
    assert out.stdout.strip() == str(HashingEmbedder(8).encode(["héllo world"])[0].tolist())


def test_hashing_puts_shared_words_near() -> None:
    vectors = HashingEmbedder(256).encode(["reset my password", "reset my passwords", "weather in Tokyo"])
    scores = vectors @ vectors.T
    assert scores[0, 1] > 0.7
    assert scores[0, 2] < 0.4
    assert np.all(np.isfinite(vectors))


def test_hashing_needs_two_dimensions() -> None:
    with pytest.raises(InvalidArgument):
        HashingEmbedder(1)
