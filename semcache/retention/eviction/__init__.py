"""Eviction when a category is full: a policy picks victims, `Quota` and `SharedCapacity` do the accounting for all.

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
from semcache.retention.eviction.shared_capacity import CapacityShare, SharedCapacity
from semcache.retention.eviction.sieve import Sieve
from semcache.retention.eviction.tinylfu import WTinyLfu
from semcache.retention.eviction.value import ValueEviction
from semcache.retention.eviction.worth import PLAIN, Policy, Worth

POLICIES: Mapping[str, Callable[[], Policy]] = plugins.PluggableMakers(
    "evictions",
    {
        "value": ValueEviction,
        "lru": Lru,
        "lfu": Lfu,
        "sieve": Sieve,
        "s3-fifo": S3Fifo,
        "w-tinylfu": WTinyLfu,
        "gdsf": Gdsf,
        "lec": Lec,
    },
)


def quotas(pack: Pack) -> Callable[[str], Quota | CapacityShare]:
    """The maker of a category's quota, as the pack states it: for `EntryRegistry`."""
    return shared_capacity.quotas(pack, lambda category: POLICIES[pack.of(category).eviction]())


__all__ = ["PLAIN", "POLICIES", "CapacityShare", "Policy", "Quota", "SharedCapacity", "Worth", "quotas"]
