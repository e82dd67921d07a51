"""Conformance of `Embedder`, whatever is behind it."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pytest

from semcache.config import plugins
from semcache.models.embedders import DEFAULT_MODEL, default_embedder, open_embedder
from semcache.models.embedders.batching import BatchingEmbedder
from semcache.models.embedders.hashing import HashingEmbedder
from semcache.models.embedders.memo import MemoEmbedder
from semcache.protocols import Embedder

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

EMBEDDERS: dict[str, Callable[[], Embedder]] = {
    "default": default_embedder,
    "onnx": lambda: open_embedder(f"onnx:{DEFAULT_MODEL}", memo=0),
    "hashing": HashingEmbedder,
    "batching": lambda: BatchingEmbedder(HashingEmbedder(64), max_batch=4, max_queue=2000),
    "memo": lambda: MemoEmbedder(HashingEmbedder(64), size=3),
    **{name: partial(open_embedder, name) for name in plugins.names("embedders")},
}

TEXTS = [
    "How do I reset my password?",
    "How can I reset my password",
    "What is the capital of France?",
    "",
    " ",
    "\n\t",
    "🙂🙃 emoji 👩‍👩‍👧‍👦",
    "東京の天気はどうですか",
    "مرحبا بالعالم",
    "naïve café “quotes” ½",
    "a\x00b\x1f",
    "lone surrogate \ud800 here",
    "x" * 10_000,
    "word " * 3000,
    "def f(x):\n    return x ** 2\n",
    "How do I reset my password?",
]


@pytest.fixture(params=EMBEDDERS)
async def embedder(request: pytest.FixtureRequest) -> AsyncIterator[Embedder]:
    embedder = EMBEDDERS[request.param]()
    yield embedder
    await embedder.close()


async def test_it_is_an_embedder(embedder: Embedder) -> None:
    assert isinstance(embedder, Embedder)
    assert embedder.id
    assert embedder.dim > 1
    assert embedder.max_tokens > 8


async def test_rows_are_float32_unit_vectors(embedder: Embedder) -> None:
    vectors = await embedder.embed(TEXTS)
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(TEXTS), embedder.dim)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-3)


async def test_nothing_gives_an_empty_matrix(embedder: Embedder) -> None:
    vectors = await embedder.embed([])
    assert vectors.shape == (0, embedder.dim)
    assert vectors.dtype == np.float32


async def test_a_vector_depends_on_its_text_alone(embedder: Embedder) -> None:
    together = await embedder.embed(TEXTS)
    backwards = (await embedder.embed(TEXTS[::-1]))[::-1]
    alone = np.concatenate([await embedder.embed([text]) for text in TEXTS])
    assert together == pytest.approx(alone, abs=1e-4)
    assert backwards == pytest.approx(alone, abs=1e-4)
    assert together[0] == pytest.approx(together[-1], abs=1e-4)


async def test_concurrent_callers_get_their_own_rows(embedder: Embedder) -> None:
    texts = [f"question number {number} about topic {number % 7}" for number in range(60)]
    expected = await embedder.embed(texts)
    slices = [texts[start : start + 1 + start % 3] for start in range(57)]
    for start, vectors in enumerate(await asyncio.gather(*(embedder.embed(part) for part in slices))):
        assert vectors == pytest.approx(expected[start : start + len(vectors)], abs=1e-4)


async def test_different_texts_differ(embedder: Embedder) -> None:
    password, again, capital = await embedder.embed(TEXTS[:3])
    assert password @ again > password @ capital
    assert password @ capital < 0.9


async def test_a_caller_may_write_into_what_it_got(embedder: Embedder) -> None:
    first = await embedder.embed(["hello"])
    kept = first.copy()
    first[:] = 0
    assert await embedder.embed(["hello"]) == pytest.approx(kept, abs=1e-4)
