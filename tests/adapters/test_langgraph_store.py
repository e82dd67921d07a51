"""Memories in LangGraph's own stores are found by meaning, within their namespaces, without a key or a network."""

from __future__ import annotations

import pytest

pytest.importorskip("langgraph")

from langgraph.store.base import PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

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
