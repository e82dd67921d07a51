"""semcache's embedder for LangGraph's own stores: memories of agents found by meaning, on this machine, without a key.

    from langgraph.store.sqlite import SqliteStore
    from semcache_langgraph_store import memory_index

    with SqliteStore.from_conn_string("memories.db", index=memory_index()) as store:
        store.setup()
        store.put(("acme", "ann"), "diet", {"text": "She eats no meat."})
        store.search(("acme", "ann"), query="Is she a vegetarian?")

A store keeps what it was told until it is told otherwise, and a cache lets go of what is old, rarely asked for or in
doubt. So memories stay in a store that was made for them, any of LangGraph's, and what semcache gives is their index.
Invariant: nothing leaves this machine, and no memory is kept here.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from langchain_core.embeddings import Embeddings
from langgraph.store.base import IndexConfig

from semcache import default_embedder
from semcache.errors import EmbedError
from semcache.protocols import Embedder


class LocalEmbeddings(Embeddings):
    """The embeddings of an embedder of semcache, the shipped one unless another is given."""

    def __init__(self, embedder: Embedder | None = None) -> None:
        self._embedder = embedder or default_embedder()
        # A caller may be within a running loop, which must not be entered twice, and an embedder is for one thread.
        self._thread = ThreadPoolExecutor(1, "semcache-embeddings")
        self._process: int | None = None

    @property
    def dim(self) -> int:
        """The length of a vector."""
        return self._embedder.dim

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return a vector for each text. Raises EmbedError."""
        return self._begun(texts).result()

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a text. Raises EmbedError."""
        return self.embed_documents([text])[0]

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """Do as `embed_documents`, without blocking the running loop."""
        return await asyncio.wrap_future(self._begun(texts))

    async def aembed_query(self, text: str) -> list[float]:
        """Do as `embed_query`, without blocking the running loop."""
        return (await self.aembed_documents([text]))[0]

    def _begun(self, texts: Sequence[str]) -> Future[list[list[float]]]:
        if self._process not in (None, os.getpid()):
            # The thread is not in the child, which would wait for it for ever.
            raise EmbedError("these embeddings were used before a fork: make them anew in this process")
        self._process = os.getpid()
        return self._thread.submit(self._vectors, texts)

    def _vectors(self, texts: Sequence[str]) -> list[list[float]]:
        return asyncio.run(self._embedded(texts))

    async def _embedded(self, texts: Sequence[str]) -> list[list[float]]:
        found: list[list[float]] = (await self._embedder.embed(list(texts))).tolist()
        return found


def memory_index(fields: Sequence[str] | None = None, embedder: Embedder | None = None) -> IndexConfig:
    """Return what a store of LangGraph takes as `index`; `fields` are those of a memory that are searched, all without.

    The paths of `fields` are LangGraph's, such as "text" or "facts[*].said".
    """
    embeddings = LocalEmbeddings(embedder)
    index: IndexConfig = {"dims": embeddings.dim, "embed": embeddings}
    return index if fields is None else {**index, "fields": list(fields)}
