"""Memories in LangGraph's own stores are found by meaning, within their namespaces, without a key or a network."""

from __future__ import annotations

import asyncio
import multiprocessing
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

pytest.importorskip("langgraph")

from langgraph.store.base import PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

from semcache.errors import EmbedError
from semcache_langgraph_store import LocalEmbeddings, memory_index

MEMORIES = {
    "diet": "Ann eats no meat and no fish.",
    "town": "Ann moved to Lisbon in spring.",
    "work": "Ann repairs violins.",
}
ANN, BOB = ("acme", "ann"), ("acme", "bob")


def filled(store: InMemoryStore) -> InMemoryStore:
    for key, text in MEMORIES.items():
        store.put(ANN, key, {"text": text})
    store.put(BOB, "diet", {"text": "Bob is a vegetarian."})
    return store


def test_a_memory_is_found_by_meaning_in_its_namespace_alone() -> None:
    store = filled(InMemoryStore(index=memory_index()))
    for query, key in [
        ("Is she a vegetarian?", "diet"),
        ("Where does she live?", "town"),
        ("What is her job?", "work"),
    ]:
        found = store.search(ANN, query=query, limit=1)
        assert [(one.namespace, one.key) for one in found] == [(ANN, key)], query
        assert found[0].score is not None
        assert -1 <= found[0].score <= 1
    assert {one.namespace for one in store.search(("acme",), query="Is she a vegetarian?", limit=2)} == {ANN, BOB}
    store.delete(ANN, "diet")
    assert "diet" not in [one.key for one in store.search(ANN, query="Is she a vegetarian?")]


async def test_it_works_within_a_running_loop_both_ways() -> None:
    store = filled(InMemoryStore(index=memory_index(["text"])))
    assert (await store.asearch(ANN, query="Where does she live?", limit=1))[0].key == "town"
    assert store.search(ANN, query="Where does she live?", limit=1)[0].key == "town"
    results = await store.abatch([PutOp(BOB, "town", {"text": "Bob lives in Oslo."}), SearchOp(BOB, query="home town")])
    assert results[0] is None
    assert (await store.aget(BOB, "town")) is not None


def test_only_the_fields_that_were_named_are_searched() -> None:
    store = InMemoryStore(index=memory_index(["said"]))
    store.put(ANN, "a", {"said": "The train was late.", "note": "She loves opera."})
    store.put(ANN, "b", {"said": "She loves opera."})
    assert store.search(ANN, query="Does she like opera?", limit=1)[0].key == "b"


def test_vectors_are_of_length_one_and_as_many_as_texts() -> None:
    embeddings = LocalEmbeddings()
    vectors = embeddings.embed_documents(["a cat", "a dog", ""])
    assert [len(one) for one in vectors] == [embeddings.dim] * 3
    assert sum(value * value for value in embeddings.embed_query("a cat")) == pytest.approx(1.0, abs=1e-4)
    assert vectors[0] == embeddings.embed_query("a cat")


class Recording:
    """An embedder that says in which threads it was."""

    id, dim, max_tokens = "recording", 2, 16

    def __init__(self) -> None:
        self.threads: set[int] = set()

    async def embed(self, texts: Sequence[str]) -> Any:
        self.threads.add(threading.get_ident())
        return np.ones((len(texts), 2), np.float32) / np.sqrt(2)

    async def close(self) -> None:
        pass


async def test_an_embedder_is_used_in_one_thread_however_it_is_called() -> None:
    embedder = Recording()
    embeddings = LocalEmbeddings(embedder)
    await embeddings.aembed_query("a cat")
    await asyncio.to_thread(embeddings.embed_query, "a cat")
    embeddings.embed_query("a cat")
    assert len(embedder.threads) == 1


def test_a_child_of_a_fork_is_told_so_and_does_not_hang() -> None:
    embeddings = LocalEmbeddings(Recording())
    embeddings.embed_query("a cat")
    child = multiprocessing.get_context("fork").Process(target=_refused, args=(embeddings,), daemon=True)
    child.start()
    child.join(60.0)
    alive = child.is_alive()
    child.kill()
    assert (alive, child.exitcode) == (False, 0)


def _refused(embeddings: LocalEmbeddings) -> None:
    with pytest.raises(EmbedError, match="fork"):
        embeddings.embed_query("a cat")
