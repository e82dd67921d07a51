"""An entry is found by its wording where it is kept now; who stores hears what of its own was hidden."""

from __future__ import annotations

from dataclasses import replace

from semcache.retention.eviction import Quota
from semcache.retention.eviction.lru import Lru
from semcache.storage.entry_registry import EntryRegistry
from semcache.storage.hot_entries import HotEntries
from semcache.storage.indexes import IndexOwner, PartitionedIndex
from semcache.storage.live_entries import LiveEntries
from semcache.storage.stores.memory import MemoryStore
from semcache.types import Card

CARD = Card(1, b"exact", b"p" * 16, "default", "what is a cat", 0.0, 9e9)


async def test_an_entry_that_left_its_partition_while_its_wording_waited_is_not_found_there() -> None:
    index = IndexOwner(PartitionedIndex(4))
    live = LiveEntries(MemoryStore(), EntryRegistry(lambda _name: Quota(9, Lru())), HotEntries(9), index, salt=b"s")
    live.add_stored(CARD)
    await live.hide(CARD.id)
    live.add_stored(replace(CARD, partition=b""))
    assert live.read_wordings(1000) == 0
    assert live.wordings.find([CARD.partition], CARD.text) == []
    live.add_stored(replace(CARD, id=2, exact=b"other"))
    live.read_wordings(1000)
    assert live.wordings.find([CARD.partition], CARD.text) == [2]
    await index.close()


async def test_who_stores_an_entry_remembers_no_other_of_a_purge() -> None:
    index = IndexOwner(PartitionedIndex(4))
    live = LiveEntries(MemoryStore(), EntryRegistry(lambda _name: Quota(9, Lru())), HotEntries(9), index, salt=b"s")
    with live.hidden_meanwhile() as all_hidden, live.hidden_meanwhile([7, 8]) as own:
        await live.hide(*range(8))
        assert (all_hidden, own) == (set(range(8)), {7})
    await live.hide(8)
    assert own == {7}
    await index.close()
