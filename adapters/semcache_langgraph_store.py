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
from collections.abc import Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from langchain_core.embeddings import Embeddings
from langgraph.store.base import IndexConfig

from semcache import default_embedder
from semcache.protocols import Embedder


class LocalEmbeddings(Embeddings):
    """The embeddings of an embedder of semcache, the shipped one unless another is given."""

    def __init__(self, embedder: Embedder | None = None) -> None:
        self._embedder = embedder or default_embedder()
        # A caller may be within a running loop, which must not be entered twice.
        self._thread = ThreadPoolExecutor(1, "semcache-embeddings")

    @property
    def dim(self) -> int:
        """The length of a vector."""
        return self._embedder.dim

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return a vector for each text. Raises EmbedError."""
        return self._thread.submit(asyncio.run, self._vectors(texts)).result()

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a text. Raises EmbedError."""
        return self.embed_documents([text])[0]

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """Do as `embed_documents`, without blocking the running loop."""
        return await self._vectors(texts)

    async def aembed_query(self, text: str) -> list[float]:
        """Do as `embed_query`, without blocking the running loop."""
        return (await self._vectors([text]))[0]

    def _vectors(self, texts: Sequence[str]) -> Coroutine[Any, Any, list[list[float]]]:
        async def vectors() -> list[list[float]]:
            found: list[list[float]] = (await self._embedder.embed(list(texts))).tolist()
            return found

        return vectors()


def memory_index(fields: Sequence[str] | None = None, embedder: Embedder | None = None) -> IndexConfig:
    """Return what a store of LangGraph takes as `index`; `fields` are those of a memory that are searched, all without.

    The paths of `fields` are LangGraph's, such as "text" or "facts[*].said".
    """
    embeddings = LocalEmbeddings(embedder)
    index: IndexConfig = {"dims": embeddings.dim, "embed": embeddings}
    return index if fields is None else {**index, "fields": list(fields)}
