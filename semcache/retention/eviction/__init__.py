"""What to give up when a category is full. A policy picks victims; `Quota` and `Pool` do the accounting for all.

Pure: knows ids, weights and what a pack says of a category. Invariant: every policy does what
`tests/conformance/test_eviction.py` asks, and a pack can name it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from semcache.config import plugins
from semcache.config.packs import Pack
from semcache.retention.eviction import shared_capacity
from semcache.retention.eviction.gdsf import Gdsf
from semcache.retention.eviction.lec import Lec
from semcache.retention.eviction.lfu import Lfu
from semcache.retention.eviction.lru import Lru
from semcache.retention.eviction.quota import Quota
from semcache.retention.eviction.s3fifo import S3Fifo
from semcache.retention.eviction.shared_capacity import Member, Pool
from semcache.retention.eviction.sieve import Sieve
from semcache.retention.eviction.tinylfu import WTinyLfu
from semcache.retention.eviction.value import Value
from semcache.retention.eviction.worth import PLAIN, Policy, Worth

POLICIES: Mapping[str, Callable[[], Policy]] = plugins.Named(
    "evictions",
    {
        "value": Value,
        "lru": Lru,
        "lfu": Lfu,
        "sieve": Sieve,
        "s3-fifo": S3Fifo,
        "w-tinylfu": WTinyLfu,
        "gdsf": Gdsf,
        "lec": Lec,
    },
)


def quotas(pack: Pack) -> Callable[[str], Quota | Member]:
    """What makes the quota of a category as the pack says: for `EntryRegistry`."""
    return shared_capacity.quotas(pack, lambda category: POLICIES[pack.of(category).eviction]())


__all__ = ["PLAIN", "POLICIES", "Member", "Policy", "Pool", "Quota", "Worth", "quotas"]
