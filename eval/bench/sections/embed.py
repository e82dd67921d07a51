"""The shipped model: one text and a batch of 32, one thread; and what batching, threads and memory around it add."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

from eval.bench import prompts
from eval.bench.machine import cores, pinned
from eval.bench.measure import Row, Section, Series, percentile
from eval.bench.options import Options

BATCH = 32


def measure(folder: Path, options: Options) -> Section:  # noqa: ARG001
    """Compare tokeniser, encoder, and the embedder that the cache uses, in turns over the same texts."""
    from tokenizers import Tokenizer

    from semcache.models.embedders import DEFAULT_MODEL
    from semcache.models.embedders.onnx import OnnxEmbedder

    section = Section("embed", "Embedding with the shipped model")
    encoder = OnnxEmbedder(DEFAULT_MODEL)
    tokenizer = Tokenizer.from_file(str(DEFAULT_MODEL / "tokenizer.json"))
    tokenizer.no_padding()
    count = 160 if options.quick else 640
    texts = prompts.stored(count * (options.rounds + 1))
    tokens = sorted(len(tokenizer.encode(text).ids) for text in texts)[len(texts) // 2]
    sides: dict[str, tuple[int, Callable[[list[str]], object]]] = {
        "tokeniser, 1 text": (1, lambda some: tokenizer.encode(some[0]).ids),
        "encode, 1 text": (1, encoder.encode),
        f"encode, {BATCH} texts": (BATCH, encoder.encode),
    }
    found: dict[str, dict[str, list[float]]] = {}
    with pinned(cores()[0]):
        for turn in range(-1, options.rounds):
            mine = texts[(turn + 1) * count : (turn + 2) * count]
            timed = {label: _timed(work, mine, size) for label, (size, work) in sides.items()}
            timed |= asyncio.run(_async(mine))
            for label, took in timed.items():
                size = BATCH if str(BATCH) in label else 1
                if turn >= 0:
                    kept = found.setdefault(label, {"p50": [], "p99": [], "texts/s": []})
                    kept["p50"].append(percentile(took, 0.5) * 1e6)
                    kept["p99"].append(percentile(took, 0.99) * 1e6)
                    kept["texts/s"].append(size * len(took) / sum(took))
    section.rows = [
        Row(label, {name: Series(tuple(each), "" if name == "texts/s" else "us") for name, each in values.items()})
        for label, values in found.items()
    ]
    rates = [Series(tuple(found[label]["texts/s"])) for label in (f"encode, {BATCH} texts", "encode, 1 text")]
    section.rows.append(Row("gain of a batch", {"texts/s": rates[0].over(rates[1])}))
    alone, wrapped = (Series(tuple(found[label]["p50"]), "us") for label in ("encode, 1 text", "embedder, 1 request"))
    section.rows.append(Row("thread, queue and memory around it", {"p50": wrapped.less(alone)}))
    section.notes.append(f"{tokens} tokens at the median, one thread, one processor; every text is new")
    return section


async def _async(texts: list[str]) -> dict[str, list[float]]:
    """The embedder that the cache uses: one text after another, and 32 requests at once."""
    from semcache.models.embedders import default_embedder

    embedder = default_embedder()
    took: dict[str, list[float]] = {"embedder, 1 request": [], f"embedder, {BATCH} requests at once": []}
    half = len(texts) // 2
    try:
        await embedder.embed(["the first call starts a thread"])
        for text in texts[:half]:
            started = time.perf_counter()
            await embedder.embed([text])
            took["embedder, 1 request"].append(time.perf_counter() - started)
        for start in range(half, len(texts) - BATCH + 1, BATCH):
            started = time.perf_counter()
            await asyncio.gather(*(embedder.embed([text]) for text in texts[start : start + BATCH]))
            took[f"embedder, {BATCH} requests at once"].append(time.perf_counter() - started)
    finally:
        await embedder.close()
    return took


def _timed(work: Callable[[list[str]], object], texts: list[str], size: int) -> list[float]:
    took = []
    for start in range(0, len(texts) - size + 1, size):
        some = texts[start : start + size]
        started = time.perf_counter()
        work(some)
        took.append(time.perf_counter() - started)
    return took
