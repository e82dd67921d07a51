"""Moving a cache to another embedder: nothing lost, nothing half done, and back again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from semcache.agents.library import AsyncSemanticCache
from semcache.cache import reindexing
from semcache.errors import EmbedError
from semcache.models.embedders.hashing import HashingEmbedder
from semcache.storage.stores import open_store
from semcache.storage.stores.sql import SqlStore
from semcache.types import Rejection, Selector

OLD, NEW = "hashing:64", "hashing:32"
TALK = [
    {"role": "user", "content": "How do I reset my password?"},
    {"role": "assistant", "content": "Press reset."},
    {"role": "user", "content": "And what if the mail never arrives at all?"},
]


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    path = tmp_path / "pack.yaml"
    path.write_text("name: plain\ncategories:\n  default: {strategy: static, threshold: 0.8, context: semantic}\n")
    return path


async def ask(folder: Path, pack: Path, embedder: str, prompts: Sequence[object], *, keep: bool = False) -> list[str]:
    """The outcomes of these prompts in a cache that is opened for them."""
    async with await AsyncSemanticCache.open(str(folder), policies=str(pack), embedder=embedder) as cache:
        found = []
        for number, prompt in enumerate(prompts):
            lookup = await cache.lookup(prompt, model="m")  # type: ignore[arg-type]
            found.append(lookup.outcome)
            if keep:
                await cache.record(lookup, f"answer {number}")
        return found


async def opened(folder: Path) -> SqlStore:
    store = open_store(str(folder / "semcache.db"))
    await store.open()
    assert isinstance(store, SqlStore)
    return store


PROMPTS = [f"where can I find the document about topic{n} and its appendix" for n in range(9)]
ASKED = [f"where can I find the document about topic{n} and the appendix" for n in range(9)]


async def test_after_the_move_everything_is_found_by_the_new_embedder_and_back_again(
    tmp_path: Path, pack: Path
) -> None:
    data = tmp_path / "data"
    await ask(data, pack, OLD, [*PROMPTS, TALK], keep=True)
    assert await ask(data, pack, OLD, ASKED) == ["semantic"] * 9
    assert await ask(data, pack, NEW, ASKED) == ["miss"] * 9, "or this test proves nothing"
    store, new = await opened(data), HashingEmbedder(32)
    before = await store.embedders()
    gathered = await reindexing.gather(store, new, now=0.0, batch=4)
    assert (gathered.embedded, gathered.left) == (10, 0)
    assert await store.embedders() == before, "until the switch nothing has changed for those who read"
    assert await ask(data, pack, OLD, ASKED[:2]) == ["semantic"] * 2
    moved = await reindexing.move(store, new, now=0.0)
    assert (moved.embedded, moved.switched) == (0, 10)
    assert await ask(data, pack, NEW, ASKED) == ["semantic"] * 9
    again = [*TALK[:2], {"role": "user", "content": "And what if the mail never arrives at all"}]
    assert await ask(data, pack, NEW, [TALK, again]) == ["exact", "semantic"]
    back = await reindexing.move(store, HashingEmbedder(64), now=0.0)
    assert (back.embedded, back.switched) == (0, 10), "the old vectors lie aside"
    assert await ask(data, pack, OLD, ASKED) == ["semantic"] * 9
    await store.close()


class Failing(HashingEmbedder):
    """Fails at the given call."""

    calls = 0

    async def embed(self, texts: Sequence[str]) -> np.ndarray:
        self.calls += 1
        if self.calls == 3:
            raise EmbedError("the machine was unplugged")
        return await super().embed(texts)


async def test_a_move_that_breaks_off_changes_nothing_and_goes_on_where_it_stood(tmp_path: Path, pack: Path) -> None:
    data = tmp_path / "data"
    await ask(data, pack, OLD, PROMPTS, keep=True)
    store = await opened(data)
    with pytest.raises(EmbedError):
        await reindexing.move(store, Failing(32), now=0.0, batch=2)
    assert await ask(data, pack, OLD, ASKED) == ["semantic"] * 9
    assert await store.owed(HashingEmbedder(32).id, now=0.0) == 5
    moved = await reindexing.move(store, HashingEmbedder(32), now=0.0, batch=2)
    assert (moved.embedded, moved.switched) == (5, 9)
    await store.close()


async def test_answers_rejections_and_ids_survive_the_move(tmp_path: Path, pack: Path) -> None:
    data = tmp_path / "data"
    await ask(data, pack, OLD, PROMPTS, keep=True)
    store = await opened(data)
    cards = [card async for batch in store.cards("", now=0.0) for card in batch]
    await store.reject([Rejection(cards[0].id, cards[1].exact)], now=0.0)
    before = await store.get([card.id for card in cards])
    head = await store.head()
    await reindexing.move(store, HashingEmbedder(32), now=0.0)
    after = await store.get([card.id for card in cards])
    fixed = [replace(entry, partition=b"", embedder_id="") for entry in before if entry is not None]
    assert [replace(entry, partition=b"", embedder_id="") for entry in after if entry is not None] == fixed
    assert len(await store.rejections()) == 1
    assert await store.head() == head, "running workers are told nothing: they go on with what they have"
    await store.close()


async def test_an_embedder_whose_dimension_is_a_lie_is_refused(tmp_path: Path, pack: Path) -> None:
    class Lying(HashingEmbedder):
        @property
        def dim(self) -> int:
            return 48

    data = tmp_path / "data"
    await ask(data, pack, OLD, PROMPTS, keep=True)
    store = await opened(data)
    with pytest.raises(EmbedError, match=r"says 48 dimensions and returned an array of shape \(9, 32\)"):
        await reindexing.move(store, Lying(32), now=0.0)
    assert await ask(data, pack, OLD, ASKED) == ["semantic"] * 9
    await store.close()


async def test_entries_that_go_meanwhile_take_their_new_vectors_along(tmp_path: Path, pack: Path) -> None:
    data = tmp_path / "data"
    await ask(data, pack, OLD, PROMPTS, keep=True)
    store, new = await opened(data), HashingEmbedder(32)
    await reindexing.gather(store, new, now=0.0)
    cards = [card async for batch in store.cards("", now=0.0) for card in batch]
    await store.delete(Selector(ids=(cards[0].id,)), now=0.0)
    assert (await reindexing.move(store, new, now=0.0)).switched == 8
    assert await store.embedders() == {new.id: 8}
    await store.close()


async def test_an_entry_whose_place_cannot_be_told_is_left(tmp_path: Path, pack: Path) -> None:
    data = tmp_path / "data"
    await ask(data, pack, OLD, PROMPTS[:1], keep=True)
    store = await opened(data)
    [card] = [card async for batch in store.cards("", now=0.0) for card in batch]
    [entry] = await store.get([card.id])
    assert entry is not None
    odd = replace(entry, id=7, partition=b"x" * 16, key=replace(entry.key, exact=b"y" * 32))
    await store.put(odd, np.eye(64, dtype=np.float32)[0])
    moved = await reindexing.move(store, HashingEmbedder(32), now=0.0)
    assert (moved.switched, moved.left) == (1, 1)
    assert (await store.get([7]))[0] == odd
    await store.close()
