"""Filling caches: by the import command with real embeddings, or straight into the store with made-up ones.

Knows the command line, the store and the index. Invariant: what is filled in can be found by the proxy, as if traffic
had brought it.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from eval.bench import prompts
from eval.bench.servers import program

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from semcache.types import Entry

DIM = 384
CLUSTER = 20


def import_prompts(folder: Path, texts: Sequence[str]) -> None:
    """Store an answer to each prompt, with the command that a user warms a cache up with."""
    file = folder / "warm-up.jsonl"
    with file.open("w", encoding="utf-8") as out:
        for text in texts:
            row = json.loads(prompts.body(text)) | {"response": prompts.completion(text)}
            out.write(json.dumps(row) + "\n")
    command = [program(), "import", str(file), "--data", str(folder / "data"), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the import failed: {done.stderr[-500:]}")
    report = json.loads(done.stdout)
    # A few of these prompts resemble a category that is never cached; the share of hits is checked later anyway.
    if report["imported"] < 0.98 * len(texts):
        raise RuntimeError(f"only {report['imported']} of {len(texts)} were imported: {report}")


def static(folder: Path) -> str:
    """The default pack with fixed thresholds, written into `folder`: made-up prompts that all resemble each other are
    too uncertain for the certified strategy, and what serving costs is to be seen, guards and features included."""
    from semcache.config.packs import packs_dir

    head, defaults, rest = (packs_dir() / "default.yaml").read_text(encoding="utf-8").partition("\ndefaults:\n")
    path = folder / "static.yaml"
    path.write_text(f"{head}{defaults}  strategy: static\n{rest}", encoding="utf-8")
    return str(path)


async def servable(folder: Path, texts: Sequence[str]) -> list[str]:
    """Those of `texts` that the cache in `folder` serves by meaning, as the library decides.

    What the import left to be compared is compared first: it would be judged beside the load.
    """
    from semcache.agents.library import AsyncSemanticCache
    from semcache.dialects import dialects
    from semcache.types import Endpoint, Serve, Why

    chat = dialects()[Endpoint.CHAT]
    found = []
    async with await AsyncSemanticCache.open(str(folder), policies=static(folder)) as cache:
        await cache.settle()
        for start in range(0, len(texts), 256):
            group = texts[start : start + 256]
            lookups = await asyncio.gather(*(cache.consult(chat.read(prompts.body(text)), "bench") for text in group))
            for text, lookup in zip(group, lookups, strict=True):
                if isinstance(lookup.decision, Serve) and lookup.decision.why is Why.SEMANTIC:
                    found.append(text)
    return found


def clustered(count: int, seed: int, *, batch: int = 4096) -> Iterator[NDArray[np.float32]]:
    """`count` unit vectors around centres of their own kind, about 20 to a centre, in slices of `batch`."""
    import numpy as np

    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((max(1, count // CLUSTER), DIM), np.float32)

    def some(size: int) -> NDArray[np.float32]:
        rows = centres[rng.integers(0, len(centres), size)] + 0.5 * rng.standard_normal((size, DIM), np.float32)
        unit: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit

    for start in range(0, count, batch):
        yield some(min(batch, count - start))


def near(vectors: NDArray[np.float32], seed: int) -> NDArray[np.float32]:
    """A query close to each vector, at a cosine of about 0.97."""
    import numpy as np

    rng = np.random.default_rng(seed)
    rows = vectors + 0.25 * rng.standard_normal(vectors.shape, np.float32) / np.sqrt(DIM).astype(np.float32)
    found: NDArray[np.float32] = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return found


async def fill_store(folder: Path, count: int, seed: int) -> None:
    """Make a data folder of `count` entries with made-up vectors and a snapshot whose graph is finished."""
    from semcache.agents.library import AsyncSemanticCache
    from semcache.models.embedders import default_embedder
    from semcache.storage.stores import open_store

    embedder = default_embedder()
    embedder_id = embedder.id
    await embedder.close()
    folder.mkdir(parents=True, exist_ok=True)  # noqa: ASYNC240
    store = open_store(str(folder / "semcache.db"))
    await store.open()
    number = 0
    texts = prompts.stored(count)
    try:
        for matrix in clustered(count, seed, batch=1000):
            pairs = []
            for vector in matrix:
                pairs.append((_entry(number, texts[number], embedder_id, store.salt), vector))
                number += 1
            await store.put_all(pairs)
    finally:
        await store.close()
    cache = await AsyncSemanticCache.open(str(folder))
    await cache.components.live.index.settle()
    await cache.close()


def _entry(number: int, text: str, embedder_id: str, salt: bytes) -> Entry:
    from semcache.dialects import dialects
    from semcache.request import conversation, keys
    from semcache.types import Endpoint, Entry, Usage

    request = dialects()[Endpoint.CHAT].read(prompts.body(text))
    key = conversation.cache_key(request, salt)
    now = time.time()
    return Entry(
        id=number + 1,
        key=key,
        endpoint=Endpoint.CHAT,
        model=prompts.MODEL,
        category="default",
        partition=keys.partitions_of(key.signature, ["default"], embedder_id, salt)[0],
        embedder_id=embedder_id,
        body=json.dumps(prompts.completion(text)).encode(),
        created=now,
        expires=now + 30 * 86400,
        usage=Usage(15, 60),
    )
