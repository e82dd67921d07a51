"""Pairs from a cache's own labels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from semcache.storage.stores import open_store
from semcache.train.pairs import Pair
from semcache.train.store_pairs import pairs_of
from semcache.types.evidence import LabelSource
from tests.storage.stores.values import digest, entry, label, vector


async def test_labels_become_pairs_as_far_as_their_words_are_there(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "semcache.db"))
    await store.open()
    cached, asked = entry(1, "reset my password"), entry(2, "I forgot my password")
    await store.put(cached, vector(1))
    await store.put(asked, None)
    about = replace(label(1), entry_id=1, exact=asked.key.exact, correct=True, source=LabelSource.MISS)
    await store.label(
        [
            replace(about, correct=False),
            about,  # the later verdict counts
            replace(about, exact=digest("never kept")),
            replace(about, entry_id=99),
            replace(about, exact=cached.key.exact),  # the same words
            replace(about, source=LabelSource.REASKED, correct=False),
        ]
    )
    pairs, tally = await pairs_of(store)
    await store.close()
    assert pairs == [Pair("I forgot my password", "reset my password", True, made="miss")]
    assert (tally.labels, tally.gone) == (5, 2)
