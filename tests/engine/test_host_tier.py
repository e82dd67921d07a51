"""Host memory holds what it was given, within its size, and keeps what can be used and is wanted."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.engine.disk_tier import StoredBlock
from semcache.engine.engine_metrics import EngineMetrics
from semcache.engine.host_tier import HostTier
from semcache.engine.offload import OffloadTiers
from tests.engine.nursery import an_engine, ids, job, work

Folder = Callable[..., Path]


@dataclass(frozen=True, slots=True)
class Bytes:
    nbytes: int


def block(chain: str, size: int = 1) -> StoredBlock:
    """The last block of a chain, each letter one."""
    data: Any = Bytes(size)
    return StoredBlock(chain.encode(), chain[:-1].encode(), (ord(chain[-1]),), data)


def found(tier: HostTier, chain: str) -> bool:
    kept = tier.find(chain.encode(), chain[:-1].encode(), [ord(chain[-1])])
    assert kept is None or kept.key == chain.encode()
    return kept is not None


CHAINS = st.text("ab", min_size=1, max_size=4)
STEPS = st.lists(st.tuples(st.sampled_from(["keep", "find"]), CHAINS, st.integers(1, 3), st.integers(0, 4)))


@given(STEPS)
def test_it_stays_within_its_size_and_no_block_goes_before_one_behind_it(steps: Any) -> None:
    counts: Counter[str] = Counter()
    tier = HostTier(6, count=lambda event: counts.update([event]))
    sizes: dict[str, int] = {}
    for what, chain, size, worth in steps:
        before = {one for one in sizes if one.encode() in tier}
        if what == "find":
            assert found(tier, chain) == (chain in before)
        else:
            size = sizes.setdefault(chain, size)
            tier.keep(block(chain, size), worth)
        after = {one for one in sizes if one.encode() in tier}
        assert sum(sizes[one] for one in after) <= 6
        for gone in before - after:
            assert not any(one[:-1] == gone for one in after)
    assert len(tier) == counts["stored"] - counts["evicted"]


def test_another_block_under_the_same_key_is_not_given() -> None:
    tier = HostTier(9, count=lambda _: None)
    tier.keep(block("ab"), 0)
    assert tier.find(b"ab", b"a", [ord("b")])
    assert tier.find(b"ab", b"b", [ord("b")]) is None
    assert tier.find(b"ab", b"a", [ord("c")]) is None


def test_of_equals_the_one_used_longest_ago_goes() -> None:
    tier = HostTier(3, count=lambda _: None)
    for chain in "abc":
        tier.keep(block(chain), 0)
    assert found(tier, "a")
    tier.keep(block("b"), 0)
    tier.keep(block("d"), 0)
    assert [chain for chain in "abcd" if found(tier, chain)] == ["a", "b", "d"]


def test_what_is_worth_more_stays_longer_but_not_for_ever() -> None:
    tier = HostTier(2, count=lambda _: None)
    tier.keep(block("a"), 3.5)
    lasted = 0
    for name in "bcdefghijk":
        tier.keep(block(name), 1)
        lasted += b"a" in tier
    assert 1 < lasted < 10


def test_what_would_take_all_room_and_more_drives_nothing_out() -> None:
    tier = HostTier(2, count=lambda _: None)
    tier.keep(block("a"), 0)
    tier.keep(block("b", 3), 9)
    assert [chain for chain in "ab" if found(tier, chain)] == ["a"]


@pytest.mark.parametrize(("eviction", "kept"), [("lru", 0), ("cost", 48)])
def test_it_keeps_by_the_engines_choice(folder: Folder, eviction: str, kept: int) -> None:
    """Blocks wanted often outlive those wanted once, in host memory too, where that is the setting."""

    def host(metrics: EngineMetrics) -> OffloadTiers:
        return OffloadTiers(host_bytes=14 * 8 * 512, disk=None, clock=time.monotonic, metrics=metrics)

    wanted = ids(0, 52)
    engine = an_engine(folder(), cache_bytes=10 * 8 * 512, tiers=host, eviction=eviction)
    for number in range(8):
        work(engine, [job(f"a{number}", wanted, max_tokens=1)])
    for number in range(4):
        work(engine, [job(f"b{number}", ids(number + 1, 60), max_tokens=1)])
    assert work(engine, [job("c", wanted, max_tokens=1)])["c"].spent.cached == kept
